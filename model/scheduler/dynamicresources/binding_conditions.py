"""Binding conditions in the plugin DynamicResources (DRADeviceBindingConditions, on since 1.36; dynamicresources.go, 1.36).

PreBind waits until the devices of all claims of the pod are ready: every five seconds it reads the claims from the assume cache. A device that has failed, or an
allocation that is older than the time-out (ten minutes), is an error. The next attempt finds the claim so, which no node will do for then, and PostFilter
deallocates it.
"""

from ...environment.faults import Fault
from ...environment.objects import Node, Pod
from ...environment.storage.claims import FAILED, READY, ClaimUse
from ...language import Expr, all_of, any_of, as_expr, require, step, tells, when
from ..cycles.binding import BindingPhase
from .find_devices import FindDevices, Stage


class BindingConditions(FindDevices):
    """What Filter makes of devices that are not ready, and the wait at the end of PreBind."""

    def heeds_conditions(self) -> bool:
        """Whether binding conditions are checked, and some device has any."""
        return self.resource_claims.has_conditions()

    def is_available(self, use: ClaimUse, node: Node) -> Expr:
        available = super().is_available(use, node)
        return available & ~self.is_unusable(use) if self.heeds_conditions() else available

    def is_unusable(self, use: ClaimUse) -> Expr:
        """isClaimReadyForBinding and isClaimTimeout in Filter: the device has failed, or was not ready before the time-out."""
        copy, late = self.copy[use], as_expr(self.resource_claims.timed_out[use.claim])
        given_up = (copy.readiness == FAILED) | ((copy.readiness != READY) & late)
        return self.resource_claims.awaited(copy.device) & given_up

    def is_written(self, pod: Pod) -> Expr:
        """Whether all claims of the pod are reserved for it at the API server."""
        raise NotImplementedError

    def end_flights(self, pod: Pod) -> None:
        """PreBind has succeeded."""
        raise NotImplementedError

    def needs_wait(self, pod: Pod) -> Expr:
        """hasBindingConditions: whether a claim of the pod has a device with binding conditions."""
        return any_of(self.resource_claims.awaited(self.copy[use].device) for use in self.uses(pod))

    def has_waited(self, pod: Pod) -> Expr:
        """Whether PreBind no longer has to wait."""
        if not self.heeds_conditions():
            return as_expr(True)
        return ~self.needs_wait(pod) | all_of(self._is(use, Stage.READY) for use in self.uses(pod))

    def _require_wait(self, pod: Pod) -> None:
        require((self.binding.phase[pod] == BindingPhase.PRE_BIND) & self.is_written(pod))
        require(self.needs_wait(pod) & ~self.has_waited(pod))

    def is_ready_now(self, use: ClaimUse) -> Expr:
        """isClaimReadyForBinding, for the claim in the assume cache."""
        latest = self.claim_cache.latest[use.claim]
        ready = ~self.resource_claims.awaited(latest.device) | (latest.readiness == READY)
        return self.claim_cache.has(use.claim) & latest.allocated & ready

    def is_hopeless_now(self, use: ClaimUse) -> Expr:
        """Whether the claim in the assume cache causes an error: it is gone, or its device has failed or is late."""
        latest, late = self.claim_cache.latest[use.claim], as_expr(self.resource_claims.timed_out[use.claim])
        awaited = self.resource_claims.awaited(latest.device) & (latest.readiness != READY)
        return ~self.claim_cache.has(use.claim) | (awaited & ((latest.readiness == FAILED) | late))

    def _read_again(self, pod: Pod, stage: Stage) -> None:
        for use in self.uses(pod):
            self.copy[use] = self.claim_cache.latest[use.claim]
            self.lag[use] = self.claim_cache.latest_lag[use.claim]
            self.stage[use] = stage

    def _waits(self, pod: Pod) -> bool:
        return bool(pod.claims) and self.heeds_conditions()

    @step(actor="binding cycle", each="pod")
    @tells("PreBind: the devices of {pod} are ready, as the assume cache has it.")
    def see_ready(self, pod: Pod) -> None:
        """isPodReadyForBinding is true, and PreBind ends. Unreserve checks the claims that were read here. All are read in one step (A-CLAIM-CLOCK)."""
        require(self._waits(pod))
        self._require_wait(pod)
        require(all_of(self.is_ready_now(use) for use in self.uses(pod)))
        self._read_again(pod, Stage.READY)
        self.end_flights(pod)

    @step(actor="binding cycle", each="pod")
    @tells("PreBind: a device of {pod} has failed, or is late, or its claim is gone: the binding fails.")
    def see_failure(self, pod: Pod) -> None:
        """isPodReadyForBinding returns an error, and so does PreBind."""
        require(self._waits(pod))
        self._require_wait(pod)
        require(any_of(self.is_hopeless_now(use) for use in self.uses(pod)))
        self._read_again(pod, Stage.CHECKED)
        self.binding.phase[pod] = BindingPhase.FORGET

    @step(actor="binding cycle", fair=False)
    @tells("PreBind: the devices of {pod} were waited for long enough, and the binding fails.")
    def tire_of_devices(self, pod: Pod) -> None:
        """The wait times out. Every allocation that it waited for is then older than the time-out, too."""
        require(self._waits(pod) and bool(self.scope.bind_timeouts))
        self._require_wait(pod)
        require(~all_of(self.is_ready_now(use) for use in self.uses(pod)))
        self.faults.spend(Fault.BIND_TIMEOUT, pod)
        for use in self.uses(pod):
            current, latest = self.resource_claims.object[use.claim], self.claim_cache.latest[use.claim]
            waited = self.resource_claims.awaited(current.device) & (current.device == latest.device)
            with when(waited):
                self.resource_claims.timed_out[use.claim] = True
        self._read_again(pod, Stage.CHECKED)
        self.binding.phase[pod] = BindingPhase.FORGET
