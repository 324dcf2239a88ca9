package podrace

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Who looks after nodes: autoscalers make nodes, and take those away that they have found empty some time before, the taint eviction controller takes pods away from
// them. What these hear of and plan is the model's; what they write is the store's.

// isOfDaemonSet is whether a pod keeps no node in being.
func isOfDaemonSet(pod *v1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// looksEmpty is whether the API server shows nobody on a node, and nobody who is to go there.
func (s *Store) looksEmpty(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
		if isOfDaemonSet(p) {
			continue
		}
		if p.Spec.NodeName == node || p.Spec.NodeName == "" && p.Status.NominatedNodeName == node {
			return false
		}
	}
	return true
}

// findEmpty: it decides on a node.
func findEmpty(p *player, s Step) error {
	if !p.world.Store.looksEmpty(s.arg("node")) {
		return fmt.Errorf("%s is not empty", s.arg("node"))
	}
	p.world.doomed[s.arg("node")] = true
	return nil
}

// hasNobody is whether the API server shows nobody who is bound to a node.
func (s *Store) hasNobody(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
		if p.Spec.NodeName == node && !isOfDaemonSet(p) {
			return false
		}
	}
	return true
}

// tainting is whether the autoscaler taints a node before it looks once more, in this case.
func (c *Case) tainting(node string) bool {
	_, there := c.Initial["autoscaler.cleared["+node+"]"]
	return there
}

// putTaint: it writes its taint to the node: the node's object is in the version that has it.
func putTaint(p *player, s Step) error {
	return p.world.updateNode(p.expects("api.node_version[%s]", s.arg("node")))
}

// lookAgain: it looks once more, at bound pods alone; those of a node that it drains it lists.
func lookAgain(p *player, s Step) error {
	node := s.arg("node")
	if p.world.drained[node] {
		p.world.listToEvict(node)
	} else if !p.world.Store.hasNobody(node) {
		return fmt.Errorf("somebody is on %s", node)
	}
	p.world.cleared[node] = true
	return nil
}

// takeAway: it deletes the node, if that is still there.
func takeAway(p *player, s Step) error {
	node := s.arg("node")
	if p.world.Case.tainting(node) && !p.world.cleared[node] {
		return fmt.Errorf("the autoscaler has not looked at %s once more", node)
	}
	p.forgetDrain(node)
	delete(p.world.doomed, node)
	delete(p.world.cleared, node)
	if p.world.Store.Node(node) == nil {
		return nil
	}
	return p.world.Store.DeleteNode(node)
}

// spare: it has looked again, and somebody is there. It takes its taint from the node.
func spare(p *player, s Step) error {
	node, taints := s.arg("node"), p.world.Case.tainting(s.arg("node"))
	if taints && p.world.Store.hasNobody(node) || !taints && p.world.Store.looksEmpty(node) {
		return fmt.Errorf("%s is empty", node)
	}
	return p.letStay(node)
}

// makeNode: it makes a node for a pod that fits nowhere, and nominates the pod there where it does so.
func makeNode(p *player, s Step) error {
	node, pod := s.arg("node"), s.arg("pod")
	if err := createNode(p, s); err != nil {
		return err
	}
	if _, nominates := s.Changes["api.pod["+pod+"].nominated"]; !nominates {
		return nil
	}
	nominated := fmt.Sprintf(`{"status":{"nominatedNodeName":%q}}`, node)
	_, err := p.world.Store.Patch(pod, types.StrategicMergePatchType, []byte(nominated))
	return err
}

const byTaintManager = `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager"}]}}`

// deleteByName: it says of whichever pod has the name by now that it is a victim, and deletes it; it is over also if nobody has the name.
func deleteByName(p *player, s Step) error {
	store := p.world.Store
	pod := store.holder(store.names.of(s.arg("pod")))
	_, err := store.Patch(pod, types.StrategicMergePatchType, []byte(byTaintManager))
	if err == nil {
		err = store.DeletePod(pod)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
