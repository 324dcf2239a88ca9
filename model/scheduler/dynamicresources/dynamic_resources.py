"""The plugin DynamicResources (framework/plugins/dynamicresources/dynamicresources.go, 1.36): devices for the claims of a pod.

What it finds in the scheduling cycle is in `find_devices`. Reserve puts the allocations in flight. In the binding cycle: PreBind writes them, or mere
reservations, claim after claim. Unreserve takes back what was reserved. The special claim of a pod that asks for extended resources is made in PreBind,
and deleted in Unreserve.
"""

from typing import Any

from ...environment.faults import Fault
from ...environment.objects import Device, Node, Pod
from ...environment.storage.claims import GONE, THERE, ClaimUse
from ...language import (
    SOMETHING,
    Expr,
    Lasts,
    all_of,
    any_of,
    as_expr,
    changes,
    otherwise,
    require,
    select,
    step,
    tells,
    when,
)
from ..cycles.binding import BindingPhase
from ..framework.status import Phase
from .binding_conditions import BindingConditions
from .find_devices import Stage


class DynamicResources(BindingConditions):
    """Reserve, PreBind and Unreserve of the plugin."""

    # --- Reserve ---------------------------------------------------------------------------------------------

    def is_reserved(self, pod: Pod) -> Expr:
        """Whether Reserve of DynamicResources has finished."""
        return all_of(self.copy[use].allocated | self._is(use, Stage.RESERVED) for use in self.uses(pod))

    @step(actor="scheduler")
    @tells(
        changes("claim_tracker.in_flight"),
        "Reserve: {use} is to have {device}, which is in flight from now on.",
        changes("claim_tracker.sharers"),
        "Reserve: {use} is to have {device}, which is in flight for one pod more.",
        "Reserve: {use} is to have {device}; nothing is in flight, the claim is allocated by now.",
    )
    def reserve_claim(self, use: ClaimUse, device: Device) -> None:
        """Reserve, for one claim after the other: takes a device that was free in PreFilter, and that Filter found on the node.

        Of a group, Reserve comes twice: while the cycle tries, and for the pod's binding, with what was found then.
        """
        pod, host = use.pod, self.scheduler.host
        require(use.claim.rank(device) is not None)
        self._require_reserve(use)
        require(~self._is_lost(use))
        supply = self.supply(*self.earlier(use))
        rest = self.wanted([other for other in self.uses(pod) if other.index > use.index])
        free = any_of(
            (host == node) & supply.gives(use.claim, device, rest, node)
            for node in self.universe[Node]
            if device.is_on(node)
        )
        if self.is_of_group(use):
            found = as_expr(self.chosen[use])
            require(select(found.is_some, found == device, free))
        else:
            require(free)
        self.put_in_flight(use, device)
        self.chosen[use] = device
        self.stage[use] = Stage.RESERVED
        with when(self.is_reserved(pod)):
            self._unlist()

    @step(actor="scheduler")
    @tells("Reserve: {use} is gone from the assume cache, which is an error.")
    def lose_claim(self, use: ClaimUse) -> None:
        """Reserve: SignalClaimPendingAllocation does not find the claim, so Unreserve releases the earlier claims."""
        require(self.resource_claims.passes())
        self._require_reserve(use)
        require(self._is_lost(use))
        self._unlist()
        self.scheduler.fail_assumed(use.pod)

    def _require_reserve(self, use: ClaimUse) -> None:
        at = self.scheduler.at(Phase.RESERVE, use.pod) & self._is(use, Stage.CHECKED)
        require(at & ~self.copy[use].allocated)
        require(
            all_of(
                self.copy[other].allocated | self._is(other, Stage.RESERVED) for other in self.earlier(use)
            )
        )

    def _is_lost(self, use: ClaimUse) -> Expr:
        return as_expr(False) if self.is_of_group(use) else self.claim_tracker.loses(use.claim)

    def put_in_flight(self, use: ClaimUse, device: Device) -> None:
        """SignalClaimPendingAllocation, also for a pod that uses a claim which another pod of its group has put in flight."""
        self.claim_tracker.signal(use.claim, device)

    # --- PreBind ---------------------------------------------------------------------------------------------

    def is_bound(self, pod: Pod) -> Expr:
        """Whether PreBind of DynamicResources has finished all claims."""
        return self.is_written(pod) & self.has_waited(pod)

    def is_written(self, pod: Pod) -> Expr:
        return all_of(self._is_done(use) for use in self.uses(pod))

    def may_stop(self, pod: Pod) -> Expr:
        """Whether no claim of the pod still has to be assumed after its write. bindClaim does so even if its context has ended."""
        return all_of(~self._is_amid(use) for use in self.uses(pod))

    def _is_amid(self, use: ClaimUse) -> Expr:
        amid = (Stage.ASSUMED, Stage.GIVEN_UP)
        return self._is(use, *amid) if use.claim.special else self._is(use, Stage.WRITTEN, *amid)

    def _is_done(self, use: ClaimUse) -> Expr:
        through = (Stage.BOUND, Stage.READY) if self.heeds_conditions() else (Stage.BOUND,)
        return self._is(use, *through) | (self._is(use, Stage.CHECKED) & self.copy[use].reserved[use.pod])

    def _require_pre_bind(self, use: ClaimUse, *stages: Stage) -> None:
        cancelled = (self.binding.phase[use.pod] == BindingPhase.PRE_BIND_CANCELLED) & self._is_amid(use)
        require(((self.binding.phase[use.pod] == BindingPhase.PRE_BIND) | cancelled) & self._is(use, *stages))
        require(all_of(self._is_done(other) for other in self.earlier(use)) & ~self._is_done(use))

    @step(actor="binding cycle", each="use")
    @tells(
        changes("resource_claims.object.device", after=SOMETHING),
        "PreBind: the allocation of {use} is written, and that the claim is reserved for the pod.",
        changes("resource_claims.object.reserved", after=True),
        "PreBind: it is written that {use} is reserved.",
        changes("dynamic_resources.stage", after=Stage.REFRESH),
        "PreBind: {use} is to be written, and the API server refuses: the claim was written meanwhile.",
        "PreBind: {use} is to be reserved, and the API server refuses: the claim is not allocated.",
    )
    def write_claim(self, use: ClaimUse) -> None:
        """bindClaim: UPDATE of the status, with the version of the current object. After a conflict, the object is read again.

        The finalizer, which an UPDATE before sets with the same version, is not modelled (A-CLAIM-FINALIZER).
        """
        self._require_pre_bind(
            use, *((Stage.CREATED,) if use.claim.special else (Stage.CHECKED, Stage.RESERVED))
        )
        chosen = as_expr(self.chosen[use])
        current: Any = self.resource_claims.object[use.claim]
        with when(self.lag[use] != 0):
            self.stage[use] = Stage.REFRESH
        with otherwise(chosen.is_none & ~current.allocated):
            self.stage[use] = Stage.FAILED
        with otherwise():
            device = select(chosen.is_some, chosen, current.device)
            self.resource_claims.write(use.claim, device, {use.pod: True})
            self.copy[use] = self.resource_claims.object[use.claim]
            self.lag[use] = 0
            self.stage[use] = Stage.WRITTEN

    @step(actor="binding cycle", each="use")
    @tells(
        changes("dynamic_resources.stage", after=Stage.FAILED),
        "PreBind: {use} is read again, and whether it is allocated is not as it was before: the binding fails.",
        "PreBind: {use} is read again from the API server.",
    )
    def refresh_claim(self, use: ClaimUse) -> None:
        """After a conflict, GET: it is an error if the claim has been allocated meanwhile and this pod would allocate it."""
        self._require_pre_bind(use, Stage.REFRESH)
        read = self.resource_claims.is_stored(use.claim) if use.claim.special else as_expr(True)
        with when(read):
            self.copy[use] = self.resource_claims.object[use.claim]
            self.lag[use] = 0
        chosen = as_expr(self.chosen[use])
        with when((chosen.is_some & self.copy[use].allocated) | ~self.resource_claims.is_there(use.claim)):
            self.stage[use] = Stage.FAILED
        with otherwise(chosen.is_none & ~self.copy[use].allocated):
            self.found_deallocated(use)
        with otherwise():
            again = Stage.CREATED if use.claim.special else Stage.RESERVED
            self.stage[use] = select(chosen.is_some, again, Stage.CHECKED)

    def found_deallocated(self, use: ClaimUse) -> None:
        """A claim that only had to be reserved is no longer allocated. With binding conditions, this is an error before the write."""
        self.stage[use] = Stage.FAILED

    def has_panicked(self) -> Expr:
        """Whether a goroutine has ended the process."""
        return as_expr(False)

    @step(actor="binding cycle", each="use")
    @tells(
        changes("dynamic_resources.stage", after=Stage.GIVEN_UP),
        "PreBind: {use} as it was written goes to the assume cache; the pod whose status is to name it is gone.",
        "PreBind: {use} as it was written goes to the assume cache.",
    )
    def assume_claim(self, use: ClaimUse) -> None:
        """AssumeClaimAfterAPICall with the object that the write returned. A special claim is first named in the pod's status."""
        self._require_pre_bind(use, Stage.WRITTEN)
        self._assume(use)
        self.stage[use] = self._after_naming(use)

    def _after_naming(self, use: ClaimUse) -> Any:
        """patchPodExtendedResourceClaimStatus: if the pod no longer exists, PreBind fails."""
        if not use.claim.special:
            return Stage.ASSUMED
        self.api.name_special_claim(use.pod)
        return select(self.api.finds(use.pod), Stage.ASSUMED, Stage.GIVEN_UP)

    def _assume(self, use: ClaimUse) -> None:
        if use.claim.special:
            in_vain = ~self.resource_claims.is_stored(use.claim) & self.claim_cache.has_returned(use)
            require(self.is_seen(use) | in_vain)
        with when(self.assumes(use) & self.is_seen(use)):
            self.claim_cache.assume(use.claim, self.copy[use], self.lag[use])

    def assumes(self, use: ClaimUse) -> Expr:
        """Whether a claim is assumed after its write, even if it was only reserved."""
        return as_expr(True)

    @step(actor="binding cycle", each="use")
    @tells("PreBind: the work for {use} is done, and its allocation is no longer in flight.")
    def settle_claim(self, use: ClaimUse) -> None:
        """Assume returns after its event is delivered. Then the allocation is no longer in flight."""
        self._require_pre_bind(use, Stage.ASSUMED)
        self.claim_cache.return_call(use)
        self.settle(use)
        self.stage[use] = Stage.BOUND

    def settle(self, use: ClaimUse) -> None:
        """The claim is written. After the pod's last claim, PreBind succeeds, unless it has to wait for devices."""
        last = all_of(self._is_done(other) for other in self.uses(use.pod) if other is not use)
        waits = self.needs_wait(use.pod) if self.heeds_conditions() else as_expr(False)
        with when(last & ~waits):
            self.end_flights(use.pod)

    def end_flights(self, pod: Pod) -> None:
        """prebindSuccessCleanup: none of the pod's allocations is in flight any more, even if other pods share them (1.37)."""
        for use in self.uses(pod):
            self._end_flight(use)

    def _end_flight(self, use: ClaimUse, *, forced: bool = True) -> None:
        with when(as_expr(self.chosen[use]).is_some):
            with when(self.claim_tracker.is_pending(use.claim)):
                self.claim_tracker.remove(use.claim, forced=forced)
            self.chosen[use] = None

    @step(actor="binding cycle", each="use")
    @tells(
        changes("claim_tracker.sharers", after=SOMETHING),
        "PreBind has failed for {use}: one pod less counts on the allocation in flight.",
        changes("claim_tracker.in_flight"),
        "PreBind has failed for {use}, whose allocation is no longer in flight.",
        "PreBind has failed for {use}.",
    )
    def fail_claim(self, use: ClaimUse) -> None:
        """bindClaim returns an error, and so does PreBind: the binding cycle fails."""
        self._require_pre_bind(use, Stage.GIVEN_UP if use.claim.special else Stage.FAILED)
        if use.claim.special:
            self.claim_cache.return_call(use)
        self.give_up(use)
        self.stage[use] = Stage.CHECKED
        self.binding.phase[use.pod] = BindingPhase.FORGET

    def give_up(self, use: ClaimUse) -> None:
        """The allocation in flight stays there until Unreserve removes it."""

    # --- PreBind of a special claim --------------------------------------------------------------------------

    @step(actor="binding cycle", each="use")
    @tells("PreBind: {use} is made at the API server.")
    def create_claim(self, use: ClaimUse) -> None:
        """createExtendedResourceClaimInAPI: the special claim exists from now on, with a name and a UID from the API server."""
        require(use.claim.special)
        self._require_pre_bind(use, Stage.RESERVED)
        self.resource_claims.put(use.claim, THERE)
        self.copy[use] = self.resource_claims.object[use.claim]
        self.lag[use] = 0
        self.stage[use] = Stage.CREATED

    @step(actor="binding cycle", each="use")
    @tells("PreBind: {use} was made, and the call that is to allocate it fails.")
    def lose_allocation(self, use: ClaimUse) -> None:
        """The UPDATE of the status fails, but not by a conflict."""
        require(use.claim.special and bool(self.scope.status_failures))
        self._require_pre_bind(use, Stage.CREATED)
        require((self.lag[use] == 0) & self.resource_claims.is_stored(use.claim))
        self.faults.spend(Fault.STATUS_FAILURE, use.pod)
        self.edit(use)
        self.stage[use] = Stage.FAILED

    def edit(self, use: ClaimUse) -> None:
        """What bindClaim changes in the current object before it writes: nothing, because it writes a copy (1.38)."""

    @step(actor="binding cycle", each="use")
    @tells(
        changes("claim_cache.latest.device", after=SOMETHING),
        "PreBind has failed: {use} goes to the assume cache with an allocation that was never written.",
        "PreBind has failed: {use} goes to the assume cache as the plugin has it.",
    )
    def assume_unwritten(self, use: ClaimUse) -> None:
        """The deferred function of bindClaim: AssumeClaimAfterAPICall with the current object, because the claim was created, whether or not it was allocated."""
        require(use.claim.special)
        self._require_pre_bind(use, Stage.FAILED)
        self._assume(use)
        self.stage[use] = Stage.GIVEN_UP

    @step(actor="binding cycle", each="use")
    @tells("PreBind: {use} is allocated, and the call that is to name it in the status of the pod fails.")
    def lose_name(self, use: ClaimUse) -> None:
        """patchPodExtendedResourceClaimStatus fails, which ends PreBind (fail_claim). The written claim is still assumed, and is then no longer in flight."""
        require(use.claim.special and bool(self.scope.status_failures))
        self._require_pre_bind(use, Stage.WRITTEN)
        self._assume(use)
        self.faults.spend(Fault.STATUS_FAILURE, use.pod)
        self.stage[use] = Stage.GIVEN_UP

    def is_seen(self, use: ClaimUse) -> Expr:
        """Whether the assume cache accepts the claim. For a special claim, the informer must have delivered its creation.

        What the cache has is this one if no end is to be delivered but its own, where it is gone.
        """
        if not use.claim.special:
            return as_expr(True)
        ends = self.resource_claims.ends_undelivered(use.claim)
        own = select(self.resource_claims.is_stored(use.claim), 0, 1)
        return self.claim_cache.has(use.claim) & (ends == own)

    @step(actor="binding cycle", each="use", lasts=Lasts.ANY_TIME)
    @tells("PreBind: the informer has not delivered {use} within two minutes, and nobody waits any longer.")
    def tire_of_waiting(self, use: ClaimUse) -> None:
        """waitForExtendedClaimInAssumeCache gives up, which is only logged. The claim is not assumed, but it is no longer in flight."""
        require(use.claim.special and bool(self.scope.bind_timeouts))
        self._require_pre_bind(use, Stage.WRITTEN)
        require(~self.is_seen(use) & self.resource_claims.is_stored(use.claim))
        self.claim_cache.return_call(use)
        self.faults.spend(Fault.BIND_TIMEOUT, use.pod)
        self.stage[use] = self._after_naming(use)

    @step(actor="binding cycle", each="use")
    @tells("Unreserve: {use} is to be deleted, and the call fails: it stays.")
    def lose_deletion(self, use: ClaimUse) -> None:
        """deleteClaim fails, which is only logged. The next attempt finds the claim."""
        require(use.claim.special and bool(self.scope.status_failures))
        self._require_unreserve(use)
        require(self._is(use, Stage.PATCH))
        self.faults.spend(Fault.STATUS_FAILURE, use.pod)
        self.stage[use] = Stage.UNRESERVED

    # --- Unreserve -------------------------------------------------------------------------------------------

    def gives_back(self, use: ClaimUse) -> Expr:
        """Whether there is something to undo at the API server: the pod's reservation, or the special claim."""
        if use.claim.special:
            return self.copy[use].life == THERE
        return self.copy[use].allocated & self.copy[use].reserved[use.pod]

    @step(actor="binding cycle", each="use")
    @tells(
        changes("resource_claims.object.life"),
        "Unreserve: {use} is deleted, allocated or not.",
        "Unreserve: {use} is to be deleted, and the API server has it no longer.",
    )
    def delete_claim(self, use: ClaimUse) -> None:
        """unreserveExtendedResourceClaim, deleteClaim: an UPDATE removes the finalizer, and a DELETE follows."""
        require(use.claim.special)
        self._require_unreserve(use)
        require(self._is(use, Stage.PATCH))
        with when(self.resource_claims.is_stored(use.claim)):
            self.resource_claims.put(use.claim, GONE)
        self.stage[use] = Stage.UNRESERVED

    def is_unreserved(self, pod: Pod) -> Expr:
        """Whether Unreserve has finished all claims of the pod."""
        return all_of(self._is(use, Stage.UNRESERVED) for use in self.uses(pod))

    def _require_unreserve(self, use: ClaimUse) -> None:
        pod = use.pod
        fails = self.binding.phase[pod] == BindingPhase.FORGET
        require(fails | self.scheduler.at(Phase.FORGET, pod) | self._takes_back(use))
        require(self.gang_scheduling.is_unreserved(pod))
        require(all_of(self._is(other, Stage.UNRESERVED) for other in self.earlier(use)))

    def _takes_back(self, use: ClaimUse) -> Expr:
        return self.pod_group_cycle.takes_back(use.pod) if self.is_of_group(use) else as_expr(False)

    def taken_back(self, pod: Pod) -> None:
        """The group's cycle has undone Reserve. The devices that it found are kept for the pod's own Reserve."""
        for use in self.uses(pod):
            self.stage[use] = Stage.CHECKED

    @step(actor="binding cycle", each="use")
    @tells(
        changes("claim_tracker.in_flight"),
        "Unreserve: {use} is in flight no longer.",
        changes("claim_tracker.sharers"),
        "Unreserve: {use} is in flight for one pod less.",
        "Unreserve: {use} is not in flight.",
    )
    def unreserve_claim(self, use: ClaimUse) -> None:
        """Unreserve, for one claim after the other: removes any allocation of the claim that is in flight."""
        self._require_unreserve(use)
        require(~self._is(use, Stage.RESTORE, Stage.RESTORED, Stage.PATCH, Stage.UNRESERVED))
        given_back = self.removes_in_flight(use)
        removed = given_back & self.claim_tracker.is_last(use.claim)
        with when(given_back):
            self.claim_tracker.remove(use.claim, forced=False)
        with when(~self._takes_back(use)):
            self.chosen[use] = None
        patches = self.gives_back(use)
        restored = removed & self.goes_back()
        self.stage[use] = select(restored, Stage.RESTORE, select(patches, Stage.PATCH, Stage.UNRESERVED))

    def goes_back(self) -> Expr:
        """Whether Unreserve that ends a flight has the assume cache go back to the informer's object: no longer (1.38)."""
        return as_expr(False)

    def removes_in_flight(self, use: ClaimUse) -> Expr:
        """Whether an allocation of the claim is in flight. Unreserve does not check whether it is this pod's."""
        return self.claim_tracker.is_pending(use.claim)

    @step(actor="binding cycle", each="use")
    @tells("Unreserve: the assume cache goes back to the informer's object of {use}.")
    def restore_claim(self, use: ClaimUse) -> None:
        """AssumedClaimRestore."""
        self._require_unreserve(use)
        require(self._is(use, Stage.RESTORE))
        self.claim_cache.restore(use.claim)
        self.stage[use] = Stage.RESTORED

    @step(actor="binding cycle", each="use")
    @tells("Unreserve: the events of the assume cache are delivered, {use} is restored.")
    def end_restore(self, use: ClaimUse) -> None:
        """Restore returns after its event is delivered."""
        self._require_unreserve(use)
        require(self._is(use, Stage.RESTORED))
        self.claim_cache.return_call(use)
        patches = self.gives_back(use)
        self.stage[use] = select(patches, Stage.PATCH, Stage.UNRESERVED)

    @step(actor="binding cycle", each="use")
    @tells(
        changes("resource_claims.object.reserved", after=False),
        "Unreserve: {use} is no longer reserved.",
        "Unreserve: {use} is to be reserved no longer, which it was not.",
    )
    def patch_reservation(self, use: ClaimUse) -> None:
        """PATCH of the status without a version: removes the pod from reservedFor. The returned object is not assumed."""
        require(not use.claim.special)
        self._require_unreserve(use)
        require(self._is(use, Stage.PATCH))
        self.resource_claims.write(use.claim, None, {use.pod: False}, keeps=True)
        self.stage[use] = Stage.UNRESERVED

    @step(actor="binding cycle", each="use")
    @tells("Unreserve: {use} is to be reserved no longer, and the PATCH fails.")
    def lose_patch(self, use: ClaimUse) -> None:
        """The PATCH fails, and the error is only logged."""
        require(not use.claim.special and bool(self.scope.status_failures))
        self._require_unreserve(use)
        require(self._is(use, Stage.PATCH))
        self.faults.spend(Fault.STATUS_FAILURE, use.pod)
        self.stage[use] = Stage.UNRESERVED
