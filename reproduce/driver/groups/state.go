package podrace

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler"
)

// managerOf has the states of groups in 1.35.
func managerOf(s *scheduler.Scheduler) reflect.Value { return inside(path(s, "WorkloadManager")) }

// groups are the groups at the API server and in the lister, and the states of groups that the cache has, or in 1.35 their manager, member by member.
func (e *eye) groups(w *World) {
	for _, o := range w.groups.objects {
		e.see["pod_groups.exists["+nameOf(o)+"]"] = w.groups.created[nameOf(o)]
		_, listed, _ := w.listing.Get(o)
		e.see["pod_groups.listed["+nameOf(o)+"]"] = listed
	}
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
