package podrace

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// What becomes of everybody when nobody is held any more.

// setFree lets everybody go their way, and has the watches deliver at once.
func (w *World) setFree() {
	w.Store.mu.Lock()
	w.Store.auto = true
	for _, kind := range []string{podKind, nodeKind, claimKind, volumeKind, volumeClaimKind} {
		for w.Store.sent[kind] < len(w.Store.log[kind]) {
			w.Store.deliver(kind)
		}
	}
	w.Store.mu.Unlock()
	w.Stage.Hold(false)
}

// endTerminating has the kubelets be done with the pods that have been given their whole grace period: the longest that they may take.
func (w *World) endTerminating() {
	for _, p := range w.Store.terminated(time.Now()) {
		delete(w.runs, p)
		_ = w.Store.RemovePod(p) // whose object is gone meanwhile has ended
	}
}

// terminated are the pods on nodes that are there, which are deleted and whose grace period is over.
func (s *Store) terminated(now time.Time) (over []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, p := range s.pods {
		if p.DeletionTimestamp == nil || s.nodes[p.Spec.NodeName] == nil {
			continue
		}
		seconds := int64(v1.DefaultTerminationGracePeriodSeconds)
		if asked := p.Spec.TerminationGracePeriodSeconds; asked != nil {
			seconds = *asked
		}
		// Here, unlike in Kubernetes, a deletion bears the time at which it was asked for.
		if !now.Before(p.DeletionTimestamp.Add(time.Duration(seconds) * time.Second)) {
			over = append(over, name)
		}
	}
	slices.Sort(over)
	return over
}

// epilogue lets everything go its way, and says after some times where the pods are, and when they were bound.
func (w *World) epilogue() map[string]any {
	w.setFree()
	result, bound := map[string]any{}, map[string]any{}
	began := time.Now()
	for second := 0; second <= 660; second++ {
		w.second()
		places := w.places()
		for _, p := range w.Case.Pods {
			q := w.Store.Pod(idOf(p))
			if q != nil && q.Spec.NodeName != "" && p.Spec.NodeName == "" && bound[idOf(p)] == nil {
				bound[idOf(p)] = time.Since(began).Seconds()
			}
		}
		switch second + 1 {
		case 1, 10, 60, 330, 660:
			result[fmt.Sprintf("%ds", second+1)] = places
		}
	}
	result["bound"] = bound
	if w.Case.Roam > 0 && !w.exited {
		result["restarted"] = w.boundByRestart()
	}
	return result
}

// second is one in which nobody is held. After moves of the code's own Permit allows the pods that wait for it: no step of a model is to decide that.
func (w *World) second() {
	time.Sleep(time.Second)
	settle()
	w.endTerminating()
	if w.Case.Roam > 0 {
		permits := w.permits()
		for _, pod := range slices.Sorted(maps.Keys(permits)) {
			permits[pod]()
		}
	}
	settle()
}

// boundByRestart are the pods that wait although nothing happens any more, and that a new process assumes or binds within a minute: what the
// old one had in memory kept them out, or it had lost them. While a pod is in flight nothing is said: its room may be what the others wait
// for. A pod that a new process assumes may wait for controllers, which are not played here.
func (w *World) boundByRestart() map[string]any {
	found := map[string]any{}
	now, _ := observe(w)
	places := w.places()
	var waiting []string
	for _, p := range w.Case.Pods {
		name := idOf(p)
		if q := w.Store.Pod(name); q == nil || q.Spec.NodeName != "" || q.DeletionTimestamp != nil {
			continue
		}
		if places[name] == nil && (now["queue.in_flight["+name+"]"] == true || now["cache.pod["+name+"].assumed"] == true) {
			return found
		}
		waiting = append(waiting, name)
	}
	if len(waiting) == 0 || w.restart() != nil {
		return found
	}
	w.setFree()
	for range 60 {
		w.second()
	}
	now, _ = observe(w)
	for _, name := range waiting {
		if q := w.Store.Pod(name); q != nil && (q.Spec.NodeName != "" || now["cache.pod["+name+"].assumed"] == true) {
			found[name] = now["cache.pod["+name+"].node"]
		}
	}
	return found
}

// places gives the sub-queue of each pod that is in one.
func (w *World) places() map[string]any {
	places := map[string]any{}
	for pod, where := range subQueues(w) {
		places[pod] = where
	}
	return places
}
