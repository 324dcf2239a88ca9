"""What the plugin DynamicResources finds in the scheduling cycle (framework/plugins/dynamicresources/dynamicresources.go, 1.36).

PreFilter reads the pod's claims and which devices are taken, Filter looks for free devices on each node, PostFilter deallocates a claim that keeps the
pod from all nodes.

Extended resources that devices back (extendeddynamicresources.go): all that a pod asks for of them is one special claim, which the scheduler itself
makes in PreBind. One that PreFilter finds is left from an earlier attempt: the pod fits nowhere, and PostFilter deletes it.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

from ...environment.api import APIServer
from ...environment.cluster.derived import Derived, Found, Roster
from ...environment.faults import Fault, Faults
from ...environment.objects import OWN, Claim, Device, Node, Pod
from ...environment.storage.claims import (
    DELETING,
    GONE,
    MOST_BEHIND,
    PENDING,
    THERE,
    ClaimObject,
    ClaimUse,
    ResourceClaims,
    older,
)
from ...environment.storage.device_taints import TaintableDevice
from ...environment.storage.supply import Supply
from ...language import (
    SOMETHING,
    Component,
    Expr,
    Lasts,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    changes,
    enum,
    integer,
    one_of,
    otherwise,
    per,
    ref,
    require,
    step,
    tells,
    when,
)
from ..cycles.binding import Binding
from ..cycles.schedule_one import Scheduler
from ..framework.events import DYNAMIC_RESOURCES
from ..framework.interface import GangPlugin, GroupCycles
from ..framework.status import NodeStatus, Phase
from .assume_cache import AssumeCache
from .claim_tracker import ClaimTracker


class Stage(Enum):
    """How far the plugin is with a claim of a pod."""

    NONE = 0
    GOT = 1
    CHECKED = 2
    RESERVED = 3
    REFRESH = 4
    WRITTEN = 5
    ASSUMED = 6
    BOUND = 7
    FAILED = 8
    RESTORE = 9
    RESTORED = 10
    PATCH = 11
    UNRESERVED = 12
    CREATED = 13
    READY = 14
    GIVEN_UP = 15


class SharedDevice(Derived, named="{device}"):
    """What a claim can have of a device that several claims share."""

    device: Device

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return ((device,) for device in cluster.spec.devices if device.shared)


class ShownSlices(Protocol):
    """The informer of ResourceSlices."""

    tainted: Any  # per device that may be tainted

    def is_shown(self, device: Device) -> Expr:
        """Whether it has the device."""


class FindDevices(Component):
    """The state of the plugin in the cycles of each pod (stateData).

    `copy[u]` is the claim as the plugin has it, `lag[u]` how far it is behind, `chosen[u]` the device that Reserve put in flight, `unavailable[u]`: the
    claim is allocated, and not available on some node. `listed[d]`: the device was taken, or not published, when this cycle looked.
    `listed_twice[d]`: a claim that is allocated a share of a device was in flight with it as well then, and what it consumes was added twice. `listed_tainted[d]`: the device was shown with its taint then.
    """

    api: APIServer
    resource_claims: ResourceClaims
    claim_cache: AssumeCache
    claim_tracker: ClaimTracker
    slice_informer: ShownSlices
    scheduler: Scheduler
    binding: Binding
    pod_group_cycle: GroupCycles
    gang_scheduling: GangPlugin
    faults: Faults

    kinds = (SharedDevice,)

    stage = per(ClaimUse, enum(Stage))
    copy = per(ClaimUse, ClaimObject)
    lag = per(ClaimUse, integer(0, MOST_BEHIND))
    chosen = per(ClaimUse, ref(Device))
    unavailable = per(ClaimUse, boolean())
    listed = per(Device, boolean())
    listed_twice = per(SharedDevice, boolean())
    listed_tainted = per(TaintableDevice, boolean())

    steps_last = Lasts.SHORT

    phrases = {
        "copy.device": Words("DynamicResources: {0} is allocated {after}"),
        "chosen": Words("DynamicResources: {0} is to have {after}", decisive=True),
    }

    def written(self, claim: Claim) -> None:
        """A write at the API server makes the copies of the claim one version older."""
        for use in self.universe[ClaimUse]:
            if use.claim is claim:
                with when(self.stage[use] != Stage.NONE):
                    self.lag[use] = older(self.lag[use])

    def uses(self, pod: Pod) -> list[ClaimUse]:
        """The claims of a pod, in order."""
        return [use for use in self.universe[ClaimUse] if use.pod is pod]

    def earlier(self, use: ClaimUse) -> list[ClaimUse]:
        """The earlier claims of the same pod."""
        return [other for other in self.uses(use.pod) if other.index < use.index]

    def clear(self, pod: Pod) -> None:
        """The pod's cycles are over: what they read of its claims is dropped."""
        for use in self.uses(pod):
            self.stage[use] = Stage.NONE
            self.copy[use].device = None
            for other in self.universe[Pod]:
                self.copy[use].reserved[other] = False
            self.copy[use].life = THERE
            self.copy[use].readiness = PENDING
            self.lag[use] = 0
            self.chosen[use] = None
            self.unavailable[use] = False

    def _is(self, use: ClaimUse, *stages: Stage) -> Expr:
        return one_of(self.stage[use], *stages)

    # --- PreEnqueue ------------------------------------------------------------------------------------------

    def is_ready(self, pod: Pod, named: Value) -> Expr:
        """foreachPodResourceClaim: whether the status names the pod's own claims, if any are created for it, and each exists and is not being deleted."""
        return all_of(self._is_usable(use, named) for use in self.uses(pod))

    def _is_usable(self, use: ClaimUse, named: Value) -> Expr:
        if use.claim.special:
            return as_expr(True)
        usable = self.claim_cache.is_usable(use.claim)
        if use.claim.name in use.pod.generated:
            usable = usable & self.is_own(named)
        return usable

    def is_own(self, named: Value) -> Expr:
        """Name and IsForPod: whether the status names a claim, and the pod owns it."""
        return as_expr(named) == OWN

    # --- PreFilter -------------------------------------------------------------------------------------------

    def begin(self, pod: Pod) -> None:
        """The cycle has its snapshot: PreFilter begins for a pod with claims."""
        if pod.claims:
            self.scheduler.phase = Phase.GET_CLAIMS

    @step(actor="scheduler")
    @tells(
        changes("scheduler.verdict", after=NodeStatus.UNRESOLVABLE),
        "DynamicResources does not find {use}, or it is being deleted, or another pod's: the attempt has to wait.",
        changes("dynamic_resources.copy.device", after=SOMETHING),
        "DynamicResources reads {use} from the assume cache: it is allocated {after}.",
        "DynamicResources reads {use} from the assume cache: it is not allocated.",
    )
    def get_claim(self, use: ClaimUse) -> None:
        """podResourceClaims: reads one claim after the other, and keeps the objects."""
        pod = use.pod
        require(self.scheduler.at(Phase.GET_CLAIMS, pod) & self._is(use, Stage.NONE))
        require(all_of(~self._is(other, Stage.NONE) for other in self.earlier(use)))
        self.copy[use] = self.claim_cache.latest[use.claim]
        self.lag[use] = self.claim_cache.latest_lag[use.claim]
        self.stage[use] = Stage.GOT
        got = all_of(~self._is(other, Stage.NONE) for other in self.uses(pod))
        if not self.resource_claims.passes():
            with when(got):
                self.scheduler.phase = Phase.CHECK_CLAIMS
            return
        with when(~self._is_usable(use, self.scheduler.copy.named)):
            self.scheduler.reject_everywhere(DYNAMIC_RESOURCES)
        with otherwise(got):
            self.scheduler.phase = Phase.CHECK_CLAIMS

    @step(actor="scheduler")
    @tells(
        changes("scheduler.verdict", after=NodeStatus.UNRESOLVABLE),
        "{use} is in the process of being allocated: the attempt has to wait.",
        changes("dynamic_resources.chosen", after=SOMETHING),
        "{use} is in the process of being allocated, for a pod of the same group: {after} will do for both.",
        "DynamicResources looks whether {use} is in flight: it is not.",
    )
    def check_claim(self, use: ClaimUse) -> None:
        """PreFilter, for one claim after the other: a claim that is not allocated must not be in flight, unless the cycle of the pod's group has put it there."""
        pod = use.pod
        require(self.scheduler.at(Phase.CHECK_CLAIMS, pod) & self._is(use, Stage.GOT))
        require(all_of(~self._is(other, Stage.GOT) for other in self.earlier(use)))
        blocked = ~self.copy[use].allocated & self.claim_tracker.is_pending(use.claim)
        if use.claim.special:
            blocked = as_expr(False)  # what is in flight has a UID that this attempt has just made up
        if self.is_of_group(use):
            shared = blocked & self.shares(use)
            with when(shared):
                self.chosen[use] = self.claim_tracker.in_flight[use.claim]
            blocked = blocked & ~shared
        self.stage[use] = Stage.CHECKED
        with when(blocked):
            self.scheduler.reject_everywhere(DYNAMIC_RESOURCES)
        with otherwise(all_of(~self._is(other, Stage.GOT) for other in self.uses(pod))):
            with when(any_of(~self.copy[other].allocated for other in self.uses(pod))):
                self.scheduler.phase = Phase.LIST_DEVICES
            with otherwise():
                self.scheduler.phase = self.scheduler.first_filtering()

    def is_of_group(self, use: ClaimUse) -> bool:
        """Whether the pod is scheduled with its group."""
        return self.pod_group_cycle.member(use.pod) is not None

    def shares(self, use: ClaimUse) -> Expr:
        """podGroupStateData.pendingAllocations: whether this cycle of the group has put the claim in flight for another member."""
        others = [other for other in self.universe[ClaimUse] if other.claim is use.claim and other is not use]
        return any_of(
            self.pod_group_cycle.tries(other.pod) & self._is(other, Stage.RESERVED) for other in others
        )

    def is_settled(self, use: ClaimUse) -> Expr:
        """Whether the allocator skips the claim: it is allocated, or in flight and shared."""
        settled: Expr = self.copy[use].allocated
        return settled | as_expr(self.chosen[use]).is_some if self.is_of_group(use) else settled

    @step(actor="scheduler")
    @tells("DynamicResources reads which devices are allocated, for {pod}.")
    def list_devices(self, pod: Pod) -> None:
        """ListAllAllocatedDevices (GatherAllocatedState) begins with the devices that are allocated by the events so far, and their revision."""
        require(bool(pod.claims))
        require(self.scheduler.at(Phase.LIST_DEVICES, pod))
        for device in self.universe[Device]:
            self.listed[device] = self.claim_tracker.allocated[device]
        self.claim_tracker.begin_listing()
        self.scheduler.phase = Phase.ADD_IN_FLIGHT

    @step(actor="scheduler")
    @tells("DynamicResources adds the devices of the claims in flight, for {pod}.")
    def add_in_flight(self, pod: Pod) -> None:
        """Adds the devices in flight. If the allocated devices have changed meanwhile, the list is made again. Then the slices are listed."""
        require(bool(pod.claims))
        require(self.scheduler.at(Phase.ADD_IN_FLIGHT, pod))
        with when(self.lists_again()):
            self._unlist()
            self.scheduler.phase = Phase.LIST_DEVICES
        with otherwise():
            for of in self.universe[TaintableDevice]:
                self.listed_tainted[of] = self.slice_informer.tainted[of]
            for share in self.universe[SharedDevice]:
                both = self.listed[share.device] & self.claim_tracker.has_in_flight(share.device)
                self.listed_twice[share] = both & self.adds_twice()
            for device in self.universe[Device]:
                taken = self.claim_tracker.has_in_flight(device) | ~self.slice_informer.is_shown(device)
                self.listed[device] = self.listed[device] | taken
            self.scheduler.phase = self.scheduler.first_filtering()
        self.claim_tracker.begin_listing()

    def adds_twice(self) -> bool:
        """Whether the consumption of an allocation in flight is added to the sum of the allocated ones without checking whether the sum already contains it."""
        return True

    def lists_again(self) -> Expr:
        """Whether the list can be a state that never existed, so that it is made again."""
        return self.claim_tracker.is_stale()

    def _unlist(self) -> None:
        for device in self.universe[Device]:
            self.listed[device] = False
        for share in self.universe[SharedDevice]:
            self.listed_twice[share] = False
        for of in self.universe[TaintableDevice]:
            self.listed_tainted[of] = False

    def supply(self, *others: ClaimUse) -> Supply:
        """The devices that this cycle has listed, and its choices for these claims."""
        shares = {share.device: share for share in self.universe[SharedDevice]}

        def taken(device: Device) -> Expr:
            return self.listed[device] | any_of(self.chosen[use] == device for use in others)

        def twice(device: Device) -> Value:
            return self.listed_twice[shares[device]] if device in shares else False

        def shown(device: Device, claim: Claim) -> Expr:
            return ~any_of(
                self.listed_tainted[of]
                for of in self.universe[TaintableDevice]
                if of.device in (device, *device.parts) and not claim.accepts(of.effect)
            )

        def given(device: Device) -> Expr:
            return any_of(self.chosen[use] == device for use in others)

        return Supply(self.universe[Device], taken, shown, twice, given)

    def wanted(self, uses: Sequence[ClaimUse]) -> list[tuple[Claim, Expr]]:
        """Claims, each with whether the allocator skips it."""
        return [(use.claim, self.is_settled(use)) for use in uses]

    # --- Filter and PostFilter -------------------------------------------------------------------------------

    def is_stale(self, use: ClaimUse) -> Expr:
        """findExtendedResourceClaim: PreFilter has found the special claim of an earlier attempt, which can be in deletion."""
        return one_of(self.copy[use].life, THERE, DELETING) if use.claim.special else as_expr(False)

    def has_stale(self, pod: Pod) -> Expr:
        """Whether Filter rejects every node until the special claim is deleted."""
        return any_of(self.is_stale(use) for use in self.uses(pod))

    def has_devices(self, pod: Pod, node: Node) -> Expr:
        """Whether the node has a suitable free device for each claim of the pod that is not allocated."""
        return self.supply().can_give(self.wanted(self.uses(pod)), node)

    def is_available(self, use: ClaimUse, node: Node) -> Expr:
        """Whether an allocated claim can be used on the node. True for a claim that is not allocated."""
        away = [device for device in self.universe[Device] if not device.is_on(node)]
        return ~any_of(self.copy[use].device == device for device in away)

    def is_shareable(self, use: ClaimUse, node: Node) -> Expr:
        """Whether a shared claim in flight can be used on the node."""
        away = [device for device in self.universe[Device] if not device.is_on(node)]
        return ~any_of(self.chosen[use] == device for device in away)

    def passes(self, pod: Pod, node: Node) -> Expr:
        """Filter of DynamicResources."""
        shareable = [self.is_shareable(use, node) for use in self.uses(pod) if self.is_of_group(use)]
        available = [self.is_available(use, node) for use in self.uses(pod)]
        passes = self.has_devices(pod, node) & all_of([*available, *shareable]) & ~self.has_stale(pod)
        return passes & ~self.is_stopped(pod)

    def is_stopped(self, pod: Pod) -> Expr:
        """Whether Filter has failed on another node: then the caller wants no more devices to be looked for."""
        if not self.scope.filter_timeouts and not any(use.claim.fails_on for use in self.uses(pod)):
            return as_expr(False)
        erred = any_of(self.scheduler.verdict[node] == NodeStatus.ERROR for node in self.universe[Node])
        return erred & any_of(~self.is_settled(use) for use in self.uses(pod))

    def errs(self, pod: Pod, node: Node) -> Expr:
        """Whether the allocator evaluates a selector that fails: of a device that nobody has, as it passes over the others first."""
        failing = [
            ~self.is_settled(use) & ~self.listed[device]
            for use in self.uses(pod)
            for device in self.universe[Device]
            if device.name in use.claim.fails_on and device.is_on(node)
        ]
        return any_of(failing) & ~self.has_stale(pod) & ~self.is_stopped(pod)

    @step(actor="scheduler", fair=False)
    @tells(
        "Filter of DynamicResources has looked for devices on {node} for too long, and gives up, for {pod}."
    )
    def give_up_search(self, pod: Pod, node: Node) -> None:
        """The allocator has not come to an end within filterTimeout (DRASchedulerFilterTimeout), where all nodes are tried and the other filters let the pod pass."""
        require(bool(pod.claims) and bool(self.scope.filter_timeouts))
        require(self.scheduler.is_to_filter(pod, node) & self.scheduler.reaches_devices(pod, node))
        require(any_of(~self.is_settled(use) for use in self.uses(pod)))
        require(~self.has_stale(pod) & ~self.is_stopped(pod))
        self.faults.spend(Fault.FILTER_TIMEOUT, pod)
        self.end_search(pod, node)

    def end_search(self, pod: Pod, node: Node) -> None:
        """A search that took too long is an error, so that the pod backs off and is tried again."""
        self.scheduler.note_verdict(pod, node, NodeStatus.ERROR)

    def note_filtered(self, pod: Pod, node: Node, reached: Expr) -> None:
        """What Filter keeps for PostFilter, if it ran and the allocator found devices."""
        for use in self.uses(pod):
            with when(
                reached & self.has_devices(pod, node) & ~self.is_available(use, node) & ~self.has_stale(pod)
            ):
                self.unavailable[use] = True

    def is_removable(self, use: ClaimUse) -> Expr:
        """Whether PostFilter can deallocate the claim: it is not reserved, or only for this pod."""
        others = any_of(self.copy[use].reserved[pod] for pod in self.universe[Pod] if pod is not use.pod)
        return self.unavailable[use] & ~others

    def post_filter(self, pod: Pod) -> None:
        """The pod fits nowhere. PostFilter of DynamicResources runs before preemption, if it has a claim to deallocate."""
        if pod.claims:
            with when(any_of(self.is_removable(use) for use in self.uses(pod)) | self.has_stale(pod)):
                self.scheduler.phase = Phase.DEALLOCATE

    @step(actor="scheduler")
    @tells(
        changes("resource_claims.object.device"),
        "The pod fits on no node: DynamicResources deallocates {use}.",
        "DynamicResources tries to deallocate {use}, and the API server refuses: the claim was written meanwhile.",
    )
    def deallocate(self, use: ClaimUse) -> None:
        """PostFilter: UPDATE of the status without allocation and reservedFor, for one of the claims that can be deallocated.

        An error, such as that the claim was written meanwhile, ends PostFilter: nothing is preempted.
        """
        pod = use.pod
        require(self.scheduler.at(Phase.DEALLOCATE, pod) & self.is_removable(use))
        current = self.lag[use] == 0
        with when(current):
            self.resource_claims.write(use.claim, None, dict.fromkeys(self.universe[Pod], False))
            self.scheduler.phase = self.scheduler.phase_after_fit_error()
        with otherwise():
            self.scheduler.phase = Phase.FAIL

    @step(actor="scheduler")
    @tells(
        changes("resource_claims.object.life"),
        "The pod fits on no node: DynamicResources deletes {use}, which is left from an earlier attempt.",
        "DynamicResources is to delete {use}, which is left from an earlier attempt, and the API server has it no longer.",
    )
    def delete_stale(self, use: ClaimUse) -> None:
        """PostFilter, deleteClaim: an UPDATE removes the finalizer, and a DELETE follows. It is an error if the claim is gone."""
        require(use.claim.special)
        require(self.scheduler.at(Phase.DEALLOCATE, use.pod) & self.is_stale(use))
        with when(self.resource_claims.is_stored(use.claim)):
            self.resource_claims.put(use.claim, GONE)
            self.scheduler.phase = self.scheduler.phase_after_fit_error()
        with otherwise():
            self.scheduler.phase = Phase.FAIL
