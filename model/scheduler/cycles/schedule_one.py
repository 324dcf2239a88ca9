"""The scheduling cycle: what one goroutine does with one pod at a time (scheduleOnePod in schedule_one.go, 1.36).

Each step is one locked call, one API call, or one read of a lister, together with the goroutine's own computation around it.
What a step computes is asked of the parts that know it: the filters, the scores, the preemption, the snapshot, the queue.

The goroutine is one class, written in the order of its cycle, each part on top of the one before:
`next_pod` (a pod is taken from activeQ), `schedule_pod` (it is placed), `post_filter` (or others make way for it), and here
the failure handler.
"""

from ...environment.objects import ExtensionPoint, Pod
from ...language import Expr, Value, as_expr, otherwise, require, step, tells, when
from ..framework.events import PERMIT_PLUGIN, Plugin
from ..framework.status import NodeStatus, Phase
from .failure import FailedAttempt
from .post_filter import PostFilter


class Scheduler(PostFilter):
    """The scheduling goroutine (`sched.ScheduleOne`)."""

    @step(actor="scheduler")
    @tells("The attempt to schedule {pod} has failed; the failure handler takes over.")
    def fail(self, pod: Pod) -> None:
        """The attempt failed: the failure handler takes over (handleSchedulingFailure)."""
        require(self.at(Phase.FAIL, pod))
        member = self.pod_group_cycle.member(pod)
        if member is None:
            self._hand_over(pod)
        else:
            # A member whose place is submitted has failed to be assumed; else it has fitted nowhere.
            with when(self.scheduler_error):
                self._hand_over(pod)
            with otherwise():
                self.pod_group_cycle.attempted(member)

    def _hand_over(self, pod: Pod) -> None:
        with when(self.is_fit_error()):
            plugins = self.universe[Plugin]
            self.queue.record_rejection(pod, {p: self.rejected_by[p] for p in plugins})
        if ExtensionPoint.PERMIT in self.cycle_points(pod):
            with when(as_expr(self.host).is_some & ~self.scheduler_error):
                self.record_refusal(pod)
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
        self.dynamic_resources.clear(pod)
        self.volume_binding.clear(pod)
        self.volume_binding.unlist(pod)
        self.gang_scheduling.clear(pod)
        self.phase = Phase.FAILING

    def record_refusal(self, pod: Pod) -> None:
        """A rejection by a Permit plugin is also a FitError, which names only this plugin."""
        self.queue.record_rejection(pod, self.queue.only(PERMIT_PLUGIN))

    def is_fit_error(self) -> Expr:
        """Whether the attempt failed because the pod fits no node."""
        return self.no_node_is(NodeStatus.FEASIBLE) & ~self.error

    def nominee_to_record(self) -> Value:
        """The nomination that the failure handler will record."""
        return self.nominee

    def failure_handled(self, pod: Pod) -> None:
        """The failure handler has finished. If it worked for this cycle, the cycle continues."""
        with when(self.at(Phase.FAILING, pod)):
            if self.pod_group_cycle.member(pod) is None:
                self.after_failure()
            else:
                self.pod_group_cycle.go_on(pod)

    def after_failure(self) -> None:
        """The phase after the failure handler: none."""
        self.end()

    # --- for properties --------------------------------------------------------------------------------

    def in_flight(self, pod: Pod) -> Expr:
        """Whether the scheduling cycle works on the pod."""
        return (self.pod == pod) | self.pod_group_cycle.holds(pod)

    def decided(self, pod: Pod, node: Value) -> Expr:
        """Whether this cycle has chosen `node` for `pod` by preemption."""
        return (self.pod == pod) & (self.nominee == node)
