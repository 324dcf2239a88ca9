"""Moves of parked pods: what an event is worth for each, and what Pop can meet amid a move (MoveAllToActiveOrBackoffQueue, 1.34)."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Protocol

from ...environment.cluster.derived import Derived, Found, Roster
from ...environment.cluster.node_versions import NodeChange
from ...environment.cluster.pod_versions import forms, in_form
from ...environment.names import namesakes
from ...environment.objects import OWN, Claim, Node, Pod
from ...environment.storage.claims import ClaimChange
from ...environment.watch import PodWatch
from ...language import UNTOLD, Expr, Value, all_of, any_of, as_expr, boolean, enum, per, select, when
from ..framework.events import (
    ANY_EVENT,
    ASSIGNED_POD_ADD,
    CLAIM_UPDATE,
    DYNAMIC_RESOURCES,
    About,
    ClusterEvent,
    Plugin,
)
from ..framework.hints import Hints
from .entries import Entries
from .sub_queues import SubQueue


class SchedulingLoop(Protocol):
    """What the queue has to know of who pops."""

    def pops_next(self) -> Expr:
        """Whether nothing that takes the queue's lock lies between now and the next Pop."""


class Mover(Enum):
    """The goroutine of a move that Pop may still come amid, of those that go on after a move without the queue's lock."""

    NOBODY = 0
    POD_HANDLER = 1
    CACHE_HANDLER = 2
    NODE_HANDLER = 3
    CLAIM_CACHE = 4
    BINDING = 5
    SLICES = 6


def _claimants(cluster: Roster) -> Found:
    missing = bool(cluster.spec.scope.missed_claim_updates)
    return ((pod,) for pod in cluster.spec.pods if missing and pod.claims)


class Claimant(Derived, found=_claimants):
    """A pod with claims, where a claim may be deleted while the scheduler has not seen that it was deallocated."""

    pod: Pod


def _nominees(cluster: Roster) -> Found:
    changing = [node for node in cluster.spec.nodes if node.later]
    return ((pod, node) for pod in cluster.spec.pods if pod.group is None for node in changing)


class Nominee(Derived, found=_nominees, named="{pod} on {node}"):
    """A pod, and a node that is updated in the run, and may become too small for it."""

    pod: Pod
    node: Node


class Moves(Entries):
    """What moves parked pods, and what is remembered of a move.

    A move is one step, yet Pop may come amid it: when some of the pods are moved and the others not, and before the event is recorded. It is
    told afterwards: `just_moved[p]` says that the last move took p to where Pop can have met it before the move was over, and
    `late_events[p][g]` is what the event will then be worth for p, once recorded. `Scheduler.pop_amid_move` is that Pop. The bits go
    with the next call that takes the queue's lock, which has waited for the move to end, and with the next Pop that comes after it;
    they are not set while the scheduling cycle has such a call before it (`pops_next`). They go, too, with the next step of the goroutine
    that moved the pods (`mover`), which cannot take it before its call returns. All other steps commute with Pop. Not told
    (A-MOVES): a pod of activeQ that is popped amid a move, after another that was popped amid it and skipped, misses the event. And
    filters (1.31) and AddNominatedPod (up to 1.34) that did not take the queue's lock end the move as well.

    `freed[p]`: since p was popped, a claim was deleted that was allocated as far as the scheduler knew. `shrunk[p on n]`: since p was popped, n
    became too small for it, which counts if p comes back as nominated to n. `late_freed` and `late_shrunk` are such events that will be recorded late.
    """

    kinds = (Claimant, Nominee)

    pod_watch: PodWatch
    hints: Hints
    scheduler: SchedulingLoop

    mover = enum(Mover)
    freed = per(Claimant, boolean())
    late_freed = per(Claimant, boolean())
    shrunk = per(Nominee, boolean())
    late_shrunk = per(Nominee, boolean())

    phrases = UNTOLD

    def record_rejection(self, pod: Pod, plugins: Mapping[Plugin, Value]) -> None:
        """The failed attempt's record gets the plugins that rejected the pod."""
        with when(~self.contains(pod)):
            for plugin, rejected in plugins.items():
                self.rejected_by[pod][plugin] = rejected

    def only(self, *names: str) -> dict[Plugin, Value]:
        """The diagnosis of an attempt that only these plugins rejected."""
        return {plugin: plugin.name in names for plugin in self.universe[Plugin]}

    def matches(self, pod: Pod, event: ClusterEvent, about: About = None, form: Pod | None = None) -> Expr:
        """isPodWorthRequeuing: whether a plugin that rejected the pod wants it tried again after the event.

        `form` is the pod in the version that the plugins are asked about, unless that is the queue's.
        """
        if event.is_wildcard:
            return as_expr(True)
        return any_of(
            self.rejected_by[pod][p]
            & (self.wakes(p, pod, event, about, form) | self.wakes_nominee(p, pod, event, about))
            & self.may_hear(pod, event, about)
            for p in self.universe[Plugin]
        )

    def may_hear(self, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        """The first check of DynamicResources' hint about claims: whether the claims of the queue's object of the pod exist.

        It does not ask about the deletion of an allocated claim, of which any pod may use the device (isSchedulableAfterClaimChange).
        """
        if event.resource != CLAIM_UPDATE.resource or not self.waits_for_claims(pod):
            return as_expr(True)
        return self.dynamic_resources.is_ready(pod, self.copy[pod].named) | is_freed(about)

    def wakes(
        self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About, form: Pod | None = None
    ) -> Expr:
        """The plugin's hint for the queue's object of the pod, without its nomination.

        One that is in no sub-queue comes back as the lister has it; upstream asks then, the model when the event comes.
        """

        def hint(one: Pod) -> Expr:
            return self.hints.wakes(plugin, one, event, about)

        return self._as_queued(pod, hint) if form is None else hint(form)

    def wakes_nominee(self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        """The plugin's hint for a parked pod whose nominated node has become too small.

        The nomination is that of the object; one that the nominator alone has is not there.
        """
        shrinks = self._shrinks(plugin, pod, event, about)
        return shrinks & (self.copy[pod].nominated == about.new) if isinstance(about, NodeChange) else shrinks

    def _shrinks(self, plugin: Plugin, pod: Pod, event: ClusterEvent, about: About) -> Expr:
        """Whether a plugin wants the pod tried again after the event if the pod is nominated to the node."""
        if not isinstance(about, NodeChange) or not self.hints.hears(plugin, event):
            return as_expr(False)
        change = about
        return self._as_queued(pod, lambda one: self.hints.wakes_nominee(plugin, one, change))

    def _as_queued(self, pod: Pod, hint: Callable[[Pod], Expr]) -> Expr:
        if not pod.later:
            return hint(pod)
        number = select(self.contains(pod), self.copy[pod].version, self.pod_watch.lister[pod].version)
        return in_form(self.universe, pod, number, hint)

    def is_asked_about(self, pod: Pod, about: About) -> Expr:
        """Whether a move looks at the parked pod at all (collectEntitiesToEvaluate): whom DynamicResources names for a change of a claim (preQueueingHint, 1.38).

        These are the pods that name the claim, by the informer's store; all, if the change gives a device back.
        """
        if not isinstance(about, ClaimChange):
            return as_expr(True)
        named = (self._names(p, about.claim) for p in (pod, *namesakes(self.universe, pod)))
        return about.deallocated | any_of(named)

    def _names(self, pod: Pod, claim: Claim) -> Expr:
        listed = self.pod_watch.lister[pod]
        if claim.special or claim.name not in pod.claims:
            return as_expr(False)
        return as_expr(listed.exists) & (claim.name not in pod.generated or as_expr(listed.named) == OWN)

    def is_woken_by(self, pod: Pod, event: ClusterEvent, about: About = None) -> Expr:
        """Whether the event moves the parked pod: no plugin is recorded as having rejected it, or one of those wants it tried again.

        PreEnqueue records the plugin that holds a pod back. DefaultPreemption's hint answers Skip to every event, so that no variable says
        that it is recorded.
        """
        unrecorded = ~self.is_rejected(pod) & ~self.gated[pod]
        return unrecorded | self.matches(pod, event, about)

    def move_all(
        self,
        event: ClusterEvent = ANY_EVENT,
        admitted: Mapping[Pod, Value] | None = None,
        about: About = None,
        version: Value = None,
    ) -> None:
        """MoveAllToActiveOrBackoffQueue for an event about this object. Pods that the pre-check `admitted` excludes stay parked.

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
        """AssignedPodAdded / AssignedPodUpdated: moves parked pods that check pods on other nodes."""
        for shown, form in self._forms(pod, version):
            assert isinstance(form, Pod)
            with when(shown):
                self._move({q: self.looks_at(q, form) for q in self.universe[Pod]}, event, form)

    def looks_at(self, parked: Pod, pod: Pod) -> Expr:
        """getUnschedulablePodsWithCrossTopologyTerm: whether the parked pod has a required affinity term for `pod`, or topology spread rejected it."""
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
            asked = parked & wanted & self.is_asked_about(pod, about)
            woken = asked & ~self.is_gated_for(pod, event) & self.is_woken_by(pod, event, about)
            with when(woken):
                self._retry(pod)
            moved[pod] = woken & (self.sub_queue[pod] != SubQueue.UNSCHEDULABLE)
        self.record_move(event, about)
        self.note_move(moved, event, about)

    def _retry(self, pod: Pod) -> None:
        """A parked pod that an event has woken enters activeQ or backoffQ, if PreEnqueue accepts it."""
        self.sub_queue[pod] = self.entering(pod, self.retry_sub_queue(pod), self.copy[pod])
        self._displace(pod)

    def record_move(self, event: ClusterEvent, about: About) -> None:
        """The event is kept for the pods in flight, whether or not a parked pod moved."""
        for pod in self.universe[Pod]:
            for plugin in self.universe[Plugin]:
                hint = self.in_flight[pod] & self.wakes(plugin, pod, event, about)
                self.in_flight_events[pod][plugin] = self.in_flight_events[pod][plugin] | hint
            for kept, _, one in self.memories(pod):
                kept[one] = kept[one] | (self.in_flight[pod] & self._counts_for(one, event, about))

    def memories(self, pod: Pod) -> list[tuple[Any, Any, Claimant | Nominee]]:
        """What is kept for a pod in flight besides the value of events for plugins: the variable, the one for events that are recorded late, and the owner of both."""
        claimants = [(self.freed, self.late_freed, one) for one in self.claimant(pod)]
        return [*claimants, *((self.shrunk, self.late_shrunk, one) for one in self.nominees(pod))]

    def _counts_for(self, one: Claimant | Nominee, event: ClusterEvent, about: About) -> Expr:
        if isinstance(one, Claimant):
            return self._hears_of_freed(event, about)
        if not isinstance(about, NodeChange) or about.new.name != one.node.name:
            return as_expr(False)
        return any_of(self._shrinks(p, one.pod, event, about) for p in self.universe[Plugin])

    def _hears_of_freed(self, event: ClusterEvent, about: About) -> Expr:
        """Whether an allocated claim was deleted, and DynamicResources registered for this event."""
        asked = any(p.name == DYNAMIC_RESOURCES and self.hints.hears(p, event) for p in self.universe[Plugin])
        return is_freed(about) if asked else as_expr(False)

    def note_move(self, moved: Mapping[Pod, Expr], event: ClusterEvent, about: About) -> None:
        """The pods that Pop can have returned before the move was over, and what the event will be worth for each of them."""
        pops = self.scheduler.pops_next()
        for pod, has_moved in moved.items():
            met = pops & has_moved & self._heads(pod, moved)
            self.just_moved[pod] = met
            for plugin in self.universe[Plugin]:
                self.late_events[pod][plugin] = met & self.wakes(plugin, pod, event, about)
            for _, late, one in self.memories(pod):
                late[one] = met & self._counts_for(one, event, about)

    def _heads(self, pod: Pod, away: Mapping[Pod, Value]) -> Expr:
        """Whether Pop would return the pod if it were in the sub-queue and the pods in `away` were not."""
        pods = [q for q in self.universe[Pod] if q is not pod]
        absent = {q: (self.sub_queue[q] != SubQueue.ACTIVE) | as_expr(away.get(q, False)) for q in pods}
        in_active = self.sub_queue[pod] == SubQueue.ACTIVE
        first = in_active & all_of(absent[q] | ~self.precedes(q, pod) for q in pods)
        return first | (~in_active & all_of(absent.values()) & self.is_popped_early(pod))

    def record_late(self, pod: Pod, worth: Mapping[Plugin, Expr]) -> None:
        """The event of a move is recorded after the moved pod is in flight, so the pod sees the event again."""
        for plugin, counts in worth.items():
            self.in_flight_events[pod][plugin] = counts

    def settle(self) -> None:
        """The queue's lock was released after the last move: this move is over."""
        for pod in self.universe[Pod]:
            self._forget_move(pod)
        self.mover = Mover.NOBODY

    def moved_by(self, mover: Mover) -> None:
        """The goroutine made the move of this step. Not recorded if no Pop can come in between."""
        with when(any_of(self.just_moved[pod] for pod in self.universe[Pod])):
            self.mover = mover

    def goes_on(self, goroutine: Mover) -> None:
        """A goroutine continues without the queue's lock: if the last move was its own, that move is over."""
        with when(self.mover == goroutine):
            self.settle()

    def _forget_move(self, pod: Pod) -> None:
        self.just_moved[pod] = False
        for plugin in self.universe[Plugin]:
            self.late_events[pod][plugin] = False
        for _, late, one in self.memories(pod):
            late[one] = False

    def claimant(self, pod: Pod) -> list[Claimant]:
        """The pod as a pod with claims, if claims matter."""
        return [one for one in self.universe[Claimant] if one.pod is pod]

    def nominees(self, pod: Pod) -> list[Nominee]:
        """The pod, with each node that can become too small for it."""
        return [one for one in self.universe[Nominee] if one.pod is pod]


def is_freed(about: About) -> Expr:
    """Whether an event is the deletion of a claim that was allocated as far as the scheduler knew."""
    if isinstance(about, ClaimChange) and about.gone is not None:
        return about.deallocated & about.gone
    return as_expr(False)
