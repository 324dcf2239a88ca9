"""The scheduling cycle: scheduleOne up to the start of the binding cycle (pkg/scheduler/scheduler.go, 1.22).

One goroutine, one pod at a time. `phase` is where it stands; each step is one locked call, one API call, or one
read of a lister, together with the goroutine's own computation around it. Its parts: `attempt.py` finds the nodes
that the pod fits, `reservation.py` assumes the pod on one, `post_filter.py` preempts where there is none.
"""

from __future__ import annotations

from ..environment.objects import Pod
from ..language import Expr, Value, require, step, when
from .failure import FailedAttempt
from .framework.events import Plugin
from .framework.status import NodeVerdict, Phase
from .post_filter import PostFilter


class Scheduler(PostFilter):
    """The scheduling goroutine: an attempt, and what follows when it fails."""

    @step(actor="scheduler")
    def fail(self, pod: Pod) -> None:
        """The attempt failed: the failure handler takes over (recordSchedulingFailure)."""
        require(self.at(Phase.FAIL, pod))
        with when(self.is_fit_error()):
            plugins = self.universe[Plugin]
            self.queue.record_rejection(pod, {p: self.rejected_by[p] for p in plugins})
        self.failure.begin(
            pod,
            FailedAttempt(
                self.copy,
                self.nominee_to_record(),
                withdraws=self.withdraws | ~self.is_fit_error(),
                unschedulable=~self.scheduler_error,
                missing=self.missing,
            ),
        )
        self.phase = Phase.FAILING

    def is_fit_error(self) -> Expr:
        """Whether the attempt failed because the pod fits no node."""
        return self.no_node_is(NodeVerdict.FEASIBLE) & ~self.error

    def nominee_to_record(self) -> Value:
        """The nomination that the failure handler is to record."""
        nominee: Expr = self.nominee
        return nominee

    def failure_handled(self, pod: Pod) -> None:
        """The failure handler is through; if it worked for this cycle, the cycle goes on."""
        with when(self.at(Phase.FAILING, pod)):
            self.after_failure()

    def after_failure(self) -> None:
        """What follows the failure handler: nothing."""
        self.end()

    # --- for properties --------------------------------------------------------------------------------

    def in_flight(self, pod: Pod) -> Expr:
        """Whether the scheduling cycle holds the pod."""
        return self.pod == pod

    def decided(self, pod: Pod, node: Value) -> Expr:
        """Whether this cycle has decided that `pod` is to go to `node` after preemption."""
        return (self.pod == pod) & (self.nominee == node)
