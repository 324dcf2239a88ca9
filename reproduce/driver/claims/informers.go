package podrace

import (
	informers "k8s.io/client-go/informers/resource"
	resourcev1 "k8s.io/client-go/informers/resource/v1"
	"k8s.io/client-go/tools/cache"
)

// Resource has the event handler of the informer of claims behind a gate: it is that of the assume cache.
func (f *gatedInformers) Resource() informers.Interface {
	return &gatedResource{f.SharedInformerFactory.Resource(), f}
}

type gatedResource struct {
	informers.Interface
	factory *gatedInformers
}

func (r *gatedResource) V1() resourcev1.Interface {
	return &gatedResourceV1{r.Interface.V1(), r.factory}
}

type gatedResourceV1 struct {
	resourcev1.Interface
	factory *gatedInformers
}

func (r *gatedResourceV1) ResourceClaims() realClaimInformer {
	return &gatedClaimInformer{r.Interface.ResourceClaims(), r.factory}
}

type gatedClaimInformer struct {
	realClaimInformer
	factory *gatedInformers
}

func (i *gatedClaimInformer) Informer() cache.SharedIndexInformer {
	return &gatedInformer{i.realClaimInformer.Informer(), claimEvent, i.factory}
}
