package podrace

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// PersistentVolumes and PersistentVolumeClaims at the API server. Their names are their UIDs.

// What the annotations of claims and volumes are called (k8s.io/component-helpers/storage/volume).
const (
	bindCompleted     = "pv.kubernetes.io/bind-completed"
	boundByController = "pv.kubernetes.io/bound-by-controller"
	selectedNode      = "volume.kubernetes.io/selected-node"
	askedProvisioner  = "volume.kubernetes.io/storage-provisioner"
	madeFor           = "podrace.io/made-for" // of a volume that a provisioner has made
)

// Volume is a volume as the API server has it; nil if it has none.
func (s *Store) Volume(name string) *v1.PersistentVolume {
	volume, _ := s.stored(volumeKind, name).(*v1.PersistentVolume)
	return volume
}

// VolumeClaim is a claim of a volume as the API server has it; nil if it has none.
func (s *Store) VolumeClaim(name string) *v1.PersistentVolumeClaim {
	claim, _ := s.stored(volumeClaimKind, name).(*v1.PersistentVolumeClaim)
	return claim
}

func (s *Store) stored(kind, name string) runtime.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.storage[kind][name]
}

// UpdateStorage is an UPDATE of a volume or a claim. What changes nothing has no event.
func (s *Store) UpdateStorage(kind string, given runtime.Object) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := given.(metav1.Object)
	now := s.storage[kind][idOf(meta)]
	if now == nil {
		return nil, apierrors.NewNotFound(resource(kind), meta.GetName())
	}
	if meta.GetResourceVersion() != now.(metav1.Object).GetResourceVersion() {
		return nil, apierrors.NewConflict(resource(kind), meta.GetName(), fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	if same(now, given) {
		return now.DeepCopyObject(), nil
	}
	beyond := ""
	if text(storageProjection(now)) == text(storageProjection(given)) {
		beyond = "nothing that the model has"
	}
	next := given.DeepCopyObject()
	s.commit(kind, watch.Modified, next, beyond)
	return next.DeepCopyObject(), nil
}

// write has the API server's object be this one; nil for none. Who writes that is somebody else than the scheduler, who has read the object as it is.
func (s *Store) write(kind string, now, next runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case next == nil:
		s.commit(kind, watch.Deleted, now.DeepCopyObject(), "")
	case now == nil:
		s.commit(kind, watch.Added, next, "")
	case text(storageProjection(now)) != text(storageProjection(next)):
		s.commit(kind, watch.Modified, next, "")
	}
}

// storageProjection is what the model has of a volume or a claim.
func storageProjection(o runtime.Object) map[string]any {
	switch t := o.(type) {
	case *v1.PersistentVolume:
		return map[string]any{"exists": t != nil, "claim": claimRefOf(t), "node": madeOn(t)}
	case *v1.PersistentVolumeClaim:
		if t == nil {
			t = &v1.PersistentVolumeClaim{}
			return claimFields(t, false)
		}
		return claimFields(t, true)
	}
	return nil
}

func claimFields(claim *v1.PersistentVolumeClaim, exists bool) map[string]any {
	_, completed := claim.Annotations[bindCompleted]
	_, asked := claim.Annotations[askedProvisioner]
	return map[string]any{
		"exists": exists, "terminating": claim.DeletionTimestamp != nil, "volume": orNil(claim.Spec.VolumeName),
		"selected": orNil(claim.Annotations[selectedNode]), "completed": completed, "asked": asked,
	}
}

func claimRefOf(volume *v1.PersistentVolume) any {
	if volume == nil || volume.Spec.ClaimRef == nil {
		return nil
	}
	return orNil(string(volume.Spec.ClaimRef.UID))
}

// madeOn is the node to which a volume is tied that a provisioner has made.
func madeOn(volume *v1.PersistentVolume) any {
	if volume == nil || volume.Annotations[madeFor] == "" || volume.Spec.NodeAffinity == nil {
		return nil
	}
	return orNil(volume.Annotations[madeFor])
}

// tieTo ties a volume that a provisioner makes to a node.
func tieTo(volume *v1.PersistentVolume, node *v1.Node) {
	metav1.SetMetaDataAnnotation(&volume.ObjectMeta, madeFor, node.Name)
	term := v1.NodeSelectorRequirement{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{node.Labels[v1.LabelHostname]}}
	volume.Spec.NodeAffinity = &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{term}}}}}
}

// behindInStorage is how many writes came after the version of an object, or after what the scheduler's cache was given where it has none.
func (w *World) behindInStorage(kind, name string, object metav1.Object, there bool) int {
	s := w.Store
	s.mu.Lock()
	defer s.mu.Unlock()
	version, later := 0, 0
	if there {
		_, _ = fmt.Sscan(object.GetResourceVersion(), &version)
	} else if n := w.told[kind]; n > 0 {
		version = s.log[kind][n-1].version
	}
	for _, event := range s.log[kind] {
		if event.name == name && event.version > version && event.beyond == "" {
			later++
		}
	}
	return min(later, mostStorageBehind)
}

// mostStorageBehind: a copy that so many writes or more have made old is just old.
const mostStorageBehind = 7
