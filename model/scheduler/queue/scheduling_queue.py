"""The scheduling queue (scheduling_queue.go, active_queue.go, backoff_queue.go and unschedulable_pods.go in backend/queue, 1.34).

Three sub-queues: activeQ, backoffQ, unschedulablePods. Every method here is what upstream does under the
queue's lock; a caller that makes two calls makes two steps. What depends on time is asked of the clock.

Pop and Done are the exception: since 1.31 they take activeQ's lock only, which the other methods take and let go several times. So
Pop may come amid any of them. All but one do the same as if it had come before or after:

- Add changes one pod under one lock, the nomination included; so does a flush of the backoffs, of which a step is one pod.
- Delete and Activate look for one pod. If Pop takes it first, they find it gone, as after Pop. Activate keeps a pod that it takes out
  of backoffQ out of both for a moment, in which Pop takes the next one, as before Activate.
- Update looks under one lock whether the pod is in flight, in activeQ or in backoffQ (for 1.32 to 1.34 see `UpdateInTwoLocks`).
- AddUnschedulableIfNotPresent queues one pod, which is in flight until Done: see 139450.
- A move adds pods one after the other, in any order, and records its event last: see `just_moved`.
"""

from collections.abc import Sequence
from typing import Any

from ...environment.cluster.pod_versions import PodChange, versions_in
from ...environment.objects import Pod, PodCopy, PodObject
from ...language import (
    NOTHING,
    Expr,
    Lasts,
    Value,
    all_of,
    any_of,
    as_expr,
    otherwise,
    require,
    select,
    step,
    tells,
    when,
)
from ...language import changes as change_of
from ..framework.events import DYNAMIC_RESOURCES, POD_UPDATE, UNSCHEDULABLE_TIMEOUT, Plugin, PodUpdate
from ..framework.interface import FailingAttempts
from .moves import Mover, Moves
from .nominator import Nominator
from .sub_queues import SubQueue as SubQueue


class PriorityQueue(Moves):
    """The queue's functions and timers."""

    nominator: Nominator
    failure: FailingAttempts

    def add(self, pod: Pod, new: PodObject) -> None:
        """Add: a new pending pod. Its nomination counts even if a PreEnqueue plugin holds the pod back (139057)."""
        self.settle()
        with when(~self.is_left_out(pod, new)):
            self._forget_rejection(pod)
            self.enter_added(pod, new)
            self.clock.arrived(pod)
            with when(self.nominates_added(pod)):
                self.nominator.add(pod, None, new.nominated)

    def is_left_out(self, pod: Pod, new: PodObject) -> Expr:
        """Whether Add changes nothing, because PreEnqueue holds the pod back and the queue has an entry of its name."""
        return as_expr(False)

    def nominates_added(self, pod: Pod) -> Expr:
        """Whether the nomination of a newly added pod counts."""
        return as_expr(True)

    def pop(self, pod: Pod) -> Any:
        """Pop: requires that `pod` is at the head of activeQ; returns the queue's object."""
        require(self.is_head(pod))
        self.settle()
        return self._take(pod)

    def pop_amid_move(self, pod: Pod) -> Any:
        """Pop before the move that has brought `pod` is over. The other pods of the move count as not moved yet."""
        require(self.just_moved[pod] & self._heads(pod, {q: self.just_moved[q] for q in self.universe[Pod]}))
        worth = {plugin: as_expr(self.late_events[pod][plugin]) for plugin in self.universe[Plugin]}
        others = [(kept, one, as_expr(late[one])) for kept, late, one in self.memories(pod)]
        self._forget_move(pod)
        with when(~any_of(self.just_moved[q] for q in self.universe[Pod])):
            self.mover = Mover.NOBODY
        discarded = self.discards(pod)
        copy = self._take(pod)
        with when(~discarded):
            self.record_late(pod, worth)
            for kept, one, counts in others:
                kept[one] = counts
        return copy

    def _take(self, pod: Pod) -> PodCopy:
        copy: PodCopy = self.copy[pod]
        self.put(pod, SubQueue.NONE, PodCopy())
        with when(~self.discards(pod)):
            self.clock.popped(pod)
            self.begin_attempt(pod)
            self.nominator.popped(pod)
        return copy

    def discards(self, pod: Pod) -> Expr:
        """Whether Pop drops the pod, and takes the next one, because it is in flight already."""
        return as_expr(self.in_flight[pod])

    def begin_attempt(self, pod: Pod) -> None:
        """From now on, events are kept for the pod, and its earlier rejections are dropped."""
        self.in_flight[pod] = True
        self.drop_rejection(pod)

    def drop_rejection(self, pod: Pod) -> None:
        """A popped pod starts without recorded rejections."""
        self._forget_rejection(pod)

    def done(self, pod: Pod) -> None:
        """Done: events are no longer kept for the pod."""
        self.in_flight[pod] = False
        for plugin in self.universe[Plugin]:
            self.in_flight_events[pod][plugin] = False
        for kept, _, one in self.memories(pod):
            kept[one] = False

    def begin_failure(self, pod: Pod) -> None:
        """SchedulingCycle(): a failing attempt reads the current cycle's number. It is no longer needed."""

    def forget_cycle(self, pod: Pod) -> None:
        """A failing attempt will not requeue the pod, so the cycle number that it read is dropped."""

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        """AddUnschedulableIfNotPresent, and Done: the pod is parked, or enters backoffQ to be tried again.

        Gives whether the pod was taken; one that is in the queue already is not.
        """
        self.settle()
        taken = ~self.contains_name(pod)
        with when(taken):
            self.put(pod, self.requeued_sub_queue(pod, copy), copy)
            self.clock.came_back(pod)
            self.came_back(pod, copy)
        self.done(pod)
        return taken

    def go_on_as(self, pod: Pod, other: Pod) -> None:
        """The record of an attempt will be requeued for another pod with the same name (see 138324)."""
        with when(~self.contains_name(other)):
            for plugin in self.universe[Plugin]:
                self.rejected_by[other][plugin] = self.rejected_by[pod][plugin]
        self._forget_rejection(pod)
        self.hand_over_events(pod, other)

    def hand_over_events(self, pod: Pod, other: Pod) -> None:
        """For a UID that is not in flight, the events since the Pop are unknown (an error of clusterEventsForPod), so the pod is tried again."""
        for plugin in self.universe[Plugin]:
            unknown = ~as_expr(self.in_flight[other])
            self.in_flight_events[other][plugin] = self.in_flight_events[other][plugin] | unknown

    def came_back(self, pod: Pod, copy: PodCopy) -> None:
        """What else the requeue does: nothing, because the failure handler sets the nomination."""

    def requeued_sub_queue(self, pod: Pod, copy: PodCopy) -> Expr:
        """The sub-queue for a failed pod."""
        self.gated[pod] = False
        retried = self.is_retried(pod, copy)
        with when(retried):
            sub_queue = self.entering(pod, self.backing_off_sub_queue(), copy)
        return select(retried, sub_queue, SubQueue.UNSCHEDULABLE)

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        """Whether a failed pod is tried again instead of being parked.

        After an error always; after a rejection if an event came since the Pop that may have changed a rejecting plugin's mind.
        """
        plugins = self.universe[Plugin]
        changed = any_of(
            self.rejected_by[pod][p] & self.in_flight_events[pod][p] & self.still_hears(p, pod, copy)
            for p in plugins
        )
        shrunk = any_of(self.shrunk[one] & (copy.nominated == one.node) for one in self.nominees(pod))
        changed = changed | (self._rejects_for_size(pod) & shrunk) | self.pod_group_cycle.is_retried(pod)
        return changed | (~self.is_rejected(pod) & self.is_retried_after_error(pod))

    def _rejects_for_size(self, pod: Pod) -> Expr:
        return any_of(self.rejected_by[pod][p] for p in self.universe[Plugin] if p.name == "NodeResourcesFit")

    def still_hears(self, plugin: Plugin, pod: Pod, copy: PodCopy) -> Expr:
        """Whether an event since the Pop still counts for a plugin. DynamicResources checks whether the claims of the requeued object exist."""
        if plugin.name != DYNAMIC_RESOURCES or not self.waits_for_claims(pod):
            return as_expr(True)
        freed = any_of(self.freed[one] for one in self.claimant(pod))
        return self.dynamic_resources.is_ready(pod, copy.named) | freed

    def is_retried_after_error(self, pod: Pod) -> Expr:
        """Whether a pod that no plugin rejected is tried again without an event."""
        return as_expr(True)

    def replace(self, replaced: Pod, pod: Pod, old: PodObject, new: PodObject) -> None:
        """Update with an old object of another pod that had the name before."""
        with when(self.is_found(pod) & ~self.keeps_update(pod)):
            self.nominator.hand_over(replaced, pod)
        self.update(pod, old, new)

    def is_found(self, pod: Pod) -> Expr:
        """Whether Update finds an entry of this pod. It refuses an entry with another UID (PodInfo.Update, 1.37)."""
        return self.contains(pod)

    def take_over(self, pod: Pod) -> None:
        """What Update does with the entry of another pod that has the name: nothing."""

    def update(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """Update: the object of a pending pod changed. Without an old object, Update searches only the parked pods."""
        self.settle()
        kept = self.keeps_update(pod)
        with when(~kept):
            self.take_over(pod)
        known = self.contains(pod) & (old.exists | (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE))
        with when(~kept):
            with when(known):
                self.record_updated(pod, old, new)
                self.sub_queue[pod] = self.sub_queue_after_update(pod, old, new)
                self.copy[pod] = new.copy()
            with otherwise():
                # Assumed, or not known yet: the queue cannot tell, and adds it to activeQ.
                self.add(pod, new)
        with otherwise():
            # The list of events is one for all pods in flight (addEventsIfPodInFlight).
            if self.hears_of_updates():
                self.record_move(POD_UPDATE, pod)
            for changed, change in self.changes(pod, old, new):
                with when(changed):
                    for kind in self.kinds_of(change):
                        self.record_move(kind.event, change)
            if self.waits_for_claims(pod):
                self.hear_of_names(pod, old, new)

    def record_updated(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """PodInfo.Update of the pod's record, and UpdateNominatedPod."""
        self.nominator.update(pod, old.nominated, new.nominated)
        self.failure.updated(pod, new)

    def hear_of_names(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """PodGeneratedResourceClaimChange of a pod in flight, for which only DynamicResources registered."""
        told = as_expr(old.named) != new.named
        for plugin in self.universe[Plugin]:
            if plugin.name == DYNAMIC_RESOURCES:
                for other in self.told_of_names(pod):
                    counts = told & self.in_flight[other]
                    self.in_flight_events[other][plugin] = self.in_flight_events[other][plugin] | counts

    def told_of_names(self, pod: Pod) -> list[Pod]:
        """The pods in flight for which new claim names of this pod count: the hint does not check to which pod the claims belong."""
        return [other for other in self.universe[Pod] if other is pod or self.waits_for_claims(other)]

    def is_moved_by_names(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """isSchedulableAfterPodChange of DynamicResources: whether the status names other claims, and all of them exist."""
        rejected = any_of(
            self.rejected_by[pod][p] for p in self.universe[Plugin] if p.name == DYNAMIC_RESOURCES
        )
        told = as_expr(old.named) != new.named
        return rejected & told & self.dynamic_resources.is_ready(pod, new.named)

    def changes(self, pod: Pod, old: PodObject, new: PodObject) -> list[tuple[Expr, PodChange]]:
        """The possible changes in an update of a waiting pod: old and new version, each with its condition."""
        versions = versions_in(self.universe, pod)
        return [
            ((old.version == a.number) & (new.version == b.number), PodChange(a.content, b.content, False))
            for a in versions
            for b in versions
            if a is not b
        ]

    def kinds_of(self, change: PodChange) -> Sequence[PodUpdate]:
        """The kinds of change about which the queue is notified, in order."""
        return [kind for kind in self.universe[PodUpdate] if kind.happens(change)]

    def hears_of_updates(self) -> bool:
        """Whether a plugin registered for pod updates that contain no other registered change."""
        return any(plugin.asked_for(POD_UPDATE) for plugin in self.universe[Plugin])

    def keeps_update(self, pod: Pod) -> Expr:
        """Whether an update is stored only as an event, because the pod is in flight. The pod is requeued with the lister's object."""
        return as_expr(self.in_flight[pod])

    def sub_queue_after_update(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """The sub-queue of a waiting pod after an update: a gated pod without gates enters activeQ.

        It has no backoff, because it was never tried. Any other update, also one of the status that the scheduler wrote itself, is told
        to the plugins that rejected the pod; of those in tree, some asked for changes of labels, tolerations and requests.
        """
        parked = self.sub_queue[pod] == SubQueue.UNSCHEDULABLE
        released = parked & self.has_gates(pod, old) & ~self.has_gates(pod, new)
        with when(released):
            sub_queue = self.entering(pod, SubQueue.ACTIVE, new)
        found = select(released, sub_queue, self.sub_queue[pod])
        changes = self.changes(pod, old, new)
        if not self.hears_of_updates() and not changes and not self.waits_for_claims(pod):
            return found
        heard = as_expr(False)
        if self.hears_of_updates():
            heard = self.is_moved_by_update(pod)
        for changed, change in changes:
            heard = heard | (changed & self.is_moved_by_change(pod, change))
        if self.waits_for_claims(pod):
            heard = heard | self.is_moved_by_names(pod, old, new)
        heard = parked & ~released & heard
        with when(heard):
            retried = self.entering(pod, self.retry_sub_queue(pod), new)
        return select(heard, retried, found)

    def is_moved_by_update(self, pod: Pod) -> Expr:
        """isPodWorthRequeuing: whether a plugin that rejected the parked pod wants it tried again after any update of it."""
        return self.matches(pod, POD_UPDATE, pod)

    def is_moved_by_change(self, pod: Pod, change: PodChange) -> Expr:
        """isPodWorthRequeuing: whether a plugin that rejected the parked pod wants it tried again after this change."""
        return any_of(self.matches(pod, kind.event, change, change.new) for kind in self.kinds_of(change))

    def is_respecified(self, old: PodObject, new: PodObject) -> Expr:
        """isPodUpdated: whether more than the status has changed."""
        parts = ("terminating", "gated", "opened", "version")
        return ~all_of(as_expr(getattr(old, part)) == getattr(new, part) for part in parts)

    def delete(self, pod: Pod) -> None:
        """Delete: removes the pod from the nominator and from its sub-queue. A failing attempt keeps its own record of the rejections."""
        self.settle()
        self.nominator.delete(pod)
        self.clock.left(pod)
        found = ~self._is_hidden(pod)
        self.drop_found(pod)
        with when(found & (self.contains(pod) | ~self.is_recorded(pod))):
            self._forget_rejection(pod)
        with when(found):
            self.put(pod, SubQueue.NONE, PodCopy())

    def activate(self, pod: Pod) -> None:
        """Activate: a plugin wants a waiting pod to be tried immediately, or a pod in flight to be tried again."""
        self.settle()
        backing_off = self.sub_queue[pod] == SubQueue.BACKOFF
        with when(backing_off | (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE)):
            with when(backing_off & self.is_past_pre_enqueue()):
                self.sub_queue[pod] = SubQueue.ACTIVE
            with otherwise():
                self.sub_queue[pod] = self.entering(pod, SubQueue.ACTIVE, self.copy[pod])
            self._displace(pod)
            self.came_back(pod, self.copy[pod])
        with otherwise():
            for plugin in self.universe[Plugin]:
                self.in_flight_events[pod][plugin] = self.in_flight_events[pod][plugin] | self.in_flight[pod]

    def is_past_pre_enqueue(self) -> bool:
        """Whether an activated pod in backoffQ enters activeQ without PreEnqueue, which has already accepted it for backoffQ."""
        return True

    def pop_specific(self, pod: Pod) -> tuple[Expr, PodCopy]:
        """PopSpecificPod: the pod is activated and taken out of activeQ, as by Pop. Returns whether this worked, and the queue's object.

        One that is in flight already is dropped, as by Pop.
        """
        self.settle()
        backing_off = self.sub_queue[pod] == SubQueue.BACKOFF
        with when(backing_off | (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE)):
            with when(backing_off & self.is_past_pre_enqueue()):
                self.sub_queue[pod] = SubQueue.ACTIVE
            with otherwise():
                self.sub_queue[pod] = self.entering(pod, SubQueue.ACTIVE, self.copy[pod])
        there = self.sub_queue[pod] == SubQueue.ACTIVE
        taken = there & ~self.discards(pod)
        copy: PodCopy = self.copy[pod]
        with when(there):
            self._take(pod)
        return taken, copy

    # --- timers ----------------------------------------------------------------------------------

    @step(actor="queue timers", goroutine="end of the backoff", each="pod", lasts=Lasts.SHORT)
    @tells(
        change_of("queue.sub_queue", after=NOTHING),
        "The backoff of {pod} is over: it moves to activeQ, and takes the place of {0}, which has its name.",
        "The backoff of {pod} is over: it moves to activeQ.",
    )
    def flush_backoff(self, pod: Pod) -> None:
        """flushBackoffQCompleted: the pod's backoff is over."""
        require((self.sub_queue[pod] == SubQueue.BACKOFF) & self.clock.backoff_may_end(pod))
        self.settle()
        self.sub_queue[pod] = self.leaving_backoff(pod)
        self._displace(pod)

    def leaving_backoff(self, pod: Pod) -> Value:
        """The sub-queue of a pod after its backoff. PreEnqueue accepted the pod when it entered backoffQ."""
        return SubQueue.ACTIVE

    @step(actor="queue timers", fair=False, lasts=Lasts.MINUTES)
    @tells("{pod} has been parked for so long that the periodic flush moves it.")
    def flush_unschedulable(self, pod: Pod) -> None:
        """flushUnschedulableQLeftover: the pod has been parked for longer than the limit."""
        require(self.scope.flush)
        require((self.sub_queue[pod] == SubQueue.UNSCHEDULABLE) & self.clock.is_parked_for_long(pod))
        self._move({pod: True}, UNSCHEDULABLE_TIMEOUT)
