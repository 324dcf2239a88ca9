package podrace

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// What users, the resource claim controller and the garbage collector do with claims: writes to the store.

func createClaim(p *player, s Step) error {
	for _, o := range p.world.claims {
		if idOf(o.(metav1.Object)) == s.arg("claim") {
			p.world.Store.Create(o)
			return nil
		}
	}
	return fmt.Errorf("the case has no claim %s", s.arg("claim"))
}

// nameClaims: the claims that were made for a pod are named in the status of whoever has its name by now, if anybody has.
func nameClaims(p *player, s Step) error {
	for _, q := range p.world.Case.Pods {
		if idOf(q) != s.arg("user") {
			continue
		}
		store := p.world.Store
		holder := store.holder(store.names.of(idOf(q)))
		store.mu.Lock()
		defer store.mu.Unlock()
		now := store.pods[holder]
		if now == nil {
			return nil
		}
		next := now.DeepCopy()
		next.Status.ResourceClaimStatuses = nil
		for _, claim := range q.Spec.ResourceClaims {
			if claim.ResourceClaimTemplateName != nil { // it has the name of the claim that is made from it
				next.Status.ResourceClaimStatuses = append(next.Status.ResourceClaimStatuses, v1.PodResourceClaimStatus{Name: claim.Name, ResourceClaimName: claim.ResourceClaimTemplateName})
			}
		}
		store.commit(podKind, watch.Modified, next, "")
		return nil
	}
	return fmt.Errorf("the case has no pod %s", s.arg("user"))
}

// releaseClaim: a claim that is being deleted loses its allocation first, and then its finalizer: it is gone.
func releaseClaim(p *player, s Step) error {
	claim := p.world.Store.Claim(s.arg("claim"))
	if claim != nil && claim.Status.Allocation != nil {
		return controlClaim(p, s)
	}
	return p.world.Store.RemoveClaim(s.arg("claim"))
}

// controlClaim: the resource claim controller writes a claim, as the model's does.
func controlClaim(p *player, s Step) error {
	claim := p.world.Store.Claim(s.arg("claim"))
	if claim == nil {
		return fmt.Errorf("there is no claim %s", s.arg("claim"))
	}
	next := claim.DeepCopy()
	at := "resource_claims.object[" + s.arg("claim") + "]"
	if p.expects("%s.device", at) == "" {
		next.Status.Allocation = nil
	}
	known := next.Status.ReservedFor
	next.Status.ReservedFor = nil
	for _, pod := range p.world.Case.Pods {
		if p.expects("%s.reserved[%s]", at, idOf(pod)) == "true" {
			user := resourceapi.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
			if n := slices.IndexFunc(known, func(u resourceapi.ResourceClaimConsumerReference) bool { return u.UID == pod.UID }); n >= 0 {
				user = known[n]
			}
			next.Status.ReservedFor = append(next.Status.ReservedFor, user)
		}
	}
	_, err := p.world.Store.UpdateClaimStatus(next)
	return err
}
