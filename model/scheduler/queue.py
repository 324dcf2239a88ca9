"""The scheduling queue (pkg/scheduler/internal/queue/scheduling_queue.go, 1.22).

Three sub-queues: activeQ, backoffQ, unschedulableQ. Every method here is what upstream does under the
queue's lock; a caller that makes two calls makes two steps. What depends on time is asked of the clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..environment.objects import Pod, PodCopy, PodObject
from ..language import (
    Component,
    Expr,
    Value,
    all_of,
    any_of,
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
from .events import ANY_EVENT, ASSIGNED_POD_ADD, UNSCHEDULABLE_TIMEOUT, ClusterEvent, Plugin

if TYPE_CHECKING:
    from .clock import Clock
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

    `rejected_by[p]` are the plugins for which p's last attempt did not fit. The numbers schedulingCycle and
    moveRequestCycle are only ever compared, so the model keeps the outcome: `moved` says that a move request
    came since the last Pop, `moved_since[p]` that one came since p's failing attempt read its schedulingCycle.
    """

    nominator: Nominator
    failure: FailureHandler
    clock: Clock

    place = per(Pod, enum(Place))
    copy = per(Pod, PodCopy)
    rejected_by = per(Pod, per(Plugin, boolean()))
    moved = boolean()
    moved_since = per(Pod, boolean())

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            if pod.exists and pod.node is None:
                self.place[pod] = Place.ACTIVE

    def contains(self, pod: Pod) -> Expr:
        """Whether the pod is in one of the sub-queues."""
        return self.place[pod] != Place.NONE

    # --- order -----------------------------------------------------------------------------------

    def precedes(self, a: Pod, b: Pod) -> Expr:
        """activeQ's order: higher priority first, then the older timestamp (queuesort, PrioritySort)."""
        return (a.priority > b.priority) | ((a.priority == b.priority) & self.clock.is_older(a, b))

    def is_head(self, pod: Pod) -> Expr:
        """Whether Pop would return this pod."""
        first = [
            (self.place[q] != Place.ACTIVE) | ~self.precedes(q, pod)
            for q in self.universe[Pod]
            if q is not pod
        ]
        return all_of([self.place[pod] == Place.ACTIVE, *first])

    # --- calls -----------------------------------------------------------------------------------

    def put(self, pod: Pod, place: Value, copy: PodCopy) -> None:
        """Put the pod, as this object, into one of the sub-queues or into none."""
        self.place[pod] = place
        self.copy[pod] = copy

    def add(self, pod: Pod, new: PodObject) -> None:
        """Add: a new pending pod."""
        self.put(pod, Place.ACTIVE, new.copy())
        self.clock.arrived(pod)
        self._forget_rejection(pod)
        self.nominator.add(pod, None, new.nominated)

    def pop(self, pod: Pod) -> Any:
        """Pop: requires that `pod` is activeQ's head; gives the queue's copy of it."""
        require(self.is_head(pod))
        copy = self.copy[pod]
        self.put(pod, Place.NONE, PodCopy())
        self.clock.popped(pod)
        self.moved = False
        self.nominator.popped(pod)
        return copy

    def begin_failure(self, pod: Pod) -> None:
        """SchedulingCycle(): the failing attempt reads the number of the current cycle."""
        self.moved_since[pod] = self.moved

    def move_came(self, pod: Pod) -> Expr:
        """moveRequestCycle >= the cycle that the failing attempt of `pod` read."""
        return as_expr(self.moved_since[pod])

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        """AddUnschedulableIfNotPresent: parked, or to backoffQ if a move request came meanwhile.

        Gives whether the pod was taken; one that is in the queue already is not.
        """
        taken = ~self.contains(pod)
        with when(taken):
            self.put(pod, self.requeue_place(pod, copy), copy)
            self.clock.came_back(pod)
            self.nominator.add(pod, None, copy.nominated)
        self.moved_since[pod] = False
        return taken

    def requeue_place(self, pod: Pod, copy: PodCopy) -> Expr:
        """Where a failed pod goes."""
        return select(self.is_retried(pod, copy), self.backing_off_place(), Place.UNSCHEDULABLE)

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        """Whether a failed pod is to be tried again rather than parked."""
        return self.move_came(pod)

    def backoff_place(self) -> Place:
        """Where a pod waits until its backoff is over."""
        return Place.BACKOFF

    def backing_off_place(self) -> Place:
        """Where a pod goes whose backoff has just begun; without backoff it leaves backoffQ at once."""
        return self.backoff_place() if self.scope.backoff else Place.ACTIVE

    def retry_place(self, pod: Pod) -> Expr:
        """Where a parked pod goes that is to be tried again."""
        return select(self.clock.is_backing_off(pod), self.backing_off_place(), Place.ACTIVE)

    def update(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """Update: a pending pod's object changed. Without an old object, only a parked pod is known."""
        known = self.contains(pod) & (old.exists | (self.place[pod] == Place.UNSCHEDULABLE))
        with when(known):
            self.nominator.update(pod, old.nominated, new.nominated)
            self.place[pod] = self.place_after_update(pod, old, new)
            self.copy[pod] = new.copy()
        with otherwise():
            # In flight, assumed, or not known yet: upstream cannot tell, and adds it to activeQ.
            self.add(pod, new)

    def place_after_update(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """Where an update leaves a waiting pod: only a parked one moves, if more than its status changed."""
        wakes = (self.place[pod] == Place.UNSCHEDULABLE) & self.is_respecified(old, new)
        return select(wakes, self.retry_place(pod), self.place[pod])

    def is_respecified(self, old: PodObject, new: PodObject) -> Expr:
        """isPodUpdated: more than the status differs."""
        return ~((as_expr(old.terminating) == new.terminating) & (as_expr(old.version) == new.version))

    def delete(self, pod: Pod) -> None:
        """Delete: from the nominator and from whichever sub-queue holds it."""
        self.nominator.delete(pod)
        self.clock.left(pod)
        self._forget_rejection(pod)
        self.put(pod, Place.NONE, PodCopy())

    def activate(self, pod: Pod) -> None:
        """Activate: a plugin wants a waiting pod to be tried at once."""
        with when((self.place[pod] == Place.BACKOFF) | (self.place[pod] == Place.UNSCHEDULABLE)):
            self.place[pod] = Place.ACTIVE
            self.nominator.add(pod, None, self.copy[pod].nominated)

    # --- moves -----------------------------------------------------------------------------------

    def record_rejection(self, pod: Pod, plugins: Mapping[Plugin, Value]) -> None:
        """The failed attempt's record gets the plugins for which the pod does not fit."""
        with when(~self.contains(pod)):
            for plugin, rejected in plugins.items():
                self.rejected_by[pod][plugin] = rejected

    def _forget_rejection(self, pod: Pod) -> None:
        for plugin in self.universe[Plugin]:
            self.rejected_by[pod][plugin] = False

    def matches(self, pod: Pod, event: ClusterEvent) -> Expr:
        """podMatchesEvent: one of the plugins that rejected the pod asked for the event."""
        if event.is_wildcard:
            return as_expr(True)
        return any_of(self.rejected_by[pod][p] for p in self.universe[Plugin] if p.asked_for(event))

    def is_woken_by(self, pod: Pod, event: ClusterEvent) -> Expr:
        """Whether the event moves the pod: it matches, or no plugin is known to have rejected the pod."""
        rejected = any_of(self.rejected_by[pod][p] for p in self.universe[Plugin])
        return ~rejected | self.matches(pod, event)

    def move_all(self, event: ClusterEvent = ANY_EVENT, admitted: Mapping[Pod, Value] | None = None) -> None:
        """MoveAllToActiveOrBackoffQueue; `admitted` is its pre-check: the other pods stay parked."""
        self._move(dict.fromkeys(self.universe[Pod], True) if admitted is None else admitted, event)

    def move_matching(self, pod: Pod, event: ClusterEvent = ASSIGNED_POD_ADD) -> None:
        """AssignedPodAdded / AssignedPodUpdated: parked pods with a required affinity term for `pod`."""
        waiting_for = {
            parked: any(t.required and not t.anti and t.matches(pod) for t in parked.terms)
            for parked in self.universe[Pod]
        }
        self._move(waiting_for, event)

    def _move(self, which: Mapping[Pod, Value], event: ClusterEvent) -> None:
        for pod, wanted in which.items():
            parked = self.place[pod] == Place.UNSCHEDULABLE
            with when(parked & wanted & self.is_woken_by(pod, event)):
                self.place[pod] = self.retry_place(pod)
        self.record_move()

    def record_move(self) -> None:
        """moveRequestCycle := schedulingCycle, whether or not a pod moved."""
        self.moved = True
        for pod in self.universe[Pod]:
            self.moved_since[pod] = as_expr(self.moved_since[pod]) | self.is_failing(pod)

    def is_failing(self, pod: Pod) -> Expr:
        """Whether an attempt of `pod` has read its cycle number and not yet requeued the pod."""
        return self.failure.has_read_cycle(pod)

    # --- timers ----------------------------------------------------------------------------------

    @step(actor="queue timers", goroutine="end of the backoff", each="pod")
    def flush_backoff(self, pod: Pod) -> None:
        """flushBackoffQCompleted: the pod's backoff is over."""
        require((self.place[pod] == Place.BACKOFF) & self.clock.backoff_may_end(pod))
        self.place[pod] = Place.ACTIVE

    @step(actor="queue timers", fair=False)
    def flush_unschedulable(self, pod: Pod) -> None:
        """flushUnschedulableQLeftover: the pod has been parked for longer than the limit."""
        if not self.scope.flush:
            require(False)
        require((self.place[pod] == Place.UNSCHEDULABLE) & self.clock.is_parked_for_long(pod))
        self._move({pod: True}, UNSCHEDULABLE_TIMEOUT)
