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

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from ...environment.names import namesakes
from ...environment.objects import FAILED, GATED, NOMINATED, TERMINATING, Pod, PodCopy, PodObject
from ...environment.pod_versions import About, PodChange, forms, in_form, versions_in
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    enum,
    otherwise,
    per,
    require,
    select,
    spoken,
    step,
    tells,
    when,
    words,
)
from ..framework.events import (
    ANY_EVENT,
    ASSIGNED_POD_ADD,
    GANG_SCHEDULING,
    POD_UPDATE,
    SCHEDULING_GATES,
    UNSCHEDULABLE_TIMEOUT,
    Action,
    ClusterEvent,
    Plugin,
    PodUpdate,
)

if TYPE_CHECKING:
    from ...environment.api import APIServer
    from ...environment.watch import PodWatch
    from ..framework.hints import Hints
    from ..framework.interface import GangPlugin, GroupCycles, PreEnqueuePlugin
    from .clock import Clock
    from .nominator import Nominator


@spoken(ACTIVE="activeQ", BACKOFF="backoffQ", UNSCHEDULABLE="unschedulableQ")
class SubQueue(Enum):
    """The sub-queue that a pod is in."""

    NONE = 0
    ACTIVE = 1
    BACKOFF = 2
    UNSCHEDULABLE = 3


class SchedulingLoop(Protocol):
    """What the queue has to know of who pops."""

    def pops_next(self) -> Expr:
        """Whether nothing that takes the queue's lock lies between now and the next Pop."""


class PriorityQueue(Component):
    """activeQ, backoffQ and unschedulablePods, with the copies of the pods that they hold.

    `rejected_by[p]` are the plugins for which p's last attempt did not fit. `in_flight[p]`: p was popped, and Done was
    not called for it yet. Upstream keeps the events since the Pop in a list, and asks the hints when the pod comes back;
    an event's hint depends on nothing that changes, so it is asked here when the event comes: `in_flight_events[p][g]` says that
    plugin g, had it rejected p, would have it tried again. `gated[p]`: when p was last to leave the parked pods, a PreEnqueue
    plugin held it back.

    A move is one step, yet Pop may come amid it: when some of the pods are moved and the others not, and before the event is recorded. It is
    told afterwards: `just_moved[p]` says that the last move took p to where Pop can have met it before the move was over, and
    `late_events[p][g]` is what the event will then be worth for p, once recorded. `Scheduler.pop_amid_move` is that Pop. The bits go
    with the next call that takes the queue's lock, which has waited for the move to end, and with the next Pop that comes after it;
    they are not set while the scheduling cycle has such a call before it (`pops_next`). All other steps commute with Pop. Not told
    (A-MOVES): a pod of activeQ that is popped amid a move, after another that was popped amid it and skipped, misses the event. And
    filters (1.31) and AddNominatedPod (up to 1.34) that did not take the queue's lock end the move as well.
    """

    api: APIServer
    pod_watch: PodWatch
    nominator: Nominator
    clock: Clock
    hints: Hints
    async_preemption: PreEnqueuePlugin
    scheduler: SchedulingLoop
    gang_scheduling: GangPlugin
    pod_group_cycle: GroupCycles

    sub_queue = per(Pod, enum(SubQueue))
    copy = per(Pod, PodCopy)
    rejected_by = per(Pod, per(Plugin, boolean()))
    in_flight = per(Pod, boolean())
    in_flight_events = per(Pod, per(Plugin, boolean()))
    gated = per(Pod, boolean())
    just_moved = per(Pod, boolean())
    late_events = per(Pod, per(Plugin, boolean()))

    phrases = words(
        {
            "sub_queue": Words("queue: {0} is in {after}", "queue: {0} leaves {before}"),
            "gated": Words("queue: {0} is held back (PreEnqueue)", "queue: {0} is held back no more"),
        }
    )
    knowledge = (
        Knowledge(
            "queue",
            {
                "sub_queue": Fact("sub_queue", "in {value}", "in no queue"),
                "copy.nominated": NOMINATED,
                "copy.failed": FAILED,
                "copy.terminating": TERMINATING,
                "copy.gated": GATED,
            },
            key="sub_queue",
        ),
    )

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            if pod.exists and pod.node is None:
                start = self.api.at_start(pod)
                self.put(pod, self.entering(pod, SubQueue.ACTIVE, start), start.copy())

    def contains(self, pod: Pod) -> Expr:
        """Whether the pod is in one of the sub-queues."""
        return self.sub_queue[pod] != SubQueue.NONE

    def contains_name(self, pod: Pod) -> Expr:
        """Whether one of the sub-queues has an entry under the pod's name, which may be another pod's."""
        return any_of(self.contains(q) for q in (pod, *namesakes(self.universe, pod)))

    # --- order -----------------------------------------------------------------------------------

    def precedes(self, a: Pod, b: Pod) -> Expr:
        """activeQ's order: higher priority first, then the older timestamp (queuesort, PrioritySort)."""
        return (a.priority > b.priority) | ((a.priority == b.priority) & self.clock.is_older(a, b))

    def is_head(self, pod: Pod) -> Expr:
        """Whether Pop would return this pod: activeQ's head, or if activeQ is empty one that is backing off."""
        idle = all_of(self.sub_queue[q] != SubQueue.ACTIVE for q in self.universe[Pod])
        return self.is_head_of_active(pod) | (idle & self.is_popped_early(pod))

    def is_popped_early(self, pod: Pod) -> Expr:
        """Whether Pop may take the pod out of backoffQ, where those that no plugin rejected are kept apart."""
        return (self.sub_queue[pod] == SubQueue.BACKOFF) & self.is_rejected(pod)

    def is_head_of_active(self, pod: Pod) -> Expr:
        """Whether the pod is activeQ's head."""
        first = [
            (self.sub_queue[q] != SubQueue.ACTIVE) | ~self.precedes(q, pod)
            for q in self.universe[Pod]
            if q is not pod
        ]
        return all_of([self.sub_queue[pod] == SubQueue.ACTIVE, *first])

    # --- calls -----------------------------------------------------------------------------------

    def put(self, pod: Pod, sub_queue: Value, copy: PodCopy) -> None:
        """Put the pod, as this object, into one of the sub-queues or into none."""
        self.sub_queue[pod] = sub_queue
        self.copy[pod] = copy

    def add(self, pod: Pod, new: PodObject) -> None:
        """Add: a new pending pod. One that a PreEnqueue plugin holds back is not nominated until an update of it comes."""
        self.settle()
        self._forget_rejection(pod)
        self._drop_namesakes(pod)
        self.put(pod, self.entering(pod, SubQueue.ACTIVE, new), new.copy())
        self.clock.arrived(pod)
        with when(~as_expr(self.gated[pod])):
            self.nominator.add(pod, None, new.nominated)

    def _drop_namesakes(self, pod: Pod) -> None:
        """The sub-queues are keyed by name: an entry of another pod that had the name is not there any more."""
        for other in namesakes(self.universe, pod):
            with when(self.contains(other)):
                with when(~self.is_recorded(other)):
                    self._forget_rejection(other)
                self.gated[other] = False
                self.put(other, SubQueue.NONE, PodCopy())

    def _take_over(self, pod: Pod) -> None:
        """An update finds its entry by name: one of another pod that had the name becomes the pod's, with all that it has gone through."""
        for other in namesakes(self.universe, pod):
            with when(self.contains(other)):
                self.sub_queue[pod] = self.sub_queue[other]
                self.gated[pod] = self.gated[other]
                self.clock.handed_over(other, pod)
                for plugin in self.universe[Plugin]:
                    self.rejected_by[pod][plugin] = self.rejected_by[other][plugin]
        self._drop_namesakes(pod)

    def pop(self, pod: Pod) -> Any:
        """Pop: requires that `pod` is activeQ's head; gives the queue's copy of it."""
        require(self.is_head(pod))
        self.settle()
        return self._take(pod)

    def pop_amid_move(self, pod: Pod) -> Any:
        """Pop, before the move that has just taken `pod` here is over: the other pods that it moves count as not yet moved."""
        require(self.just_moved[pod] & self._heads(pod, {q: self.just_moved[q] for q in self.universe[Pod]}))
        worth = {plugin: as_expr(self.late_events[pod][plugin]) for plugin in self.universe[Plugin]}
        self._forget_move(pod)
        discarded = self.discards(pod)
        copy = self._take(pod)
        with when(~discarded):
            self.record_late(pod, worth)
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
        """From now on, events are kept for the pod; who rejected it before is forgotten."""
        self.in_flight[pod] = True
        self.drop_rejection(pod)

    def drop_rejection(self, pod: Pod) -> None:
        """A popped pod starts without rejecting plugins."""
        self._forget_rejection(pod)

    def done(self, pod: Pod) -> None:
        """Done: no more events are kept for the pod."""
        self.in_flight[pod] = False
        for plugin in self.universe[Plugin]:
            self.in_flight_events[pod][plugin] = False

    def begin_failure(self, pod: Pod) -> None:
        """SchedulingCycle(): a failing attempt reads the number of the current cycle, which is not needed any more."""

    def forget_cycle(self, pod: Pod) -> None:
        """A failing attempt will not requeue the pod after all: the number that it read is not needed."""

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        """AddUnschedulableIfNotPresent, and Done: parked, or to backoffQ to be tried again.

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
        """The record of an attempt at one pod is about to come back as that of another of its name (see 138324)."""
        with when(~self.contains_name(other)):
            for plugin in self.universe[Plugin]:
                self.rejected_by[other][plugin] = self.rejected_by[pod][plugin]
        self._forget_rejection(pod)
        self.hand_over_events(pod, other)

    def hand_over_events(self, pod: Pod, other: Pod) -> None:
        """For a UID that is not in flight nobody knows what came since the Pop: it is tried again (an error of clusterEventsForPod)."""
        for plugin in self.universe[Plugin]:
            unknown = ~as_expr(self.in_flight[other])
            self.in_flight_events[other][plugin] = self.in_flight_events[other][plugin] | unknown

    def came_back(self, pod: Pod, copy: PodCopy) -> None:
        """What else the requeue does: nothing, the failure handler sees to the nomination."""

    def requeued_sub_queue(self, pod: Pod, copy: PodCopy) -> Expr:
        """Where a failed pod goes."""
        self.gated[pod] = False
        retried = self.is_retried(pod, copy)
        with when(retried):
            sub_queue = self.entering(pod, self.backing_off_sub_queue(), copy)
        return select(retried, sub_queue, SubQueue.UNSCHEDULABLE)

    def entering(self, pod: Pod, sub_queue: Value, copy: PodCopy | PodObject) -> Expr:
        """PreEnqueue: where a pod comes that is to enter activeQ or backoffQ; one that a plugin holds is parked, gated."""
        gates = self.has_gates(pod, copy)
        alone = self.gang_scheduling.holds(pod)
        held = gates | self.async_preemption.holds(pod) | alone
        self.gated[pod] = held
        holding = {SCHEDULING_GATES: gates, GANG_SCHEDULING: alone}
        for plugin in self.universe[Plugin]:
            if plugin.name in holding:
                self.rejected_by[pod][plugin] = self.rejected_by[pod][plugin] | holding[plugin.name]
        return select(held, SubQueue.UNSCHEDULABLE, sub_queue)

    def has_gates(self, pod: Pod, copy: PodCopy | PodObject) -> Expr:
        """PreEnqueue of SchedulingGates: whether the pod, as this object shows it, has scheduling gates."""
        return as_expr(copy.gated if pod.gated else False)

    def is_gated_for(self, pod: Pod, event: ClusterEvent) -> Expr:
        """Whether the parked pod is gated, and the plugin that gates it did not ask for the event.

        DefaultPreemption asked for deletions, SchedulingGates for nothing: whatever moves its pods, PreEnqueue parks them again.
        An event that is meant for all pods, such as the periodic flush, passes the gate.
        """
        if event.is_wildcard and self.wildcards_pass_gates():
            return as_expr(False)
        closed = self.gated[pod] & (not self.may_open_gate(event))
        if self.gang_scheduling.gang(pod) is None and pod.group is None:
            return closed
        for plugin in self.universe[Plugin]:
            if plugin.name == GANG_SCHEDULING:
                by_group = self.rejected_by[pod][plugin]
                closed = select(by_group, self.gated[pod] & (not plugin.asked_for(event)), closed)
        return closed

    def wildcards_pass_gates(self) -> bool:
        """Whether an event that is meant for all pods moves a gated one."""
        return True

    def may_open_gate(self, event: ClusterEvent) -> bool:
        """Whether DefaultPreemption asked for the event."""
        return event.resource == "Pod" and Action.DELETE in event.action

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        """Whether a failed pod is to be tried again rather than parked.

        After an error always; after a rejection if an event came since the Pop that may have changed a rejecting plugin's mind.
        """
        plugins = self.universe[Plugin]
        changed = any_of(self.rejected_by[pod][p] & self.in_flight_events[pod][p] for p in plugins)
        changed = changed | self.pod_group_cycle.is_retried(pod)
        return changed | (~self.is_rejected(pod) & self.is_retried_after_error(pod))

    def is_retried_after_error(self, pod: Pod) -> Expr:
        """Whether a pod that no plugin rejected is tried again without an event."""
        return as_expr(True)

    def is_rejected(self, pod: Pod) -> Expr:
        """Whether a plugin is known to have rejected the pod."""
        return any_of(self.rejected_by[pod][p] for p in self.universe[Plugin])

    def backoff_sub_queue(self) -> SubQueue:
        """Where a pod waits until its backoff is over."""
        return SubQueue.BACKOFF

    def backing_off_sub_queue(self) -> SubQueue:
        """Where a pod goes whose backoff has just begun; without backoff it leaves backoffQ at once."""
        return self.backoff_sub_queue() if self.scope.backoff else SubQueue.ACTIVE

    def retry_sub_queue(self, pod: Pod) -> Expr:
        """Where a parked pod goes that is to be tried again."""
        return select(self.clock.is_backing_off(pod), self.backing_off_sub_queue(), SubQueue.ACTIVE)

    def replace(self, replaced: Pod, pod: Pod, old: PodObject, new: PodObject) -> None:
        """Update, where the old object is that of another pod, which had the name before."""
        with when(self.contains_name(pod) & ~self.keeps_update(pod)):
            self.nominator.hand_over(replaced, pod)
        self.update(pod, old, new)

    def update(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """Update: a pending pod's object changed. Without an old object, only a parked pod is known."""
        self.settle()
        kept = self.keeps_update(pod)
        with when(~kept):
            self._take_over(pod)
        known = self.contains(pod) & (old.exists | (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE))
        with when(~kept):
            with when(known):
                self.nominator.update(pod, old.nominated, new.nominated)
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

    def changes(self, pod: Pod, old: PodObject, new: PodObject) -> list[tuple[Expr, PodChange]]:
        """What an update of a pod that waits may be about: from which version to which, and whether it is that."""
        versions = versions_in(self.universe, pod)
        return [
            ((old.version == a.number) & (new.version == b.number), PodChange(a.content, b.content, False))
            for a in versions
            for b in versions
            if a is not b
        ]

    def kinds_of(self, change: PodChange) -> Sequence[PodUpdate]:
        """Of which kinds of change the queue is told, in this order: of all that happened."""
        return [kind for kind in self.universe[PodUpdate] if kind.happens(change)]

    def hears_of_updates(self) -> bool:
        """Whether a plugin of the configuration asked for updates of pods that bring nothing which the others ask for."""
        return any(plugin.asked_for(POD_UPDATE) for plugin in self.universe[Plugin])

    def keeps_update(self, pod: Pod) -> Expr:
        """Whether an update is only kept as an event, because the pod is in flight: it comes back as the lister has it."""
        return as_expr(self.in_flight[pod])

    def sub_queue_after_update(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """Where an update leaves a waiting pod: a gated one that has lost its gates enters activeQ.

        It has no backoff, because it was never tried. Any other update, also one of the status that the scheduler wrote itself, is told
        to the plugins that rejected the pod; of those in tree, some asked for changes of labels, tolerations and requests.
        """
        parked = self.sub_queue[pod] == SubQueue.UNSCHEDULABLE
        released = parked & self.has_gates(pod, old) & ~self.has_gates(pod, new)
        with when(released):
            sub_queue = self.entering(pod, SubQueue.ACTIVE, new)
        found = select(released, sub_queue, self.sub_queue[pod])
        changes = self.changes(pod, old, new)
        if not self.hears_of_updates() and not changes:
            return found
        heard = as_expr(False)
        if self.hears_of_updates():
            heard = self.is_moved_by_update(pod)
        for changed, change in changes:
            heard = heard | (changed & self.is_moved_by_change(pod, change))
        heard = parked & ~released & heard
        with when(heard):
            retried = self.entering(pod, self.retry_sub_queue(pod), new)
        return select(heard, retried, found)

    def is_moved_by_update(self, pod: Pod) -> Expr:
        """isPodWorthRequeuing: whether a plugin that rejected the parked pod waits for a mere update of it."""
        return self.matches(pod, POD_UPDATE, pod)

    def is_moved_by_change(self, pod: Pod, change: PodChange) -> Expr:
        """isPodWorthRequeuing: whether a plugin that rejected the parked pod waits for what has changed in it."""
        return any_of(self.matches(pod, kind.event, change, change.new) for kind in self.kinds_of(change))

    def is_respecified(self, old: PodObject, new: PodObject) -> Expr:
        """isPodUpdated: more than the status differs."""
        parts = ("terminating", "gated", "version")
        return ~all_of(as_expr(getattr(old, part)) == getattr(new, part) for part in parts)

    def delete(self, pod: Pod) -> None:
        """Delete: from the nominator and from whichever sub-queue holds it. A failing attempt keeps its own record of who rejected the pod."""
        self.settle()
        self.nominator.delete(pod)
        self.clock.left(pod)
        with when(self.contains(pod) | ~self.is_recorded(pod)):
            self._forget_rejection(pod)
        self.put(pod, SubQueue.NONE, PodCopy())
        self._drop_namesakes(pod)

    def is_recorded(self, pod: Pod) -> Expr:
        """Whether an attempt that may put the pod back has a record of it."""
        return as_expr(self.in_flight[pod])

    def activate(self, pod: Pod) -> None:
        """Activate: a plugin wants a waiting pod to be tried at once, or one in flight to be tried again."""
        self.settle()
        backing_off = self.sub_queue[pod] == SubQueue.BACKOFF
        with when(backing_off | (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE)):
            with when(backing_off & self.is_past_pre_enqueue()):
                self.sub_queue[pod] = SubQueue.ACTIVE
            with otherwise():
                self.sub_queue[pod] = self.entering(pod, SubQueue.ACTIVE, self.copy[pod])
            self.came_back(pod, self.copy[pod])
        with otherwise():
            for plugin in self.universe[Plugin]:
                self.in_flight_events[pod][plugin] = self.in_flight_events[pod][plugin] | self.in_flight[pod]

    def is_past_pre_enqueue(self) -> bool:
        """Whether an activated pod that is in backoffQ enters activeQ unasked: the PreEnqueue plugins have let it into backoffQ."""
        return True

    def pop_specific(self, pod: Pod) -> tuple[Expr, PodCopy]:
        """PopSpecificPod: the pod is activated, and taken out of activeQ as Pop takes it. Gives whether it was, and its copy.

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

    # --- moves -----------------------------------------------------------------------------------

    def record_rejection(self, pod: Pod, plugins: Mapping[Plugin, Value]) -> None:
        """The failed attempt's record gets the plugins for which the pod does not fit."""
        with when(~self.contains(pod)):
            for plugin, rejected in plugins.items():
                self.rejected_by[pod][plugin] = rejected

    def only(self, *names: str) -> dict[Plugin, Value]:
        """The diagnosis of an attempt that these plugins alone rejected."""
        return {plugin: plugin.name in names for plugin in self.universe[Plugin]}

    def _forget_rejection(self, pod: Pod) -> None:
        for plugin in self.universe[Plugin]:
            self.rejected_by[pod][plugin] = False

    def matches(self, pod: Pod, event: ClusterEvent, about: About = None, form: Pod | None = None) -> Expr:
        """isPodWorthRequeuing: one of the plugins that rejected the pod would have it tried again after the event.

        `form` is the pod in the version that the plugins are asked about, unless that is the queue's.
        """
        if event.is_wildcard:
            return as_expr(True)
        return any_of(
            self.rejected_by[pod][p] & self.wakes(p, pod, event, about, form) for p in self.universe[Plugin]
        )

    def wakes(
        self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About, form: Pod | None = None
    ) -> Expr:
        """What a plugin's hint says of the pod as the queue has it.

        One that is in no sub-queue comes back as the lister has it; upstream asks then, the model when the event comes.
        """
        if form is not None or not pod.later:
            return self.hints.wakes(plugin, form or pod, event, about)
        listed = self.pod_watch.lister[pod].version
        number = select(self.contains(pod), self.copy[pod].version, listed)
        return in_form(self.universe, pod, number, lambda one: self.hints.wakes(plugin, one, event, about))

    def is_woken_by(self, pod: Pod, event: ClusterEvent, about: About = None) -> Expr:
        """Whether the event moves the parked pod: no plugin is known to have rejected it, or one that did says so."""
        return ~self.is_rejected(pod) | self.matches(pod, event, about)

    def move_all(
        self,
        event: ClusterEvent = ANY_EVENT,
        admitted: Mapping[Pod, Value] | None = None,
        about: About = None,
        version: Value = None,
    ) -> None:
        """MoveAllToActiveOrBackoffQueue for an event about this object; `admitted` is its pre-check: other pods stay parked.

        `version` is the number of the version that an object of a pod shows; the lister's, if it is not said.
        """
        which = dict.fromkeys(self.universe[Pod], True) if admitted is None else admitted
        for shown, form in self._forms(about, version):
            with when(shown):
                self._move(which, event, form)

    def _forms(self, about: About, version: Value) -> list[tuple[Expr, About]]:
        if not isinstance(about, Pod) or not about.later:
            return [(as_expr(True), about)]
        number = self.pod_watch.lister[about].version if version is None else version
        return [*forms(self.universe, about, number)]

    def move_matching(self, pod: Pod, event: ClusterEvent = ASSIGNED_POD_ADD, version: Value = None) -> None:
        """AssignedPodAdded / AssignedPodUpdated: parked pods that may look at pods on other nodes than their own."""
        for shown, form in self._forms(pod, version):
            assert isinstance(form, Pod)
            with when(shown):
                self._move({q: self.looks_at(q, form) for q in self.universe[Pod]}, event, form)

    def looks_at(self, parked: Pod, pod: Pod) -> Expr:
        """getUnschedulablePodsWithCrossTopologyTerm: a required affinity term for `pod`, or rejected by topology spread."""
        spread = [p for p in self.universe[Plugin] if p.name == "PodTopologySpread"]
        by_spread = any_of(
            self.rejected_by[parked][p] for p in spread if parked.spread and parked.namespace == pod.namespace
        )
        return by_spread | any(t.required and not t.anti and t.matches(pod) for t in parked.terms)

    def _move(self, which: Mapping[Pod, Value], event: ClusterEvent, about: About = None) -> None:
        self.settle()
        moved: dict[Pod, Expr] = {}
        for pod, wanted in which.items():
            parked = self.sub_queue[pod] == SubQueue.UNSCHEDULABLE
            woken = parked & wanted & ~self.is_gated_for(pod, event) & self.is_woken_by(pod, event, about)
            with when(woken):
                self.sub_queue[pod] = self.entering(pod, self.retry_sub_queue(pod), self.copy[pod])
            moved[pod] = woken & (self.sub_queue[pod] != SubQueue.UNSCHEDULABLE)
        self.record_move(event, about)
        self.note_move(moved, event, about)

    def record_move(self, event: ClusterEvent, about: About) -> None:
        """The event is kept for the pods in flight, whether or not a parked pod moved."""
        for pod in self.universe[Pod]:
            for plugin in self.universe[Plugin]:
                hint = self.in_flight[pod] & self.wakes(plugin, pod, event, about)
                self.in_flight_events[pod][plugin] = self.in_flight_events[pod][plugin] | hint

    def note_move(self, moved: Mapping[Pod, Expr], event: ClusterEvent, about: About) -> None:
        """Which of the pods Pop can have met before the move was over, and what the event will then be worth for each."""
        pops = self.scheduler.pops_next()
        for pod, has_moved in moved.items():
            met = pops & has_moved & self._heads(pod, moved)
            self.just_moved[pod] = met
            for plugin in self.universe[Plugin]:
                self.late_events[pod][plugin] = met & self.wakes(plugin, pod, event, about)

    def _heads(self, pod: Pod, away: Mapping[Pod, Value]) -> Expr:
        """Whether Pop would return the pod if it were there, and of the others those that are away were not."""
        pods = [q for q in self.universe[Pod] if q is not pod]
        absent = {q: (self.sub_queue[q] != SubQueue.ACTIVE) | as_expr(away.get(q, False)) for q in pods}
        in_active = self.sub_queue[pod] == SubQueue.ACTIVE
        first = in_active & all_of(absent[q] | ~self.precedes(q, pod) for q in pods)
        return first | (~in_active & all_of(absent.values()) & self.is_popped_early(pod))

    def record_late(self, pod: Pod, worth: Mapping[Plugin, Expr]) -> None:
        """The event of a move is recorded when the pod that it has moved is in flight already: the pod sees it again."""
        for plugin, counts in worth.items():
            self.in_flight_events[pod][plugin] = counts

    def settle(self) -> None:
        """The queue's lock was let go since the last move: that move is over."""
        for pod in self.universe[Pod]:
            self._forget_move(pod)

    def _forget_move(self, pod: Pod) -> None:
        self.just_moved[pod] = False
        for plugin in self.universe[Plugin]:
            self.late_events[pod][plugin] = False

    # --- timers ----------------------------------------------------------------------------------

    @step(actor="queue timers", goroutine="end of the backoff", each="pod")
    @tells("The backoff of {pod} is over: it moves to activeQ.")
    def flush_backoff(self, pod: Pod) -> None:
        """flushBackoffQCompleted: the pod's backoff is over."""
        require((self.sub_queue[pod] == SubQueue.BACKOFF) & self.clock.backoff_may_end(pod))
        self.settle()
        self.sub_queue[pod] = self.leaving_backoff(pod)

    def leaving_backoff(self, pod: Pod) -> Value:
        """Where a pod comes whose backoff is over: PreEnqueue was asked when it entered backoffQ."""
        return SubQueue.ACTIVE

    @step(actor="queue timers", fair=False)
    @tells("{pod} has been parked for so long that the periodic flush moves it.")
    def flush_unschedulable(self, pod: Pod) -> None:
        """flushUnschedulableQLeftover: the pod has been parked for longer than the limit."""
        if not self.scope.flush:
            require(False)
        require((self.sub_queue[pod] == SubQueue.UNSCHEDULABLE) & self.clock.is_parked_for_long(pod))
        self._move({pod: True}, UNSCHEDULABLE_TIMEOUT)
