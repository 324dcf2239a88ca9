package podrace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
)

// ResourceClaims at the API server.

var claimsKind = schema.GroupKind{Group: resourceapi.GroupName, Kind: "ResourceClaim"}

// Claim is a claim as the API server has it; nil if it has none.
func (s *Store) Claim(name string) *resourceapi.ResourceClaim {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claimOf(name)
}

func (s *Store) claimOf(name string) *resourceapi.ResourceClaim {
	claim, _ := s.claims[name].(*resourceapi.ResourceClaim)
	return claim
}

// ClaimNamed is the claim that has a name; nil if there is none. A claim that the scheduler makes has another name each time.
func (s *Store) ClaimNamed(name string) *resourceapi.ResourceClaim {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.claims {
		if claim := o.(*resourceapi.ResourceClaim); claim.Name == name {
			return claim
		}
	}
	return nil
}

// CreateClaim is a POST of a claim that the scheduler makes for a pod's extended resources: it is given a name and a UID that no claim had before.
func (s *Store) CreateClaim(given *resourceapi.ResourceClaim, known specials) (*resourceapi.ResourceClaim, error) {
	if len(given.OwnerReferences) != 1 {
		return nil, apierrors.NewBadRequest("a claim that the scheduler makes has one owner")
	}
	id, has := known.of[plainID(string(given.OwnerReferences[0].UID))]
	if !has {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the model has no claim for the extended resources of %s", given.OwnerReferences[0].Name))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next, before := given.DeepCopy(), 0
	for _, event := range s.log[claimKind] {
		if event.name == id && event.Type == watch.Added {
			before++
		}
	}
	next.Name, next.UID = id, types.UID(id)
	if before > 0 {
		next.Name, next.UID = fmt.Sprint(id, "-", before+1), types.UID(fmt.Sprint(id, nextUID, before+1))
	}
	next.Status = resourceapi.ResourceClaimStatus{}
	s.commit(claimKind, watch.Added, next, "")
	return next.DeepCopy(), nil
}

// UpdateClaim is an UPDATE without the status: here it can only set the finalizer, which the model does not have (A-CLAIM-FINALIZER).
func (s *Store) UpdateClaim(given *resourceapi.ResourceClaim) (*resourceapi.ResourceClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := s.current(given)
	if err != nil {
		return nil, err
	}
	next := now.DeepCopy()
	next.Finalizers = slices.Clone(given.Finalizers)
	return s.putClaim(now, next, "a finalizer")
}

// UpdateClaimStatus is an UPDATE of the status.
func (s *Store) UpdateClaimStatus(given *resourceapi.ResourceClaim) (*resourceapi.ResourceClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := s.current(given)
	if err != nil {
		return nil, err
	}
	next := now.DeepCopy()
	given.Status.DeepCopyInto(&next.Status)
	return s.putClaim(now, next, "")
}

// current is the claim as it is, if what is given has its version.
func (s *Store) current(given *resourceapi.ResourceClaim) (*resourceapi.ResourceClaim, error) {
	now := s.claimOf(idOf(given))
	switch {
	case now == nil || now.Name != given.Name:
		return nil, apierrors.NewNotFound(resource(claimKind), given.Name)
	case given.ResourceVersion != "" && given.ResourceVersion != now.ResourceVersion:
		return nil, apierrors.NewConflict(resource(claimKind), given.Name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return now, nil
}

// PatchClaim is a PATCH of the status.
func (s *Store) PatchClaim(name string, kind types.PatchType, patch []byte) (*resourceapi.ResourceClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.claimOf(name)
	if now == nil {
		return nil, apierrors.NewNotFound(resource(claimKind), name)
	}
	if kind != types.StrategicMergePatchType {
		return nil, apierrors.NewBadRequest("unexpected kind of patch " + string(kind))
	}
	old, err := json.Marshal(now)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(old, patch, resourceapi.ResourceClaim{})
	if err != nil {
		return nil, err
	}
	next := &resourceapi.ResourceClaim{}
	if err := json.Unmarshal(merged, next); err != nil {
		return nil, err
	}
	if next.UID != now.UID {
		return nil, apierrors.NewInvalid(claimsKind, name, nil) // ValidateObjectMetaUpdate
	}
	return s.putClaim(now, next, "")
}

// putClaim writes a claim, as far as the validation of its status (ValidateResourceClaimStatusUpdate) lets it. What changes nothing has no event.
func (s *Store) putClaim(now, next *resourceapi.ResourceClaim, beyond string) (*resourceapi.ResourceClaim, error) {
	was, is := now.Status, next.Status
	isNew := func(user resourceapi.ResourceClaimConsumerReference) bool {
		return !slices.Contains(was.ReservedFor, user)
	}
	switch {
	case len(is.ReservedFor) > 0 && is.Allocation == nil,
		was.Allocation != nil && is.Allocation != nil && !same(was.Allocation, is.Allocation),
		now.DeletionTimestamp != nil && slices.ContainsFunc(is.ReservedFor, isNew):
		return nil, apierrors.NewInvalid(claimsKind, next.Name, nil)
	}
	// What is said of devices goes with their allocation (registry/resource/resourceclaim/strategy.go).
	next.Status.Devices = slices.DeleteFunc(next.Status.Devices, func(of resourceapi.AllocatedDeviceStatus) bool { return !isAllocated(next, of) })
	if len(next.Status.Devices) == 0 {
		next.Status.Devices = nil
	}
	if same(now, next) {
		return now.DeepCopy(), nil
	}
	if beyond == "" && claimProjection(now) == claimProjection(next) {
		beyond = "nothing that the model has"
	}
	s.commit(claimKind, watch.Modified, next, beyond)
	return next.DeepCopy(), nil
}

// claimProjection is what the model has of a claim.
func claimProjection(claim *resourceapi.ResourceClaim) string {
	return text([]any{deviceOf(claim), reservedFor(claim), claim.DeletionTimestamp != nil, readinessOf(claim)})
}

// deviceOf is what a claim is allocated, as the model calls it: a device, several, or a share of one; nil for none.
func deviceOf(claim *resourceapi.ResourceClaim) any {
	if claim == nil || claim.Status.Allocation == nil || len(claim.Status.Allocation.Devices.Results) == 0 {
		return nil
	}
	var found []string
	for _, result := range claim.Status.Allocation.Devices.Results {
		name := result.Device
		if result.ShareID != nil || result.AdminAccess != nil && *result.AdminAccess {
			name += "/" + idOf(claim)
		}
		found = append(found, name)
	}
	slices.Sort(found)
	return strings.Join(found, "+")
}

// sharesOf are the IDs of the shares that a claim has, or had.
func (s *Store) sharesOf(claim string) (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, event := range s.log[claimKind] {
		of, is := event.Object.(*resourceapi.ResourceClaim)
		if !is || event.name != claim || of.Status.Allocation == nil {
			continue
		}
		for _, result := range of.Status.Allocation.Devices.Results {
			if result.ShareID != nil {
				found = append(found, string(*result.ShareID))
			}
		}
	}
	return found
}

// reservedFor are the pods that a claim is reserved for.
func reservedFor(claim *resourceapi.ResourceClaim) map[string]bool {
	pods := map[string]bool{}
	if claim != nil {
		for _, user := range claim.Status.ReservedFor {
			pods[string(user.UID)] = true
		}
	}
	return pods
}

// DeleteClaim is a DELETE: a claim that is allocated is being deleted from now on, for its finalizer; any other is gone (A-CLAIM-FINALIZER).
func (s *Store) DeleteClaim(name string) error {
	s.mu.Lock()
	now := s.claimOf(name)
	if now == nil || now.Status.Allocation == nil {
		s.mu.Unlock()
		return s.RemoveClaim(name)
	}
	defer s.mu.Unlock()
	next, at := now.DeepCopy(), metav1.Now()
	next.DeletionTimestamp = &at
	_, err := s.putClaim(now, next, "")
	return err
}

// RemoveClaim takes a claim away.
func (s *Store) RemoveClaim(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.claimOf(name)
	if now == nil {
		return apierrors.NewNotFound(resource(claimKind), name)
	}
	s.commit(claimKind, watch.Deleted, now.DeepCopy(), "")
	return nil
}

// MissClaim has the watch never tell of the oldest event of a claim that is under way: a later one of that claim follows, which tells how it is.
func (s *Store) MissClaim(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := s.sent[claimKind]; n < len(s.log[claimKind]); n++ {
		if e := &s.log[claimKind][n]; e.name == name && !e.missed {
			e.missed = true
			if e.beyond == "" {
				return nil
			}
		}
	}
	return fmt.Errorf("no event of %s is under way", name)
}
