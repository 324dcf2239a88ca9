"""Claims and devices before the changes of dynamic resource allocation since 1.32 (framework/plugins/dynamicresources, util/assumecache)."""

from ....environment.objects import Claim, Device, Node, Pod
from ....environment.storage.claims import ClaimUse, ClaimWatch
from ....environment.storage.device_taints import EVICTING, DeviceTaints
from ....language import UNTOLD, Expr, as_expr, boolean, per, require, step, tells, when
from ....scheduler import AssumeCache, ClaimTracker, DynamicResources
from ....scheduler.dynamicresources.assume_cache import CacheEvent
from ....scheduler.dynamicresources.find_devices import Stage
from ....scheduler.framework.events import DYNAMIC_RESOURCES
from ....scheduler.framework.status import NodeStatus
from ...registry.change import always, before, never, no
from ...versions import PRE_RELEASES


@before(
    "136269",
    "the allocated devices are listed again if allocations have changed in the meantime",
    first_in="1.36",
    issues=(133602,),
    backports=("1.32.12", "1.33.8", "1.34.4", "1.35.1"),
)
class ListedOnce(DynamicResources):
    """A claim that went from the allocations in flight to the allocated devices while both were read one after the other was in neither."""

    lists_again = never


@before(
    "136269-events",
    "one goroutine at a time delivers the events of the assume cache, and each call waits for its own events",
    first_in="1.36",
    issues=(133602,),
    backports=("1.32.12", "1.33.8", "1.34.4", "1.35.1"),
)
class EmittedByMany(AssumeCache):
    """The second half of 136269. Each call delivered what it found: what another had taken already might be delivered after it had returned.

    Here it is the informer's goroutine that may be slow with one delivery to the tracker.
    """

    held = per(ClaimWatch, boolean())
    taken = per(ClaimWatch, CacheEvent)
    informed = per(ClaimWatch, boolean())

    phrases = UNTOLD

    def deliver(self, claim: Claim) -> None:
        super().deliver(claim)
        for watch in self.universe[ClaimWatch]:
            self.informed[watch] = True

    def informer_is_free(self, watch: ClaimWatch) -> Expr:
        return super().informer_is_free(watch) & ~as_expr(self.held[watch])

    @step(actor="claim informer", fair=False)
    @tells(
        "The informer's goroutine takes the event about {claim} for the tracker of allocated devices, and is slow."
    )
    def take(self, claim: Claim) -> None:
        """emitEvents reads an event, under the lock, and delivers it afterwards, without."""
        for watch in self.universe[ClaimWatch]:
            head = self.events[watch].head
            require(~self.events[watch].is_empty & (head.claim == claim) & ~self.told[watch])
            require(~as_expr(self.held[watch]) & self.informed[watch])
            self.taken[watch] = head
            self.held[watch] = True
            self.told[watch] = True

    @step(actor="claim informer")
    @tells("The informer's goroutine tells the tracker of allocated devices of {claim}, at last.")
    def tell_late(self, claim: Claim) -> None:
        """The event that was taken is delivered."""
        for watch in self.universe[ClaimWatch]:
            require(self.held[watch] & (self.taken[watch].claim == claim))
            self.claim_tracker.update(self.taken[watch].old, self.taken[watch].new)
            self.taken[watch] = CacheEvent()
            self.held[watch] = False


@before(
    "reservations-assumed", "a claim that was only reserved also goes to the assume cache", first_in="1.35"
)
class OnlyAllocationsAssumed(DynamicResources):
    """bindClaim assumed a claim only if it had allocated it."""

    def assumes(self, use: ClaimUse) -> Expr:
        return as_expr(self.chosen[use]).is_some


@before(
    "binding-conditions",
    "PreBind fails before it writes if a claim that it reserves is no longer allocated",
    first_in="1.36",
    gate="DRADeviceBindingConditions",
)
class WithoutBindingConditions(DynamicResources):
    """Without binding conditions nobody looks at the allocation of a claim that is to be reserved: the API server refuses the write. Nor does anybody wait for devices."""

    heeds_conditions = no

    def found_deallocated(self, use: ClaimUse) -> None:
        self.stage[use] = Stage.CHECKED


@before(
    "prioritized-lists",
    "a claim can name alternatives, of which it gets the first that is available",
    first_in="1.34",
    gate="DRAPrioritizedList",
)
class OneChoice(DynamicResources):
    """PreFilter rejected a pod with a claim that names alternatives and is not allocated, one alternative included."""

    def check_claim(self, use: ClaimUse) -> None:
        super().check_claim(use)
        if use.claim.listed:
            with when(~self.copy[use].allocated):
                self.scheduler.reject_everywhere(DYNAMIC_RESOURCES)


@before(
    "137607",
    "a pod for which Filter looked for devices for too long backs off, and is tried again",
    first_in="1.36",
)
class TimedOutIsRejected(DynamicResources):
    """Such a node was rejected for good, as if it had no devices: the pod waited for an event of devices or claims (1.34, 1.35)."""

    def end_search(self, pod: Pod, node: Node) -> None:
        self.scheduler.note_rejection(DYNAMIC_RESOURCES)
        self.scheduler.note_verdict(pod, node, NodeStatus.UNRESOLVABLE)


@before(
    "filter-timeout",
    "Filter gives up a search for devices that takes too long",
    first_in="1.34",
    gate="DRASchedulerFilterTimeout",
)
class SearchedToTheEnd(DynamicResources):
    """Filter searched for devices as long as it took."""

    def give_up_search(self, pod: Pod, node: Node) -> None:
        require(False)


@before(
    "extended-resources",
    "devices of a class can back an extended resource",
    first_in="1.36",
    gate="DRAExtendedResource",
)
class ResourcesOfNodes(DynamicResources):
    """An extended resource was a node's, from a device plugin. Who asked for one that only devices back fitted nowhere."""

    def passes(self, pod: Pod, node: Node) -> Expr:
        return super().passes(pod, node) & (pod.extended_claim is None)


@before(
    "137371",
    "with binding conditions, a claim that is deallocated while its pod is being bound does not end the process",
    first_in="1.36",
    after=("binding-conditions",),
)
class DeallocationPanics(DynamicResources):
    """The time of the allocation was set without a look whether there still was one."""

    panicked = per(ClaimWatch, boolean())

    phrases = UNTOLD

    def found_deallocated(self, use: ClaimUse) -> None:
        for watch in self.universe[ClaimWatch]:
            self.panicked[watch] = True
        self.stage[use] = Stage.FAILED

    def has_panicked(self) -> Expr:
        (watch,) = self.universe[ClaimWatch] or (None,)
        return as_expr(False) if watch is None else as_expr(self.panicked[watch])


# --- pods of one group that share a claim ---------------------------------------------------------------------------


@before(
    "137647",
    "pods of a group share an allocation that the cycle of their group has put in flight",
    first_in="1.36",
    issues=(137617,),
)
class InFlightForOne(DynamicResources):
    """A claim in flight was in the process of being allocated for all pods but one, those of the same group among them."""

    shares = never


@before(
    "137897",
    "an allocation in flight and the pods that count on it are one record, under one lock",
    first_in="1.36",
    issues=(137617,),
    after=("137371", "137647"),
)
class CountedApart(DynamicResources):
    """137647 alone, as it was merged. A pod of a group shares whatever allocation of its claim is in flight, whoever put it there, and Reserve does not count it.

    PreBind of such a pod has no allocation to write: it reserves the claim, which fails as long as the other pod has not written it. `borrowed`: the
    pod counts on what another one has put in flight. The second map, which counted pods that found the claim allocated already, is left out.
    """

    borrowed = per(ClaimUse, boolean())

    phrases = UNTOLD

    def shares(self, use: ClaimUse) -> Expr:
        return self.claim_tracker.is_pending(use.claim)

    def check_claim(self, use: ClaimUse) -> None:
        super().check_claim(use)
        if self.is_of_group(use):
            self.borrowed[use] = as_expr(self.chosen[use]).is_some

    def is_shareable(self, use: ClaimUse, node: Node) -> Expr:
        """Filter asked it for its node, which was lost with 137897 (140089)."""
        return DynamicResources.is_shareable(self, use, node)

    def put_in_flight(self, use: ClaimUse, device: Device) -> None:
        with when(~as_expr(self.borrowed[use])):
            super().put_in_flight(use, device)

    def write_claim(self, use: ClaimUse) -> None:
        with when(self.borrowed[use]):
            self.chosen[use] = None
        super().write_claim(use)

    def clear(self, pod: Pod) -> None:
        super().clear(pod)
        for use in self.uses(pod):
            self.borrowed[use] = False


@before(
    "137897",
    "an allocation in flight and the pods that count on it are one record, under one lock",
    first_in="1.36",
    issues=(137617,),
)
class FlightsUncounted(ClaimTracker):
    """The same: whoever gives an allocation back ends its flight, as the pods that share it were not counted."""

    def signal(self, claim: Claim, device: Device) -> None:
        self.in_flight[claim] = device

    is_last = always

    def remove(self, claim: Claim, *, forced: bool = True) -> None:
        self.in_flight[claim] = None


@before(
    "140089",
    "a pod that shares an allocation in flight is placed only where the device is",
    first_in="1.37",
    issues=(140087,),
)
class SharedAnywhere(DynamicResources):
    """Filter asked an allocation in flight for no node."""

    is_shareable = always


@before(
    "flight-ends-alone",
    "Unreserve removes an allocation from those in flight, and does not change the assume cache",
    first_in=PRE_RELEASES[0],
)
class CacheGoesBack(DynamicResources):
    """The assume cache went back to the informer's object, which may be older than what another pod's PreBind has written (AssumedClaimRestore, up to 1.37)."""

    goes_back = always


@before(
    "claim-written-whole", "an allocation that could not be written is not assumed", first_in=PRE_RELEASES[0]
)
class ClaimEdited(DynamicResources):
    """bindClaim set allocation and reservation in the object at hand before it wrote it, and assumed that object, whatever became of the call (1.36, 1.37)."""

    def edit(self, use: ClaimUse) -> None:
        self.copy[use].device = self.chosen[use]
        self.copy[use].reserved[use.pod] = True


@before(
    "139418", "a pod releases its share of an allocation in flight only once, in Unreserve", first_in="1.37"
)
class GivenBackTwice(DynamicResources):
    """bindClaim gave a share back when it failed, and Unreserve did so once more; what was written left the flight claim by claim."""

    def settle(self, use: ClaimUse) -> None:
        self._end_flight(use)

    def give_up(self, use: ClaimUse) -> None:
        self._end_flight(use, forced=False)


@before(
    "140269",
    "Reserve does not put a claim in flight that is already allocated, or gone",
    first_in="1.37",
    issues=(140263,),
)
class FlownAgain(ClaimTracker):
    """Reserve believed the object that PreFilter had read."""

    is_allocated = never
    loses = never


# --- claims that come and go ----------------------------------------------------------------------------------------


@before(
    "140831",
    "the queue is notified that a claim is gone, in case it missed the update that freed the device",
    first_in="1.37",
)
class DeletionsUntold(AssumeCache):
    """DynamicResources asked for claims that are added or updated, and not for those that are deleted."""

    tells_of_deletions = no


@before(
    "142289",
    "the device taint eviction controller finds claims for extended resources, too",
    first_in=PRE_RELEASES[0],
    issues=(141290,),
    since="1.36",
    backports=("1.37.2",),
)
class ExtendedClaimsUnseen(DeviceTaints):
    """podEvictionTime went through spec.resourceClaims alone: the status, which names the claim for extended resources, was not looked at."""

    def is_seen(self, claim: Claim) -> bool:
        return not claim.special


@before(
    "134479",
    "the allocation of a claim contains the claim's tolerations of taints",
    first_in="1.35",
    issues=(134434,),
)
class TolerationsLost(DeviceTaints):
    """Allocations had no tolerations, and the device taint eviction controller reads nothing else."""

    keeps = no


@before(
    "empty-effects-tolerated",
    "the device taint eviction controller also respects a toleration without an effect",
    first_in=PRE_RELEASES[0],
    since="1.36",
)
class EmptyEffectsUnheeded(DeviceTaints):
    """claimEvictionTime looked at tolerations with the effect NoExecute alone. The scheduler heeded the others, too."""

    def keeps(self, claim: Claim) -> bool:
        return claim.tolerates == EVICTING and super().keeps(claim)
