"""Which devices are taken, as the scheduler knows it (dra_manager.go and allocateddevices.go in framework/plugins/dynamicresources, 1.36).

Three things that are not under one lock: the assume cache, the devices that its events have shown to be allocated, and the allocations in flight, from
Reserve until the claim is written and assumed. A device counts as free if neither of the last two has it.
"""

from __future__ import annotations

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
    """`in_flight[c]`: the device that a pod's Reserve has chosen for the claim. `allocated[d]`: the events of the cache show the device allocated.

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
        """Another process: nothing is in flight, and the handler was given these allocations."""
        self.reset()
        for device in self.counted:
            self.allocated[device] = any_of(as_expr(chosen) == device for chosen in devices.values())

    @property
    def counted(self) -> list[Device]:
        """What takes something: foreachAllocatedDevice passes over what an administrator's claim has."""
        return [device for device in self.universe[Device] if device.draws]

    def update(self, old: Value, new: Value) -> None:
        """onUpdate: a claim was allocated, or deallocated; one that has another device than before is not looked at."""
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
        """The claim as one that pods of a group refer to."""
        return next((share for share in self.universe[ClaimShare] if share.claim is claim), None)

    def signal(self, claim: Claim, device: Device) -> None:
        """SignalClaimPendingAllocation: the claim is in flight, for one pod, or for one more; unless it is allocated by now.

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
        """Whether the assume cache has the claim as allocated, so that nothing needs to be in flight."""
        return self.claim_cache.latest[claim].allocated

    def loses(self, claim: Claim) -> Expr:
        """Whether `signal` looks the claim up in the assume cache and does not find it, which is an error. A special one is not looked up."""
        return as_expr(False) if claim.special else ~self.is_pending(claim) & ~self.claim_cache.has(claim)

    def is_last(self, claim: Claim) -> Expr:
        """Whether one pod at most counts on the allocation in flight."""
        share = self.share(claim)
        return as_expr(True) if share is None else self.sharers[share] <= 1

    def remove(self, claim: Claim, *, forced: bool = True) -> None:
        """MaybeRemoveClaimPendingAllocation (RemoveClaimPendingAllocation up to 1.35): one pod less counts on it, or, `forced`, none."""
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
        """From here on a change of the allocated devices is noticed."""
        for watch in self.universe[ClaimWatch]:
            self.changed[watch] = False

    def is_stale(self) -> Expr:
        """errClaimTrackerConcurrentModification: the allocated devices changed while the list was made."""
        return any_of(self.changed[watch] for watch in self.universe[ClaimWatch])

    def has_in_flight(self, device: Device) -> Expr:
        """Whether some claim is in flight with the device."""
        return any_of(self.in_flight[claim] == device for claim in self.universe[Claim])
