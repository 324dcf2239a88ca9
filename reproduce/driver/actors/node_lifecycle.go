package podrace

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// The node lifecycle controller, and what becomes of kubelets. What it has read, and plans, is the model's; the objects that it and kubelets write are the store's, and of a write it is
// looked at that it is one of its kind: of the condition Ready alone, or of taints alone that are added, or removed.

// Keys of the taints that the controller sets, each with the status of Ready that it stands for.
const (
	keyNotReady    = "node.kubernetes.io/not-ready"
	keyUnreachable = "node.kubernetes.io/unreachable"
)

// marks are the controller's taints of a node, by key and effect.
func marks(node *v1.Node) map[string]bool {
	found := map[string]bool{}
	for _, taint := range node.Spec.Taints {
		if taint.Key == keyNotReady || taint.Key == keyUnreachable {
			found[taint.Key+":"+string(taint.Effect)] = true
		}
	}
	return found
}

// readiness is the status of a node's condition Ready; one that says nothing of it is ready.
func readiness(node *v1.Node) v1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == v1.NodeReady {
			return condition.Status
		}
	}
	return v1.ConditionTrue
}

// isWithin is whether one set has all that the other has.
func isWithin(some, all map[string]bool) bool {
	for mark := range some {
		if !all[mark] {
			return false
		}
	}
	return true
}

// The kinds of writes to a node.
func writesStatus(old, now *v1.Node) bool {
	return isWithin(marks(old), marks(now)) && isWithin(marks(now), marks(old)) && readiness(old) != readiness(now)
}

func addsTaints(old, now *v1.Node) bool {
	return isWithin(marks(old), marks(now)) && readiness(old) == readiness(now)
}

func removesTaints(old, now *v1.Node) bool {
	return isWithin(marks(now), marks(old)) && readiness(old) == readiness(now)
}

// writeNode: a write to a node's object, of a kind; nothing where the node is gone, or stays as it is.
func writeNode(is func(old, now *v1.Node) bool) func(*player, Step) error {
	return func(p *player, s Step) error {
		node := s.arg("node")
		if _, written := s.Changes["api.node_version["+node+"]"]; !written {
			return nil
		}
		old := p.world.Store.Node(node)
		if old == nil {
			return fmt.Errorf("%s is gone", node)
		}
		if err := p.world.updateNode(p.expects("api.node_version[%s]", node)); err != nil {
			return err
		}
		if now := p.world.Store.Node(node); !is(old, now) {
			return fmt.Errorf("%s is no write of %s: Ready from %s to %s, taints from %v to %v", s.Step, node, readiness(old), readiness(now), old.Spec.Taints, now.Spec.Taints)
		}
		return nil
	}
}
