"""Properties of where a pod is: in one place at a time, and nowhere once it is gone."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from ...model.environment.objects import Pod
from ...model.environment.watch import Handler
from ...model.language import Expr, all_of, any_of, before, count, when
from ...model.scheduler.cycles.failure import FailurePhase
from ...model.scheduler.framework.status import Phase
from ...model.scheduler.framework.waiting_pods import WaitingPods
from ...model.scheduler.queue.scheduling_queue import SubQueue
from ..base.property import NeverHappens, Property


class OnePlace(Property):
    """Each pod is in at most one place: a sub-queue, the scheduling cycle, a binding cycle, or a failure handler that will requeue it.

    A pod in two places is scheduled twice, or requeued while it is being scheduled. The cause is an update that puts a pod in flight
    into activeQ.
    """

    id = "S-UNIQ"
    consequence = "The scheduler works on one pod twice at the same time. The pod may be assumed twice, fail with spurious errors, or keep room on a node that it is not bound to."
    concerns = "the pod in two places"
    issues = (118226,)

    def places(self, pod: Pod) -> Expr:
        """In how many places the pod is."""
        # Once its failure handler has requeued the pod, the cycle only writes what came of the attempt.
        requeued = self.scheduler.at(Phase.FAILING, pod) | self.failure.awaits_requeue(pod)
        cycle = self.scheduler.in_flight(pod) & ~requeued
        return count(
            (self.queue.contains(pod), cycle, self.binding.active(pod), self.failure.awaits_requeue(pod))
        )

    def holds(self) -> Expr:
        return all_of(self.places(p) <= 1 for p in self.subjects)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            places = {
                "a sub-queue": self.queue.contains(p),
                "the scheduling cycle": self.scheduler.in_flight(p),
                "its binding cycle": self.binding.active(p),
                "its failure handler": self.failure.awaits_requeue(p),
            }
            for one, other in combinations(places, 2):
                both = places[one] & places[other] & (self.places(p) > 1)
                yield f"{p.name} is in {one} and in {other} at the same time", both

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is taken from the queue": any_of(self.scheduler.in_flight(p) for p in self.subjects)}


class NotQueuedInCycle(Property):
    """No pod is in a sub-queue while the scheduling cycle works on it.

    S-CYCLE is the part of S-UNIQ that change 125578 fixed. An update can still queue an assumed pod.
    """

    id = "S-CYCLE"
    consequence = "The scheduler can begin a second attempt for a pod that it is scheduling already. The second attempt uses outdated objects: it may evict pods needlessly, or fail although the pod fits."
    concerns = "the pod that is queued"
    issues = (118226,)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            queued = self.queue.contains(p) & self.scheduler.in_flight(p) & ~self.requeued(p)
            yield f"{p.name} is in a sub-queue while the scheduling cycle has it", queued

    def requeued(self, pod: Pod) -> Expr:
        """Whether the cycle is through with the pod but for what its failure handler still writes."""
        return self.scheduler.at(Phase.FAILING, pod) & ~self.failure.awaits_requeue(pod)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is taken from the queue": any_of(self.scheduler.in_flight(p) for p in self.subjects)}


class NoGhostQueued(Property):
    """If a pod in a sub-queue is deleted or bound, the queue's handler has not handled this event yet."""

    id = "S-GHOST"
    consequence = "The scheduler tries to place a pod that is gone or bound. It wastes attempts, writes misleading events, and may evict pods in vain."
    concerns = "the pod that is queued"
    issues = (90660,)

    def is_known(self, pod: Pod) -> Expr:
        """Whether the queue's handler knows the pod as pending: one that it is adding, too."""
        return self.pod_watch.seen[Handler.QUEUE][pod].pending | self.handlers.is_adding(pod)

    def holds(self) -> Expr:
        return all_of(~self.queue.contains(p) | self.is_known(p) for p in self.subjects)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            ghost = self.queue.contains(p) & ~self.is_known(p)
            yield f"{p.name} is in a sub-queue, and the queue's handler knows that it is bound or gone", ghost

    def witnesses(self) -> dict[str, Expr]:
        leaves = (
            self.scheduler.in_flight(p) & ~self.pod_watch.seen[Handler.QUEUE][p].pending
            for p in self.subjects
        )
        return {"a pod in flight is deleted or bound": any_of(leaves)}


class BackoffRespected(NeverHappens):
    """No event takes a pod out of backoffQ before its backoff is over, not even an update of the pod."""

    id = "S-BACKOFF"
    consequence = "A failing pod is retried at once instead of after its backoff (1 to 10 seconds). It takes attempts from other pods, which wait longer in a busy cluster."
    concerns = "the pod that is taken out of backoffQ"
    issues = (98828,)

    def observe(self) -> None:
        updated = before(lambda: self.handlers.queue_busy) & ~self.handlers.queue_busy
        for pod in self.subjects:
            waited = before(partial(self._is_in, pod, SubQueue.BACKOFF))
            with when(updated & waited & self._is_in(pod, SubQueue.ACTIVE)):
                self.broken = True

    def _is_in(self, pod: Pod, place: SubQueue) -> Expr:
        return self.queue.sub_queue[pod] == place

    def witnesses(self) -> dict[str, Expr]:
        backing_off = any_of(self.queue.sub_queue[p] == SubQueue.BACKOFF for p in self.subjects)
        return {"an update is handled while a pod backs off": self.handlers.queue_busy & backing_off}


class FlightEnds(Property):
    """A pod is in flight only while the scheduling cycle, its binding cycle or its failure handler works on it.

    The scheduler keeps events for pods in flight. If a pod stays in flight, the scheduler keeps all later events indefinitely.
    """

    id = "S-FLIGHT"
    consequence = "The scheduler keeps cluster events for a pod that it no longer works on. Its memory grows until it restarts."
    concerns = "the pod in flight"
    issues = (120622,)

    def held(self, pod: Pod) -> Expr:
        """Whether some goroutine has the pod, and will call Done."""
        return (
            self.scheduler.in_flight(pod)
            | self.binding.active(pod)
            | (self.failure.phase[pod] != FailurePhase.NONE)
        )

    def holds(self) -> Expr:
        return all_of(~self.queue.in_flight[p] | self.held(p) for p in self.subjects)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            yield f"{p.name} is in flight, and no goroutine has it", self.queue.in_flight[p] & ~self.held(p)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is in flight": any_of(self.queue.in_flight[p] for p in self.subjects)}


class QueuedAsKnown(Property):
    """Once the queue's handler has handled all events of a queued pod, the queue has the same object of the pod as the API server."""

    id = "S-FRESH"
    consequence = "The scheduler uses an old version of the pod. It may place the pod against its new labels or requests, or leave it Pending until its next update."
    concerns = "the pod that is queued"
    issues = (141645,)

    def awaited(self, pod: Pod) -> Expr:
        """Whether an event of the pod has still to be handled for the queue."""
        log = self.pod_watch.log
        return any_of(
            (self.pod_watch.next[Handler.QUEUE] <= i) & (log.length > i) & (log.entry(i).pod == pod)
            for i in range(log.capacity)
        )

    def stale(self, pod: Pod) -> Expr:
        """Whether the queue has the pod with an older object, and nothing comes to correct it."""
        current = self.api.pod[pod]
        queued = self.queue.contains(pod) & current.pending
        return queued & ~self.awaited(pod) & ~self.queue.copy[pod].same_as(current.copy())

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            yield (
                f"{p.name} is queued with an object that is out of date, and no event is to come",
                self.stale(p),
            )

    def witnesses(self) -> dict[str, Expr]:
        changed = (self.queue.contains(p) & self.api.pod[p].failed for p in self.subjects)
        return {"a pod whose object has changed is queued": any_of(changed)}


class NothingLeftOfGonePods(Property):
    """Once all events of a deleted pod are handled and no goroutine of the scheduler works on the pod, the
    cache keeps nothing of it."""

    id = "S-LEAK"
    consequence = "The scheduler's cache keeps a pod that is gone. The node seems fuller than it is, and other pods stay Pending until the scheduler restarts."
    concerns = "the pod that is gone"
    issues = (106102,)

    def settled(self, pod: Pod) -> Expr:
        """Whether the pod is gone, and nothing about it is under way."""
        log = self.pod_watch.log
        coming = any_of((log.length > i) & (log.entry(i).pod == pod) for i in range(log.capacity))
        held = self.scheduler.in_flight(pod) | self.binding.active(pod) | self.failure.awaits_requeue(pod)
        return ~self.api.pod[pod].exists & ~coming & ~held

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            yield f"{p.name} is gone, and the cache still has it", self.settled(p) & self.cache.knows(p)

    def witnesses(self) -> dict[str, Expr]:
        gone = [self.settled(p) for p in self.subjects if p.exists]
        return {"a pod is gone and all its events are handled": any_of(gone)}


class DeletedPodsFreeRoom(NeverHappens):
    """Once the deletion of a pod is handled, the cache no longer has the pod as assumed. The exception is a pod that was rejected while it waited for permission: its binding cycle removes it.

    In a violation, the deleted pod keeps its room until its binding has failed, and preemption chooses it again and again.
    """

    id = "S-ROOM"
    consequence = "The room of a deleted pod stays taken in the scheduler's cache. Other pods stay Pending until the binding cycle or a timeout removes the deleted pod, or indefinitely."
    issues = (134217,)

    waiting: WaitingPods

    def observe(self) -> None:
        for pod in self.pods:
            known = partial(self._is_known, pod)
            with when(before(known) & ~known() & self.keeps_room(pod)):
                self.broken = True

    def _is_known(self, pod: Pod) -> Expr:
        return self.pod_watch.seen[Handler.QUEUE][pod].exists

    def keeps_room(self, pod: Pod) -> Expr:
        """Whether the pod is gone from the lister, assumed, and was not rejected."""
        rejected = self.waiting.holds(pod) | self.binding.rejected[pod]
        return ~self.pod_watch.lister[pod].exists & self.cache.is_assumed(pod) & ~rejected

    def witnesses(self) -> dict[str, Expr]:
        gone = (~self.api.pod[p].exists & self.cache.is_assumed(p) for p in self.pods)
        return {"an assumed pod is deleted": any_of(gone)}


class PendingPodsRequeued(NeverHappens):
    """The failure handler decides to requeue a pod only if the lister shows the pod as pending."""

    id = "S-REQUEUE"
    consequence = "The scheduler requeues a pod that is bound or gone. It tries to place the pod again, and writes misleading conditions and events."
    concerns = "the pod that is requeued"
    issues = (96579,)

    def observe(self) -> None:
        for pod in self.subjects:
            reads = before(partial(self._is_at, pod, FailurePhase.READ)) & self._is_at(
                pod, FailurePhase.REQUEUE
            )
            with when(reads & ~self.pod_watch.lister[pod].pending):
                self.broken = True

    def _is_at(self, pod: Pod, phase: FailurePhase) -> Expr:
        return self.failure.phase[pod] == phase

    def witnesses(self) -> dict[str, Expr]:
        reading = (
            self._is_at(p, FailurePhase.READ) & ~self.pod_watch.lister[p].pending for p in self.subjects
        )
        return {"a failed pod is pending no longer": any_of(reading)}
