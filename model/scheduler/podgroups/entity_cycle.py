"""The cycle of a group that was popped as one entry (schedule_one_podgroup.go, gangscheduling.go and eventhandlers.go, 1.38).

No member is looked for in the queue: they come with the entry. Before the first member and after each, PlacementFeasible counts: the trial ends once too few are left for minCount, and the group
can be scheduled if minCount pods have a place by then. Those that fit are assumed one by one, and at last AddAttemptedPodGroupIfNeeded ends the cycle in the queue.
"""

from typing import Any

from ...environment.objects import Node, Pod, PodCopy, PodGroup
from ...environment.pod_groups import Member
from ...language import (
    NOTHING,
    SOMETHING,
    UNTOLD,
    Expr,
    Lasts,
    Value,
    any_of,
    as_expr,
    boolean,
    changes,
    count,
    otherwise,
    per,
    require,
    select,
    step,
    tells,
    when,
)
from ..cycles.failure import FailureHandler, FailurePhase
from ..cycles.schedule_one import Scheduler
from ..framework.events import GANG_SCHEDULING, POD_GROUP_ADD, Plugin
from ..framework.status import Phase
from .entity_queue import EntityQueue
from .gang_scheduling import GangScheduling
from .group_state import PodGroupStates
from .pod_group_cycle import GroupStage, GroupStatus, Outcome, PodGroupCycle


class EntityCycle(PodGroupCycle):
    """`tried[m]` was in the entry and needs scheduling; `counted[m]`: the snapshot had it on a node before the trial. `finishing`: the queue does not know of the end yet.

    `unread`: the group cannot be scheduled, and PodGroupPostFilter has failed, because DynamicResources reads what its own PreFilter writes, which was called for no member.
    """

    queue: EntityQueue

    tried = per(Member, boolean())
    counted = per(Member, boolean())
    finishing = boolean()
    unread = boolean()

    phrases = UNTOLD

    def runs(self) -> Expr:
        return super().runs() | self.finishing

    def works_on(self, group: PodGroup) -> Expr:
        return self.group == group

    def is_retried(self, pod: Pod) -> Expr:
        return as_expr(False)

    def clear(self) -> None:
        super().clear()
        self.finishing = False
        self.unread = False
        for m in self.universe[Member]:
            self.tried[m] = False
            self.counted[m] = False

    def receive(self, member: Member, copy: PodCopy) -> None:
        """The popped entry has this member in it."""
        self.held[member] = True
        self.copy_of[member] = copy

    def begin(self, pod: Pod) -> None:
        member = self.member(pod)
        assert member is not None
        self.stage = GroupStage.SNAPSHOT
        self.group = member.group

    # --- the trial ---------------------------------------------------------------------------------------

    def _begin_trial(self, group: PodGroup) -> None:
        states = self.pod_group_states
        for m in self.pod_groups.members(group):
            self.tried[m] = self.held[m]
            self.counted[m] = states.copied_assumed[m] | states.copied_assigned[m]
        self._start_trial(group)

    def _start_trial(self, group: PodGroup) -> None:
        """All nodes are one placement."""
        self._judge(group)

    def _judge(self, group: PodGroup) -> None:
        """PlacementFeasible, and what follows from it."""
        minimum = group.min_count or 1
        scheduled, remaining = self._progress(group)
        with when(scheduled >= minimum):
            self.status = GroupStatus.SCHEDULABLE
        with when(scheduled + remaining < minimum):
            self._revert(group)
        with otherwise():
            self._next(group)

    def _progress(self, group: PodGroup) -> tuple[Expr, Expr]:
        """PlacementProgress: how many members are scheduled, and how many remain."""
        members = self.pod_groups.members(group)
        placed = (self.outcome[m] == Outcome.FITS for m in members)
        scheduled = count([*(self.counted[m] for m in members), *placed])
        return scheduled, count(self._is_due(m) for m in members)

    def _ask_permit(self, member: Member) -> None:
        """The member has a place: Permit is not asked in the trial."""
        self._judge(member.leaf)

    def attempted(self, member: Member) -> None:
        """The member fits on no node: no preemption for it alone. An error ends the trial."""
        with when(self.scheduler.error):
            self.outcome[member] = Outcome.FAILS
            self._break_off(member.group)
        with otherwise():
            self._note_rejection(member)
            self.outcome[member] = Outcome.FAILS
            self._judge(member.leaf)

    def _note_rejection(self, member: Member) -> None:
        plugins = self.universe[Plugin]
        self.queue.record_rejection(member.pod, {p: self.scheduler.rejected_by[p] for p in plugins})

    def _revert(self, group: PodGroup) -> None:
        """The trial is over. A group of which no pod was placed cannot be scheduled, however many were on nodes before."""
        members = self.pod_groups.members(group)
        placed = any_of((self.outcome[m] == Outcome.FITS) & self._goes_with(m.leaf) for m in members)
        with when((self.status == GroupStatus.SCHEDULABLE) & ~placed):
            self.status = GroupStatus.UNSCHEDULABLE
        asked = any_of(self.outcome[m] != Outcome.NONE for m in members) & ~self.scheduler.has_no_nodes()
        self.unread = (self.status == GroupStatus.UNSCHEDULABLE) & ~asked & self.reads_claims(group)
        self._note_quorum(members)
        super()._revert(group)

    def reads_claims(self, group: PodGroup) -> bool:
        """Whether PodGroupPostFilter of DynamicResources reads what its PreFilter has written."""
        return True

    def rejecters(self) -> tuple[str, ...]:
        return (GANG_SCHEDULING,)

    def _note_quorum(self, members: list[Member]) -> None:
        """podGroupFitError: where the group cannot be scheduled, PlacementFeasible has rejected those that fit, and those that were not tried."""
        lacking = (self.status == GroupStatus.UNSCHEDULABLE) & ~as_expr(self.unread)
        for m in members if self.rejecters() else ():
            with when(lacking & self.held[m] & (self.outcome[m] != Outcome.FAILS)):
                self.queue.record_rejection(m.pod, self.queue.only(*self.rejecters()))

    def is_cheaper(self, pod: Pod, node: Node, other: Node) -> Expr:
        """Whether the trial prefers a node to another one for what would have to be evicted there."""
        return as_expr(False)

    def has_error(self) -> Expr:
        return super().has_error() | self.unread

    # --- the end -----------------------------------------------------------------------------------------

    def _all_through(self, group: PodGroup) -> None:
        with when(self.stage == GroupStage.SNAPSHOT):
            # Nobody is left who needs scheduling, which counts as a success.
            self.status = GroupStatus.SCHEDULABLE
        self.stage = GroupStage.NONE
        self.finishing = True
        self.scheduler.phase = Phase.POD_GROUP

    @step(actor="scheduler")
    @tells(
        changes("queue.sub_queue", after=SOMETHING),
        "The cycle of the group ends: its pods that are left go back to the queue as one.",
        "The cycle of the group ends.",
    )
    def finish(self, pod: Pod) -> None:
        """AddAttemptedPodGroupIfNeeded."""
        member = self.member(pod)
        if member is None:
            require(False)
            return
        require(self.scheduler.at(Phase.POD_GROUP, pod) & self.finishing)
        tried = {m: as_expr(self.tried[m]) for m in self.pod_groups.members(member.group)}
        self.queue.attempted(member.group, tried, self.status == GroupStatus.SCHEDULABLE)
        self.scheduler.end()


class MembersDoNotPreempt(Scheduler):
    """In the cycle of a group, no PostFilter plugin is asked for a member that fits on no node."""

    pod_group_cycle: EntityCycle

    def contenders(self, pod: Pod) -> dict[Node, Expr]:
        """Of the nodes that fit, those on which no more has to be evicted than on any other (RankNodes)."""
        feasible = super().contenders(pod)
        if self.pod_group_cycle.member(pod) is None:
            return feasible
        cheaper = self.pod_group_cycle.is_cheaper
        return {
            n: here & ~any_of(feasible[o] & cheaper(pod, o, n) for o in feasible if o is not n)
            for n, here in feasible.items()
        }

    def in_flight(self, pod: Pod) -> Expr:
        """At the end of its group's cycle, no pod is in the hands of the cycle any more."""
        return super().in_flight(pod) & ~as_expr(self.pod_group_cycle.finishing)

    def phase_after_fit_error(self) -> Phase:
        phase: Any = select(self.pod_group_cycle.runs(), Phase.FAIL, super().phase_after_fit_error())
        return phase


class MembersKeptAside(FailureHandler):
    """The failure handler, whose requeue may leave a member aside."""

    def may_meet_pop(self, pod: Pod) -> bool:
        """A member is Done before it is put back, under the queue's lock, and so Pop never finds it in flight there."""
        return pod.group is None and super().may_meet_pop(pod)

    @step(actor="failure handler", each="pod")
    @tells(
        changes("queue.pending", after=True),
        "The failure handler has the queue keep {pod} aside until the cycle of its group ends.",
        changes("queue.sub_queue", before=NOTHING),
        "The failure handler puts {pod} back into {after}.",
        "The failure handler leaves the queue as it is: {pod} is not put back.",
    )
    def requeue(self, pod: Pod) -> None:
        """AddUnschedulablePodIfNotPresent."""
        require(self.phase[pod] == FailurePhase.REQUEUE)
        self.put_back(pod)
        self.requeued(pod)


class StatesOfGroups(PodGroupStates):
    """The state of a group is there as long as the cache has the group itself, also without pods.

    `tracked[m]`: HierarchyTracker has the pod. The handlers tell it of a pod right after the cache, in the same step here (A-GROUP-TRACKER); binding cycles tell it nothing.
    """

    tracked = per(Member, boolean())

    def has_tracker(self) -> bool:
        """Whether PreEnqueue asks a tracker, and not the cache."""
        return True

    def setup(self) -> None:
        super().setup()
        if self.has_tracker() and self.pod_groups.is_there():
            for member in self.universe[Member]:
                self.tracked[member] = member.pod.exists

    def _track(self, pod: Pod, there: bool) -> None:
        member = self.pod_groups.member(pod)
        if member is not None and self.has_tracker():
            self.tracked[member] = there

    def is_tracked(self, member: Member) -> Expr:
        return as_expr(self.tracked[member]) if self.has_tracker() else super().is_tracked(member)

    def has_quorum(self, group: PodGroup) -> Expr:
        """FindRootGroupReadiness: a CompositePodGroup needs minGroupCount groups with minCount pods."""
        if self.has_tracker():
            return self.pod_groups.complete(group, lambda m: self.tracked[m])
        return super().has_quorum(group)

    def add(self, pod: Pod, on_node: Value) -> None:
        super().add(pod, on_node)
        self._track(pod, True)

    def remove(self, pod: Pod) -> None:
        super().remove(pod)
        self._track(pod, False)

    def deleted(self, pod: Pod) -> None:
        super().deleted(pod)
        self._track(pod, False)

    def exists(self, group: PodGroup) -> Expr:
        return super().exists(group) | self.pod_groups.told[group]

    def exists_in_copy(self, group: PodGroup) -> Expr:
        return super().exists_in_copy(group) | self.pod_groups.told[group]


class GroupsAddedToQueue(GangScheduling):
    """The handler of PodGroups makes two calls of the queue. `moving[g]`: the second is still to come."""

    queue: EntityQueue
    pod_group_states: StatesOfGroups

    def holds(self, pod: Pod) -> Expr:
        """PreEnqueue asks for the root: whether the tracker has too few pods of the group; of one with the basic policy, none. A group that the tracker does not have is not in the queue either."""
        member = self.pod_groups.member(pod)
        if member is None or not self.pod_group_states.has_tracker():
            return super().holds(pod)
        return ~self.pod_group_states.has_quorum(member.group)

    moving = per(PodGroup, boolean())

    phrases = UNTOLD

    @step(actor="pod group handler")
    @tells("The queue hears that there is the pod group {group}: pods that wait for it become its entry.")
    def tell_queue(self, group: PodGroup) -> None:
        """AddPodGroup of the cache, and of the queue."""
        require(not group.exists and self.pod_groups.is_there())
        require(self.pod_groups.listed[group] & ~self.pod_groups.told[group])
        require(~any_of(self.moving[g] for g in self.universe[PodGroup]))
        self.pod_groups.told[group] = True
        self.moving[group] = True
        self.queue.add_group(group)

    @step(actor="pod group handler", lasts=Lasts.SHORT)
    @tells("Parked pods that wait for the pod group {group} are moved.")
    def move_for(self, group: PodGroup) -> None:
        """MoveAllToActiveOrBackoffQueue."""
        require(self.moving[group])
        self.moving[group] = False
        self.queue.move_all(POD_GROUP_ADD, about=group)
