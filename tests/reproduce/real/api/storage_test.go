package podrace

import (
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Claims of devices, volumes and their claims; evictions.

type claim = resourceapi.ResourceClaim

func (s *stand) getClaim(name string) *claim {
	s.t.Helper()
	found, err := s.ResourceV1().ResourceClaims(s.namespace).Get(background, name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// update is an UPDATE of a claim that was read: of its status, or of the rest.
func (s *stand) update(read *claim, status bool, changes ...func(*claim)) func() (any, error) {
	return func() (any, error) {
		next := read.DeepCopy()
		for _, change := range changes {
			change(next)
		}
		write := s.ResourceV1().ResourceClaims(s.namespace).Update
		if status {
			write = s.ResourceV1().ResourceClaims(s.namespace).UpdateStatus
		}
		out, err := write(background, next, metav1.UpdateOptions{})
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

func reports(c *claim) {
	c.Status.Devices = []resourceapi.AllocatedDeviceStatus{{Driver: "d.example.com", Pool: "pool", Device: "d1", Conditions: []metav1.Condition{
		{Type: isReady, Status: metav1.ConditionTrue, Reason: "Reported", LastTransitionTime: metav1.Now()},
	}}}
}

func isFinalized(c *claim)   { c.Finalizers = []string{resourceapi.Finalizer} }
func isUnfinalized(c *claim) { c.Finalizers = nil }
func isDeallocated(c *claim) { c.Status.Allocation, c.Status.ReservedFor = nil, nil }

func isAllocatedTo(device string) func(*claim) {
	return func(c *claim) {
		c.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{
			Results: []resourceapi.DeviceRequestAllocationResult{{Request: "r", Driver: "d.example.com", Pool: "pool", Device: device}},
		}}
	}
}

func isReservedFor(name string) func(*claim) {
	return func(c *claim) {
		c.Status.ReservedFor = append(c.Status.ReservedFor, resourceapi.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: types.UID(name)})
	}
}

// allocate makes a claim that is allocated, and reserved for a pod.
func (s *stand) allocate(name, user string) {
	s.t.Helper()
	s.make(sample(claimKind, name))
	_, err := s.update(s.getClaim(name), false, isFinalized)()
	s.set(err)
	_, err = s.update(s.getClaim(name), true, isAllocatedTo("d1"), isReservedFor(user))()
	s.set(err)
}

func (s *stand) readClaim(name string) func() (any, error) {
	return func() (any, error) {
		found, err := s.ResourceV1().ResourceClaims(s.namespace).Get(background, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return found, nil
	}
}

func (s *stand) deleteClaim(name string) func() (any, error) {
	return func() (any, error) {
		return nil, s.ResourceV1().ResourceClaims(s.namespace).Delete(background, name, metav1.DeleteOptions{})
	}
}

const (
	updatesOf  = "UPDATE of a claim"
	statusOfIt = "UPDATE of a claim's status"
	patchesOf  = "PATCH of a claim's status"
	deletesOf  = "DELETE of a claim"
)

func claims(s *stand) {
	s.make(sample(claimKind, "c"))
	first := s.getClaim("c")
	s.call("GET of a claim", "that is there", s.readClaim("c"))
	s.call("GET of a claim", "that does not exist", s.readClaim("nobody"))
	s.call(updatesOf, "the finalizer is set", s.update(first, false, isFinalized))
	s.call(updatesOf, "from an old object", s.update(first, false, isFinalized))
	s.call(updatesOf, "nothing changes", s.update(s.getClaim("c"), false))
	s.call(updatesOf, "also changes the status", s.update(s.getClaim("c"), false, isAllocatedTo("d2")))
	s.call(statusOfIt, "from an old object", s.update(first, true, isAllocatedTo("d1"), isReservedFor("p")))
	s.call(statusOfIt, "reserved, but not allocated", s.update(s.getClaim("c"), true, isReservedFor("p")))
	s.call(statusOfIt, "allocated and reserved", s.update(s.getClaim("c"), true, isAllocatedTo("d1"), isReservedFor("p")))
	s.call(statusOfIt, "nothing changes", s.update(s.getClaim("c"), true))
	s.call(statusOfIt, "a condition of the claim's device", s.update(s.getClaim("c"), true, reports))
	s.call(statusOfIt, "also removes the finalizer", s.update(s.getClaim("c"), true, isUnfinalized))
	s.call(statusOfIt, "another allocation in place of the first", s.update(s.getClaim("c"), true, isAllocatedTo("d2")))
	s.call(statusOfIt, "a second reservation", s.update(s.getClaim("c"), true, isReservedFor("q")))
	s.call(statusOfIt, "deallocated while it is reserved", s.update(s.getClaim("c"), true, func(c *claim) { c.Status.Allocation = nil }))
	s.call(statusOfIt, "deallocated", s.update(s.getClaim("c"), true, isDeallocated))
	s.call(statusOfIt, "a condition of a device that is not allocated to the claim", s.update(s.getClaim("c"), true, reports))
	s.call(updatesOf, "the finalizer is removed", s.update(s.getClaim("c"), false, isUnfinalized))
	s.call(updatesOf, "of a claim that does not exist", s.update(sample(claimKind, "nobody").(*claim), false, isFinalized))
}

func (s *stand) unreserve(name string, uid types.UID, user string) func() (any, error) {
	return func() (any, error) {
		patch := fmt.Sprintf(`{"metadata": {"uid": %q}, "status": { "reservedFor": [ {"$patch": "delete", "uid": %q} ] }}`, uid, user)
		out, err := s.ResourceV1().ResourceClaims(s.namespace).Patch(background, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

func reservations(s *stand) {
	s.allocate("c", "p")
	uid := s.getClaim("c").UID
	s.set(func() error { _, err := s.update(s.getClaim("c"), true, isReservedFor("q"))(); return err }())
	s.call(patchesOf, "removes a reservation", s.unreserve("c", uid, "p"))
	s.call(patchesOf, "removes a reservation that does not exist", s.unreserve("c", uid, "p"))
	s.call(patchesOf, "removes the last reservation", s.unreserve("c", uid, "q"))
	s.call(patchesOf, "of a claim that does not exist", s.unreserve("nobody", uid, "q"))
}

func claimsThatGo(s *stand) {
	s.make(sample(claimKind, "free"))
	s.call(deletesOf, "without finalizers", s.deleteClaim("free"))
	s.call(deletesOf, "that is gone", s.deleteClaim("free"))
	s.call(deletesOf, "by a user; the claim does not exist", func() (any, error) { return nil, s.deleteObject(claimKind, "free") })
	s.allocate("c", "p")
	s.call(deletesOf, "by a user; the claim is allocated", func() (any, error) { return nil, s.deleteObject(claimKind, "c") })
	s.call(deletesOf, "that is terminating", s.deleteClaim("c"))
	s.call(statusOfIt, "a reservation; the claim is terminating", s.update(s.getClaim("c"), true, isReservedFor("q")))
	s.call(patchesOf, "removes the reservation; the claim is terminating", s.unreserve("c", s.getClaim("c").UID, "p"))
	s.call(statusOfIt, "deallocated; the claim is terminating", s.update(s.getClaim("c"), true, isDeallocated))
	s.call(statusOfIt, "allocated; the claim is terminating", s.update(s.getClaim("c"), true, isAllocatedTo("d1"), isReservedFor("p")))
	s.call("the finalizer is removed", "from a claim that is terminating", s.other(claimKind, "c", change{release.patch, "", (*Store).RemoveClaim}))
	s.make(sample(claimKind, "held"))
	_, err := s.update(s.getClaim("held"), false, isFinalized)()
	s.set(err)
	s.call(deletesOf, "that has the finalizer, but is not allocated", s.deleteClaim("held"))
}

func claimsOfOneName(s *stand) {
	s.allocate("c", "p")
	old := s.getClaim("c")
	_, err := s.deleteClaim("c")()
	s.set(err)
	s.set(s.change(claimKind, "c", change{release.patch, "", (*Store).RemoveClaim}))
	s.call(statusOfIt, "of a claim that is gone", s.update(old, true, isReservedFor("q")))
	s.call(patchesOf, "of a claim that is gone", s.unreserve("c", old.UID, "p"))
	s.allocate("c", "p")
	s.call(updatesOf, "of a claim that is gone; a new claim has its name", s.update(old, false, isUnfinalized))
	s.call(statusOfIt, "of a claim that is gone; a new claim has its name", s.update(old, true, isReservedFor("q")))
	s.call(patchesOf, "of a claim that is gone; a new claim has its name", s.unreserve("c", old.UID, "p"))
}

// createdClaims are those that the scheduler makes for extended resources. Their names are not compared.
func createdClaims(s *stand) {
	var names []string
	create := func() (any, error) {
		c := sample(claimKind, "").(*claim)
		yes := true
		c.GenerateName, c.UID = "user-extended-resources-", ""
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "user", UID: "user", Controller: &yes}}
		c.Status.ReservedFor = []resourceapi.ResourceClaimConsumerReference{{Resource: "pods", Name: "user", UID: "user"}}
		made, err := s.ResourceV1().ResourceClaims(s.namespace).Create(background, c, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if made.Name == "" || slices.Contains(names, made.Name) || made.UID == "" || made.ResourceVersion == "" {
			return nil, errors.New("no name, UID or version of its own")
		}
		names = append(names, made.Name)
		s.renamed[made.Name] = fmt.Sprint("made", len(names))
		return made, nil
	}
	s.call("POST of a claim", "with generateName", create)
	s.call("POST of a claim", "with the same generateName", create)
}

func (s *stand) updateVolume(read *v1.PersistentVolume, is func(*v1.PersistentVolume)) func() (any, error) {
	return func() (any, error) {
		next := read.DeepCopy()
		is(next)
		out, err := s.CoreV1().PersistentVolumes().Update(background, next, metav1.UpdateOptions{})
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

func volumes(s *stand) {
	const call = "UPDATE of a volume"
	name := "v" + s.suffix
	s.make(sample(volumeKind, name))
	list, err := s.CoreV1().PersistentVolumes().List(background, metav1.ListOptions{})
	s.set(err)
	var first *v1.PersistentVolume
	for _, v := range list.Items {
		if v.Name == name {
			first = v.DeepCopy()
		}
	}
	claimed := func(uid string) func(*v1.PersistentVolume) {
		return func(v *v1.PersistentVolume) {
			v.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "ns", Name: uid, UID: types.UID(uid)}
		}
	}
	same := func(*v1.PersistentVolume) {}
	var second *v1.PersistentVolume
	s.call(call, "nothing changes", s.updateVolume(first, same))
	s.call(call, "reserved for a claim", func() (any, error) {
		out, err := s.updateVolume(first, claimed("c"))()
		second, _ = out.(*v1.PersistentVolume)
		return out, err
	})
	s.call(call, "from an old object", s.updateVolume(first, claimed("d")))
	s.call(call, "reserved for another claim", s.updateVolume(second, claimed("d")))
	gone := sample(volumeKind, "gone"+s.suffix).(*v1.PersistentVolume)
	gone.ResourceVersion = "1"
	s.call(call, "that does not exist", s.updateVolume(gone, claimed("c")))
}

func volumeClaims(s *stand) {
	const call = "UPDATE of a volume's claim"
	s.make(sample(volumeClaimKind, "c"))
	read := func() *v1.PersistentVolumeClaim {
		list, err := s.CoreV1().PersistentVolumeClaims(s.namespace).List(background, metav1.ListOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		for n := range list.Items {
			if list.Items[n].Name == "c" {
				return &list.Items[n]
			}
		}
		return nil
	}
	first := read()
	update := func(from *v1.PersistentVolumeClaim, is func(*v1.PersistentVolumeClaim)) func() (any, error) {
		return func() (any, error) {
			next := from.DeepCopy()
			is(next)
			out, err := s.CoreV1().PersistentVolumeClaims(s.namespace).Update(background, next, metav1.UpdateOptions{})
			if err != nil {
				return nil, err
			}
			return out, nil
		}
	}
	selected := func(node string) func(*v1.PersistentVolumeClaim) {
		return func(c *v1.PersistentVolumeClaim) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, selectedNode, node)
		}
	}
	s.call(call, "a node is selected", update(first, selected("n")))
	s.call(call, "from an old object", update(first, selected("m")))
	s.call(call, "the same node again", update(read(), selected("n")))
	s.call("the volume controller's write", "binds a claim", s.other(volumeClaimKind, "c", change{`{"spec":{"volumeName":"v"}}`, "", func(s *Store, name string) error {
		now := s.VolumeClaim(name)
		next := now.DeepCopy()
		next.Spec.VolumeName = "v"
		s.write(volumeClaimKind, now, next)
		return nil
	}}))
	gone := sample(volumeClaimKind, "gone").(*v1.PersistentVolumeClaim)
	gone.ResourceVersion = "1"
	s.call(call, "that does not exist", update(gone, selected("n")))
}

// evictions: the driver plays them as steps of the model, and says of one that is refused only that it is.
func (s *stand) eviction(name string) func() (any, error) {
	return func() (any, error) {
		if err := s.evict(name); err != nil {
			return nil, fmt.Errorf("refused: %v", err.Error())
		}
		return nil, nil
	}
}

func evictions(s *stand) {
	const call = "eviction"
	for _, name := range []string{"p", "q", "r"} {
		s.make(pod(name, "n", web, runs))
	}
	s.call(call, "the budget allows one disruption", s.eviction("p"))
	s.call(call, "the budget allows no more disruptions", s.eviction("q"))
	s.call(call, "of a pod that is terminating", s.eviction("p"))
	s.finish("r")
	s.call(call, "of a finished pod; the budget allows no disruption", s.eviction("r"))
	s.make(pod("pending", "", web))
	s.call(call, "of a pending pod; the budget allows no disruption", s.eviction("pending"))
}

func evictionsWithoutBudget(s *stand) {
	s.make(pod("p", "n", runs))
	s.call("eviction", "of a pod without a budget", s.eviction("p"))
	s.call("eviction", "of a pod that does not exist", s.eviction("nobody"))
}
