package podrace

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// Who looks after nodes: the cluster autoscaler takes those away that it has found empty some time before, the taint eviction controller takes pods away from
// them. What these hear of and plan is the model's; what they write is the store's.

// looksEmpty is whether the API server shows nobody on a node, and nobody who is to go there.
func (s *Store) looksEmpty(node string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
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

// takeAway: it deletes the node, if that is still there.
func takeAway(p *player, s Step) error {
	delete(p.world.doomed, s.arg("node"))
	if p.world.Store.Node(s.arg("node")) == nil {
		return nil
	}
	return p.world.Store.DeleteNode(s.arg("node"))
}

// spare: it has looked again, and somebody is there.
func spare(p *player, s Step) error {
	if p.world.Store.looksEmpty(s.arg("node")) {
		return fmt.Errorf("%s is empty", s.arg("node"))
	}
	delete(p.world.doomed, s.arg("node"))
	return nil
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
