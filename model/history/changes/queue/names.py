"""Pods that are recreated under their name, as they were taken for one another."""

from ....environment.api import APIServer
from ....environment.names import Recreation, namesakes
from ....environment.objects import Node, Pod, PodObject
from ....environment.watch import Handler, PodWatch
from ....language import (
    UNTOLD,
    Expr,
    Record,
    Value,
    any_of,
    as_expr,
    boolean,
    changes,
    otherwise,
    per,
    require,
    step,
    tells,
    when,
)
from ....scheduler import EventHandlers, FailureHandler, Plugin, PriorityQueue, Process
from ....scheduler.cycles.failure import FailurePhase
from ...registry.change import before
from ...versions import LATER


class _BindingByName(APIServer):
    """A Binding binds the pod that has the name."""

    def can_bind(self, pod: Pod) -> Expr:
        return any_of(super(_BindingByName, self).can_bind(named) for named in self.of_name(pod))

    def bind(self, pod: Pod, node: Node | Expr) -> None:
        for named in self.of_name(pod):
            with when(super().can_bind(named)):
                super().bind(named, node)


@before("105913", "the UID of a Binding is a precondition", first_in="1.23", issues=(105261, 102761))
class BindingByName(_BindingByName):
    """A Binding carried the UID, and nobody looked at it: the pod that had the name was bound (setPodHostAndAnnotations, 1.13 to 1.22)."""


@before(
    "116550",
    "the UID of a Binding reaches the API server's precondition",
    first_in="1.27",
    since="1.25",
    backports=("1.25.9", "1.26.4"),
)
class BindingLosesItsUID(_BindingByName):
    """The UID was wiped from what was to be created before anybody looked at it, a Binding included (WipeObjectMetaSystemFields in createHandler,
    since 110646): the precondition of 105913 had nothing to compare, and the pod that had the name was bound (1.25 and 1.26).
    """


_BY_UID = "Update keeps the entry of another pod that had the name, and adds the pod"


@before("updates-by-uid", _BY_UID, first_in="1.37")
class EntryTakenOver(PriorityQueue):
    """An update found its entry by name: one of another pod became the pod's, with its timestamp, its attempts and what had rejected it, and so did the nomination (PodInfo.Update, up to 1.36)."""

    def is_found(self, pod: Pod) -> Expr:
        return self.contains_name(pod)

    def take_over(self, pod: Pod) -> None:
        for other in namesakes(self.universe, pod):
            with when(self.contains(other) & ~self.hides(pod, other)):
                self.sub_queue[pod] = self.sub_queue[other]
                self.gated[pod] = self.gated[other]
                self.clock.handed_over(other, pod)
                self.failure.taken_over(other, pod)
                for plugin in self.universe[Plugin]:
                    self.rejected_by[pod][plugin] = self.rejected_by[other][plugin]
        self.drop_found(pod)


@before("updates-by-uid", _BY_UID, first_in="1.37")
class HandlerGoesOnForAnother(FailureHandler):
    """A failure handler that had put its record back nominated the pod that the record was of by then.

    `goes_on[r]`: what the handler of `r.before` holds is the record of `r.after`.
    """

    goes_on = per(Recreation, boolean())

    phrases = UNTOLD

    def taken_over(self, pod: Pod, other: Pod) -> None:
        for recreation in self.universe[Recreation]:
            if (recreation.before, recreation.after) == (pod, other):
                self.goes_on[recreation] = self.goes_on[recreation] | as_expr(self.shares[pod])

    def updated(self, pod: Pod, new: PodObject) -> None:
        super().updated(pod, new)
        for recreation in self.universe[Recreation]:
            if recreation.after is pod:
                shares = self.goes_on[recreation] & self.shares[recreation.before]
                self.record_updated(recreation.before, new, shares)

    def record_nomination(self, pod: Pod, field: Value) -> None:
        goes_on = self._goes_on(pod)
        for other in namesakes(self.universe, pod):
            with when(goes_on):
                self.nominator.add(other, self.nominee[pod], field)
        if namesakes(self.universe, pod):
            with when(~goes_on):
                super().record_nomination(pod, field)
        else:
            super().record_nomination(pod, field)

    def _goes_on(self, pod: Pod) -> Expr:
        return any_of(self.goes_on[r] for r in self.universe[Recreation] if r.before is pod)

    def finish(self, pod: Pod) -> None:
        super().finish(pod)
        for recreation in self.universe[Recreation]:
            if recreation.before is pod:
                self.goes_on[recreation] = False


_RECREATED = "an attempt ends if its pod was recreated under the same name"


@before(
    "138324",
    _RECREATED,
    first_in="1.36",
    issues=(138316,),
    since="1.19",
    backports=("1.34.8", "1.35.5"),
    after=("134400",),
)
class AttemptGoesOnForAnother(HandlerGoesOnForAnother):
    """The lister was asked by name, and the attempt went on with the object that it gave: its record, with what had rejected the pod that is gone,
    entered the queue as the other pod's, and so did its nomination. Done was called for the other's UID, so that the one that is gone stayed in
    flight for good.
    """

    def found_recreated(self, pod: Pod, other: Pod) -> None:
        for recreation in self.universe[Recreation]:
            if recreation.before is pod:
                self.goes_on[recreation] = True
        self.copy[pod] = self.listed(other).copy()
        self.patch_from(pod, self.listed(other))
        self.queue.begin_failure(pod)
        self.phase[pod] = FailurePhase.REQUEUE

    def put_back(self, pod: Pod) -> None:
        goes_on = self._goes_on(pod)
        for other in namesakes(self.universe, pod):
            with when(goes_on):
                self.queue.go_on_as(pod, other)
                self.shares[pod] = self.queue.requeue(other, self.copy[pod])
        if namesakes(self.universe, pod):
            with when(~goes_on):
                super().put_back(pod)
        else:
            super().put_back(pod)


_SWAPPED = "an Update from one pod to another of the same name is split into a deletion and a creation"


@before("141255", _SWAPPED, first_in=LATER, issues=(141255,))
class SwapIsOneUpdate(PodWatch):
    """A list that showed another pod under the name was an Update (processDeltas in client-go's shared informer): the store finds the old object by name.

    `swapped[r]`: the next event of `r.after` has the object of `r.before` as the old one.
    """

    swapped = per(Recreation, boolean())

    def is_hidden(self, pod: Pod) -> Expr:
        return any_of(self.swapped[r] for r in self.universe[Recreation] if r.before is pod)

    def replaced(self, pod: Pod) -> PodObject:
        found = super().replaced(pod)
        for recreation in self.universe[Recreation]:
            if recreation.after is pod:
                found = Record.choose(self.swapped[recreation], self.lister[recreation.before], found)
        return found

    @step(actor="pod informer", fair=False)
    def resume(self) -> None:
        """The watch was interrupted, and the informer lists all pods. If a name was used again, the list shows the newest pod."""
        for r in self.universe[Recreation]:
            before_, after = self.api.pod[r.before], self.api.pod[r.after]
            self.swapped[r] = self.swapped[r] | (
                self.lister[r.before].exists & ~as_expr(before_.exists) & as_expr(after.exists)
            )
        super().resume()

    def _store_up_to(self, position: Expr) -> None:
        super()._store_up_to(position)
        for r in self.universe[Recreation]:
            with when(self.swapped[r] & self.lister[r.after].exists):
                self.lister[r.before] = PodObject()

    def processed(self, handler: Handler, pod: Pod, new: PodObject) -> None:
        super().processed(handler, pod, new)
        for r in self.universe[Recreation]:
            if r.after is pod:
                with when(self.swapped[r]):
                    self.seen[handler][r.before] = PodObject()

    def is_swap(self, handler: Handler, recreation: Recreation) -> Expr:
        """Whether the handler's next event about the new pod contains the old pod's object."""
        return self.swapped[recreation] & self.seen[handler][recreation.before].exists


@before("141255", _SWAPPED, first_in=LATER, issues=(141255,))
class SwapIsHandledAsUpdate(EventHandlers):
    """updatePod looked at the old object's node alone (from 1.35 on): the cache was told that a pod had changed, and where the new object named
    no node, or another, ended the process ("Scheduler cache is corrupted"). Up to 1.34 the handlers' filters made a deletion and an addition of it.

    `ended[r]`: it did.
    """

    pod_watch: SwapIsOneUpdate
    process: Process

    ended = per(Recreation, boolean())

    phrases = UNTOLD

    def ends(self) -> tuple[Expr, ...]:
        return (*super().ends(), *(as_expr(self.ended[r]) for r in self.universe[Recreation]))

    def _swap_is_next(self, handler: Handler, pod: Pod) -> Expr:
        found = [self.pod_watch.is_swap(handler, r) for r in self.universe[Recreation] if r.after is pod]
        return any_of(found)

    @step(actor="queue handler")
    def handle_for_queue(self, pod: Pod) -> None:
        """The queue's handler takes its next event: an unassigned pod was added or changed, or is no longer unassigned."""
        require(~self._swap_is_next(Handler.QUEUE, pod))
        super().handle_for_queue(pod)

    @step(actor="queue handler")
    @tells(
        "The watch delivers to the queue's handler that a pod has become {recreation}: there was a list meanwhile."
    )
    def handle_swap_for_queue(self, recreation: Recreation) -> None:
        """updatePodInSchedulingQueue with two UIDs. If the new pod already has a node: deletePodFromSchedulingQueue with the old pod."""
        require(self.is_queue_idle() & self.pod_watch.is_swap(Handler.QUEUE, recreation))
        self.queue.goes_on(self.goroutine_of(Handler.QUEUE))
        old: PodObject = self.pod_watch.seen[Handler.QUEUE][recreation.before]
        _, new = self.pod_watch.take(Handler.QUEUE, recreation.after)
        with when(new.pending):
            self.queue.replace(recreation.before, recreation.after, old, new)
            self.conclude(recreation.after, old, new)
        with otherwise():
            self.queue.delete(recreation.before)
            self.pod_watch.processed(Handler.QUEUE, recreation.after, new)

    @step(actor="cache handler")
    def handle_for_cache(self, pod: Pod) -> None:
        """The cache's handler takes its next event: an assigned pod was added, changed or deleted."""
        require(~self._swap_is_next(Handler.CACHE, pod))
        super().handle_for_cache(pod)

    @step(actor="cache handler")
    @tells(
        changes("handlers.ended"),
        "The watch delivers to the cache's handler that a pod has become {recreation}: there was a list meanwhile. The cache takes itself for corrupted, and the scheduler ends itself.",
        "The watch delivers to the cache's handler that a pod has become {recreation}: there was a list meanwhile.",
    )
    def handle_swap_for_cache(self, recreation: Recreation) -> None:
        """UpdatePod with two UIDs, or deletePodFromCache with the old pod. If the node handler is between two events, the process ends."""
        require(~self.cache_busy & self.pod_watch.is_swap(Handler.CACHE, recreation))
        self.queue.goes_on(self.goroutine_of(Handler.CACHE))
        gone = recreation.before
        old: PodObject = self.pod_watch.seen[Handler.CACHE][gone]
        _, new = self.pod_watch.take(Handler.CACHE, recreation.after)
        removed = ~new.assigned if self.is_filtered() else as_expr(False)
        known = self.cache.knows(gone) & ~self.cache.is_assumed(gone)
        self.swapped_out(gone)
        kept = as_expr(new.assigned) & (as_expr(old.node) == new.node)
        ends = known & ~kept & ~removed
        require(~ends | ~self.node_busy)
        with when(ends):
            self.process.start_anew()
            self.ended[recreation] = True
        with otherwise(removed):
            self.cache.remove_pod(gone)
            self.cache_busy = True
        with otherwise():
            with when(known):
                self.cache.remove_pod(gone)
                self.cache.add_pod(recreation.after, new)
            self.pod_watch.processed(Handler.CACHE, recreation.after, new)

    @step(actor="cache handler")
    def wake_queue(self, pod: Pod) -> None:
        """The queue's handler wakes parked pods after any other event."""
        require(~self._swap_is_next(Handler.CACHE, pod))
        super().wake_queue(pod)

    @step(actor="cache handler")
    @tells("The cache's handler wakes parked pods, because a pod has become {recreation}.")
    def wake_queue_for_swap(self, recreation: Recreation) -> None:
        """The queue is notified that the old pod was deleted."""
        require(self.cache_busy & self.pod_watch.is_swap(Handler.CACHE, recreation))
        old: PodObject = self.pod_watch.seen[Handler.CACHE][recreation.before]
        _, new = self.pod_watch.take(Handler.CACHE, recreation.after)
        self.wake_for_removed(recreation.before, old)
        self.queue.moved_by(self.goroutine_of(Handler.CACHE))
        self.cache_busy = False
        self.pod_watch.processed(Handler.CACHE, recreation.after, new)
