"""The plugin DynamicResources (framework/plugins/dynamicresources/dynamicresources.go, 1.36): devices for the claims of a pod.

In the scheduling cycle: PreFilter reads the pod's claims and which devices are taken, Filter looks for free devices on each node, PostFilter
deallocates a claim that keeps the pod from all nodes, Reserve puts the allocations in flight. In the binding cycle: PreBind writes them, or mere
reservations, claim after claim. Unreserve takes back what was reserved.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from ...environment.claims import MOST_BEHIND, THERE, ClaimObject, ClaimUse, ResourceClaims, older
from ...environment.faults import Fault
from ...environment.objects import OWN, Claim, Device, Node, Pod
from ...language import (
    SOMETHING,
    Component,
    Expr,
    Sentence,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    changes,
    count,
    enum,
    integer,
    one_of,
    otherwise,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
    words,
)
from ..cycles.binding import BindingPhase
from ..framework.events import DYNAMIC_RESOURCES, Plugin
from ..framework.status import NodeStatus, Phase

if TYPE_CHECKING:
    from ...environment.faults import Faults
    from ..cycles.binding import Binding
    from ..cycles.schedule_one import Scheduler
    from ..framework.interface import GroupCycles
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


class DynamicResources(Component):
    """The state of the plugin in the cycles of each pod (stateData).

    `copy[u]` is the claim as the plugin has it, `lag[u]` how far it is behind, `chosen[u]` the device that Reserve put in flight, `unavailable[u]`: the
    claim is allocated, and not available on some node. `listed[d]`: the device was taken when this cycle looked.
    """

    resource_claims: ResourceClaims
    claim_cache: AssumeCache
    claim_tracker: ClaimTracker
    scheduler: Scheduler
    binding: Binding
    pod_group_cycle: GroupCycles
    faults: Faults

    stage = per(ClaimUse, enum(Stage))
    copy = per(ClaimUse, ClaimObject)
    lag = per(ClaimUse, integer(0, MOST_BEHIND))
    chosen = per(ClaimUse, ref(Device))
    unavailable = per(ClaimUse, boolean())
    listed = per(Device, boolean())

    phrases = words(
        {
            "copy.device": Words("DynamicResources: {0} is allocated {after}"),
            "chosen": Words("DynamicResources: {0} is to have {after}", decisive=True),
        }
    )

    def written(self, claim: Claim) -> None:
        """A write at the API server makes the copies of the claim one version older."""
        for use in self.universe[ClaimUse]:
            if use.claim is claim:
                with when(self.stage[use] != Stage.NONE):
                    self.lag[use] = older(self.lag[use])

    def uses(self, pod: Pod) -> list[ClaimUse]:
        """The claims of a pod, in their order."""
        return [use for use in self.universe[ClaimUse] if use.pod is pod]

    def earlier(self, use: ClaimUse) -> list[ClaimUse]:
        """The claims of the same pod that come before."""
        return [other for other in self.uses(use.pod) if other.index < use.index]

    def clear(self, pod: Pod) -> None:
        """The cycles of the pod are over."""
        for use in self.uses(pod):
            self.stage[use] = Stage.NONE
            self.copy[use].device = None
            for other in self.universe[Pod]:
                self.copy[use].reserved[other] = False
            self.copy[use].life = THERE
            self.lag[use] = 0
            self.chosen[use] = None
            self.unavailable[use] = False

    def _is(self, use: ClaimUse, *stages: Stage) -> Expr:
        return one_of(self.stage[use], *stages)

    # --- PreEnqueue ------------------------------------------------------------------------------------------

    def is_ready(self, pod: Pod, named: Value) -> Expr:
        """foreachPodResourceClaim: the status names the pod's own claims, if they were to be made, and each is there, and not being deleted."""
        return all_of(self._is_usable(use, named) for use in self.uses(pod))

    def _is_usable(self, use: ClaimUse, named: Value) -> Expr:
        usable = self.claim_cache.is_usable(use.claim)
        if use.claim.name in use.pod.generated:
            usable = usable & self.is_own(named)
        return usable

    def is_own(self, named: Value) -> Expr:
        """Name and IsForPod: the status names a claim, and the claim has the pod as its owner."""
        return as_expr(named) == OWN

    # --- PreFilter -------------------------------------------------------------------------------------------

    def begin(self, pod: Pod) -> None:
        """The cycle has its snapshot: PreFilter of a pod with claims begins."""
        if pod.claims:
            self.scheduler.phase = Phase.GET_CLAIMS

    @step(actor="scheduler")
    @tells(
        Sentence(
            "DynamicResources does not find {use}, or it is being deleted, or another pod's: the attempt has to wait.",
            changes("scheduler.verdict", after=NodeStatus.UNRESOLVABLE),
        ),
        Sentence(
            "DynamicResources reads {use} from the assume cache: it is allocated {after}.",
            changes("dynamic_resources.copy.device", after=SOMETHING),
        ),
        "DynamicResources reads {use} from the assume cache: it is not allocated.",
    )
    def get_claim(self, use: ClaimUse) -> None:
        """podResourceClaims: the claims are read one after the other, and kept as they are."""
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
            self._reject(pod)
        with otherwise(got):
            self.scheduler.phase = Phase.CHECK_CLAIMS

    @step(actor="scheduler")
    @tells(
        Sentence(
            "{use} is in the process of being allocated: the attempt has to wait.",
            changes("scheduler.verdict", after=NodeStatus.UNRESOLVABLE),
        ),
        Sentence(
            "{use} is in the process of being allocated, for a pod of the same group: {after} will do for both.",
            changes("dynamic_resources.chosen", after=SOMETHING),
        ),
        "DynamicResources looks whether {use} is in flight: it is not.",
    )
    def check_claim(self, use: ClaimUse) -> None:
        """PreFilter, claim after claim: one that is not allocated must not be in flight, unless the cycle of the pod's group has put it there."""
        pod = use.pod
        require(self.scheduler.at(Phase.CHECK_CLAIMS, pod) & self._is(use, Stage.GOT))
        require(all_of(~self._is(other, Stage.GOT) for other in self.earlier(use)))
        blocked = ~self.copy[use].allocated & self.claim_tracker.is_pending(use.claim)
        if self.is_of_group(use):
            shared = blocked & self.shares(use)
            with when(shared):
                self.chosen[use] = self.claim_tracker.in_flight[use.claim]
            blocked = blocked & ~shared
        self.stage[use] = Stage.CHECKED
        with when(blocked):
            self._reject(pod)
        with otherwise(all_of(~self._is(other, Stage.GOT) for other in self.uses(pod))):
            with when(any_of(~self.copy[other].allocated for other in self.uses(pod))):
                self.scheduler.phase = Phase.LIST_DEVICES
            with otherwise():
                self.scheduler.phase = self.scheduler.first_filtering()

    def is_of_group(self, use: ClaimUse) -> bool:
        """Whether the pod is scheduled with its group."""
        return self.pod_group_cycle.member(use.pod) is not None

    def shares(self, use: ClaimUse) -> Expr:
        """podGroupStateData.pendingAllocations: whether this cycle of the group has put the claim in flight, for another member."""
        others = [other for other in self.universe[ClaimUse] if other.claim is use.claim and other is not use]
        return any_of(
            self.pod_group_cycle.tries(other.pod) & self._is(other, Stage.RESERVED) for other in others
        )

    def is_settled(self, use: ClaimUse) -> Expr:
        """Whether the allocator is not asked about the claim: it is allocated, or shared while it is in flight."""
        settled: Expr = self.copy[use].allocated
        return settled | as_expr(self.chosen[use]).is_some if self.is_of_group(use) else settled

    def _reject(self, pod: Pod) -> None:
        """PreFilter says UnschedulableAndUnresolvable: that is the status of every node. PostFilter finds no state, and does nothing."""
        for node in self.universe[Node]:
            self.scheduler.verdict[node] = NodeStatus.UNRESOLVABLE
        for plugin in self.universe[Plugin]:
            if plugin.name == DYNAMIC_RESOURCES:
                self.scheduler.rejected_by[plugin] = True
        self.scheduler.phase = self.scheduler.phase_after_fit_error()

    @step(actor="scheduler")
    @tells("DynamicResources reads which devices are allocated, for {pod}.")
    def list_devices(self, pod: Pod) -> None:
        """ListAllAllocatedDevices (GatherAllocatedState) begins with the devices that the events have shown, and their revision."""
        if not pod.claims:
            require(False)
            return
        require(self.scheduler.at(Phase.LIST_DEVICES, pod))
        for device in self.universe[Device]:
            self.listed[device] = self.claim_tracker.allocated[device]
        self.claim_tracker.begin_listing()
        self.scheduler.phase = Phase.ADD_IN_FLIGHT

    @step(actor="scheduler")
    @tells("DynamicResources adds the devices of the claims in flight, for {pod}.")
    def add_in_flight(self, pod: Pod) -> None:
        """Then those in flight; if the allocated devices have changed meanwhile, it begins anew."""
        if not pod.claims:
            require(False)
            return
        require(self.scheduler.at(Phase.ADD_IN_FLIGHT, pod))
        with when(self.lists_again()):
            self._unlist()
            self.scheduler.phase = Phase.LIST_DEVICES
        with otherwise():
            for device in self.universe[Device]:
                self.listed[device] = self.listed[device] | self.claim_tracker.has_in_flight(device)
            self.scheduler.phase = self.scheduler.first_filtering()
        self.claim_tracker.begin_listing()

    def lists_again(self) -> Expr:
        """Whether the list is not a state that ever was."""
        return self.claim_tracker.is_stale()

    def _unlist(self) -> None:
        for device in self.universe[Device]:
            self.listed[device] = False

    # --- Filter and PostFilter -------------------------------------------------------------------------------

    def has_devices(self, pod: Pod, node: Node) -> Expr:
        """Whether there is a free device on the node for each claim of the pod that is not allocated, of the class that it asks for."""
        found = []
        for of in dict.fromkeys(use.claim.of for use in self.uses(pod)):
            free = count(~self.listed[d] for d in self.universe[Device] if d.is_on(node) and d.of == of)
            needed = count(~self.is_settled(use) for use in self.uses(pod) if use.claim.of == of)
            found.append(free >= needed)
        return all_of(found)

    def is_available(self, use: ClaimUse, node: Node) -> Expr:
        """Whether an allocated claim lets the pod go to the node; one that is not allocated always does."""
        away = [device for device in self.universe[Device] if not device.is_on(node)]
        return ~any_of(self.copy[use].device == device for device in away)

    def is_shareable(self, use: ClaimUse, node: Node) -> Expr:
        """Whether a claim that is shared while it is in flight lets the pod go to the node."""
        away = [device for device in self.universe[Device] if not device.is_on(node)]
        return ~any_of(self.chosen[use] == device for device in away)

    def passes(self, pod: Pod, node: Node) -> Expr:
        """Filter."""
        shareable = [self.is_shareable(use, node) for use in self.uses(pod) if self.is_of_group(use)]
        available = [self.is_available(use, node) for use in self.uses(pod)]
        return self.has_devices(pod, node) & all_of([*available, *shareable])

    def note_filtered(self, pod: Pod, node: Node, reached: Expr) -> None:
        """What Filter keeps for PostFilter, if it was reached and the allocator found devices."""
        for use in self.uses(pod):
            with when(reached & self.has_devices(pod, node) & ~self.is_available(use, node)):
                self.unavailable[use] = True

    def is_removable(self, use: ClaimUse) -> Expr:
        """Whether PostFilter may deallocate the claim: it is reserved for nobody, or for this pod alone."""
        others = any_of(self.copy[use].reserved[pod] for pod in self.universe[Pod] if pod is not use.pod)
        return self.unavailable[use] & ~others

    def post_filter(self, pod: Pod) -> None:
        """The pod fits nowhere: PostFilter of DynamicResources comes before preemption, if it has a claim to deallocate."""
        if pod.claims:
            with when(any_of(self.is_removable(use) for use in self.uses(pod))):
                self.scheduler.phase = Phase.DEALLOCATE

    @step(actor="scheduler")
    @tells(
        Sentence(
            "The pod fits on no node: DynamicResources deallocates {use}.",
            changes("resource_claims.object.device"),
        ),
        "DynamicResources tries to deallocate {use}, and the API server refuses: the claim was written meanwhile.",
    )
    def deallocate(self, use: ClaimUse) -> None:
        """PostFilter: UPDATE of the status without allocation and reservedFor, of any of the claims that may be deallocated.

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

    # --- Reserve ---------------------------------------------------------------------------------------------

    def is_reserved(self, pod: Pod) -> Expr:
        """Whether Reserve of DynamicResources is through."""
        return all_of(self.copy[use].allocated | self._is(use, Stage.RESERVED) for use in self.uses(pod))

    @step(actor="scheduler")
    @tells(
        Sentence(
            "Reserve: {use} is to have {device}, which is in flight from now on.",
            changes("claim_tracker.in_flight"),
        ),
        Sentence(
            "Reserve: {use} is to have {device}, which is in flight for one pod more.",
            changes("claim_tracker.sharers"),
        ),
        "Reserve: {use} is to have {device}; nothing is in flight, the claim is allocated by now.",
    )
    def reserve_claim(self, use: ClaimUse, device: Device) -> None:
        """Reserve, claim after claim: a device that was free when PreFilter looked, and that Filter found on the node.

        Of a group, Reserve comes twice: while the cycle tries, and for the pod's binding, with what was found then.
        """
        pod, host = use.pod, self.scheduler.host
        if device.of != use.claim.of:
            require(False)
            return
        require(
            self.scheduler.at(Phase.RESERVE, pod) & self._is(use, Stage.CHECKED) & ~self.copy[use].allocated
        )
        require(
            all_of(
                self.copy[other].allocated | self._is(other, Stage.RESERVED) for other in self.earlier(use)
            )
        )
        free = ~self.listed[device] & all_of(self.chosen[other] != device for other in self.earlier(use))
        free = free & any_of((host == node) for node in self.universe[Node] if device.is_on(node))
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

    def put_in_flight(self, use: ClaimUse, device: Device) -> None:
        """SignalClaimPendingAllocation, also for a pod that uses what another one of its group has put in flight."""
        self.claim_tracker.signal(use.claim, device)

    # --- PreBind ---------------------------------------------------------------------------------------------

    def is_bound(self, pod: Pod) -> Expr:
        """Whether PreBind of DynamicResources is through with all claims."""
        return all_of(self._is_done(use) for use in self.uses(pod))

    def _is_done(self, use: ClaimUse) -> Expr:
        return self._is(use, Stage.BOUND) | (self._is(use, Stage.CHECKED) & self.copy[use].reserved[use.pod])

    def _require_pre_bind(self, use: ClaimUse, *stages: Stage) -> None:
        require((self.binding.phase[use.pod] == BindingPhase.PRE_BIND) & self._is(use, *stages))
        require(all_of(self._is_done(other) for other in self.earlier(use)) & ~self._is_done(use))

    @step(actor="binding cycle", each="use")
    @tells(
        Sentence(
            "PreBind: the allocation of {use} is written, and that the claim is reserved for the pod.",
            changes("resource_claims.object.device", after=SOMETHING),
        ),
        Sentence(
            "PreBind: it is written that {use} is reserved.",
            changes("resource_claims.object.reserved", after=True),
        ),
        Sentence(
            "PreBind: {use} is to be written, and the API server refuses: the claim was written meanwhile.",
            changes("dynamic_resources.stage", after=Stage.REFRESH),
        ),
        "PreBind: {use} is to be reserved, and the API server refuses: the claim is not allocated.",
    )
    def write_claim(self, use: ClaimUse) -> None:
        """bindClaim: UPDATE of the status, with the version of the object at hand. After a conflict the object is read again.

        The finalizer, which an UPDATE before sets with the same version, is not modelled (A-CLAIM-FINALIZER).
        """
        self._require_pre_bind(use, Stage.CHECKED, Stage.RESERVED)
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
        Sentence(
            "PreBind: {use} is read again, and whether it is allocated is not as it was before: the binding fails.",
            changes("dynamic_resources.stage", after=Stage.FAILED),
        ),
        "PreBind: {use} is read again from the API server.",
    )
    def refresh_claim(self, use: ClaimUse) -> None:
        """After a conflict, GET: a claim that is to be allocated and has an allocation by now is an error."""
        self._require_pre_bind(use, Stage.REFRESH)
        self.copy[use] = self.resource_claims.object[use.claim]
        self.lag[use] = 0
        chosen = as_expr(self.chosen[use])
        with when((chosen.is_some & self.copy[use].allocated) | ~self.resource_claims.is_there(use.claim)):
            self.stage[use] = Stage.FAILED
        with otherwise(chosen.is_none & ~self.copy[use].allocated):
            self.found_deallocated(use)
        with otherwise():
            self.stage[use] = select(chosen.is_some, Stage.RESERVED, Stage.CHECKED)

    def found_deallocated(self, use: ClaimUse) -> None:
        """A claim that was to be reserved merely is not allocated any more: with binding conditions, an error before the write."""
        self.stage[use] = Stage.FAILED

    def has_panicked(self) -> Expr:
        """Whether a goroutine has ended the process."""
        return as_expr(False)

    @step(actor="binding cycle", each="use")
    @tells("PreBind: {use} as it was written goes to the assume cache.")
    def assume_claim(self, use: ClaimUse) -> None:
        """AssumeClaimAfterAPICall with the object that the write has returned."""
        self._require_pre_bind(use, Stage.WRITTEN)
        with when(self.assumes(use)):
            self.claim_cache.assume(use.claim, self.copy[use], self.lag[use])
        self.stage[use] = Stage.ASSUMED

    def assumes(self, use: ClaimUse) -> Expr:
        """Whether a claim that was written is assumed: also one that was merely reserved."""
        return as_expr(True)

    @step(actor="binding cycle", each="use")
    @tells("PreBind: {use} is done with, and no longer in flight.")
    def settle_claim(self, use: ClaimUse) -> None:
        """Assume returns once its event is delivered; then an allocation is in flight no longer."""
        self._require_pre_bind(use, Stage.ASSUMED)
        require(self.claim_cache.has_returned(use))
        self.settle(use)
        self.stage[use] = Stage.BOUND

    def settle(self, use: ClaimUse) -> None:
        """The claim is written: with the last of the pod's claims, no allocation is in flight any more, whoever shares it."""
        last = all_of(self._is_done(other) for other in self.uses(use.pod) if other is not use)
        with when(last):
            for other in self.uses(use.pod):
                self._end_flight(other)

    def _end_flight(self, use: ClaimUse, *, forced: bool = True) -> None:
        with when(as_expr(self.chosen[use]).is_some):
            with when(self.claim_tracker.is_pending(use.claim)):
                self.claim_tracker.remove(use.claim, forced=forced)
            self.chosen[use] = None

    @step(actor="binding cycle", each="use")
    @tells(
        Sentence(
            "PreBind has failed for {use}: one pod less counts on the allocation in flight.",
            changes("claim_tracker.sharers", after=SOMETHING),
        ),
        Sentence(
            "PreBind has failed for {use}, whose allocation is no longer in flight.",
            changes("claim_tracker.in_flight"),
        ),
        "PreBind has failed for {use}.",
    )
    def fail_claim(self, use: ClaimUse) -> None:
        """bindClaim returns an error, and PreBind with it: the binding cycle fails."""
        self._require_pre_bind(use, Stage.FAILED)
        self.give_up(use)
        self.stage[use] = Stage.CHECKED
        self.binding.phase[use.pod] = BindingPhase.FORGET

    def give_up(self, use: ClaimUse) -> None:
        """What was in flight stays there: Unreserve, which follows, gives it back."""

    # --- Unreserve -------------------------------------------------------------------------------------------

    def is_unreserved(self, pod: Pod) -> Expr:
        """Whether Unreserve is through with all claims of the pod."""
        return all_of(self._is(use, Stage.UNRESERVED) for use in self.uses(pod))

    def _require_unreserve(self, use: ClaimUse) -> None:
        pod = use.pod
        fails = self.binding.phase[pod] == BindingPhase.FORGET
        require(fails | self.scheduler.at(Phase.FORGET, pod) | self._takes_back(use))
        require(all_of(self._is(other, Stage.UNRESERVED) for other in self.earlier(use)))

    def _takes_back(self, use: ClaimUse) -> Expr:
        return self.pod_group_cycle.takes_back(use.pod) if self.is_of_group(use) else as_expr(False)

    def taken_back(self, pod: Pod) -> None:
        """The cycle of the group has taken back what Reserve did; what was found is kept for the pod's own Reserve."""
        for use in self.uses(pod):
            self.stage[use] = Stage.CHECKED

    @step(actor="binding cycle", each="use")
    @tells(
        Sentence("Unreserve: {use} is in flight no longer.", changes("claim_tracker.in_flight")),
        Sentence("Unreserve: {use} is in flight for one pod less.", changes("claim_tracker.sharers")),
        "Unreserve: {use} is not in flight.",
    )
    def unreserve_claim(self, use: ClaimUse) -> None:
        """Unreserve, claim after claim: whatever allocation of the claim is in flight is removed."""
        self._require_unreserve(use)
        require(~self._is(use, Stage.RESTORE, Stage.RESTORED, Stage.PATCH, Stage.UNRESERVED))
        given_back = self.removes_in_flight(use)
        removed = given_back & self.claim_tracker.is_last(use.claim)
        with when(given_back):
            self.claim_tracker.remove(use.claim, forced=False)
        with when(~self._takes_back(use)):
            self.chosen[use] = None
        patches = self.copy[use].allocated & self.copy[use].reserved[use.pod]
        self.stage[use] = select(removed, Stage.RESTORE, select(patches, Stage.PATCH, Stage.UNRESERVED))

    def removes_in_flight(self, use: ClaimUse) -> Expr:
        """Whether there is an allocation of the claim in flight: nobody asks whether it is this pod's."""
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
        """Restore returns once its event is delivered."""
        self._require_unreserve(use)
        require(self._is(use, Stage.RESTORED) & self.claim_cache.has_returned(use))
        patches = self.copy[use].allocated & self.copy[use].reserved[use.pod]
        self.stage[use] = select(patches, Stage.PATCH, Stage.UNRESERVED)

    @step(actor="binding cycle", each="use")
    @tells(
        Sentence(
            "Unreserve: {use} is no longer reserved.", changes("resource_claims.object.reserved", after=False)
        ),
        "Unreserve: {use} is to be reserved no longer, which it was not.",
    )
    def patch_reservation(self, use: ClaimUse) -> None:
        """PATCH of the status without a version: the pod is taken out of reservedFor. What the call returns is not assumed."""
        self._require_unreserve(use)
        require(self._is(use, Stage.PATCH))
        self.resource_claims.write(use.claim, None, {use.pod: False}, keeps=True)
        self.stage[use] = Stage.UNRESERVED

    @step(actor="binding cycle", each="use")
    @tells("Unreserve: {use} is to be reserved no longer, and the PATCH fails.")
    def lose_patch(self, use: ClaimUse) -> None:
        """The PATCH fails, which is logged."""
        if not self.scope.status_failures:
            require(False)
            return
        self._require_unreserve(use)
        require(self._is(use, Stage.PATCH))
        self.faults.spend(Fault.STATUS_FAILURE)
        self.stage[use] = Stage.UNRESERVED
