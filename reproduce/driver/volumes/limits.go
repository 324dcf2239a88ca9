package podrace

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CSINodes whose limits are told late, and VolumeAttachments: what drivers and the attach/detach controller write, and when the scheduler's informers are shown it.

const laterLimit = ".podrace.io/later" // after the name of a driver: what the CSINode will say

var (
	csiNodesResource    = storagev1.SchemeGroupVersion.WithResource("csinodes")
	attachmentsResource = storagev1.SchemeGroupVersion.WithResource("volumeattachments")
)

func init() {
	for step, r := range map[string]rule{
		"csi_nodes.update": {do: elsewhere},
		"csi_nodes.attach": {do: elsewhere},
		"csi_nodes.detach": {do: elsewhere},

		"csi_informers.deliver_limit":      {do: showLimit},
		"csi_informers.deliver_attachment": {do: showAttachment},
	} {
		rules[step] = r
	}
}

// showLimit: the informer's watch tells of a CSINode in which the driver says how many volumes the node takes.
func showLimit(p *player, s Step) error {
	driver, node, _ := strings.Cut(s.arg("of"), " on ")
	found, err := p.world.others.Get(csiNodesResource, "", node)
	if err != nil {
		return err
	}
	of := found.(*storagev1.CSINode).DeepCopy()
	var count int32
	for _, c := range of.Annotations[driver+laterLimit] {
		count = 10*count + c - '0'
	}
	said := storagev1.CSINodeDriver{Name: driver, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &count}}
	for n, d := range of.Spec.Drivers {
		if d.Name == driver {
			of.Spec.Drivers[n] = said
			return p.world.others.Update(csiNodesResource, of, "")
		}
	}
	of.Spec.Drivers = append(of.Spec.Drivers, said)
	return p.world.others.Update(csiNodesResource, of, "")
}

// showAttachment: its watch tells of a VolumeAttachment that was made, or that is gone.
func showAttachment(p *player, s Step) error {
	volume, node, _ := strings.Cut(s.arg("at"), " on ")
	name := volume + "." + node
	if p.expects("csi_informers.attached[%s]", s.arg("at")) != "true" {
		return p.world.others.Delete(attachmentsResource, "", name)
	}
	driver := ""
	for _, o := range p.world.storage {
		if of, is := o.(*v1.PersistentVolume); is && of.Name == volume && of.Spec.CSI != nil {
			driver = of.Spec.CSI.Driver
		}
	}
	source := storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}
	made := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: node, Source: source}}
	return p.world.others.Create(attachmentsResource, made, "")
}

// limits are the CSINodes and VolumeAttachments that the informers have.
func (e *eye) limits(w *World) {
	informed := w.Informers.Storage().V1()
	for variable := range w.Case.Initial {
		name, indices := parts(variable)
		switch name {
		case "csi_informers.attached":
			volume, node, _ := strings.Cut(indices[0], " on ")
			_, there, _ := informed.VolumeAttachments().Informer().GetStore().GetByKey(volume + "." + node)
			e.see[variable] = there
		case "csi_informers.shown":
			driver, node, _ := strings.Cut(indices[0], " on ")
			e.see[variable] = false
			if of, err := informed.CSINodes().Lister().Get(node); err == nil {
				for _, d := range of.Spec.Drivers {
					e.see[variable] = e.see[variable] == true || d.Name == driver && text(*d.Allocatable.Count) == of.Annotations[driver+laterLimit]
				}
			}
		}
	}
}
