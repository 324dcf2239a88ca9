package podrace

import (
	"fmt"
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
		time.Sleep(time.Second)
		settle()
		w.endTerminating()
		settle()
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
	return result
}

// places gives the sub-queue of each pod that is in one.
func (w *World) places() map[string]any {
	places := map[string]any{}
	for pod, where := range subQueues(w) {
		places[pod] = where
	}
	return places
}
