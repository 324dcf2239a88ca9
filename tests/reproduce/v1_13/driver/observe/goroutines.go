package podrace

import "k8s.io/api/core/v1"

// seeGoroutines is what the goroutines beside the scheduling cycle are about to do, by where they stand.
func (w *world) seeGoroutines(s sight) {
	for name := range w.podOf {
		s["failure.retry["+name+"]"] = "NONE"
		s.putCopy("failure.fetched["+name+"]", nil)
	}
	s["handlers.cache_busy"], s["handlers.queue_busy"], s["handlers.node_busy"] = false, false, false
	w.stage.Find(func(a *actor) bool { // looks at all of them
		switch {
		case a.role == requeueing:
			s.putRequeue(a)
		case cacheHandler.is(a):
			s["handlers.cache_busy"] = after("", "Cache.AddPod", "Cache.UpdatePod", "Cache.RemovePod")(*a.at)
		case queueHandler.is(a):
			s["handlers.queue_busy"] = after("", "Cache.IsAssumedPod")(*a.at)
		case nodesHandler.is(a):
			s["handlers.node_busy"] = after("", "Cache.AddNode", "Cache.UpdateNode")(*a.at)
		}
		return false
	})
}

// putRequeue says what a goroutine that requeues a pod has still to do.
func (s sight) putRequeue(a *actor) {
	key := "failure.retry[" + a.pod + "]"
	switch {
	case before("", "Client.Get")(*a.at):
		s[key] = "GET"
	case after("", "Client.Get")(*a.at):
		if pod, _ := a.at.results[0].(*v1.Pod); pod != nil && pod.Spec.NodeName == "" {
			s[key] = "ADD"
			s.putCopy("failure.fetched["+a.pod+"]", pod)
		}
	}
}
