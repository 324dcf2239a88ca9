package podrace

import (
	"reflect"
	"sort"

	"k8s.io/api/core/v1"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/cache"
)

// sight is the real state in the model's words: variables by name, and their values.
type sight map[string]any

// see looks at everything that the real scheduler and the cluster show. Nobody moves meanwhile.
func (w *world) see() sight {
	s := sight{}
	w.seeCluster(s)
	w.seeQueue(s)
	w.seeCache(s)
	w.seeCycle(s)
	w.seeGoroutines(s)
	return s
}

// putObject says of a table of objects what it has of a pod; a pod that it does not have is nil.
func (s sight) putObject(table string, pod *v1.Pod) {
	s[table+".exists"] = pod != nil
	s[table+".node"] = nil
	if pod != nil {
		s[table+".node"] = orNil(pod.Spec.NodeName)
	}
	s.putCopy(table, pod)
}

// putCopy says of a component's own copy what it shows of a pod that it need not have a node.
func (s sight) putCopy(table string, pod *v1.Pod) {
	if pod == nil {
		pod = &v1.Pod{}
	}
	s[table+".nominated"] = orNil(pod.Status.NominatedNodeName)
	s[table+".failed"] = isUnschedulable(pod)
	s[table+".terminating"] = pod.DeletionTimestamp != nil
}

// isUnschedulable is whether the pod has the one condition that the model has: any other reason than Unschedulable counts as none.
func isUnschedulable(pod *v1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == v1.PodScheduled {
			return c.Status == v1.ConditionFalse && c.Reason == v1.PodReasonUnschedulable
		}
	}
	return false
}

func orNil(name string) any {
	if name == "" {
		return nil
	}
	return name
}

// seeCluster is what the API server has, and what the informers' stores show.
func (w *world) seeCluster(s sight) {
	listed := w.instance.informers.Core().V1()
	for name, p := range w.podOf {
		s.putObject("api.pod["+name+"]", w.cluster.Pod(name))
		shown, _ := listed.Pods().Lister().Pods(p.Namespace).Get(name)
		s.putObject("pod_watch.lister["+name+"]", shown)
	}
	for name := range w.nodeOf {
		s["api.node_exists["+name+"]"] = w.cluster.Node(name) != nil
		_, err := listed.Nodes().Lister().Get(name)
		s["node_watch.lister["+name+"]"] = err == nil
	}
}

// seeQueue is where the pods wait, which objects of them, whether a move request came since the last Pop, and who is nominated where.
func (w *world) seeQueue(s sight) {
	active, parked := objectsIn(path(w.instance.queue, "activeQ", "data", "items")), objectsIn(path(w.instance.queue, "unschedulableQ", "pods"))
	for name := range w.podOf {
		place, pod := "NONE", (*v1.Pod)(nil)
		if p := parked[name]; p != nil {
			place, pod = "UNSCHEDULABLE", p
		}
		if p := active[name]; p != nil {
			if pod != nil {
				place = "ACTIVE and " + place
			} else {
				place = "ACTIVE"
			}
			pod = p
		}
		s["queue.sub_queue["+name+"]"] = place
		s.putCopy("queue.copy["+name+"]", pod)
		s["nominator.node["+name+"]"] = nil
	}
	s["queue.moved"] = path(w.instance.queue, "receivedMoveRequest").Bool()
	nominated := path(w.instance.queue, "nominatedPods").Interface().(map[string][]*v1.Pod)
	for _, node := range sorted(nominated) {
		for _, pod := range nominated[node] {
			key := "nominator.node[" + pod.Name + "]"
			if other, there := s[key].(string); there {
				s[key] = other + " and " + node
			} else {
				s[key] = node
			}
		}
	}
}

// objectsIn are the pods of a map of upstream's, by name: it holds them, or records with them.
func objectsIn(m reflect.Value) map[string]*v1.Pod {
	found := map[string]*v1.Pod{}
	for each := m.MapRange(); each.Next(); {
		pod, is := each.Value().Interface().(*v1.Pod)
		if !is {
			pod = field(each.Value(), "obj").Interface().(*v1.Pod)
		}
		found[pod.Name] = pod
	}
	return found
}

// seeCache is which pods the cache has on which nodes, which of them it assumes, and which nodes have a Node object.
func (w *world) seeCache(s sight) {
	infos := path(w.instance.cache, "nodes").Interface().(map[string]*schedulercache.NodeInfo)
	states, assumed := path(w.instance.cache, "podStates"), path(w.instance.cache, "assumedPods")
	on := podsOn(infos)
	for name, p := range w.podOf {
		s["cache.pod["+name+"].node"] = orNil(on[name])
		state, key := states.MapIndex(reflect.ValueOf(string(p.UID))), reflect.ValueOf(string(p.UID))
		isAssumed := assumed.MapIndex(key).IsValid()
		s["cache.pod["+name+"].assumed"] = isAssumed
		s["cache.pod["+name+"].bound"] = isAssumed && state.IsValid() && field(state, "bindingFinished").Bool()
		s["cache.pod["+name+"].terminating"] = false
		var copied *v1.Pod
		if state.IsValid() {
			pod := field(state, "pod").Interface().(*v1.Pod)
			if isAssumed {
				copied = pod
			}
			s["cache.pod["+name+"].terminating"] = pod.DeletionTimestamp != nil
		}
		s.putCopy("cache.copy["+name+"]", copied)
	}
	for name := range w.nodeOf {
		s["cache.live["+name+"]"] = infos[name] != nil && infos[name].Node() != nil
	}
}

// podsOn is on which node each pod is; all of them if there are several.
func podsOn(infos map[string]*schedulercache.NodeInfo) map[string]string {
	on := map[string]string{}
	for _, node := range sorted(infos) {
		names := []string{}
		for _, pod := range infos[node].Pods() {
			names = append(names, pod.Name)
		}
		sort.Strings(names)
		for _, name := range names {
			if on[name] != "" {
				on[name] += " and "
			}
			on[name] += node
		}
	}
	return on
}

// seeCycle is the pod that the scheduling cycle works on, as it was when it was popped, and its snapshot.
func (w *world) seeCycle(s sight) {
	popped := w.instance.cycle.pod
	s["scheduler.pod"] = nil
	if popped != nil {
		s["scheduler.pod"] = popped.Name
	}
	s.putCopy("scheduler.copy", popped)
	infos := w.instance.snapshot()
	on := podsOn(infos)
	for name := range w.podOf {
		s["snapshot.pod["+name+"].node"] = orNil(on[name])
	}
	for name := range w.nodeOf {
		s["snapshot.live["+name+"]"] = infos[name] != nil && infos[name].Node() != nil
	}
}
