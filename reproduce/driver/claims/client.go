package podrace

import (
	"context"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	resourcev1 "k8s.io/client-go/kubernetes/typed/resource/v1"
)

// ResourceV1 has claims from the store; classes and slices are those of the embedded clientset.
func (c *client) ResourceV1() resourcev1.ResourceV1Interface {
	return &resourceClient{c.Interface.ResourceV1(), c}
}

type resourceClient struct {
	resourcev1.ResourceV1Interface
	client *client
}

func (c *resourceClient) ResourceClaims(namespace string) resourcev1.ResourceClaimInterface {
	return &claimClient{c.ResourceV1Interface.ResourceClaims(namespace), c.client}
}

type claimClient struct {
	resourcev1.ResourceClaimInterface
	client *client
}

func (c *claimClient) List(context.Context, metav1.ListOptions) (*resourceapi.ResourceClaimList, error) {
	objects, version, err := c.client.store.list(claimKind)
	if err != nil {
		return nil, err
	}
	list := &resourceapi.ResourceClaimList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, o := range objects {
		list.Items = append(list.Items, *o.(*resourceapi.ResourceClaim))
	}
	return list, nil
}

func (c *claimClient) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return c.client.store.watch(claimKind), nil
}

func (c *claimClient) Get(ctx context.Context, name string, _ metav1.GetOptions) (*resourceapi.ResourceClaim, error) {
	return c.call(ctx, "Claim.Get", name, func() (*resourceapi.ResourceClaim, error) {
		if claim := c.client.store.ClaimNamed(name); claim != nil {
			return claim.DeepCopy(), nil
		}
		return nil, apierrors.NewNotFound(resource(claimKind), name)
	})
}

func (c *claimClient) Create(ctx context.Context, claim *resourceapi.ResourceClaim, _ metav1.CreateOptions) (*resourceapi.ResourceClaim, error) {
	return c.call(ctx, "Claim.Create", "", func() (*resourceapi.ResourceClaim, error) {
		return c.client.store.CreateClaim(claim, c.client.gate.owner.specials)
	})
}

func (c *claimClient) Delete(ctx context.Context, name string, _ metav1.DeleteOptions) error {
	_, err := c.call(ctx, "Claim.Delete", name, func() (*resourceapi.ResourceClaim, error) {
		claim := c.client.store.ClaimNamed(name)
		if claim == nil {
			return nil, apierrors.NewNotFound(resource(claimKind), name)
		}
		if len(claim.Finalizers) > 0 {
			return nil, c.client.store.DeleteClaim(idOf(claim))
		}
		return nil, c.client.store.RemoveClaim(idOf(claim))
	})
	return err
}

func (c *claimClient) Update(ctx context.Context, claim *resourceapi.ResourceClaim, _ metav1.UpdateOptions) (*resourceapi.ResourceClaim, error) {
	return c.call(ctx, "Claim.Update", idOf(claim), func() (*resourceapi.ResourceClaim, error) { return c.client.store.UpdateClaim(claim) })
}

func (c *claimClient) UpdateStatus(ctx context.Context, claim *resourceapi.ResourceClaim, _ metav1.UpdateOptions) (*resourceapi.ResourceClaim, error) {
	return c.call(ctx, "Claim.UpdateStatus", idOf(claim), func() (*resourceapi.ResourceClaim, error) { return c.client.store.UpdateClaimStatus(claim) })
}

func (c *claimClient) Patch(ctx context.Context, name string, kind types.PatchType, patch []byte, _ metav1.PatchOptions, of ...string) (*resourceapi.ResourceClaim, error) {
	return c.call(ctx, "Claim.Patch", name, func() (*resourceapi.ResourceClaim, error) {
		if len(of) != 1 || of[0] != "status" {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("unexpected PATCH of %v", of))
		}
		return c.client.store.PatchClaim(name, kind, patch)
	})
}

// call is one about a claim: it stops before and after, and fails if the case has that in store for it.
func (c *claimClient) call(ctx context.Context, name, claim string, do func() (*resourceapi.ResourceClaim, error)) (out *resourceapi.ResourceClaim, err error) {
	call := c.client.gate.enter(name, claim)
	defer func() { call.leave(err) }()
	if c.client.gate.owner.isDead() {
		return nil, context.Canceled
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.client.store.takeFault(name, claim) == failed {
		return nil, apierrors.NewBadRequest(errFault.Error())
	}
	return do()
}
