"""The failure handler: what happens to a pod whose attempt failed (recordSchedulingFailure, factory.go).

Runs in the goroutine that failed: the scheduling cycle, or the pod's binding cycle.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..environment.objects import Node, Pod, PodCopy, PodObject
from ..language import (
    Component,
    Expr,
    Value,
    any_of,
    boolean,
    enum,
    limit,
    otherwise,
    per,
    ref,
    require,
    step,
    when,
)

if TYPE_CHECKING:
    from ..environment.api import APIServer
    from ..environment.watch import PodWatch
    from .cycle import Scheduler
    from .nominator import Nominator
    from .queue import PriorityQueue


class FailurePhase(Enum):
    """The next thing that the failure handler does for a pod."""

    NONE = 0
    READ = 1
    REQUEUE = 2
    NOMINATE = 3
    PATCH = 4


class FailureHandler(Component):
    """One failure handler per pod at most; `copy` is the object that the attempt holds."""

    api: APIServer
    pod_watch: PodWatch
    queue: PriorityQueue
    nominator: Nominator
    scheduler: Scheduler

    phase = per(Pod, enum(FailurePhase))
    copy = per(Pod, PodCopy)
    nominee = per(Pod, ref(Node))
    unschedulable = per(Pod, boolean())

    def begin(self, pod: Pod, copy: PodCopy, nominee: Value, unschedulable: bool) -> None:
        """Start handling a failed attempt; reads the number of the current scheduling cycle."""
        limit("one failure handler per pod", self.phase[pod] == FailurePhase.NONE)
        self.queue.begin_failure(pod)
        self.copy[pod] = copy
        self.nominee[pod] = nominee
        self.unschedulable[pod] = unschedulable
        self.phase[pod] = self.first_phase(pod)

    def first_phase(self, pod: Pod) -> FailurePhase:
        """Where handling begins."""
        return FailurePhase.READ

    def awaits_requeue(self, pod: Pod) -> Expr:
        """Whether a requeue of the pod is still to come."""
        return any_of(self.phase[pod] == p for p in (FailurePhase.READ, FailurePhase.REQUEUE))

    @step(actor="failure handler", each="pod")
    def read(self, pod: Pod) -> None:
        """Read the pod from the lister; one that is gone or assigned is not requeued."""
        require(self.phase[pod] == FailurePhase.READ)
        current = self.pod_watch.lister[pod]
        with when(self.may_requeue(current)):
            self.copy[pod] = current.copy()
            self.phase[pod] = FailurePhase.REQUEUE
        with otherwise():
            self.queue.moved_since[pod] = False
            self.phase[pod] = self.phase_after_requeue()

    def may_requeue(self, current: PodObject) -> Expr:
        """Whether a failed pod that the lister shows like this comes back to the queue."""
        return current.pending

    @step(actor="failure handler", each="pod")
    def requeue(self, pod: Pod) -> None:
        """AddUnschedulableIfNotPresent."""
        require(self.phase[pod] == FailurePhase.REQUEUE)
        self.queue.requeue(pod, self.copy[pod])
        self.phase[pod] = self.phase_after_requeue()

    def phase_after_requeue(self) -> FailurePhase:
        """What follows the requeue."""
        return FailurePhase.NOMINATE

    @step(actor="failure handler", each="pod")
    def nominate(self, pod: Pod) -> None:
        """AddNominatedPod: the node that preemption chose, or else what the object says."""
        require(self.phase[pod] == FailurePhase.NOMINATE)
        self.nominator.add(pod, self.nominee[pod], self.copy[pod].nominated)
        self.phase[pod] = FailurePhase.PATCH

    @step(actor="failure handler", each="pod")
    def patch(self, pod: Pod) -> None:
        """PATCH the PodScheduled condition, and the nomination if there is one."""
        require(self.phase[pod] == FailurePhase.PATCH)
        self.write_status(pod)
        self.finish(pod)

    def write_status(self, pod: Pod) -> None:
        """The API call of `patch`."""
        self.api.patch_status(pod, self.unschedulable[pod], self.nominee[pod])

    def finish(self, pod: Pod) -> None:
        """Handling is over."""
        self.phase[pod] = FailurePhase.NONE
        self.copy[pod] = PodCopy()
        self.nominee[pod] = None
        self.unschedulable[pod] = False
        self.scheduler.failure_handled(pod)
