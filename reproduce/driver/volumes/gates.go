package podrace

import (
	"fmt"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Where the plugin VolumeBinding and the informers of volumes and claims can be held: its calls of its binder, the UPDATEs, each look whether claims are bound,
// and the events that the queue is told, and up to 1.34 the assume caches.
const (
	updatesVolume = "Storage.UpdateVolume"
	updatesClaim  = "Storage.UpdateClaim"
	looks         = "Volumes.Look" // checkBindings begins with the node
)

func init() {
	for _, call := range []string{
		updatesVolume, updatesClaim, looks, volumeEvent, volumeClaimEvent,
		"Volumes.GetPodVolumeClaims", "Volumes.AssumePodVolumes", "Volumes.RevertAssumedPodVolumes", "Volumes.BindPodVolumes",
	} {
		held[call] = true
	}
}

// gateVolumes puts gates around the binder of VolumeBinding.
func (i *instance) gateVolumes(g *gate, a *answers) error {
	binder := path(i.reservePlugin("VolumeBinding"), "Binder")
	if !binder.IsValid() {
		return fmt.Errorf("VolumeBinding has no field Binder")
	}
	real := binder.Interface().(volumesInterface)
	i.volumes = reflect.ValueOf(real)
	i.Informers.passive = path(real, "pvCache", "assumed").IsValid()
	nodes := path(real, "nodeLister")
	if !nodes.IsValid() {
		return fmt.Errorf("the binder of VolumeBinding has no field nodeLister")
	}
	nodes.Set(reflect.ValueOf(&gatedNodeLister{nodes.Interface().(corelisters.NodeLister), g}))
	binder.Set(reflect.ValueOf(&orderedVolumes{&gatedVolumes{real, g}, a}))
	return nil
}

// gatedNodeLister stops whoever looks whether claims are bound: once a second, while it waits for that.
type gatedNodeLister struct {
	corelisters.NodeLister
	gate *gate
}

func (l *gatedNodeLister) Get(name string) (*v1.Node, error) {
	call := l.gate.enter(looks, name)
	defer call.leave()
	return l.NodeLister.Get(name)
}

// orderedVolumes has the volumes of each class tried in the order in which the trace chooses them: of those that are as large the first is taken.
type orderedVolumes struct {
	*gatedVolumes
	answers *answers
}

func (o *orderedVolumes) GetPodVolumeClaims(logger klog.Logger, pod *v1.Pod) (podVolumeClaims, error) {
	claims, err := o.gatedVolumes.GetPodVolumeClaims(logger, pod)
	for _, listed := range values(path(claims, "unboundVolumesDelayBinding")) {
		volumes, _ := as[[]*v1.PersistentVolume](listed)
		place := func(volume *v1.PersistentVolume) int {
			if n := slices.Index(o.answers.volumes, volume.Name); n >= 0 {
				return n
			}
			return len(o.answers.volumes)
		}
		slices.SortStableFunc(volumes, func(a, b *v1.PersistentVolume) int { return place(a) - place(b) })
	}
	return claims, err
}

func (c *gatedCoreV1) PersistentVolumes() realVolumeInformer {
	return &gatedVolumeInformer{c.Interface.PersistentVolumes(), c.factory}
}

func (c *gatedCoreV1) PersistentVolumeClaims() realVolumeClaimInformer {
	return &gatedVolumeClaimInformer{c.Interface.PersistentVolumeClaims(), c.factory}
}

type gatedVolumeInformer struct {
	realVolumeInformer
	factory *gatedInformers
}

func (i *gatedVolumeInformer) Informer() cache.SharedIndexInformer {
	return &gatedInformer{i.realVolumeInformer.Informer(), volumeEvent, i.factory}
}

type gatedVolumeClaimInformer struct {
	realVolumeClaimInformer
	factory *gatedInformers
}

func (i *gatedVolumeClaimInformer) Informer() cache.SharedIndexInformer {
	return &gatedInformer{i.realVolumeClaimInformer.Informer(), volumeClaimEvent, i.factory}
}

// passesStorage is whether a handler is given an event of volumes without a stop: a deletion, of which the queue is not told, and, where the assume caches read
// the informer's store, all that they are told.
func (h *gatedHandler) passesStorage(deleted bool) bool {
	if h.event != volumeEvent && h.event != volumeClaimEvent {
		return false
	}
	cached := h.number < h.factory.handlers[h.event]
	return cached && h.factory.passive || !cached && deleted
}
