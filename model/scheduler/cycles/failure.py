"""The failure handler: what happens to a pod whose attempt failed (handleSchedulingFailure in schedule_one.go, 1.36).

Runs in the goroutine that failed: the scheduling cycle, or the pod's binding cycle.
"""

from enum import Enum
from typing import Protocol

from ....base.structs import Data
from ...environment.api import APIServer
from ...environment.faults import Fault, Faults
from ...environment.names import namesakes
from ...environment.objects import Claim, ExtensionPoint, Node, Pod, PodCopy, PodObject, node_or_none
from ...environment.watch import PodWatch
from ...language import (
    NOTHING,
    SOMETHING,
    UNTOLD,
    Component,
    Expr,
    Knowledge,
    Lasts,
    Universe,
    Value,
    any_of,
    as_expr,
    boolean,
    changes,
    constraint,
    enum,
    finds,
    otherwise,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ..cache.scheduler_cache import Cache
from ..framework.events import ASSIGNED_POD_DELETE
from ..framework.interface import Framework
from ..queue.nominator import Nominator
from ..queue.scheduling_queue import PriorityQueue


class FailurePhase(Enum):
    """The next thing that the failure handler does for a pod."""

    NONE = 0
    READ = 1
    REQUEUE = 2
    NOMINATE = 3
    PATCH = 4
    CHECK_NODE = 5
    REMOVE_NODE = 6
    WAKE = 7


class Withdrawal(Enum):
    """Where a failure withdraws the pod's nomination (NominatingInfo with ModeOverride and no node).

    The patch of the API server is the difference to an object: it withdraws nothing that was not set there (IN_MEMORY), and
    does not nominate the pod to the node that it is nominated to there (KNOWN).
    """

    NOWHERE = 0
    IN_MEMORY = 1
    EVERYWHERE = 2
    KNOWN = 3


class FailedAttempt(Data, slots=False):
    """What an attempt hands to the failure handler.

    `copy` is the pod's object as the attempt holds it and `nominee` the node that preemption chose; `withdraws`: the pod
    is not to be nominated any more. `unschedulable`: a verdict ended the attempt, rather than an error. `missing` is the
    node that the error says does not exist. `wakes`: once the failure is handled, the other parked pods are to be moved.
    """

    copy: PodCopy
    nominee: Value = None
    withdraws: Value = False
    unschedulable: Value = False
    missing: Value = None
    wakes: Value = False


class FailingCycle(Framework, Protocol):
    """The scheduling cycle, which waits until its failure is handled."""

    def failure_handled(self, pod: Pod) -> None:
        """The failure handler is through with the pod."""


def loses_conditions(universe: Universe) -> bool:
    """Whether an object can lose the condition again: by a Binding that the handler does not know of, or by the condition of an error.

    (An attempt in which the cache refuses the pod is such an error, too; it is not counted here. Nor is the scheduler's own Binding, which a pod
    that is tried again from an older object has behind it: A-CONDITION.)
    """
    scope = universe.scope
    binds = (
        scope.external_binds
        + scope.lost_replies
        + scope.late_bindings
        + scope.leader_changes
        + scope.restarts
    )
    errors = scope.bind_failures + scope.plugin_errors + scope.filter_timeouts
    errors += scope.extender_failures + scope.late_answers
    unreadable = any(claim.fails_on for claim in universe[Claim])
    return unreadable or bool(binds + errors + scope.node_deletions)


class FailureHandler(Component):
    """The failure handlers, at most one per pod. `copy` is the pod's object in the attempt.

    `shares[p]`: the record that the handler has put back is in the queue's hands as well, and changes there (a pointer to a QueuedPodInfo).
    `done_due[p]`: p is not requeued, so that the handler calls Done itself, when it returns. `noted[p]`: the object that the patch is
    made from carries the condition already.
    """

    api: APIServer
    pod_watch: PodWatch
    faults: Faults
    queue: PriorityQueue
    nominator: Nominator
    scheduler: FailingCycle
    cache: Cache

    phase = per(Pod, enum(FailurePhase))
    copy = per(Pod, PodCopy)
    nominee = per(Pod, ref(Node))
    unschedulable = per(Pod, boolean())
    withdrawal = per(Pod, enum(Withdrawal))
    wakes = per(Pod, boolean())
    done_due = per(Pod, boolean())
    noted = per(Pod, boolean())
    shares = per(Pod, boolean())

    steps_last = Lasts.SHORT

    phrases = UNTOLD
    knowledge = (Knowledge("other goroutines", {"phase": "failure handler"}),)

    def begin(self, pod: Pod, attempt: FailedAttempt) -> None:
        """Start to handle a failed attempt."""
        constraint("one failure handler per pod", self.phase[pod] == FailurePhase.NONE)
        self.copy[pod] = attempt.copy
        self.nominee[pod] = attempt.nominee
        self.withdrawal[pod] = self.withdrawal_of(attempt, attempt.copy.nominated)
        self.unschedulable[pod] = attempt.unschedulable
        self.wakes[pod] = attempt.wakes
        self.note(pod, attempt.copy)
        self.start(pod, attempt)

    def note(self, pod: Pod, made_from: PodCopy | PodObject) -> None:
        """The patch will be made from this object."""
        if loses_conditions(self.universe):
            self.noted[pod] = made_from.failed

    def start(self, pod: Pod, attempt: FailedAttempt) -> None:
        """The first phase of the failure handler."""
        self.handle(pod)

    def withdrawal_of(self, attempt: FailedAttempt, nominated: Value) -> Expr:
        """Whether the patch removes the pod's nomination, if it is made from an object with this nomination."""
        field, nominee = node_or_none(nominated), node_or_none(attempt.nominee)
        gone = select(field.is_some, Withdrawal.EVERYWHERE, Withdrawal.IN_MEMORY)
        known = nominee.is_some & (nominee == field)
        return select(attempt.withdraws, gone, select(known, Withdrawal.KNOWN, Withdrawal.NOWHERE))

    def withdraws(self, pod: Pod) -> Expr:
        """Whether the current failure removes the pod's nomination."""
        away = (Withdrawal.IN_MEMORY, Withdrawal.EVERYWHERE)
        return any_of(self.withdrawal[pod] == w for w in away)

    def handle(self, pod: Pod) -> None:
        """Continue with the requeue."""
        self.phase[pod] = FailurePhase.READ

    def awaits_requeue(self, pod: Pod) -> Expr:
        """Whether the pod still has to be requeued."""
        pending = (FailurePhase.CHECK_NODE, FailurePhase.REMOVE_NODE, FailurePhase.READ, FailurePhase.REQUEUE)
        return any_of(self.phase[pod] == p for p in pending)

    def has_read_cycle(self, pod: Pod) -> Expr:
        """Whether the scheduling cycle's number was read for a requeue that is still to come."""
        return self.phase[pod] == FailurePhase.REQUEUE

    @step(actor="failure handler", each="pod")
    @tells("The failure handler reads {pod} from the lister.")
    def read(self, pod: Pod) -> None:
        """Read the pod from the lister by name, and the number of the current cycle. A pod that is gone or assigned is not requeued.

        For an attempt that failed in its binding cycle, later pods have been popped: the number is theirs.
        """
        require(self.phase[pod] == FailurePhase.READ)
        for other in namesakes(self.universe, pod):
            with when(self.may_requeue(self.listed(other))):
                self.found_recreated(pod, other)
        if namesakes(self.universe, pod):
            others = any_of(self.may_requeue(self.listed(q)) for q in namesakes(self.universe, pod))
            with when(~others):
                self._read_own(pod)
        else:
            self._read_own(pod)

    def _read_own(self, pod: Pod) -> None:
        current = self.listed(pod)
        with when(self.may_requeue(current)):
            self.copy[pod] = current.copy()
            self.patch_from(pod, current)
            self.queue.begin_failure(pod)
            self.phase[pod] = FailurePhase.REQUEUE
        with otherwise():
            self.done_due[pod] = True
            self.phase[pod] = self.phase_after_requeue()

    def listed(self, pod: Pod) -> PodObject:
        """The pod in the lister that the failure handler reads."""
        return self.pod_watch.lister[pod]

    def found_recreated(self, pod: Pod, other: Pod) -> None:
        """The lister has another pod with the name, with another UID: nothing is requeued, nominated or patched."""
        self.done_due[pod] = True
        self.patched(pod)

    def patch_from(self, pod: Pod, current: PodObject) -> None:
        """The pod is requeued with the lister's object, and the patch is made from this object, too."""
        attempt = FailedAttempt(self.copy[pod], self.nominee[pod], self.withdraws(pod))
        self.withdrawal[pod] = self.withdrawal_of(attempt, current.nominated)
        self.note(pod, current)

    def may_requeue(self, current: PodObject) -> Expr:
        """Whether a failed pod that the lister shows in this state is requeued."""
        return current.pending

    @step(actor="failure handler", each="pod")
    @tells(
        changes("queue.sub_queue", before=NOTHING),
        "The failure handler puts {pod} back into {after}.",
        "The failure handler leaves the queue as it is: {pod} is not put back.",
    )
    def requeue(self, pod: Pod) -> None:
        """AddUnschedulableIfNotPresent."""
        require(self.phase[pod] == FailurePhase.REQUEUE)
        self.put_back(pod)
        self.requeued(pod)

    def requeued(self, pod: Pod) -> None:
        """The pod was put back."""
        self.phase[pod] = self.phase_after_requeue()

    def may_meet_pop(self, pod: Pod) -> bool:
        """Whether the scheduling loop can pop while the pod, still in flight, is requeued. A failing scheduling cycle waits, so nothing is popped."""
        return ExtensionPoint.PERMIT in self.scheduler.extension_points(pod)

    def put_back(self, pod: Pod) -> None:
        """The attempt's record enters the queue, with the lister's object."""
        is_back = self.queue.requeue(pod, self.copy[pod])
        if self.phase_after_requeue() == FailurePhase.NOMINATE:
            self.shares[pod] = is_back

    def updated(self, pod: Pod, new: PodObject) -> None:
        """Update has replaced the object in the pod's queue record."""
        self.record_updated(pod, new, as_expr(self.shares[pod]))

    def record_updated(self, handled: Pod, new: PodObject, shares: Expr) -> None:
        """Update has replaced the object in the record that a handler requeued. AddNominatedPod reads this object if the attempt names no node."""
        silent = node_or_none(self.nominee[handled]).is_none & ~self.withdraws(handled)
        with when(shares & silent):
            self.copy[handled].nominated = new.nominated

    def taken_over(self, pod: Pod, other: Pod) -> None:
        """Update has given the pod's record to another pod with the same name."""

    def phase_after_requeue(self) -> FailurePhase:
        """The phase after the requeue."""
        return FailurePhase.NOMINATE

    @step(actor="failure handler", each="pod")
    @tells(
        changes("nominator.node", after=SOMETHING),
        "The failure handler notes in the nominator that {pod} is nominated to {after}.",
        changes("nominator.node", after=NOTHING),
        "The failure handler takes the nomination of {pod} out of the nominator.",
        finds("nominator.node", "pod", SOMETHING),
        "The failure handler notes in the nominator again that {pod} is nominated.",
        "The failure handler updates the nominator: {pod} is not nominated.",
    )
    def nominate(self, pod: Pod) -> None:
        """AddNominatedPod: the node that preemption chose, otherwise the node in the object, unless the nomination is removed."""
        require(self.phase[pod] == FailurePhase.NOMINATE)
        self.queue.settle()
        self.record_nomination(pod, select(self.withdraws(pod), None, self.copy[pod].nominated))
        self.shares[pod] = False
        self.phase[pod] = FailurePhase.PATCH

    def record_nomination(self, pod: Pod, field: Value) -> None:
        """The pod in the attempt's record is nominated to the node that preemption chose, otherwise to the node in the object's status."""
        self.nominator.add(pod, self.nominee[pod], field)

    @step(actor="failure handler", each="pod")
    @tells(
        changes("api.pod"),
        "The failure handler writes to the API server that {pod} could not be scheduled.",
        finds("api.pod.exists", "pod", False),
        "The failure handler writes {pod}'s condition to the API server: 404, the pod is gone.",
        "The failure handler writes {pod}'s condition to the API server, which changes nothing there.",
    )
    def patch(self, pod: Pod) -> None:
        """PATCH the PodScheduled condition, and the nomination if there is one."""
        require(self.phase[pod] == FailurePhase.PATCH)
        self.write_status(pod)
        self.patched(pod)

    @step(actor="failure handler", each="pod")
    @tells("The failure handler writes {pod}'s condition to the API server, and the write fails.")
    def lose_patch(self, pod: Pod) -> None:
        """The PATCH fails, and the error is only logged: a nomination, or its removal, is only in memory."""
        require(bool(self.scope.status_failures))
        require(self.phase[pod] == FailurePhase.PATCH)
        self.faults.spend(Fault.STATUS_FAILURE, pod)
        self.patched(pod)

    def patched(self, pod: Pod) -> None:
        """The phase after the PATCH, also if it failed: the handler returns, and calls Done unless the requeue did (deferred)."""
        with when(self.done_due[pod]):
            self.queue.done(pod)
            self.done_due[pod] = False
        with when(self.wakes[pod]):
            self.phase[pod] = FailurePhase.WAKE
        with otherwise():
            self.finish(pod)

    def write_status(self, pod: Pod) -> None:
        """The API call of `patch`: writes what has changed from the current object (updatePod, PatchPodStatus).

        Where that object carries the condition already, its status is no part of the patch, and a pod that was bound meanwhile keeps
        PodScheduled=True. Only the message may be another; where it is the same, too, there is no call.
        """
        withdrawn = self.withdrawal[pod] == Withdrawal.EVERYWHERE
        nominee = select(self.withdrawal[pod] == Withdrawal.KNOWN, None, self.nominee[pod])
        failed = select(
            self.noted[pod] & self.unschedulable[pod],
            self.api.under_name(pod).failed,
            self.unschedulable[pod],
        )
        self.api.patch_status(pod, failed, nominee, withdrawn)

    @step(actor="failure handler", each="pod")
    @tells("{pod} was rejected after it had room, so the other parked pods may try again.")
    def wake_others(self, pod: Pod) -> None:
        """A binding cycle that ended in a rejection gave room back: the other parked pods are moved, as after a deletion."""
        require(ExtensionPoint.PERMIT in self.scheduler.extension_points(pod))
        require(self.phase[pod] == FailurePhase.WAKE)
        self.queue.move_all(ASSIGNED_POD_DELETE, {q: q is not pod for q in self.universe[Pod]}, about=pod)
        self.finish(pod)

    def finish(self, pod: Pod) -> None:
        """Handling is over."""
        self.phase[pod] = FailurePhase.NONE
        self.copy[pod] = PodCopy()
        self.nominee[pod] = None
        self.withdrawal[pod] = Withdrawal.NOWHERE
        self.unschedulable[pod] = False
        self.wakes[pod] = False
        self.noted[pod] = False
        self.shares[pod] = False
        self.scheduler.failure_handled(pod)
