"""The scheduling cycle of a group of pods (schedule_one_podgroup.go, 1.36): all members that wait are tried on one snapshot, and then bound, or put back, together.

The pod that Pop gives brings the others along: each is taken out of whichever sub-queue it is in. One after the other, by priority, they are filtered and assumed in the
snapshot, and Permit is asked as if they were on their nodes. What was assumed is taken back. If Permit has let one of them go on, the group can be scheduled: those that fit are assumed in the cache and
asked for permission once more, and their binding cycles start. Otherwise all go to the failure handler.
"""

from enum import Enum

from ...environment.objects import Node, Pod, PodCopy, PodGroup
from ...environment.pod_groups import Member, PodGroups
from ...language import (
    SOMETHING,
    Component,
    Expr,
    Fact,
    Knowledge,
    Lasts,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    changes,
    enum,
    one_of,
    otherwise,
    per,
    ref,
    require,
    select,
    spoken,
    step,
    tells,
    when,
)
from ..cache.scheduler_cache import Cache
from ..cache.snapshot import Snapshot
from ..cycles.failure import FailedAttempt, FailureHandler
from ..cycles.schedule_one import Scheduler
from ..framework.events import Plugin
from ..framework.interface import ClaimPlugin
from ..framework.status import Phase
from ..queue.nominator import Nominator
from ..queue.scheduling_queue import PriorityQueue
from .gang_scheduling import GangScheduling
from .group_state import PodGroupStates


class GroupStage(Enum):
    """The next thing that the cycle of a group does."""

    NONE = 0
    GATHER = 1
    POP = 2
    SNAPSHOT = 3
    TRY = 4
    PERMIT = 5
    REVERT = 6
    SUBMIT = 7
    PREEMPT = 8
    REPRIEVE = 9
    PLACE = 10
    WEIGH = 11
    PICK = 12


@spoken(FITS="fits", PREEMPTS="preempts", FAILS="does not fit")
class Outcome(Enum):
    """What the algorithm has found for a member."""

    NONE = 0
    FITS = 1
    PREEMPTS = 2
    FAILS = 3


@spoken(SCHEDULABLE="can be scheduled", WAITING="waits for a preemption", ERROR="fails with an error")
class GroupStatus(Enum):
    """What Permit has made of the group so far."""

    UNSCHEDULABLE = 0
    SCHEDULABLE = 1
    WAITING = 2
    ERROR = 3


class PodGroupCycle(Component):
    """The group whose cycle runs, and the results for each member.

    `wanted[m]` is still to be popped, `held[m]` is among QueuedPodInfos, with `copy[m]` as its object. `outcome[m]` and `host[m]` are the algorithm's; with
    PREEMPTS the host is the node that preemption chose. `withdraws[m]`: preemption found no node, for good.
    """

    pod_groups: PodGroups
    pod_group_states: PodGroupStates
    gang_scheduling: GangScheduling
    scheduler: Scheduler
    queue: PriorityQueue
    nominator: Nominator
    cache: Cache
    snapshot: Snapshot
    failure: FailureHandler
    dynamic_resources: ClaimPlugin

    stage = enum(GroupStage)
    group = ref(PodGroup)
    status = enum(GroupStatus)
    wanted = per(Member, boolean())
    held = per(Member, boolean())
    copy_of = per(Member, PodCopy)
    outcome = per(Member, enum(Outcome))
    host = per(Member, ref(Node))
    withdraws = per(Member, boolean())

    steps_last = Lasts.SHORT

    phrases = {
        "status": Words("the group {after}", decisive=True),
        "outcome": Words("the member {0} {after}"),
    }
    knowledge = (
        Knowledge(
            "scheduling cycle",
            {"held": Fact("cycle", "in its group's cycle"), "host": Fact("group_host", "to go to {value}")},
        ),
    )

    # --- what others ask -------------------------------------------------------------------------------------

    def is_there(self) -> bool:
        """Whether groups are scheduled in their own cycles."""
        return self.pod_groups.is_there() and bool(self.universe[Member])

    def member(self, pod: Pod) -> Member | None:
        """The pod as a member of a group that is scheduled in its own cycles."""
        return self.pod_groups.member(pod) if self.is_there() else None

    def holds(self, pod: Pod) -> Expr:
        """Whether the group's cycle works on the pod."""
        member = self.member(pod)
        return as_expr(False) if member is None else as_expr(self.held[member])

    def waits_with(self, pod: Pod, node: Node) -> Expr:
        """Whether the cycle works on the pod, its group waits for a preemption, and the pod is to get this node."""
        member = self.member(pod)
        if member is None:
            return as_expr(False)
        decided = one_of(self.stage, GroupStage.REVERT, GroupStage.PICK, GroupStage.SUBMIT) & self._placed(
            member
        )
        return decided & (self.status == GroupStatus.WAITING) & (self.host[member] == node)

    def runs(self) -> Expr:
        """Whether the cycle of a group runs."""
        return self.stage != GroupStage.NONE if self.is_there() else as_expr(False)

    def preempts(self, pod: Pod) -> Expr:
        """Whether the group searches for victims, in the name of this member."""
        return as_expr(False)

    def is_retried(self, pod: Pod) -> Expr:
        """determineSchedulingHintForInFlightPod: whether a member is tried again after its backoff, whatever events came meanwhile."""
        return as_expr(self.member(pod) is not None)

    def in_order(self, group: PodGroup) -> list[Member]:
        """The members, one group of a tree after the other, by priority; among equals in the order of the scenario (A-GROUP-ORDER)."""
        members = self.pod_groups.members(group)
        return sorted(members, key=lambda m: (m.leaf.index, -number_of(m.pod), m.index))

    def clear(self) -> None:
        """The cycle is over: its changes to the snapshot are dropped."""
        if not self.is_there():
            return
        self.stage = GroupStage.NONE
        self.group = None
        self.status = GroupStatus.UNSCHEDULABLE
        for m in self.universe[Member]:
            self.wanted[m] = False
            self.held[m] = False
            self._reset(m)
        self.pod_group_states.drop_copy()

    def _reset(self, member: Member) -> None:
        self.copy_of[member] = PodCopy()
        self.outcome[member] = Outcome.NONE
        self.host[member] = None
        self.withdraws[member] = False

    # --- the members ---------------------------------------------------------------------------------------

    def begin(self, pod: Pod) -> None:
        """ScheduleOne: the popped pod belongs to a group."""
        member = self.member(pod)
        assert member is not None
        self.stage = GroupStage.GATHER
        self.group = member.group
        self.held[member] = True
        self.copy_of[member] = self.scheduler.copy

    def _at(self, stage: GroupStage, pod: Pod) -> Member:
        member = self.member(pod)
        if member is None:
            require(False)
            raise LookupError(pod.name)
        require(self.scheduler.at(Phase.POD_GROUP, pod) & (self.stage == stage))
        return member

    @step(actor="scheduler")
    @tells(
        changes("pod_group_cycle.wanted"),
        "The scheduler looks which other pods of the group of {pod} are unscheduled.",
        changes("failure.phase", after=SOMETHING),
        "The scheduler finds no state of the group of {pod}: the attempt ends in an error.",
        "The scheduler finds no other pod of the group of {pod} that is unscheduled.",
    )
    def gather(self, pod: Pod) -> None:
        """podGroupInfoForPod begins: UnscheduledPods of the group's state. Without a state, the pod fails with an error."""
        require(self.member(pod) is not None)
        member = self._at(GroupStage.GATHER, pod)
        states, others = self.pod_group_states, self._others(member)
        with when(~states.exists(member.group)):
            self._fail(pod, FailedAttempt(self.scheduler.copy))
            self.held[member] = False
            self.stage = GroupStage.SUBMIT
        with otherwise():
            for other in others:
                self.wanted[other] = states.unscheduled[other]
            some = any_of(states.unscheduled[other] for other in others)
            self.stage = select(some, GroupStage.POP, GroupStage.SNAPSHOT)

    def _others(self, member: Member) -> list[Member]:
        return [m for m in self.pod_groups.members(member.group) if m is not member]

    @step(actor="scheduler")
    @tells(
        changes("pod_group_cycle.held"),
        "The scheduler takes {other} out of the queue, too.",
        "The scheduler looks for {other} in the queue, where it cannot be taken.",
    )
    def pop_member(self, pod: Pod, other: Pod) -> None:
        """PopSpecificPod: a member is activated and taken out of activeQ, if PreEnqueue accepts it and the queue has it."""
        found = self.member(other)
        require(
            self.member(pod) is not None
            and found is not None
            and pod is not other
            and pod.group == other.group
        )
        member = self._at(GroupStage.POP, pod)
        require(self.wanted[found])
        self.wanted[found] = False
        taken, copy = self.queue.pop_specific(other)
        with when(taken):
            self.held[found] = True
            self.copy_of[found] = copy
        with when(all_of(~as_expr(self.wanted[m]) for m in self._others(member))):
            self.stage = GroupStage.SNAPSHOT

    # --- the algorithm -------------------------------------------------------------------------------------

    def _skips(self, member: Member) -> Expr:
        terminating: Expr = self.copy_of[member].terminating
        return as_expr(terminating) | self.cache.is_assumed(member.pod)

    @step(actor="scheduler")
    @tells(
        changes("pod_group_cycle.stage", after=GroupStage.TRY),
        "The scheduler takes its snapshot of the cache. All pods of the group are tried on it, {pod} first.",
        changes("pod_group_cycle.stage", after=GroupStage.SUBMIT),
        "The scheduler takes its snapshot of the cache, and tries no pod of the group.",
        changes("pod_group_cycle.stage", after=GroupStage.PLACE),
        "The scheduler takes its snapshot of the cache. It tries all pods of the group within one domain after the other.",
        "No pod of the group is left that needs scheduling.",
    )
    def take_snapshot(self, pod: Pod) -> None:
        """skipPodGroupPodSchedule, Done for each pod that need not be scheduled, and UpdateSnapshot."""
        require(self.member(pod) is not None)
        member = self._at(GroupStage.SNAPSHOT, pod)
        members = self.in_order(member.group)
        skipped = {m: self.held[m] & self._skips(m) for m in members}
        left = any_of(self.held[m] & ~gone for m, gone in skipped.items())
        for m, gone in skipped.items():
            with when(gone):
                self.queue.done(m.pod)
                self.held[m] = False
                self._reset(m)
        with when(left):
            self.snapshot.update()
            self.pod_group_states.copy(member.group)
            self.stage = GroupStage.TRY
            with when(self.scheduler.has_no_nodes()):
                for m in members:
                    with when(self.held[m]):
                        self.outcome[m] = Outcome.FAILS
                        self.withdraws[m] = True
            self._begin_trial(member.group)
        with otherwise():
            self._all_through(member.group)

    def _begin_trial(self, group: PodGroup) -> None:
        """The snapshot is taken: the first member is tried."""
        self._next(group)

    def _all_through(self, group: PodGroup) -> None:
        """The last member is done."""
        self.scheduler.end()

    def _next(self, group: PodGroup) -> None:
        """The next member is tried. After the last one, what was assumed is undone."""
        with when(self._turn_to_next(group)):
            self._revert(group)

    def _is_due(self, member: Member) -> Expr:
        """Whether the member is still to be tried."""
        return self.held[member] & (self.outcome[member] == Outcome.NONE)

    def _turn_to_next(self, group: PodGroup) -> Expr:
        """The next member of the group is tried. Returns whether there is none."""
        left = as_expr(True)
        for m in self.in_order(group):
            due = self._is_due(m)
            with when(left & due):
                self.stage = GroupStage.TRY
                self.scheduler.turn_to(m.pod, self.copy_of[m])
                self.scheduler.phase = self.scheduler.first_filtering()
                self.dynamic_resources.begin(m.pod)
            left = left & ~due
        return left

    def place(self, member: Member, node: Node) -> None:
        """The member fits: it is assumed in the snapshot, and removed from the nominator."""
        self.snapshot.assume(member.pod, node)
        self.pod_group_states.assume_in_copy(member)
        self.nominator.delete(member.pod)
        self.outcome[member] = Outcome.FITS
        self.host[member] = node
        self._reserve(member, node)

    def _reserve(self, member: Member, node: Value) -> None:
        """Reserve, before Permit; also for a member that will preempt and for whose claims the dry run has found devices."""
        if member.pod.claims:
            self.scheduler.host = node
            self.scheduler.phase = Phase.RESERVE
        else:
            self._ask_permit(member)

    def _break_off(self, group: PodGroup) -> None:
        """An error ends the algorithm: no other member is tried, and what was assumed is undone."""
        self.status = GroupStatus.ERROR
        self._revert(group)

    def tries(self, pod: Pod) -> Expr:
        """Whether the members are being tried, and the pod is one of them."""
        member = self.member(pod)
        trying = one_of(self.stage, GroupStage.TRY, GroupStage.PERMIT)
        return as_expr(False) if member is None else trying & self.held[member]

    def reserved(self, member: Member, *, ok: bool) -> None:
        """Reserve has finished for a placed member: Permit follows. After an error (assumeAndReserve), the algorithm ends."""
        if ok:
            self._ask_permit(member)
        else:
            self._break_off(member.group)

    def _ask_permit(self, member: Member) -> None:
        if self.gang_scheduling.gang(member.pod) is None:
            self._permitted(member, as_expr(True))
        else:
            self.stage = GroupStage.PERMIT
            self.scheduler.phase = Phase.POD_GROUP

    def attempted(self, member: Member) -> None:
        """The member fits on no node. If preemption has chosen one, the member counts as placed there."""
        pod, group = member.pod, member.group
        nominee = self.scheduler.nominee
        with when(self.scheduler.is_fit_error()):
            plugins = self.universe[Plugin]
            self.queue.record_rejection(pod, {p: self.scheduler.rejected_by[p] for p in plugins})
        with when(as_expr(nominee).is_some):
            for node in self.universe[Node]:
                with when(as_expr(nominee) == node):
                    self.snapshot.assume(pod, node)
                    self.host[member] = node
            self.pod_group_states.assume_in_copy(member)
            self.nominator.delete(pod)
            self.outcome[member] = Outcome.PREEMPTS
            self._reserve(member, nominee)
        with otherwise():
            self.outcome[member] = Outcome.FAILS
            self.withdraws[member] = self.scheduler.withdraws
            self._next(group)

    @step(actor="scheduler")
    @tells(
        changes("waiting.signal"),
        "With {pod}, enough pods of the gang would be on nodes, and one that waits for permission already is allowed.",
        changes("pod_group_cycle.status", after=SOMETHING),
        "With {pod}, enough pods of the gang would be on nodes: the group {after}.",
        "GangScheduling is asked about {pod} as if it were on its node.",
    )
    def ask_permit(self, pod: Pod) -> None:
        """RunPermitPlugins within the algorithm: the plugin reads the snapshot, but its actions on waiting and queued pods are immediate.

        Where the snapshot has no state of the group, because all of its pods were gone, that is an error.
        """
        gang = self.gang_scheduling.gang(pod)
        if self.member(pod) is None or gang is None:
            require(False)
            return
        member = self._at(GroupStage.PERMIT, pod)
        states = self.pod_group_states
        with when(~states.exists_in_copy(gang)):
            self._break_off(gang)
        with otherwise():
            enough = self.gang_scheduling.asks_cycle(
                gang,
                states.scheduled_in_copy(gang),
                states.copied_unscheduled,
                states.copied_assumed,
                self.pod_groups.members(gang),
            )
            self._permitted(member, enough)

    def _permitted(self, member: Member, success: Expr) -> None:
        preempts = any_of(self.outcome[m] == Outcome.PREEMPTS for m in self.pod_groups.members(member.group))
        with when(success):
            self.status = select(preempts, GroupStatus.WAITING, GroupStatus.SCHEDULABLE)
        self._next(member.group)

    # --- the result ----------------------------------------------------------------------------------------

    def _placed(self, member: Member) -> Expr:
        return self.held[member] & one_of(self.outcome[member], Outcome.FITS, Outcome.PREEMPTS)

    def _renominated(self, member: Member) -> Expr:
        """Whether undoing restores the member's nomination: its object has one."""
        return self._placed(member) & as_expr(self.copy_of[member].nominated).is_some

    def _reverted(self, member: Member) -> Expr:
        """Whether the member has more to undo than its place in the snapshot: reserved claims, or a nomination."""
        reserved = self._placed(member) if member.pod.claims else as_expr(False)
        return self._renominated(member) | reserved

    def takes_back(self, pod: Pod) -> Expr:
        """unreserveAndForget: whether the member is the next one to undo."""
        member = self.member(pod)
        if member is None:
            return as_expr(False)
        return self._is_next_back(member)

    def _is_next_back(self, member: Member) -> Expr:
        order = self.in_order(member.group)
        later = order[order.index(member) + 1 :]
        reverting = (self.stage == GroupStage.REVERT) & self.wanted[member]
        return reverting & all_of(~as_expr(self.wanted[m]) for m in later)

    def _revert(self, group: PodGroup) -> None:
        members = self.in_order(group)
        some = any_of(self._reverted(m) for m in members)
        with when(some):
            self._revert_each(members)
        with otherwise():
            self._submit(group)

    def _revert_each(self, members: list[Member]) -> None:
        self.stage = GroupStage.REVERT
        for m in members:
            self.wanted[m] = self._reverted(m)
        self.scheduler.phase = Phase.POD_GROUP

    @step(actor="scheduler")
    @tells(
        changes("dynamic_resources.stage"),
        "What was reserved for {other} has been taken back, for now.",
        "What was assumed for the group is taken back: {other} is nominated as its object says.",
    )
    def revert(self, pod: Pod, other: Pod) -> None:
        """unreserveAndForget, from the last member to the first: Unreserve, and AddNominatedPod if the object has a nomination."""
        member, found = self.member(pod), self.member(other)
        if member is None or found is None or member.group is not found.group:
            require(False)
            return
        self._at(GroupStage.REVERT, pod)
        order = self.in_order(found.group)
        require(self._is_next_back(found))
        if other.claims:
            placed = self._placed(found)
            require(~placed | self.dynamic_resources.is_unreserved(other))
            with when(placed):
                self.dynamic_resources.taken_back(other)
            with when(self._renominated(found)):
                self.queue.settle()
                self.nominator.add(other, self.copy_of[found].nominated, None)
        else:
            self.queue.settle()
            self.nominator.add(other, self.copy_of[found].nominated, None)
        self.wanted[found] = False
        with when(all_of(~as_expr(self.wanted[m]) for m in order[: order.index(found)])):
            self._all_reverted(found.group)

    def _all_reverted(self, group: PodGroup) -> None:
        """What was assumed is undone."""
        self._submit(group)

    def _submit(self, group: PodGroup) -> None:
        """submitPodGroupAlgorithmResult: the next member, or the end."""
        with when(self._submit_next(self.in_order(group))):
            self._all_through(group)

    def _submit_next(self, members: list[Member]) -> Expr:
        """The first of these members that is left is submitted. Returns whether there is none."""
        self.stage = GroupStage.SUBMIT
        left = as_expr(True)
        for m in members:
            due: Expr = as_expr(self.held[m])
            with when(left & due):
                self.scheduler.turn_to(m.pod, self.copy_of[m])
                self.scheduler.host = self.host[m]
                self.scheduler.phase = Phase.POD_GROUP
            left = left & ~due
        return left

    def go_on(self, pod: Pod) -> None:
        """A member is done: its binding cycle has started, or its failure is handled."""
        member = self.member(pod)
        assert member is not None
        self.held[member] = False
        self._reset(member)
        self._submit(member.group)

    @step(actor="scheduler")
    @tells(
        changes("cache.pod.node", after=SOMETHING),
        "The group can be scheduled: the scheduler assumes {pod} on {after} in its cache.",
        changes("scheduler.scheduler_error", after=True),
        "The scheduler tries to assume {pod}, and the cache refuses.",
        "The group is not scheduled: {pod} goes to the failure handler.",
    )
    def submit(self, pod: Pod) -> None:
        """One member: AssumePod in the cache if the group can be scheduled and the pod fits, otherwise the failure handler."""
        require(self.member(pod) is not None)
        member = self._at(GroupStage.SUBMIT, pod)
        fits, status = self.outcome[member] == Outcome.FITS, self.status
        preempts = self.outcome[member] == Outcome.PREEMPTS
        copy = self.scheduler.copy
        with when(self.has_error()):
            self._fail(pod, FailedAttempt(copy, None, True))
        with otherwise(fits & (status == GroupStatus.SCHEDULABLE) & self._goes_with(member.leaf)):
            for node in self.universe[Node]:
                with when(self.host[member] == node):
                    refused = self.cache.assume(pod, node, copy)
                    with when(refused):
                        self.scheduler.scheduler_error = True
                        self.scheduler.phase = Phase.FAIL
                    with otherwise():
                        self.scheduler.phase = Phase.ASSUMED
        with otherwise((fits | preempts) & (status == GroupStatus.WAITING)):
            self.await_preemption(member)
        with otherwise(fits | preempts):
            self.queue.record_rejection(pod, self.queue.only(*self.rejecters()))
            self._fail(pod, FailedAttempt(copy, None, True, unschedulable=True))
        with otherwise():
            self._fail(pod, FailedAttempt(copy, None, self.withdraws[member], unschedulable=True))

    def _goes_with(self, leaf: PodGroup) -> Expr:
        """Whether the members of a group can be scheduled if its tree can."""
        return as_expr(True)

    def has_place(self, member: Member) -> Expr:
        """Whether the cycle has found a node for the member, and its group can be scheduled."""
        decided = (self.outcome[member] == Outcome.FITS) & (self.status == GroupStatus.SCHEDULABLE)
        return decided & self.held[member] & self._goes_with(member.leaf)

    def rejecters(self) -> tuple[str, ...]:
        """The plugins that have rejected a member which fits, where its group cannot be scheduled."""
        return ()

    def has_error(self) -> Expr:
        """Whether each member is requeued with an error."""
        return self.status == GroupStatus.ERROR

    def await_preemption(self, member: Member) -> None:
        """The group waits until its victims are gone: each member is nominated to the node from the algorithm."""
        attempt = FailedAttempt(self.scheduler.copy, self.host[member], False, unschedulable=True)
        self._fail(member.pod, attempt)

    def _fail(self, pod: Pod, attempt: FailedAttempt) -> None:
        self.failure.begin(pod, attempt)
        self.dynamic_resources.clear(pod)
        self.scheduler.phase = Phase.FAILING


def number_of(pod: Pod) -> int:
    """A priority; one that is left open counts as 0 for the order."""
    (priority,) = pod.quantities[-1:]
    return priority if isinstance(priority, int) else 0
