package podrace

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// Finalizers of pods that are bound, where the case looks at them: their objects stay until somebody has taken the finalizers away.

// holdBound has the store keep the objects of bound pods for their finalizers, if the case's model does.
func (s *Store) holdBound(c *Case) {
	for _, pod := range c.Pods {
		if _, looked := c.Initial["api.lingers["+idOf(pod)+"]"]; looked && len(pod.Finalizers) > 0 {
			s.holds = true
			s.finalized[idOf(pod)] = true
		}
	}
}

// isHeld is whether its finalizers keep the object of a pod that is, or was, on a node.
func (s *Store) isHeld(p *v1.Pod) bool {
	return s.holds && p.Spec.NodeName != "" && len(p.Finalizers) > 0
}

// lingers is whether nothing is left of a pod but its object, which is deleted.
func (s *Store) lingers(pod string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.finished[pod]
	return p != nil && s.isHeld(p) && p.DeletionTimestamp != nil
}

// hasFinalizers is whether a pod that is there, or has finished, has any; of one that is not there yet, or any more, whether it is to have them, or had them last.
func (s *Store) hasFinalizers(pod string) bool {
	if p := s.object(pod); p != nil {
		return s.holds && len(p.Finalizers) > 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finalized[pod]
}

// TakeFinalizers is an UPDATE of a pod that was bound: it has no finalizers any more. Where nothing else kept its object, that is gone.
func (s *Store) TakeFinalizers(pod string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.finished[pod]; p != nil {
		q := p.DeepCopy()
		q.Finalizers = nil
		delete(s.finalized, pod)
		s.finished[pod] = q
		if q.DeletionTimestamp != nil {
			delete(s.finished, pod)
		}
		return nil
	}
	p := s.pods[pod]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), s.names.of(pod))
	}
	q := p.DeepCopy()
	q.Finalizers = nil
	delete(s.finalized, pod)
	s.commit(podKind, watch.Modified, q, "finalizers that the model does not tell apart")
	return nil
}

// releaseBound: whoever set the finalizers of a pod takes them away.
func releaseBound(p *player, s Step) error {
	if pod := s.arg("pod"); !p.world.Store.hasFinalizers(pod) {
		return fmt.Errorf("%s has no finalizers", pod)
	}
	return p.world.Store.TakeFinalizers(s.arg("pod"))
}

// finalizers are those that are there, and what they keep.
func (e *eye) finalizers(store *Store) {
	for _, pod := range e.pods {
		e.see["api.held["+pod+"]"] = store.hasFinalizers(pod)
		e.see["api.lingers["+pod+"]"] = store.lingers(pod)
	}
}
