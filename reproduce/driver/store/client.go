package podrace

import (
	"context"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// client is the clientset of one scheduler process: pods and nodes come from the store, and writes stop at the gate. Everything else is
// what the embedded clientset has: empty lists and silent watches, and the disruption budgets.
type client struct {
	kubernetes.Interface
	store *Store
	gate  *gate
}

// IsWatchListSemanticsUnSupported is asked by reflectors, since client-go 0.35: lists are lists here.
func (c *client) IsWatchListSemanticsUnSupported() bool { return true }

func (c *client) CoreV1() corev1.CoreV1Interface { return &coreClient{c.Interface.CoreV1(), c} }

type coreClient struct {
	corev1.CoreV1Interface
	client *client
}

func (c *coreClient) Pods(namespace string) corev1.PodInterface {
	return &podClient{c.CoreV1Interface.Pods(namespace), c.client}
}

func (c *coreClient) Nodes() corev1.NodeInterface {
	return &nodeClient{c.CoreV1Interface.Nodes(), c.client}
}

type nodeClient struct {
	corev1.NodeInterface
	client *client
}

func (c *nodeClient) List(context.Context, metav1.ListOptions) (*v1.NodeList, error) {
	objects, version, err := c.client.store.list(nodeKind)
	if err != nil {
		return nil, err
	}
	list := &v1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, o := range objects {
		list.Items = append(list.Items, *o.(*v1.Node))
	}
	return list, nil
}

func (c *nodeClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return c.client.store.watch(nodeKind), nil
}

func (c *nodeClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.Node, error) {
	call := c.client.gate.enter("Client.GetNode", name)
	defer call.leave()
	if n := c.client.store.Node(name); n != nil {
		return n.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(resource(nodeKind), name)
}

type podClient struct {
	corev1.PodInterface
	client *client
}

func (c *podClient) List(_ context.Context, options metav1.ListOptions) (*v1.PodList, error) {
	if err := c.client.store.selectPods(options.FieldSelector); err != nil {
		return nil, err
	}
	objects, version, err := c.client.store.list(podKind)
	if err != nil {
		return nil, err
	}
	list := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, o := range objects {
		list.Items = append(list.Items, *o.(*v1.Pod))
	}
	return list, nil
}

func (c *podClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return c.client.store.watch(podKind), nil
}

func (c *podClient) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1.Pod, error) {
	if p := c.client.store.object(c.client.store.holder(name)); p != nil {
		return p.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(resource(podKind), name)
}

func (c *podClient) Patch(ctx context.Context, name string, kind types.PatchType, patch []byte, _ metav1.PatchOptions, _ ...string) (out *v1.Pod, err error) {
	err = c.write(ctx, "Client.Patch", &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name}}, func() error {
		out, err = c.client.store.Patch(c.client.store.holder(name), kind, patch)
		return err
	})
	return out.DeepCopy(), err
}

func (c *podClient) Bind(ctx context.Context, b *v1.Binding, _ metav1.CreateOptions) error {
	return c.write(ctx, "Client.Bind", b, func() error {
		holder := c.client.store.holder(b.Name)
		if b.UID != "" {
			if err := c.client.store.mustBe(holder, string(b.UID)); err != nil {
				return err
			}
		}
		return c.client.store.Bind(holder, b.Target.Name)
	})
}

func (c *podClient) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	return c.write(ctx, "Client.Delete", &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name}}, func() error {
		holder := c.client.store.holder(name)
		if wanted := options.Preconditions; wanted != nil && wanted.UID != nil {
			if err := c.client.store.mustBe(holder, string(*wanted.UID)); err != nil {
				return err
			}
		}
		return c.client.store.DeletePod(holder)
	})
}

// write is a call that changes a pod, which is given as a Binding is, by its name and maybe its UID: it stops before and after, and what the case has in store for it happens.
func (c *podClient) write(ctx context.Context, name string, about *v1.Binding, do func() error) (err error) {
	call := c.client.gate.enter(name, about)
	defer func() { call.leave(err) }()
	if c.client.gate.owner.isDead() {
		return context.Canceled
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	switch c.client.store.takeFault(name, about.Name) {
	case failed:
		return apierrors.NewBadRequest(errFault.Error()) // an error that nobody repeats the call after
	case transient:
		return apierrors.NewInternalError(errFault)
	case lost:
		if err := do(); err != nil {
			return err
		}
		return apierrors.NewBadRequest(errFault.Error())
	}
	return do()
}
