"""The scheduling queue (pkg/scheduler/internal/queue/scheduling_queue.go, 1.19).

Three sub-queues: activeQ, backoffQ, unschedulableQ. Every method here is what upstream does under the
queue's lock; a caller that makes two calls makes two steps.

Time is order only. A backoff is armed when a pod is requeued and may end at any moment after: a pod
whose backoff upstream would find over passes through backoffQ, and its flush may follow at once.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from ..environment.objects import Pod, PodCopy, PodObject
from ..language import (
    Component,
    Expr,
    all_of,
    as_expr,
    boolean,
    enum,
    otherwise,
    per,
    require,
    select,
    step,
    when,
)

if TYPE_CHECKING:
    from .failure import FailureHandler
    from .nominator import Nominator


class Place(Enum):
    """The sub-queue that a pod is in."""

    NONE = 0
    ACTIVE = 1
    BACKOFF = 2
    UNSCHEDULABLE = 3


class PriorityQueue(Component):
    """activeQ, backoffQ and unschedulableQ, with the copies of the pods that they hold.

    `older[p][q]` (kept for p before q in the scenario): p's timestamp is before q's. The numbers schedulingCycle and moveRequestCycle are only ever
    compared, so the model keeps the outcome: `moved` says that a move request came since the last Pop,
    `moved_since[p]` that one came since p's failing attempt read its schedulingCycle.
    """

    nominator: Nominator
    failure: FailureHandler

    place = per(Pod, enum(Place))
    copy = per(Pod, PodCopy)
    older = per(Pod, per(Pod, boolean()))
    moved = boolean()
    moved_since = per(Pod, boolean())

    def setup(self) -> None:
        pods = self.universe[Pod]
        for pod in pods:
            if pod.exists and pod.node is None:
                self.place[pod] = Place.ACTIVE
            for other in pods[pod.index + 1 :]:
                self.older[pod][other] = True

    def contains(self, pod: Pod) -> Expr:
        """Whether the pod is in one of the sub-queues."""
        return self.place[pod] != Place.NONE

    # --- order -----------------------------------------------------------------------------------

    def stamp(self, pod: Pod) -> None:
        """Give the pod a new timestamp: it is the youngest."""
        for other in self.universe[Pod]:
            if other.index < pod.index:
                self.older[other][pod] = True
            elif other is not pod:
                self.older[pod][other] = False

    def is_older(self, a: Pod, b: Pod) -> Expr:
        """Whether a's timestamp is before b's."""
        older: Expr = self.older[a][b] if a.index < b.index else ~self.older[b][a]
        return older

    def precedes(self, a: Pod, b: Pod) -> Expr:
        """activeQ's order: higher priority first, then the older timestamp (queuesort, PrioritySort)."""
        return (a.priority > b.priority) | ((a.priority == b.priority) & self.is_older(a, b))

    def is_head(self, pod: Pod) -> Expr:
        """Whether Pop would return this pod."""
        first = [
            (self.place[q] != Place.ACTIVE) | ~self.precedes(q, pod)
            for q in self.universe[Pod]
            if q is not pod
        ]
        return all_of([self.place[pod] == Place.ACTIVE, *first])

    # --- calls -----------------------------------------------------------------------------------

    def _put(self, pod: Pod, place: Any, copy: Any) -> None:
        self.place[pod] = place
        self.copy[pod] = copy

    def add(self, pod: Pod, new: PodObject) -> None:
        """Add: a new pending pod."""
        self._put(pod, Place.ACTIVE, new.copy())
        self.stamp(pod)
        self.nominator.add(pod, None, new.nominated)

    def pop(self, pod: Pod) -> Any:
        """Pop: requires that `pod` is activeQ's head; gives the queue's copy of it."""
        require(self.is_head(pod))
        copy = self.copy[pod]
        self._put(pod, Place.NONE, PodCopy())
        # The timestamp is renewed whenever the pod comes back; until then nothing compares it.
        self.stamp(pod)
        self.moved = False
        self.nominator.popped(pod)
        return copy

    def begin_failure(self, pod: Pod) -> None:
        """SchedulingCycle(): the failing attempt reads the number of the current cycle."""
        self.moved_since[pod] = self.moved

    def move_came(self, pod: Pod) -> Expr:
        """moveRequestCycle >= the cycle that the failing attempt of `pod` read."""
        return as_expr(self.moved_since[pod])

    def requeue(self, pod: Pod, copy: PodCopy) -> None:
        """AddUnschedulableIfNotPresent: parked, or to backoffQ if a move request came meanwhile."""
        with when(~self.contains(pod)):
            self._put(pod, self.requeue_place(pod, copy), copy)
            self.stamp(pod)
            self.nominator.add(pod, None, copy.nominated)
        self.moved_since[pod] = False

    def requeue_place(self, pod: Pod, copy: PodCopy) -> Expr:
        """Where a failed pod goes."""
        return select(self.is_retried(pod, copy), self.retry_place(), Place.UNSCHEDULABLE)

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        """Whether a failed pod is to be tried again rather than parked."""
        return self.move_came(pod)

    def retry_place(self) -> Place:
        """Where a pod waits that is to be tried again (isPodBackingoff decides; see the module's docstring)."""
        return Place.BACKOFF

    def update(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """Update: a pending pod's object changed."""
        waiting = self.contains(pod)
        with when(waiting):
            self.nominator.update(pod, old.nominated, new.nominated)
            self.place[pod] = self.place_after_update(pod, old, new)
            self.copy[pod] = new.copy()
        with otherwise():
            # In flight, assumed, or not known yet: upstream cannot tell, and adds it to activeQ.
            self.add(pod, new)

    def place_after_update(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """Where an update leaves a waiting pod: a parked one moves only if more than its status changed."""
        spec_changed = as_expr(old.terminating) != as_expr(new.terminating)
        parked = (self.place[pod] == Place.UNSCHEDULABLE) & ~spec_changed
        return select(parked, Place.UNSCHEDULABLE, Place.ACTIVE)

    def delete(self, pod: Pod) -> None:
        """Delete: from the nominator and from whichever sub-queue holds it."""
        self.nominator.delete(pod)
        self._put(pod, Place.NONE, PodCopy())
        self.stamp(pod)

    def move_all(self) -> None:
        """MoveAllToActiveOrBackoffQueue."""
        self._move(dict.fromkeys(self.universe[Pod], True))

    def move_matching(self, pod: Pod) -> None:
        """AssignedPodAdded / AssignedPodUpdated: parked pods with a required affinity term for `pod`."""
        self._move({
            parked: any(t.required and not t.anti and t.selects(pod.labels) for t in parked.terms)
            for parked in self.universe[Pod]
        })  # fmt: skip

    def _move(self, which: dict[Pod, bool]) -> None:
        for pod, wanted in which.items():
            with when((self.place[pod] == Place.UNSCHEDULABLE) & wanted):
                self.place[pod] = self.retry_place()
        self.moved = True
        for pod in self.universe[Pod]:
            self.moved_since[pod] = as_expr(self.moved_since[pod]) | self.is_failing(pod)

    def is_failing(self, pod: Pod) -> Expr:
        """Whether an attempt of `pod` has read its cycle number and not yet requeued the pod."""
        return self.failure.awaits_requeue(pod)

    # --- timers ----------------------------------------------------------------------------------

    @step(actor="queue timers")
    def flush_backoff(self, pod: Pod) -> None:
        """flushBackoffQCompleted: the pod's backoff is over."""
        require(self.place[pod] == Place.BACKOFF)
        self.place[pod] = Place.ACTIVE

    @step(actor="queue timers", fair=False)
    def flush_unschedulable(self, pod: Pod) -> None:
        """flushUnschedulableQLeftover: the pod has been parked for longer than the limit."""
        if not self.scope.flush:
            require(False)
        require(self.place[pod] == Place.UNSCHEDULABLE)
        self._move({p: p is pod for p in self.universe[Pod]})
