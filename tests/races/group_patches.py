"""Proposed patches for the open races of docs/groups.md, each as a subclass of a part of the scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from podrace.model.scheduler.framework.waiting_pods import Signal
from podrace.model.scheduler.podgroups.entity_cycle import EntityCycle
from podrace.model.scheduler.podgroups.entity_queue import EntityQueue
from podrace.model.scheduler.podgroups.pod_group_cycle import GroupStage, GroupStatus
from podrace.patching import (
    AsyncPreemption,
    Binding,
    Expr,
    FailedAttempt,
    GangScheduling,
    Member,
    Outcome,
    Phase,
    Pod,
    PodGroup,
    PodGroupCycle,
    PodGroupStates,
    PodWatch,
    PriorityQueue,
    Scheduler,
    SubQueue,
    Value,
    WaitingPods,
    as_expr,
    boolean,
    count,
    otherwise,
    per,
    require,
    step,
    when,
)


class CycleOnlyLooks(GangScheduling):
    """Within the cycle of a group, Permit allows nobody and activates nobody."""

    def asks_cycle(
        self, gang: PodGroup, scheduled: Expr, unscheduled: Any, assumed: Any, members: list[Member]
    ) -> Expr:
        return scheduled >= gang.min_count


class StrangersNotAssumed(PodGroupStates):
    """Assuming a pod makes no state: a pod that no state knows is gone."""

    def assume(self, pod: Pod) -> None:
        member = self.pod_groups.member(pod)
        if member is not None:
            self._assume(member)


class QuorumSeenOnEvents(PodGroupStates):
    """When the watch shows a pod of a gang on a node, those that wait are allowed if the gang is complete with it."""

    waiting: WaitingPods

    def confirm(self, pod: Pod, assumed: Value) -> None:
        super().confirm(pod, assumed)
        member = self.pod_groups.member(pod)
        if member is not None and member.group.min_count is not None:
            with when(self.scheduled(member.group) >= member.group.min_count):
                for other in self.pod_groups.members(member.group):
                    with when(self.assumed[other]):
                        self.waiting.allow(other.pod)


class TimesOut(WaitingPods):
    """No patch, but what the scope leaves out: a wait for permission ends by time, as often as it likes, whenever nothing else is to be done."""

    scheduler: Scheduler
    queue: PriorityQueue
    pod_watch: PodWatch

    @step(actor="permit plugin", fair=False)
    def refuse(self, pod: Pod) -> None:
        quiet = self.scheduler.phase == Phase.IDLE
        for other in self.universe[Pod]:
            quiet = quiet & (self.queue.sub_queue[other] != SubQueue.ACTIVE)
        require(quiet & (self.pod_watch.log.length == 0) & self.undecided(pod))
        self.reject(pod)


class UntriedMembersForgotten(PodGroupCycle):
    """No proposal, but what 139286 reports of code between 1.36 and 1.37, modelled from its text: the algorithm ends with the first member that fits nowhere, preemption of the group finds nodes for all its
    pods, and those of the pods that were not tried are looked up under a pod that nobody filled in.
    """

    untried = per(Member, boolean())

    def attempted(self, member: Member) -> None:
        super().attempted(member)
        order = self.in_order(member.group)
        with when(self.outcome[member] == Outcome.PREEMPTS):
            for later in order[order.index(member) + 1 :]:
                self.untried[later] = self.held[later]

    def await_preemption(self, member: Member) -> None:
        with when(self.untried[member]):
            self.untried[member] = False
            self._fail(member.pod, FailedAttempt(self.scheduler.copy, None, False, unschedulable=True))
        with otherwise():
            super().await_preemption(member)


class NothingToRead(EntityCycle):
    """PodGroupPostFilter of DynamicResources takes what its PreFilter has not written as nothing to do."""

    def has_error(self) -> Expr:
        return self.status == GroupStatus.ERROR


class ReserveFailsOnce(EntityCycle):
    """No patch, but what a plugin can do: after the trial, Reserve fails for a pod of the group that is to be assumed (prepareForBindingCycle), once."""

    has_failed = boolean()

    @step(actor="scheduler", fair=False)
    def refuse(self, pod: Pod) -> None:
        member = self.member(pod)
        require(member is not None)
        if member is None:
            return
        self._at(GroupStage.SUBMIT, pod)
        decided = (self.outcome[member] == Outcome.FITS) & (self.status == GroupStatus.SCHEDULABLE)
        require(decided & ~self.has_failed)
        self.has_failed = True
        self._fail(pod, FailedAttempt(self.scheduler.copy, None, True))


class EndWakes(AsyncPreemption):
    """The goroutine activates its preemptor whenever it ends."""

    def activates(self, pod: Pod) -> Expr:
        return as_expr(True)


class RejectedNotCounted(GangScheduling):
    """Permit does not count a pod that was rejected while it waited, and that the cache has not forgotten yet."""

    binding: Binding

    def look(
        self, gang: PodGroup, scheduled: Expr, unscheduled: Any, assumed: Any, members: list[Member]
    ) -> Expr:
        rejected = {
            m: (self.waiting.signal[m.pod] == Signal.REFUSED) | self.binding.rejected[m.pod] for m in members
        }
        gone = count(assumed[m] & rejected[m] for m in members)
        return super().look(gang, scheduled - gone, unscheduled, assumed, members)


class GoneLeavesGroup(PodGroupStates):
    """A pod whose deletion is handled leaves the state of its group at once, even if the cache keeps it until its binding cycle ends."""

    def deleted(self, pod: Pod) -> None:
        self.remove(pod)


class LeftoversBackOff(EntityQueue):
    """Before 139613, what a successful cycle left over came back as after a failure: with backoff, and behind those that came meanwhile."""

    def attempted(self, group: PodGroup, tried: Mapping[Member, Value], success: Expr) -> None:
        super().attempted(group, tried, as_expr(False))


class FittingNominated(EntityCycle):
    """Before 140590, the members that fitted in a trial that failed were nominated to their nodes."""

    def _fail(self, pod: Pod, attempt: FailedAttempt) -> None:
        member = self.member(pod)
        assert member is not None
        fits = (self.outcome[member] == Outcome.FITS) & (self.status == GroupStatus.UNSCHEDULABLE)
        with when(fits):
            nominated = FailedAttempt(self.scheduler.copy, self.host[member], False, unschedulable=True)
            super()._fail(pod, nominated)
        with otherwise():
            super()._fail(pod, attempt)


class SkippedCycleUntold(EntityCycle):
    """Before 140478, the queue was not told of the end of a cycle in which no member needs scheduling."""

    def _all_through(self, group: PodGroup) -> None:
        with when(self.stage == GroupStage.SNAPSHOT):
            self.scheduler.end()
        with otherwise():
            super()._all_through(group)
