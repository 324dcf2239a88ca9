"""The queue with SchedulerQueueingHints off: move requests are compared with scheduling cycles (up to 1.27, 1.29 to 1.31).

Upstream's source has both until the gate goes; a change composes this one in.
"""

from collections.abc import Mapping

from ...environment.cluster.pod_versions import PodChange
from ...environment.objects import Pod, PodCopy, PodObject
from ...language import UNTOLD, Expr, as_expr, boolean, per, select
from ..framework.events import About, ClusterEvent, Plugin
from .scheduling_queue import PriorityQueue, SubQueue


class QueueWithoutHints(PriorityQueue):
    """No events are kept for pods in flight, and no plugin is asked what it thinks of an event that it registered.

    The numbers schedulingCycle and moveRequestCycle are only ever compared, so the model keeps the outcome: `moved` says
    that a move request came since the last Pop, `moved_since[p]` that one came since p's failing attempt read its
    schedulingCycle.
    """

    moved = boolean()
    moved_since = per(Pod, boolean())

    phrases = UNTOLD

    def discards(self, pod: Pod) -> Expr:
        return as_expr(False)

    def begin_attempt(self, pod: Pod) -> None:
        self.moved = False
        self.drop_rejection(pod)

    def done(self, pod: Pod) -> None:
        """Nothing was kept."""

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        taken = super().requeue(pod, copy)
        self.forget_cycle(pod)
        return taken

    def forget_cycle(self, pod: Pod) -> None:
        self.moved_since[pod] = False

    def hand_over_events(self, pod: Pod, other: Pod) -> None:
        """Only the number of the cycle counts, which the attempt has read."""
        self.moved_since[other] = self.moved_since[pod]
        self.forget_cycle(pod)

    def begin_failure(self, pod: Pod) -> None:
        self.moved_since[pod] = self.moved

    def move_came(self, pod: Pod) -> Expr:
        """moveRequestCycle >= the cycle that the failing attempt of `pod` read."""
        return as_expr(self.moved_since[pod])

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        return self.move_came(pod) | (~self.is_rejected(pod) & self.is_retried_after_error(pod))

    def keeps_update(self, pod: Pod) -> Expr:
        return as_expr(False)

    def sub_queue_after_update(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """Only a parked pod moves, if more than its status changed; one with gates only when they are gone."""
        parked = (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE) & ~self.has_gates(pod, old)
        sub_queue = super().sub_queue_after_update(pod, old, new)
        return select(parked & self.is_respecified(old, new), self.retry_sub_queue(pod), sub_queue)

    def is_moved_by_update(self, pod: Pod) -> Expr:
        """A mere update of the status moved nobody (isPodUpdated)."""
        return as_expr(False)

    def is_moved_by_change(self, pod: Pod, change: PodChange) -> Expr:
        """Any change of more than the status moves a parked pod: no plugin is asked."""
        return as_expr(False)

    def matches(self, pod: Pod, event: ClusterEvent, about: About = None, form: Pod | None = None) -> Expr:
        """podMatchesEvent: one of the plugins that rejected the pod asked for the event."""
        if event.is_wildcard:
            return as_expr(True)
        asked = [p for p in self.universe[Plugin] if self.hints.hears(p, event)]
        rejected: Expr = as_expr(False)
        for plugin in asked:
            rejected = rejected | self.rejected_by[pod][plugin]
        return rejected

    def record_move(self, event: ClusterEvent, about: About) -> None:
        """moveRequestCycle := schedulingCycle, whether or not a pod moved."""
        self.moved = True
        for pod in self.universe[Pod]:
            self.moved_since[pod] = as_expr(self.moved_since[pod]) | self.is_failing(pod)

    def record_late(self, pod: Pod, worth: Mapping[Plugin, Expr]) -> None:
        """moveRequestCycle is set to the number of the cycle that this Pop has begun."""
        self.moved = True

    def is_recorded(self, pod: Pod) -> Expr:
        return self.is_failing(pod)

    def is_failing(self, pod: Pod) -> Expr:
        """Whether an attempt of `pod` has read its cycle number and not yet requeued the pod."""
        return self.failure.has_read_cycle(pod)
