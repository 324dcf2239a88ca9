package podrace

import v1 "k8s.io/api/core/v1"

// observe gives the state of the real scheduler in the model's words.
func observe(w *World) map[string]any {
	state := map[string]any{}
	for _, p := range w.Case.Pods {
		state["queue.sub_queue["+p.Name+"]"] = "NONE"
		state["queue.in_flight["+p.Name+"]"] = false
		state["nominator.node["+p.Name+"]"] = nil
		state["cache.pod["+p.Name+"].node"] = nil
		state["cache.pod["+p.Name+"].assumed"] = false
	}
	in := func(pods []*v1.Pod, variable string, value any) {
		for _, p := range pods {
			state[variable+"["+p.Name+"]"] = value
		}
	}
	in(w.RealQueue.PodsInActiveQ(), "queue.sub_queue", "ACTIVE")
	in(w.RealQueue.PodsInBackoffQ(), "queue.sub_queue", "BACKOFF")
	in(w.RealQueue.UnschedulablePods(), "queue.sub_queue", "UNSCHEDULABLE")
	in(w.RealQueue.InFlightPods(), "queue.in_flight", true)
	for _, n := range w.Case.Nodes {
		for _, p := range w.RealQueue.NominatedPodsForNode(n.Name) {
			state["nominator.node["+podOf(p).Name+"]"] = n.Name
		}
	}
	dump := w.RealCache.Dump()
	for name, n := range dump.Nodes {
		for _, p := range n.GetPods() {
			pod := podOf(p)
			state["cache.pod["+pod.Name+"].node"] = name
			state["cache.pod["+pod.Name+"].assumed"] = dump.AssumedPods.Has(string(pod.UID))
		}
	}
	return state
}

func podOf(info any) *v1.Pod {
	if i, ok := info.(interface{ GetPod() *v1.Pod }); ok {
		return i.GetPod()
	}
	return embeddedPod(info)
}

// unseen are the kinds of variables that observe does not show.
var unseen []string
