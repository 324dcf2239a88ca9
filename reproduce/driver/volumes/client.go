package podrace

import (
	"context"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Volumes and their claims come from the store, and the scheduler's writes stop at the gate.

func (c *coreClient) PersistentVolumes() corev1.PersistentVolumeInterface {
	return &volumeClient{c.CoreV1Interface.PersistentVolumes(), c.client}
}

func (c *coreClient) PersistentVolumeClaims(namespace string) corev1.PersistentVolumeClaimInterface {
	return &volumeClaimClient{c.CoreV1Interface.PersistentVolumeClaims(namespace), c.client}
}

type volumeClient struct {
	corev1.PersistentVolumeInterface
	client *client
}

func (c *volumeClient) List(context.Context, metav1.ListOptions) (*v1.PersistentVolumeList, error) {
	objects, version, err := c.client.store.list(volumeKind)
	list := &v1.PersistentVolumeList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, o := range objects {
		list.Items = append(list.Items, *o.(*v1.PersistentVolume))
	}
	return list, err
}

func (c *volumeClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return c.client.store.watch(volumeKind), nil
}

func (c *volumeClient) Update(ctx context.Context, volume *v1.PersistentVolume, _ metav1.UpdateOptions) (*v1.PersistentVolume, error) {
	out, err := c.client.updateStorage(ctx, updatesVolume, volumeKind, volume)
	written, _ := out.(*v1.PersistentVolume)
	return written, err
}

type volumeClaimClient struct {
	corev1.PersistentVolumeClaimInterface
	client *client
}

func (c *volumeClaimClient) List(context.Context, metav1.ListOptions) (*v1.PersistentVolumeClaimList, error) {
	objects, version, err := c.client.store.list(volumeClaimKind)
	list := &v1.PersistentVolumeClaimList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, o := range objects {
		list.Items = append(list.Items, *o.(*v1.PersistentVolumeClaim))
	}
	return list, err
}

func (c *volumeClaimClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return c.client.store.watch(volumeClaimKind), nil
}

func (c *volumeClaimClient) Update(ctx context.Context, claim *v1.PersistentVolumeClaim, _ metav1.UpdateOptions) (*v1.PersistentVolumeClaim, error) {
	out, err := c.client.updateStorage(ctx, updatesClaim, volumeClaimKind, claim)
	written, _ := out.(*v1.PersistentVolumeClaim)
	return written, err
}

// updateStorage is an UPDATE: it stops before and after.
func (c *client) updateStorage(ctx context.Context, call, kind string, given runtime.Object) (out runtime.Object, err error) {
	passing := c.gate.enter(call, given)
	defer func() { passing.leave(err) }()
	if c.gate.owner.isDead() {
		return nil, context.Canceled
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.store.UpdateStorage(kind, given)
}
