package podrace

import v1 "k8s.io/api/core/v1"

// groups are the states that the cache has of groups of pods, member by member.
func (e *eye) groups() {
	for _, pod := range e.pods {
		for _, set := range []string{"known", "on_node", "unscheduled", "assumed", "assigned"} {
			e.see["pod_group_states."+set+"["+pod+"]"] = false
		}
	}
	states := find(e.realCache, "podGroupStates")
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
