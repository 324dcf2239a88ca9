package podrace

import (
	"encoding/json"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
)

// What users, kubelets and schedulers write.

// Create writes a new object.
func (s *Store) Create(o runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, o := claimKind, o.DeepCopyObject()
	switch t := o.(type) {
	case *v1.Pod:
		kind = podKind
		s.giveUID(t)
	case *v1.Node:
		kind = nodeKind
	case *v1.PersistentVolume:
		kind = volumeKind
	case *v1.PersistentVolumeClaim:
		kind = volumeClaimKind
	}
	s.commit(kind, watch.Added, o, "")
}

// giveUID gives a pod a UID of its own, where there was one of its name before.
func (s *Store) giveUID(pod *v1.Pod) {
	id := idOf(pod)
	if n := s.created[id]; n > 0 {
		pod.UID = types.UID(fmt.Sprint(id, nextUID, n+1))
		pod.Spec.NodeName, pod.Status = "", v1.PodStatus{Phase: v1.PodPending} // the one before it may have been on a node at the start
	}
	s.created[id]++
}

// uid is the UID of the pod of a name that was created last.
func (s *Store) uid(id string) types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.created[id]; n > 1 {
		return types.UID(fmt.Sprint(id, nextUID, n))
	}
	return types.UID(id)
}

// DeleteNode removes a node; its pods stay.
func (s *Store) DeleteNode(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[name]
	if n == nil {
		return apierrors.NewNotFound(resource(nodeKind), name)
	}
	s.commit(nodeKind, watch.Deleted, n.DeepCopy(), "")
	return nil
}

// UpdateNode is an UPDATE of a node's object.
func (s *Store) UpdateNode(n *v1.Node) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes[n.Name] == nil {
		return apierrors.NewNotFound(resource(nodeKind), n.Name)
	}
	s.commit(nodeKind, watch.Modified, n.DeepCopy(), "")
	return nil
}

// holder is the pod that has a name: one that is there, or else one that has finished.
func (s *Store) holder(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
		if p.Name == name {
			return idOf(p)
		}
	}
	for _, p := range s.finished {
		if p.Name == name {
			return idOf(p)
		}
	}
	return name
}

// mustBe says that the UID is no other's than that of who has the name.
func (s *Store) mustBe(holder, uid string) error {
	if now := s.Pod(holder); now == nil || string(now.UID) == uid {
		return nil
	}
	return apierrors.NewConflict(resource(podKind), s.names.of(holder), fmt.Errorf("precondition failed: UID in precondition: %v, UID in object meta: %v", uid, holder))
}

// DeletePod is a DELETE of a pod: one that runs and has a grace period is terminating from now on, and so is a pending one that has
// finalizers; any other is gone.
func (s *Store) DeletePod(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	if ended := s.finished[name]; p == nil && ended != nil {
		delete(s.finished, name) // at once, and no watch that selects by phase tells of it
		if s.isHeld(ended) {
			q, now := ended.DeepCopy(), metav1.Now()
			q.DeletionTimestamp, s.finished[name] = &now, q
		}
		return nil
	}
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), name)
	}
	grace, pending := p.Spec.TerminationGracePeriodSeconds, p.Spec.NodeName == ""
	if !pending && (grace == nil || *grace > 0) || pending && len(p.Finalizers) > 0 || s.isHeld(p) {
		if p.DeletionTimestamp == nil {
			q, now := p.DeepCopy(), metav1.Now()
			q.DeletionTimestamp, q.DeletionGracePeriodSeconds = &now, grace
			s.commit(podKind, watch.Modified, q, "")
		}
		return nil
	}
	s.commit(podKind, watch.Deleted, p.DeepCopy(), "")
	return nil
}

// wasDeleted says whether the pod was there, and is gone.
func (s *Store) wasDeleted(pod string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.log[podKind], func(e event) bool { return e.name == pod && e.Type == watch.Deleted })
}

// RemovePod takes a pod away, as a kubelet does whose containers have stopped. One that its finalizers keep has finished before that (115331).
func (s *Store) RemovePod(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	switch {
	case p == nil:
		return apierrors.NewNotFound(resource(podKind), name)
	case s.isHeld(p):
		s.finish(p)
		now := metav1.Now()
		s.finished[name].DeletionTimestamp = &now
	default:
		s.commit(podKind, watch.Deleted, p.DeepCopy(), "")
	}
	return nil
}

// FinishPod has a pod succeed: the scheduler's watch, which selects by phase, tells of a deletion, and the object stays.
func (s *Store) FinishPod(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), name)
	}
	s.finish(p)
	return nil
}

// selectPods has the watch of pods select them by these fields. Up to 1.20 a second informer selects by none (93044): the watch is that of the first one.
func (s *Store) selectPods(by string) error {
	selector, err := fields.ParseSelector(by)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if by != "" || s.selects == nil {
		s.selects = selector
	}
	return nil
}

// finish has a pod end: its object is on no watch any more that selects by phase.
func (s *Store) finish(p *v1.Pod) {
	q := p.DeepCopy()
	q.Status.Phase = v1.PodSucceeded
	if s.selects != nil && s.selects.Matches(fields.Set{"status.phase": string(q.Status.Phase)}) {
		s.commit(podKind, watch.Modified, q.DeepCopy(), "")
	} else {
		s.commit(podKind, watch.Deleted, p.DeepCopy(), "")
	}
	if s.finished == nil {
		s.finished = map[string]*v1.Pod{}
	}
	s.finished[idOf(p)] = q
}

// OpenGates takes the scheduling gates of a pod away.
func (s *Store) OpenGates(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), name)
	}
	q := p.DeepCopy()
	q.Spec.SchedulingGates = nil
	s.commit(podKind, watch.Modified, q, "")
	return nil
}

// Bind is a Binding: it sets the node and PodScheduled=True, and clears the nomination.
func (s *Store) Bind(pod, node string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, name := s.pods[pod], s.names.of(pod)
	switch {
	case p == nil && s.finished[pod] == nil:
		return apierrors.NewNotFound(resource(podKind), name)
	case p == nil || p.Spec.NodeName != "":
		return apierrors.NewConflict(resource("pods/binding"), name, fmt.Errorf("pod %s is already assigned to a node", name))
	case p.DeletionTimestamp != nil:
		return apierrors.NewConflict(resource("pods/binding"), name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", name))
	case len(p.Spec.SchedulingGates) > 0:
		return apierrors.NewConflict(resource("pods/binding"), name, fmt.Errorf("pod %s has non-empty .spec.schedulingGates", name))
	}
	q := p.DeepCopy()
	q.Spec.NodeName = node
	if !s.keeps {
		q.Status.NominatedNodeName = ""
	}
	var conditions []v1.PodCondition
	for _, c := range q.Status.Conditions {
		if c.Type != v1.PodScheduled {
			conditions = append(conditions, c)
		}
	}
	q.Status.Conditions = append(conditions, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue})
	s.commit(podKind, watch.Modified, q, "")
	return nil
}

// Patch is a PATCH of a pod's status.
func (s *Store) Patch(pod string, kind types.PatchType, patch []byte) (*v1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, name := s.pods[pod], s.names.of(pod)
	if p == nil && s.finished[pod] != nil {
		return s.finished[pod].DeepCopy(), nil // its condition is nobody's business
	}
	if p == nil {
		return nil, apierrors.NewNotFound(resource(podKind), name)
	}
	if kind != types.StrategicMergePatchType {
		return nil, apierrors.NewBadRequest("unexpected kind of patch " + string(kind))
	}
	old, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(old, patch, v1.Pod{})
	if err != nil {
		return nil, err
	}
	q := &v1.Pod{}
	if err := json.Unmarshal(merged, q); err != nil {
		return nil, err
	}
	q.Spec = *p.Spec.DeepCopy()
	if same(p, q) {
		return p, nil // nothing is written, and no watch tells of it
	}
	if q.UID != p.UID { // the patch names another pod: ValidateObjectMetaUpdate
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, name, nil)
	}
	if nominated := q.Status.NominatedNodeName; !s.keeps && p.Spec.NodeName != "" && nominated != "" && nominated != p.Status.NominatedNodeName {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, name, nil) // ValidatePodStatusUpdate
	}
	tellNames(p, q)
	beyond := ""
	if projection(p) == projection(q) {
		beyond = "a status that the model does not tell apart"
	}
	s.commit(podKind, watch.Modified, q, beyond)
	if beyond != "" && isTarget(q) && !isTarget(p) {
		s.targets[q.ResourceVersion] = true
	}
	return q, nil
}

// isTarget is whether a pod carries the condition that it is a victim.
func isTarget(p *v1.Pod) bool {
	return p != nil && slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget })
}

// projection is what the model knows of a pod.
func projection(p *v1.Pod) string {
	return fmt.Sprint(p.Spec.NodeName, "|", p.Status.NominatedNodeName, "|", unschedulableSays(p), p.DeletionTimestamp != nil, len(p.Spec.SchedulingGates), "|", podVersion(p), "|", namedClaims(p))
}

// unschedulableSays is whether the pod's condition says that it could not be scheduled.
func unschedulableSays(p *v1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled {
			return c.Status == v1.ConditionFalse && c.Reason == v1.PodReasonUnschedulable
		}
	}
	return false
}
