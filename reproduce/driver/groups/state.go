package podrace

import (
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler"
)

// managerOf has the states of groups in 1.35.
func managerOf(s *scheduler.Scheduler) reflect.Value { return inside(path(s, "WorkloadManager")) }

// toldOf are the groups that the queue has been told of, from 1.37 on.
func (e *eye) toldOf() {
	known := find(find(e.realQueue, "workloadForest"), "podGroups")
	if !known.IsValid() {
		return
	}
	for _, group := range e.groupNames {
		e.see["pod_groups.told["+group+"]"] = false
	}
	for each := known.MapRange(); each.Next(); {
		e.see["pod_groups.told["+get[string](each.Key(), "Name")+"]"] = true
	}
}

// entries is what the queue has of groups beside its three places, from 1.37 on: the pods that it has put aside, which group was popped last, and which plugin holds
// the entry of a group.
func (e *eye) entries(waiting map[string][]queued) {
	last := find(e.realQueue, "lastPoppedEntityKey")
	if !last.IsValid() {
		return
	}
	for _, pod := range e.pods {
		if _, there := e.see["queue.twice["+pod+"]"]; !there {
			e.see["queue.twice["+pod+"]"] = false
		}
		for set, name := range membersAside {
			e.see["queue."+set+"["+pod+"]"] = e.putAside(name)[pod] != nil
		}
	}
	e.see["queue.last_popped"] = nil
	for _, group := range e.groupNames {
		e.see["queue.closed_by["+group+"]"] = nil
		if kind, rest, _ := strings.Cut(last.String(), "/"); (kind == "podgroup" || kind == "compositepodgroup") && strings.HasSuffix(rest, "/"+group) {
			e.see["queue.last_popped"] = group
		}
	}
	for _, records := range waiting {
		if group := groupOfEntry(records[0].entry); len(membersOf(records[0].entry)) > 0 {
			e.see["queue.closed_by["+group+"]"] = orNil(get[string](records[0].entry, "GatingPlugin"))
		}
	}
}

// groupOfEntry is the name of the group that an entry is of: from 1.38 on that of its object.
func groupOfEntry(entry reflect.Value) string {
	if name := get[string](entry, "Name"); name != "" {
		return name
	}
	return nameInGeneric(entry)
}

// isOfEntry is whether a pod waits in the entry of its group, as members do from 1.37 on.
func (e *eye) isOfEntry(pod string) bool {
	_, there := e.versions.Initial["queue.pending["+pod+"]"]
	return there
}

// membersAside are the places of the queue for members that are in no entry.
var membersAside = map[string]string{"pending": "pendingPodGroupPods", "incomplete": "incompletePodGroupPods"}

// putAside are the pods in one of them.
func (e *eye) putAside(name string) map[string]*v1.Pod {
	found := map[string]*v1.Pod{}
	groups := find(find(e.realQueue, name), "podGroupToPodInfos")
	if !groups.IsValid() {
		return found
	}
	for group := groups.MapRange(); group.Next(); {
		for member := group.Value().MapRange(); member.Next(); {
			pod := get[*v1.Pod](member.Value(), "Pod")
			found[idOf(pod)] = pod
		}
	}
	return found
}

// aside is the object of a pod that is in one of them; nil of any other.
func (e *eye) aside(pod string) *v1.Pod {
	for _, name := range membersAside {
		if object := e.putAside(name)[pod]; object != nil {
			return object
		}
	}
	return nil
}

// tracked are the members that PreEnqueue counts, from 1.38 on. The handlers notify the tracker after the call of the cache at which they are held; until they go on, nothing is said
// of the pod that they handle.
func (e *eye) tracked(w *World) {
	all := path(w.Sched, "podGroupHierarchyTracker", "groups")
	if !all.IsValid() {
		return
	}
	for _, pod := range e.pods {
		e.see["pod_group_states.tracked["+pod+"]"] = false
	}
	for each := all.MapRange(); each.Next(); {
		for pod := range keys(field(each.Value(), "allPods")) {
			e.see["pod_group_states.tracked["+pod+"]"] = true
		}
	}
	w.Stage.Find(func(a *actor) bool {
		if a.role == podHandler && a.at.after {
			delete(e.see, "pod_group_states.tracked["+a.at.pod+"]")
		}
		return false
	})
}

// groups are the groups at the API server and in the lister, and the states of groups that the cache has, or in 1.35 their manager, member by member.
func (e *eye) groups(w *World) {
	for _, o := range w.groups.objects {
		e.see["pod_groups.exists["+nameOf(o)+"]"] = w.groups.created[nameOf(o)]
		_, listed, _ := w.listing[o.GetObjectKind().GroupVersionKind().Kind].Get(o)
		e.see["pod_groups.listed["+nameOf(o)+"]"] = listed
	}
	e.toldOf()
	e.tracked(w)
	e.see["pod_group_states.panicked"] = false
	for _, pod := range e.pods {
		for _, set := range []string{"known", "on_node", "unscheduled", "assumed", "assigned"} {
			e.see["pod_group_states."+set+"["+pod+"]"] = false
		}
	}
	states := find(e.realCache, "podGroupStates")
	if manager := managerOf(w.Sched); manager.IsValid() {
		states = field(manager, "podGroupInfos")
	}
	if !states.IsValid() {
		return
	}
	for each := states.MapRange(); each.Next(); {
		state := each.Value()
		for set, name := range map[string]string{"unscheduled": "unscheduledPods", "assumed": "assumedPods", "assigned": "assignedPods"} {
			for pod := range keys(field(state, name)) {
				e.see["pod_group_states."+set+"["+pod+"]"] = true
			}
		}
		for pod, object := range values(field(state, "allPods")) {
			known, _ := as[*v1.Pod](object)
			e.see["pod_group_states.known["+pod+"]"] = true
			e.see["pod_group_states.on_node["+pod+"]"] = known != nil && known.Spec.NodeName != ""
		}
	}
}
