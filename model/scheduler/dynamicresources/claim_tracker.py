"""Which devices are taken, as the scheduler knows it (dra_manager.go and allocateddevices.go in framework/plugins/dynamicresources, 1.36).

Three things that are not under one lock: the assume cache, the devices that its events have shown to be allocated, and the allocations in flight, from
Reserve until the claim is written and assumed. A device counts as free if neither of the last two has it.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from ...environment.objects import Claim, Device
from ...environment.storage.claims import MOST_SHARERS, ClaimShare, ClaimWatch
from ...language import (
    Component,
    Expr,
    Value,
    Words,
    any_of,
    as_expr,
    boolean,
    clamp,
    constraint,
    integer,
    otherwise,
    per,
    ref,
    when,
)


class AssumedClaims(Protocol):
    """The assume cache of claims, as the tracker sees it."""

    latest: Any  # per claim, a ClaimObject

    def has(self, claim: Claim) -> Expr:
        """Whether there is an object of the claim."""


class ClaimTracker(Component):
    """The tracker of claims in flight. `in_flight[c]`: the device that a pod's Reserve has chosen for the claim. `allocated[d]`: by the cache's events, the device is allocated.

    `changed`: the allocated devices changed since they were last read (their revision). `sharers[s]`: so many pods count on the allocation in flight.
    """

    claim_cache: AssumedClaims

    in_flight = per(Claim, ref(Device))
    allocated = per(Device, boolean())
    changed = per(ClaimWatch, boolean())
    sharers = per(ClaimShare, integer(0, MOST_SHARERS))

    phrases = {
        "in_flight": Words(
            "in flight: {0} is being allocated {after}",
            "in flight: {0} is not there any more",
            decisive=True,
        ),
        "allocated": Words(
            "allocated devices: {0} is taken", "allocated devices: {0} is free", decisive=True
        ),
    }

    def setup(self) -> None:
        for claim in self.universe[Claim]:
            if claim.device is not None and claim.device.draws:
                self.allocated[claim.device] = True

    def begin_with(self, devices: Mapping[Claim, Value]) -> None:
        """A new process: nothing is in flight, and the handler has received these allocations."""
        self.reset()
        for device in self.counted:
            self.allocated[device] = any_of(as_expr(chosen) == device for chosen in devices.values())

    @property
    def counted(self) -> list[Device]:
        """What takes something: foreachAllocatedDevice passes over what an administrator's claim has."""
        return [device for device in self.universe[Device] if device.draws]

    def update(self, old: Value, new: Value) -> None:
        """onUpdate: a claim was allocated or deallocated. A claim that changes its device is ignored."""
        before, after = as_expr(old), as_expr(new)
        differs = before.is_none != after.is_none
        if len(self.counted) < len(self.universe[Device]):
            differs = differs & any_of((before == d) | (after == d) for d in self.counted)
        for device in self.counted:
            with when(before.is_none & (after == device)):
                self.allocated[device] = True
            with when(after.is_none & (before == device)):
                self.allocated[device] = False
        for watch in self.universe[ClaimWatch]:
            with when(differs):
                self.changed[watch] = True

    def is_pending(self, claim: Claim) -> Expr:
        """GetPendingAllocation (ClaimHasPendingAllocation up to 1.35): whether the claim is in flight."""
        return as_expr(self.in_flight[claim]).is_some

    def share(self, claim: Claim) -> ClaimShare | None:
        """The claim, as one that several pods of a group use."""
        return next((share for share in self.universe[ClaimShare] if share.claim is claim), None)

    def signal(self, claim: Claim, device: Device) -> None:
        """SignalClaimPendingAllocation: the claim is in flight for one pod, or for one more. An allocated claim is not.

        A special claim is in flight under a UID that the attempt has made up, which no cache knows.
        """
        if claim.special:
            self.in_flight[claim] = device
            return
        share = self.share(claim)
        if share is None:
            with when(~self.is_allocated(claim)):
                self.in_flight[claim] = device
            return
        with when(self.is_pending(claim)):
            constraint("seven shares of an allocation", self.sharers[share] < MOST_SHARERS)
            self._count(share, 1)
        with otherwise(~self.is_allocated(claim)):
            self.in_flight[claim] = device
            self.sharers[share] = 1

    def is_allocated(self, claim: Claim) -> Expr:
        """Whether the claim is allocated in the assume cache, so that nothing needs to be in flight."""
        return self.claim_cache.latest[claim].allocated

    def loses(self, claim: Claim) -> Expr:
        """Whether `signal` does not find the claim in the assume cache, which is an error. It does not look for a special claim."""
        return as_expr(False) if claim.special else ~self.is_pending(claim) & ~self.claim_cache.has(claim)

    def is_last(self, claim: Claim) -> Expr:
        """Whether at most one pod uses the allocation in flight."""
        share = self.share(claim)
        return as_expr(True) if share is None else self.sharers[share] <= 1

    def remove(self, claim: Claim, *, forced: bool = True) -> None:
        """MaybeRemoveClaimPendingAllocation (RemoveClaimPendingAllocation up to 1.35): one pod less uses the allocation, or, if `forced`, none."""
        share = self.share(claim)
        if share is None:
            self.in_flight[claim] = None
            return
        ends = as_expr(True) if forced else self.is_last(claim)
        with when(ends):
            self.in_flight[claim] = None
            self.sharers[share] = 0
        with otherwise():
            self._count(share, -1)

    def _count(self, share: ClaimShare, more: int) -> None:
        self.sharers[share] = clamp(as_expr(self.sharers[share]) + more, 0, MOST_SHARERS)

    def begin_listing(self) -> None:
        """From now on, changes of the allocated devices are recorded."""
        for watch in self.universe[ClaimWatch]:
            self.changed[watch] = False

    def is_stale(self) -> Expr:
        """errClaimTrackerConcurrentModification: whether the allocated devices changed while they were listed."""
        return any_of(self.changed[watch] for watch in self.universe[ClaimWatch])

    def has_in_flight(self, device: Device) -> Expr:
        """Whether the device is in flight for some claim."""
        return any_of(self.in_flight[claim] == device for claim in self.universe[Claim])
