"""The failure handler and the order of the failing cycle, as they were."""

from dataclasses import replace
from enum import Enum

from ....environment.objects import Node, Pod, PodCopy, PodObject, node_or_none
from ....language import (
    NOTHING,
    UNTOLD,
    Expr,
    Knowledge,
    changes,
    constraint,
    enum,
    otherwise,
    per,
    ref,
    require,
    step,
    tells,
    when,
)
from ....scheduler import FailureHandler, Scheduler
from ....scheduler.cycles.failure import FailedAttempt, FailurePhase
from ....scheduler.framework.status import Phase
from ....scheduler.queue.scheduling_queue import SubQueue
from ...registry.change import before
from ...versions import PRE_RELEASES


class Retry(Enum):
    """The next thing that the requeue goroutine of a pod does."""

    NONE = 0
    GET = 1
    ADD = 2


@before("90660", "a failed pod is requeued immediately, from the lister", first_in="1.19", issues=(90616,))
class Before90660(FailureHandler):
    """A goroutine of its own read the pod from the API server and requeued it, some time later."""

    retry = per(Pod, enum(Retry))
    fetched = per(Pod, PodCopy)

    phrases = UNTOLD
    knowledge = (Knowledge("other goroutines", {"retry": "requeue goroutine"}),)

    def begin(self, pod: Pod, attempt: FailedAttempt) -> None:
        constraint("one requeue goroutine per pod", self.retry[pod] == Retry.NONE)
        super().begin(pod, attempt)

    def handle(self, pod: Pod) -> None:
        self.queue.begin_failure(pod)
        self.retry[pod] = Retry.GET
        self.phase[pod] = self.phase_after_requeue()

    def awaits_requeue(self, pod: Pod) -> Expr:
        return super().awaits_requeue(pod) | (self.retry[pod] != Retry.NONE)

    def has_read_cycle(self, pod: Pod) -> Expr:
        return self.retry[pod] != Retry.NONE

    @step(actor="requeue goroutine", each="pod")
    @tells("The requeue goroutine reads {pod} from the API server, as it is at this moment.")
    def live_get(self, pod: Pod) -> None:
        """GET the pod from the API server; one that is gone or assigned is not requeued."""
        require(self.retry[pod] == Retry.GET)
        current = self.api.pod[pod]
        with when(current.pending):
            self.fetched[pod] = current.copy()
            self.retry[pod] = Retry.ADD
        with otherwise():
            self.queue.done(pod)
            self.queue.forget_cycle(pod)
            self.retry[pod] = Retry.NONE

    @step(actor="requeue goroutine", each="pod")
    @tells(
        changes("nominator.node", after=NOTHING),
        "The requeue goroutine puts {pod} into the queue, as it read the pod before. This wipes the nomination of {pod} from the nominator.",
        changes("queue.sub_queue", before=NOTHING),
        "The requeue goroutine puts {pod} into {after}, as it read the pod before.",
        "The requeue goroutine does not queue {pod}: it is queued already.",
    )
    def add_fetched(self, pod: Pod) -> None:
        """AddUnschedulableIfNotPresent, with the object as it was read before."""
        require(self.retry[pod] == Retry.ADD)
        self.queue.requeue(pod, self.fetched[pod])
        self.fetched[pod] = PodCopy()
        self.retry[pod] = Retry.NONE


@before(
    "139450",
    "a requeued pod is no longer in flight when Pop can take it",
    first_in=PRE_RELEASES[0],
    issues=(139186,),
    since="1.32",
)
class DoneAfterRequeue(FailureHandler):
    """Done came after the requeue: Pop, which takes another lock, could meet the pod in between, and dropped it as one in flight.

    The requeue holds the queue's lock until after Done, so that nothing else can come in between. A cycle that fails waits for
    its own failure handler, and pops nothing: only a binding cycle that fails before Done can lose its pod.
    """

    scheduler: Scheduler

    @step(actor="failure handler", each="pod")
    @tells(
        "{pod} comes back to the queue, and Pop drops it at once, because it is still in flight: it is in no queue any more."
    )
    def requeue_too_soon(self, pod: Pod) -> None:
        """AddUnschedulableIfNotPresent. Before it calls Done, Pop takes the pod, finds it in flight, and drops it."""
        require(self.may_meet_pop(pod))
        require((self.phase[pod] == FailurePhase.REQUEUE) & (self.scheduler.phase == Phase.IDLE))
        discarded = self.queue.discards(pod)
        taken = self.queue.requeue(pod, self.copy[pod])
        require(discarded & taken & self.queue.is_head(pod))
        self.queue.put(pod, SubQueue.NONE, PodCopy())
        self.requeued(pod)


@before(
    "137139",
    "the status is patched from the object with which the pod is requeued",
    first_in="1.36",
    issues=(137125,),
    since="1.25",
)
class PatchedFromAttempt(FailureHandler):
    """The patch was made from the attempt's object: it did not withdraw a nomination that came after that (1.25 to 1.35)."""

    def patch_from(self, pod: Pod, current: PodObject) -> None:
        """The attempt's object it stays."""


@before(
    "assigned-not-requeued", "a failed pod that the lister shows on a node is not requeued", first_in="1.21"
)
class AssignedRequeued(FailureHandler):
    """Every failed pod that still existed was requeued, also one whose Binding had succeeded after all."""

    def may_requeue(self, current: PodObject) -> Expr:
        return current.exists


@before("preempt-before-failure", "preemption runs before the failure handler", first_in="1.18")
class FailureBeforePreemption(Scheduler):
    """schedule() called the failure handler itself; preemption followed (1.9 to 1.17)."""

    def phase_after_fit_error(self) -> Phase:
        return Phase.FAIL

    def after_failure(self) -> None:
        with when(self.is_fit_error()):
            self.phase = Phase.REREAD_PREEMPTOR
        with otherwise():
            self.end()

    def after_preemption(self) -> None:
        self.end()


@before("86230", "a popped pod that is already assumed is skipped", first_in="1.18")
class Before86230(Scheduler):
    """Only pods that were being deleted were skipped."""

    def skips(self, pod: Pod) -> Expr:
        return self.copy.terminating


@before("111999", "a pod whose attempt ends in an error is not reported as unschedulable", first_in="1.26")
class ErrorsSaidUnschedulable(Scheduler):
    """The reason of the condition was Unschedulable, whatever the error of schedulePod (scheduleOne, 1.25)."""

    def end_in_error(self, pod: Pod) -> None:
        super().end_in_error(pod)
        self.scheduler_error = False


@before("status-patch", "the condition is written as a patch", first_in="1.19")
class ConditionWrittenByUpdate(FailureHandler):
    """The condition was written by UpdateStatus with the attempt's object: a stale one was refused.

    Versions are compared by content (see APIServer.is_current).
    """

    def write_status(self, pod: Pod) -> None:
        with when(self.api.is_current(pod, self.copy[pod])):
            super().write_status(pod)


@before("no-node-check", "no attempt removes a node from the cache", first_in="1.30")
class NodeChecked(FailureHandler):
    """If an attempt's error named a node, the API server was asked for it, and the cache's entry removed if it had none.

    `missing` is the node that the attempt's error says does not exist.
    """

    missing = per(Pod, ref(Node))

    phrases = UNTOLD

    def start(self, pod: Pod, attempt: FailedAttempt) -> None:
        with when(node_or_none(attempt.missing).is_some):
            self.missing[pod] = attempt.missing
            self.phase[pod] = FailurePhase.CHECK_NODE
        with otherwise():
            super().start(pod, attempt)

    @step(actor="failure handler", each="pod")
    @tells("The failure handler asks the API server whether {node} exists.")
    def check_node(self, pod: Pod, node: Node) -> None:
        """GET, from the API server, the node that the attempt did not find."""
        require((self.phase[pod] == FailurePhase.CHECK_NODE) & (self.missing[pod] == node))
        with when(self.api.node_exists[node]):
            self.missing[pod] = None
            self.handle(pod)
        with otherwise():
            self.phase[pod] = FailurePhase.REMOVE_NODE

    @step(actor="failure handler", each="pod")
    @tells("The failure handler removes {node} from the cache.")
    def remove_node(self, pod: Pod, node: Node) -> None:
        """cache.RemoveNode, because the API server did not have the node when it was asked."""
        require((self.phase[pod] == FailurePhase.REMOVE_NODE) & (self.missing[pod] == node))
        self.cache.remove_node(node)
        self.missing[pod] = None
        self.handle(pod)


@before(
    "56622",
    "a node that an attempt does not find is removed from the cache if the API server does not have it",
    first_in="1.9",
)
class Before56622(FailureHandler):
    """Nobody asked for the node."""

    def begin(self, pod: Pod, attempt: FailedAttempt) -> None:
        super().begin(pod, replace(attempt, missing=None))
