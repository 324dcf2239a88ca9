package podrace

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Where pods count for their budgets only while they are ready, kubelets write whether they are; what has their probes fail is the trace's.

// podReadiness is the status of a pod's condition Ready; of one that says nothing of it, it is unknown.
func podReadiness(pod *v1.Pod) v1.ConditionStatus {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == v1.PodReady {
			return condition.Status
		}
	}
	return v1.ConditionUnknown
}

// setReadiness: a kubelet writes the condition of a pod that is on its node.
func setReadiness(status v1.ConditionStatus) func(*player, Step) error {
	return func(p *player, s Step) error {
		pod := s.arg("pod")
		if !p.world.Store.runs(pod) {
			return fmt.Errorf("%s does not run", pod)
		}
		condition := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q}]}}`, status)
		_, err := p.world.Store.Patch(pod, types.StrategicMergePatchType, []byte(condition))
		return err
	}
}

// startPod: the kubelet has started the containers of a pod, and writes its phase.
func startPod(p *player, s Step) error {
	pod := s.arg("pod")
	if !p.world.Store.runs(pod) {
		return fmt.Errorf("%s does not run", pod)
	}
	_, err := p.world.Store.Patch(pod, types.StrategicMergePatchType, []byte(`{"status":{"phase":"Running"}}`))
	return err
}

// isReady is whether a pod counts for its budgets: where nobody looks at readiness, every pod does.
func (w *World) isReady(pod string) bool {
	now := w.Store.Pod(pod)
	return !w.budgets.probes || now != nil && podReadiness(now) == v1.ConditionTrue
}

// spares is whether the eviction of a pod takes nothing from its budget: one that is not ready may go while enough others are, or by the budget's policy, and one that is Pending
// since 1.19 (canIgnorePDB in registry/core/pod/storage/eviction.go).
func (w *World) spares(b *budget, pod string) bool {
	if !w.budgets.probes || w.isReady(pod) {
		return false
	}
	if w.isPending(pod) {
		return true
	}
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	desired := w.budgets.desired[idOf(b)]
	return desired > 0 && int(b.Status.CurrentHealthy) >= desired
}

// isPending is whether the containers of a pod have not been started, where phases are looked at.
func (w *World) isPending(pod string) bool {
	now := w.Store.Pod(pod)
	return w.budgets.phases && now != nil && now.Status.Phase == v1.PodPending
}
