package podrace

import (
	"fmt"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// cache is what the cache believes of pods and nodes: pod states, assumed pods, and the NodeInfos that hold the pods.
func (e *eye) cache() {
	nodes := values(find(e.realCache, "nodes"))
	states := values(find(e.realCache, "podStates"))
	assumed := keys(find(e.realCache, "assumedPods"))
	holders, counted := map[string][]string{}, map[string]*v1.Pod{}
	for _, node := range e.nodes {
		info := field(nodes[node], "info")
		e.see["cache.live["+node+"]"] = nodeOf(info) != nil
		e.see["cache.node_version["+node+"]"] = e.versions.version(nodeOf(info))
		for _, pod := range podsIn(info) {
			holders[idOf(pod)] = append(holders[idOf(pod)], node)
			counted[idOf(pod)] = pod
		}
		if info.IsValid() {
			e.see[sums+"["+node+"]"] = sumsOf(info)
		}
		e.usedPorts("node_infos.port["+node+"]", info)
	}
	for _, pod := range e.pods {
		state, is := states[pod], assumed[pod]
		object := get[*v1.Pod](state, "pod")
		at := "cache.pod[" + pod + "]."
		e.see[at+"node"] = orNil(strings.Join(holders[pod], " and "))
		stated, dropped := nodeNameOf(object), "cache.dropped["+pod+"]"
		_, known := e.versions.Initial[dropped]
		e.see[dropped] = stated != "" && len(holders[pod]) == 0
		if known && len(holders[pod]) == 0 {
			e.see[at+"node"] = orNil(stated)
		} else if stated != strings.Join(holders[pod], " and ") {
			e.see[at+"node"] = fmt.Sprintf("%q, in the NodeInfo of %q", stated, holders[pod])
		}
		e.see[at+"assumed"] = is
		e.see["cache.version["+pod+"]"] = e.versions.podVersionName(object)
		e.see["node_infos.version["+pod+"]"] = e.versions.podVersionName(counted[pod])
		e.see[at+"terminating"] = object != nil && object.DeletionTimestamp != nil
		e.see[cachedTarget+"["+pod+"]"] = isTarget(object)
		if field(state, "bindingFinished").IsValid() || !state.IsValid() {
			e.see[at+"bound"] = get[bool](state, "bindingFinished") && is
		}
		if !is {
			object = nil
		}
		e.see.putCopy("cache.copy["+pod+"]", object)
	}
}

func nodeNameOf(pod *v1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.Spec.NodeName
}

// nodeOf is the Node object of a NodeInfo, nil if it has none (any more).
func nodeOf(info reflect.Value) *v1.Node { return get[*v1.Node](info, "node") }

// podsIn are the pods that a NodeInfo holds.
func podsIn(info reflect.Value) []*v1.Pod {
	var found []*v1.Pod
	list := field(info, "Pods")
	for i := range lengthOf(list) {
		found = append(found, get[*v1.Pod](list.Index(i), "Pod"))
	}
	return found
}

func lengthOf(list reflect.Value) int {
	if !list.IsValid() {
		return 0
	}
	return list.Len()
}

// sumsOf holds what a NodeInfo has counted against the pods that it holds; the model counts them anew each time (A-SUMS).
func sumsOf(info reflect.Value) any {
	cpu, memory, affine := int64(0), int64(0), 0
	pods := podsIn(info)
	for _, pod := range pods {
		for _, requests := range countedRequests(pod) {
			cpu += requests.Cpu().MilliValue()
			memory += requests.Memory().Value()
		}
		if has := pod.Spec.Affinity; has != nil && (has.PodAffinity != nil || has.PodAntiAffinity != nil) {
			affine++
		}
	}
	requested := field(info, "Requested")
	found := [3]int64{get[int64](requested, "MilliCPU"), get[int64](requested, "Memory"), int64(lengthOf(field(info, "PodsWithAffinity")))}
	if found != [3]int64{cpu, memory, int64(affine)} {
		return fmt.Sprintf("%v, and its %d pods add up to %v", found, len(pods), [3]int64{cpu, memory, int64(affine)})
	}
	return asExpected
}

// usedPorts says of each host port whether a NodeInfo lists it.
func (e *eye) usedPorts(at string, info reflect.Value) {
	listed := map[string]bool{}
	for ip, of := range values(field(info, "UsedPorts")) {
		for _, port := range inside(of).MapKeys() {
			listed[fmt.Sprintf("%s %s:%d", field(port, "Protocol"), ip, field(port, "Port").Int())] = true
		}
	}
	for _, port := range e.ports {
		e.see[at+"["+port+"]"] = listed[port]
	}
}

// snapshot is what the last UpdateSnapshot left. Upstream keeps it until the next; whether a cycle works on it is for compare to say.
func (e *eye) snapshot() {
	snapshot := find(e.scheduler, "nodeInfoSnapshot")
	infos := values(field(snapshot, "nodeInfoMap"))
	list := field(snapshot, "nodeInfoList")
	if placed := field(field(field(snapshot, "placementNodes"), "placement"), "Nodes"); placed.IsValid() { // while a placement is assumed
		list = placed
	}
	listed := map[string]bool{}
	for i := range lengthOf(list) {
		if node := nodeOf(list.Index(i)); node != nil {
			listed[node.Name] = true
		}
	}
	if counts := field(snapshot, "usedPVCRefCounts"); counts.IsValid() { // from 1.37 on
		for _, claim := range e.counted {
			e.see["snapshot.used["+claim+"]"] = false
			for name, users := range values(counts) {
				if strings.HasSuffix(name, "/"+claim) {
					e.see["snapshot.used["+claim+"]"] = users.Int() > 0
				}
			}
		}
	}
	held := map[string]*v1.Pod{}
	for _, node := range e.nodes {
		e.see["snapshot.live["+node+"]"] = nodeOf(infos[node]) != nil
		e.see["snapshot.node_version["+node+"]"] = e.versions.version(nodeOf(infos[node]))
		e.see["snapshot.listed["+node+"]"] = listed[node]
		for _, pod := range podsIn(infos[node]) {
			held[idOf(pod)] = pod
		}
		e.usedPorts("snapshot.port["+node+"]", infos[node])
	}
	for _, pod := range e.pods {
		at := "snapshot.pod[" + pod + "]."
		e.see[at+"node"] = orNil(nodeNameOf(held[pod]))
		e.see[at+"terminating"] = held[pod] != nil && held[pod].DeletionTimestamp != nil
		e.see["snapshot.carries["+pod+"]"] = isTarget(held[pod])
		e.see["snapshot.version["+pod+"]"] = e.versions.podVersionName(held[pod])
	}
}
