package podrace

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// The taint eviction controller is no part of the scheduler: what it hears of and plans is the model's. What it writes is the store's.

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
