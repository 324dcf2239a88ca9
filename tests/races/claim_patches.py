"""Proposed patches for the open races of docs/claims.md, each as a subclass of a part of the scheduler."""

from __future__ import annotations

from podrace.model.scheduler.dynamicresources.find_devices import Stage
from podrace.patching import (
    ASSIGNED_POD_DELETE,
    DYNAMIC_RESOURCES,
    GONE,
    APIServer,
    AssumeCache,
    BindingPhase,
    ClaimChange,
    ClaimController,
    ClaimUse,
    ClusterEvent,
    Device,
    DynamicResources,
    Expr,
    Hints,
    NameOfUser,
    Node,
    Phase,
    Plugin,
    Pod,
    Value,
    any_of,
    as_expr,
    otherwise,
    require,
    when,
)


class OwnFlightEnded(DynamicResources):
    """Unreserve removes an allocation in flight only if Reserve of this pod has put it there."""

    def removes_in_flight(self, use: ClaimUse) -> Expr:
        return super().removes_in_flight(use) & as_expr(self.chosen[use]).is_some


class UnreservedAssumed(DynamicResources):
    """What the PATCH of Unreserve returns goes to the assume cache, as what PreBind has written does."""

    def patch_reservation(self, use: ClaimUse) -> None:
        super().patch_reservation(use)
        self.claim_cache.assume(use.claim, self.resource_claims.object[use.claim], 0)


class ReservedWhileOnANode(DynamicResources):
    """Unreserve asks the API server for the pod, and leaves the reservation of one that is on a node alone."""

    api: APIServer

    def gives_back(self, use: ClaimUse) -> Expr:
        return super().gives_back(use) & ~as_expr(self.api.pod[use.pod].assigned)


class SameAllocationAccepted(DynamicResources):
    """A claim that is allocated by the time of PreBind is no conflict if it has the very device that Reserve chose: the pod is merely reserved."""

    def is_accepted(self, use: ClaimUse, chosen: Expr) -> Expr:
        """Whether the allocation that was found will do."""
        return self.copy[use].device == chosen

    def refresh_claim(self, use: ClaimUse) -> None:
        chosen = as_expr(self.chosen[use])
        super().refresh_claim(use)
        with when(chosen.is_some & self.copy[use].allocated & self.is_accepted(use, chosen)):
            self._end_flight(use)
            self.stage[use] = Stage.CHECKED


class AllocationHereAccepted(SameAllocationAccepted):
    """The same for any device that the pod's node reaches."""

    def is_accepted(self, use: ClaimUse, chosen: Expr) -> Expr:
        device = self.copy[use].device
        at = self.binding.node[use.pod]
        return any_of(
            (at == n) & (device == d)
            for n in self.universe[Node]
            for d in self.universe[Device]
            if d.is_on(n)
        )


class ReservationKeptWhileTrying(DynamicResources):
    """What the cycle of a group takes back after it has tried its members is in memory only: nobody leaves reservedFor."""

    def patch_reservation(self, use: ClaimUse) -> None:
        self._require_unreserve(use)
        require(self._is(use, Stage.PATCH))
        with when(~self._takes_back(use)):
            self.resource_claims.write(use.claim, None, {use.pod: False}, keeps=True)
        self.stage[use] = Stage.UNRESERVED


class ReplacedLookedUp(ClaimController):
    """A pod whose name another has in the controller's lister is asked for at the API server before its reservation goes."""

    def is_taken_for_replaced(self, name: NameOfUser) -> Expr:
        return as_expr(False)


class FailedBindingHeard(Hints):
    """DynamicResources asks for assigned pods that are gone, which is what the queue is told when a binding has failed."""

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        asked = plugin.name == DYNAMIC_RESOURCES and event == ASSIGNED_POD_DELETE
        return asked or super().hears(plugin, event)


class OwnerUnasked(DynamicResources):
    """No patch, but a control: nobody looks whether the claim that a pod's status names is the pod's own."""

    def is_own(self, named: Value) -> Expr:
        return as_expr(named) != 0


class DeletionsTold(AssumeCache):
    """DynamicResources asks for claims that are gone, as from 1.37 on (140831)."""

    def tells_of_deletions(self) -> bool:
        return True


class OwnDeletionHeard(Hints):
    """The end of the special claim of the pod itself, allocated or not, has it tried again: that is what PostFilter promises when it deletes one."""

    def after_claim(self, pod: Pod, change: ClaimChange) -> Expr:
        wakes = super().after_claim(pod, change)
        own = change.claim.special and change.claim.owner == pod.name
        return wakes if change.gone is None or not own else wakes | change.gone


class UntoldClaimFails(DynamicResources):
    """PreBind fails if the informer has not delivered the special claim in time; Unreserve is as it was."""

    def tire_of_waiting(self, use: ClaimUse) -> None:
        super().tire_of_waiting(use)
        if use.claim.special:
            self.stage[use] = Stage.CHECKED
            self.binding.phase[use.pod] = BindingPhase.FORGET


class FlightKeptUntilDeleted(UntoldClaimFails):
    """The same, and the allocation stays in flight until Unreserve has deleted the claim."""

    def removes_in_flight(self, use: ClaimUse) -> Expr:
        ends = super().removes_in_flight(use)
        return ends & ~self.gives_back(use) if use.claim.special else ends

    def delete_claim(self, use: ClaimUse) -> None:
        super().delete_claim(use)
        if use.claim.special:
            self.copy[use] = self.resource_claims.object[use.claim]
            self.stage[use] = Stage.CHECKED


class RunningPodsAsked(DynamicResources):
    """PostFilter asks the API server for the pod before it deletes its special claim, and leaves the claim of a pod that is on a node alone."""

    api: APIServer

    def delete_stale(self, use: ClaimUse) -> None:
        if not use.claim.special:
            require(False)
            return
        running = as_expr(self.api.pod[use.pod].assigned)
        require(self.scheduler.at(Phase.DEALLOCATE, use.pod) & self.is_stale(use))
        with when(~running & self.resource_claims.is_stored(use.claim)):
            self.resource_claims.put(use.claim, GONE)
            self.scheduler.phase = self.scheduler.phase_after_fit_error()
        with otherwise():
            self.scheduler.phase = Phase.FAIL


class SharesCountedOnce(DynamicResources):
    """What is consumed by an allocation in flight is added only if its share is not among the allocated ones."""

    def adds_twice(self) -> bool:
        return False
