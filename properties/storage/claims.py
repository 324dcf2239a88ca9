"""Claims and devices: what must never be so, and what the scheduler must not forget (dynamic resource allocation)."""

from collections.abc import Iterator
from itertools import combinations

from ...model.environment.objects import Claim, Device, Pod
from ...model.environment.storage.claims import ClaimUse, ClaimWatch, ResourceClaims
from ...model.environment.storage.device_taints import EVICTING, DeviceTaints, TaintableDevice
from ...model.environment.storage.supply import Supply
from ...model.language import Case, Expr, all_of, any_of, as_expr, before, one_of, when
from ...model.scheduler import AssumeCache, ClaimTracker, DynamicResources
from ...model.scheduler.dynamicresources.find_devices import Stage
from ..base.property import NeverHappens, Property
from ..placement.bindings import AboutOwnBindings
from ..scheduling.liveness import waits_in_vain


class AboutClaims(Property):
    """Base class of the properties of claims."""

    resource_claims: ResourceClaims
    claim_cache: AssumeCache
    claim_tracker: ClaimTracker
    dynamic_resources: DynamicResources

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims."""
        return self.universe[Claim]

    @property
    def uses(self) -> tuple[ClaimUse, ...]:
        """Which pod refers to which claim."""
        return self.universe[ClaimUse]

    def witnesses(self) -> dict[str, Expr]:
        in_flight = [self.claim_tracker.is_pending(claim) for claim in self.claims]
        return {"an allocation is in flight": any_of(in_flight)}


class DeviceAllocatedOnce(AboutClaims):
    """No device is allocated to two claims. Claims that share a device, or a counter of its partitions, do not use more than there is."""

    id = "S-DEV"
    consequence = "Two pods are given the same device. One of them does not start, or both work on the device and disturb each other."
    issues = (133602,)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        allocated = self.resource_claims.object
        for a, b in combinations(self.claims, 2):
            for device in self.universe[Device]:
                both = (allocated[a].device == device) & (allocated[b].device == device)
                yield f"{device.name} is allocated to {a.name} and to {b.name}", both
        supply = Supply(
            self.universe[Device],
            lambda d: any_of(allocated[c].device == d for c in self.claims),
            lambda *_: True,
        )
        for counter in {c: None for d in supply.devices for c in d.draws}:
            if sum(counter in d.draws for d in supply.devices) > 1:
                used = supply.load(counter)
                yield f"claims use more of {counter.name} than there is", used > counter.capacity

    def witnesses(self) -> dict[str, Expr]:
        allocated = [self.resource_claims.object[claim].allocated for claim in self.claims]
        return {"a claim is allocated": any_of(allocated), **super().witnesses()}


class BoundPodsHoldTheirClaims(AboutOwnBindings, AboutClaims):
    """A pod that is bound to a node is in reservedFor of each of its claims, and each of these claims is allocated.

    The kubelet starts a pod only if its claims are reserved for it. The property ignores pods that a client
    other than the scheduler binds.
    """

    id = "S-RESV"
    consequence = "A pod is bound without its devices. The kubelet does not start it: it stays in ContainerCreating until it is deleted."
    concerns = "the pod without its claim"

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for use in self.uses:
            claim = self.resource_claims.object[use.claim]
            missing = self.counts(use.pod) & ~(claim.allocated & claim.reserved[use.pod])
            if use.pod in self.subjects:
                yield f"{use.pod.name} is bound, and {use.claim.name} is not reserved for it", missing

    def witnesses(self) -> dict[str, Expr]:
        bound = [self.api.pod[use.pod].assigned for use in self.uses if use.pod.node is None]
        return {"a pod with claims is bound": any_of(bound)}


_ABOUT_TO_WRITE = (Stage.RESERVED, Stage.REFRESH, Stage.WRITTEN, Stage.ASSUMED, Stage.BOUND)


class FlightsHaveOwners(AboutClaims):
    """Every allocation in flight was chosen for a pod whose binding still needs it, and every allocation that a binding is about to write is in flight.

    For pods that share a claim, nothing needs to be in flight once the assume cache shows the claim as allocated: Reserve then changes nothing.
    """

    id = "S-INFLIGHT"
    consequence = "The scheduler counts a device as used although no claim gets it. Until the scheduler restarts, other pods stay Pending although the device is free."

    def owns(self, use: ClaimUse) -> Expr:
        """Whether the pod's cycle has chosen a device for the claim, and nobody has been told yet that it is written, or given up."""
        plugin = self.dynamic_resources
        chosen = as_expr(plugin.chosen[use]).is_some
        if plugin.is_of_group(use):
            return chosen & one_of(plugin.stage[use], *_ABOUT_TO_WRITE)
        return chosen & ~one_of(plugin.stage[use], Stage.FAILED)

    def is_recorded(self, use: ClaimUse) -> Expr:
        """Whether the pod shares an allocation that the assume cache has by now."""
        if self.dynamic_resources.is_of_group(use):
            return self.claim_cache.latest[use.claim].allocated
        return self.claim_tracker.is_allocated(use.claim)

    def holds(self) -> Expr:
        in_flight = self.claim_tracker.in_flight
        chosen = self.dynamic_resources.chosen
        owned = [
            ~self.claim_tracker.is_pending(claim)
            | any_of(in_flight[claim] == chosen[use] for use in self.uses if use.claim is claim)
            for claim in self.claims
        ]
        kept = [
            ~self.owns(use) | (in_flight[use.claim] == chosen[use]) | self.is_recorded(use)
            for use in self.uses
        ]
        return all_of([*owned, *kept])

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        in_flight, chosen = self.claim_tracker.in_flight, self.dynamic_resources.chosen
        for claim in self.claims:
            owned = any_of(in_flight[claim] == chosen[use] for use in self.uses if use.claim is claim)
            yield (
                f"The allocation of {claim.name} is in flight, and no pod has it",
                self.claim_tracker.is_pending(claim) & ~owned,
            )
        for use in self.uses:
            kept = (in_flight[use.claim] == chosen[use]) | self.is_recorded(use)
            yield (
                f"{use.pod.name} has a device for {use.claim.name}, and its allocation is not in flight",
                self.owns(use) & ~kept,
            )


class AssumeCacheGoesForward(NeverHappens, AboutClaims):
    """Once the assume cache has returned a version of a claim, it never goes back to an older version."""

    id = "S-ASSUME"
    consequence = "The scheduler uses an old version of a claim. It may give a device twice, or leave pods Pending until the claim's next event."
    issues = (140263,)

    def observe(self) -> None:
        for watch in self.universe[ClaimWatch]:
            length = self.resource_claims.events[watch].length
            written = length > before(lambda watch=watch: self.resource_claims.events[watch].length)  # type: ignore[misc]
            for claim in self.claims:
                lag = self.claim_cache.latest_lag[claim]
                older = lag > before(lambda claim=claim: self.claim_cache.latest_lag[claim])  # type: ignore[misc]
                with when(older & ~written):
                    self.broken = True


class ClaimsAreWorkedOn(AboutClaims):
    """No pod with claims waits indefinitely while at every moment a node has room for it, and its claims are, or can be, allocated there."""

    id = "L-CLAIM"
    consequence = "A pod that wants a device stays Pending although a node has room and a free device: until the periodic flush, 5 to 5.5 minutes, or indefinitely."
    kind = "liveness"
    concerns = "the pod that waits"
    issues = (140263,)

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            if pod.claims and pod.node is None:
                yield Case(
                    f"{pod.name} waits indefinitely although there are devices", waits_in_vain(self, pod)
                )

    def witnesses(self) -> dict[str, Expr]:
        waiting = [waits_in_vain(self, pod) for pod in self.subjects if pod.claims and pod.node is None]
        return {"a pod waits although there are devices": any_of(waiting)}


class TolerationsAreHeeded(AboutClaims):
    """No pod is deleted because of a device taint that its claim tolerates."""

    id = "S-DTAINT"
    consequence = "A pod is placed on a tainted device, as its claim allows, and is evicted immediately. If a controller recreates the pod, this repeats indefinitely."
    concerns = "the pod that is evicted"
    issues = (134434,)
    may_be_given = True

    device_taints: DeviceTaints

    def is_wronged(self, pod: Pod) -> Expr:
        """Whether the eviction controller deletes the pod, which has not to leave."""
        current, taints = self.api.pod[pod], self.device_taints
        here = current.assigned & ~current.terminating
        return here & taints.has_to_leave(pod, every=False) & ~taints.has_to_leave(pod)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for pod in self.subjects:
            if pod.claims:
                yield (
                    f"{pod.name} is about to be evicted for a taint that its claim tolerates",
                    self.is_wronged(pod),
                )

    def witnesses(self) -> dict[str, Expr]:
        tolerated = any(claim.accepts(EVICTING) for claim in self.universe[Claim])
        tainted = [self.device_taints.tainted[of] for of in self.universe[TaintableDevice] if tolerated]
        return {"a device is tainted as a claim tolerates": any_of(tainted), **super().witnesses()}


class TaintedDevicesAreLeft(AboutClaims):
    """No pod stays indefinitely on a device with a NoExecute taint."""

    id = "L-DTAINT"
    consequence = "A pod continues to run on a device that its driver or an administrator has declared broken, until somebody deletes it by hand."
    kind = "liveness"
    concerns = "the pod that stays"
    issues = (141290,)

    device_taints: DeviceTaints

    def stays(self, pod: Pod) -> Expr:
        """Whether the pod is on a node, nobody has deleted it, and a device of its is tainted."""
        current = self.api.pod[pod]
        return current.assigned & ~current.terminating & self.device_taints.has_to_leave(pod)

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            if pod.claims:
                yield Case(f"{pod.name} stays indefinitely on a device that is tainted", self.stays(pod))

    def witnesses(self) -> dict[str, Expr]:
        staying = [self.stays(pod) for pod in self.subjects if pod.claims]
        return {"a pod is on a device that is tainted": any_of(staying)}
