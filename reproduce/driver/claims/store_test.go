package podrace

import (
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func storeWithClaim() *Store {
	s := newStore()
	s.Create(&resourceapi.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default", UID: "c"}})
	s.sent[claimKind] = 1
	return s
}

func allocated(claim *resourceapi.ResourceClaim, pod string) *resourceapi.ResourceClaim {
	next := claim.DeepCopy()
	next.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{Results: []resourceapi.DeviceRequestAllocationResult{{Device: "d"}}}}
	next.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{{Resource: "pods", Name: pod, UID: types.UID(pod)}}
	return next
}

// An UPDATE of the finalizer is a write that the model does not have; one from an old object is a conflict.
func TestClaimIsWrittenWithItsVersion(t *testing.T) {
	s := storeWithClaim()
	old := s.Claim("c").DeepCopy()
	with := old.DeepCopy()
	with.Finalizers = []string{resourceapi.Finalizer}
	written, err := s.UpdateClaim(with)
	if err != nil || !s.IsBeyond(written.ResourceVersion) {
		t.Fatalf("%v, beyond the model: %v", err, written)
	}
	if _, err := s.UpdateClaimStatus(allocated(old, "a")); !apierrors.IsConflict(err) {
		t.Errorf("no conflict, but %v", err)
	}
	told, err := s.UpdateClaimStatus(allocated(written, "a"))
	if err != nil || s.IsBeyond(told.ResourceVersion) {
		t.Fatalf("%v: %v", err, told)
	}
	if lag := s.behind("c", old); lag != 1 { // of two writes the model has one
		t.Errorf("the object that was created is %d writes behind", lag)
	}
	if again, err := s.UpdateClaimStatus(told); err != nil || again.ResourceVersion != told.ResourceVersion {
		t.Errorf("%v: a write that changes nothing has version %s after %s", err, again.ResourceVersion, told.ResourceVersion)
	}
}

// Nobody can be in reservedFor of a claim that is not allocated; whoever leaves it does so by a PATCH without a version.
func TestReservedForNeedsAnAllocation(t *testing.T) {
	s := storeWithClaim()
	none := allocated(s.Claim("c"), "a")
	none.Status.Allocation = nil
	if _, err := s.UpdateClaimStatus(none); !apierrors.IsInvalid(err) {
		t.Errorf("not refused, but %v", err)
	}
	if _, err := s.UpdateClaimStatus(allocated(s.Claim("c"), "a")); err != nil {
		t.Fatal(err)
	}
	patch := `{"metadata": {"uid": "c"}, "status": {"reservedFor": [{"$patch": "delete", "uid": "a"}]}}`
	left, err := s.PatchClaim("c", types.StrategicMergePatchType, []byte(patch))
	if err != nil || len(left.Status.ReservedFor) > 0 || deviceOf(left) != "d" {
		t.Errorf("%v: %v", err, left)
	}
	if _, err := s.PatchClaim("c", types.StrategicMergePatchType, []byte(`{"metadata": {"uid": "other"}}`)); !apierrors.IsInvalid(err) {
		t.Errorf("another UID is not refused, but %v", err)
	}
	if err := s.DeleteClaim("c"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateClaimStatus(allocated(s.Claim("c"), "b")); !apierrors.IsInvalid(err) {
		t.Errorf("a claim that is being deleted is reserved: %v", err)
	}
}

// A claim that is allocated stays when it is deleted. An event that is missed is not delivered, and the next one of the claim is.
func TestClaimsGoAndEventsAreMissed(t *testing.T) {
	s := storeWithClaim()
	if err := s.MissClaim("c"); err == nil {
		t.Error("nothing is under way, and an event was missed")
	}
	if _, err := s.UpdateClaimStatus(allocated(s.Claim("c"), "a")); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteClaim("c"); err != nil || s.Claim("c") == nil || s.Claim("c").DeletionTimestamp == nil {
		t.Fatalf("%v: %v", err, s.Claim("c"))
	}
	if err := s.RemoveClaim("c"); err != nil || s.Claim("c") != nil {
		t.Fatalf("%v: %v", err, s.Claim("c"))
	}
	for n, want := range []int{3, 2, 1} {
		if left := len(s.underWay(claimKind)); left != want {
			t.Errorf("after %d missed events %d are under way", n, left)
		}
		if n < 2 {
			if err := s.MissClaim("c"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if name := s.Deliver(claimKind); name != "c" || s.Undelivered(claimKind) != 0 {
		t.Errorf("delivered is one of %q, and %d are left", name, s.Undelivered(claimKind))
	}
	if life := s.lifeWithout("c", false); life != isGone {
		t.Errorf("what is told of the claim is %d", life)
	}
}
