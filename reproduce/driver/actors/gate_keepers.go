package podrace

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// Whoever holds pods back takes its scheduling gate away, and may write before that or with it where the pod is to go.

// numberOfGates is the annotation of a pod that is created with several gates: how many.
const numberOfGates = "podrace.io/gates"

// gateOf are the name and the pod of a gate, "gate example.com/quota of a".
func gateOf(s Step) (name, pod string) {
	text := strings.TrimPrefix(s.arg("gate"), "gate ")
	name, pod, _ = strings.Cut(text, " of ")
	return name, pod
}

// direct: an update of its own.
func direct(p *player, s Step) error {
	_, pod := gateOf(s)
	version, err := p.versionInModel(pod)
	if err != nil {
		return err
	}
	return p.world.Store.UpdatePod(version)
}

// letGo: the update that takes the gate away, and in which the pod becomes what the model has.
func letGo(p *player, s Step) error {
	name, pod := gateOf(s)
	version, err := p.versionInModel(pod)
	if err != nil {
		return err
	}
	return p.world.Store.RemoveGate(pod, name, version)
}

// versionInModel is the version in which the model has a pod now.
func (p *player) versionInModel(pod string) (*v1.Pod, error) {
	number := p.number("api.pod[" + pod + "].version")
	for _, object := range p.world.Case.PodVersions {
		if idOf(object) == pod && podVersion(object) == number {
			return object, nil
		}
	}
	for _, object := range p.world.Case.Pods {
		if idOf(object) == pod && number == 0 {
			return object, nil
		}
	}
	return nil, fmt.Errorf("the case has no version %d of %s", number, pod)
}

// RemoveGate is an UPDATE that takes one scheduling gate of a pod away, and makes it this version.
func (s *Store) RemoveGate(pod, gate string, version *v1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[pod]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), s.names.of(pod))
	}
	q := p.DeepCopy()
	q.Spec.SchedulingGates = slices.DeleteFunc(q.Spec.SchedulingGates, func(g v1.PodSchedulingGate) bool { return g.Name == gate })
	if len(q.Spec.SchedulingGates) == len(p.Spec.SchedulingGates) {
		return fmt.Errorf("%s has no gate %s", pod, gate)
	}
	becomes(q, version)
	s.commit(podKind, watch.Modified, q, "")
	return nil
}

// openedGates is how many gates a pod has lost, as long as it has another.
func openedGates(pod *v1.Pod) int {
	had := 0
	if _, err := fmt.Sscan(pod.Annotations[numberOfGates], &had); err != nil || len(pod.Spec.SchedulingGates) == 0 {
		return 0
	}
	return had - len(pod.Spec.SchedulingGates)
}

// gates are those that are gone from pods which have others.
func (e *eye) gates(store *Store) {
	for _, variable := range e.versions.learned.gates {
		_, indices := parts(variable)
		gate, pod := gateOf(Step{Args: map[string]any{"gate": indices[0]}})
		now := store.Pod(pod)
		is := func(g v1.PodSchedulingGate) bool { return g.Name == gate }
		e.see[variable] = now != nil && len(now.Spec.SchedulingGates) > 0 && !slices.ContainsFunc(now.Spec.SchedulingGates, is)
	}
}
