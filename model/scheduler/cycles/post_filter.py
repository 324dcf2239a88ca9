"""PostFilter in the scheduling cycle: where a pod fits on no node, preemption looks for one (1.19; sched.preempt before).

What preemption computes is in `..preemption`. Here are its steps: reading the preemptor again, dry runs, the choice, and, where the cycle itself
evicts (up to 1.32), what it writes.
"""

from collections.abc import Sequence

from ...environment.api import APIServer
from ...environment.extender import HTTPExtender
from ...environment.faults import Fault
from ...environment.names import Recreation
from ...environment.objects import ExtensionPoint, Node, Pod, PodObject
from ...environment.watch import PodWatch
from ...language import (
    SOMETHING,
    Expr,
    Lasts,
    Value,
    any_of,
    as_expr,
    changes,
    otherwise,
    require,
    select,
    step,
    tells,
    when,
)
from ..framework.status import NodeStatus, Phase
from ..preemption.async_preemption import AsyncPreemption
from ..preemption.eviction_words import eviction
from .schedule_pod import SchedulePod


class PostFilter(SchedulePod):
    """From the fit error to the failure handler."""

    api: APIServer
    pod_watch: PodWatch
    async_preemption: AsyncPreemption

    def read_preemptor(self, pod: Pod) -> PodObject:
        """Read the preemptor from the lister again; the dry runs use this object."""
        return self.pod_watch.lister[pod]

    def bound_elsewhere(self, current: PodObject) -> None:
        """A preemptor that was bound meanwhile fits on no other node (plugin NodeName)."""
        for node in self.universe[Node]:
            elsewhere = current.exists & as_expr(current.node).is_some & (current.node != node)
            with when(elsewhere & (self.verdict[node] == NodeStatus.REJECTED)):
                self.verdict[node] = NodeStatus.NO_CANDIDATE

    @step(actor="scheduler")
    @tells(
        changes("scheduler.stands_in", after=True),
        "Preemption for {pod} begins, and finds {0} under its name: it goes on with this pod.",
        changes("scheduler.phase", after=SOMETHING),
        "Preemption for {pod} begins: the scheduler reads the pod again, and it may preempt.",
        "Preemption for {pod} begins, and ends at once: the pod is gone, or may not preempt.",
    )
    def reread_preemptor(self, pod: Pod) -> None:
        """PostFilter begins: read the preemptor again by name, and check whether it may preempt. Preemption continues with this object."""
        require(self.at(Phase.REREAD_PREEMPTOR, pod))
        taken = as_expr(False)
        for r in self.universe[Recreation]:
            if r.before is pod and not (r.after.claims or r.after.volumes):
                taken = self.is_found_instead(r)
                with when(taken):
                    self.stands_in[r] = True
                    self._begin_with(r.after)
        with when(~taken):
            self._begin_with(pod)

    def is_found_instead(self, recreation: Recreation) -> Expr:
        """Whether the lister has the next pod of the preemptor's name: preemption does not compare UIDs."""
        return as_expr(self.read_preemptor(recreation.after).exists)

    def _begin_with(self, pod: Pod) -> None:
        current = self.read_preemptor(pod)
        self.bound_elsewhere(current)
        self.begin_preemption(pod, current.exists, current.nominated)

    def begin_preemption(self, pod: Pod, exists: Value, nominated: Value) -> None:
        """Whether the pod may preempt, and whether this could help on some node of the snapshot."""
        helpful = self.preemption.might_help_somewhere()
        may = as_expr(exists) & self.preemption.eligible(pod, nominated)
        with when(may & helpful & ~self.no_node_is(NodeStatus.REJECTED)):
            self.phase = Phase.DRY_RUN
            self.preemption.budgets.read()
        with otherwise(may & helpful):
            self.no_candidate()
        with otherwise(may):
            self.hopeless(nominated)
        with otherwise():
            self._after_preemption()

    def hopeless(self, nominated: Value) -> None:
        """Preemption cannot help on any node."""
        self.no_candidate()

    def no_candidate(self) -> None:
        """Preemption ends without a candidate: the preemptor's nomination is removed."""
        self.withdraws = True
        self._after_preemption()

    @step(actor="scheduler")
    @tells(
        changes("preemption.victim", after=True),
        "Preemption could make room for {pod} on {node} by evicting {0}.",
        changes("scheduler.verdict", after=NodeStatus.CANDIDATE),
        "Preemption could make {pod} fit on {node}, and would evict nobody.",
        changes("scheduler.verdict", after=NodeStatus.ERROR),
        "Preemption for {pod} on {node} ends in an error: the pod would fit there by now, and nobody would have to go.",
        "Preemption on {node} would not help {pod}.",
    )
    def dry_run(self, pod: Pod, node: Node) -> None:
        """Find the victims whose eviction would make room on one node (the nominator is read now).

        Where no node is a candidate, and one was an error, preemption has no result (Preempt returns nil and the error): the preemptor's nomination stays.
        """
        require(self.at(Phase.DRY_RUN, pod))
        require((self.verdict[node] == NodeStatus.REJECTED) & ~self.preemption.has_enough(pod))
        candidate, error, victims = self.preemption.candidate(pod, node)
        for plugin in self.cycle_plugins(pod).values():
            passes = plugin.passes(pod, node)
            candidate, error = candidate & passes, error & passes
        failed = select(error, NodeStatus.ERROR, NodeStatus.NO_CANDIDATE)
        self.verdict[node] = select(candidate, NodeStatus.CANDIDATE, failed)
        for q, is_victim in victims.items():
            with when(candidate & is_victim):
                self.preemption.victim[q] = True
        over = self.no_node_is(NodeStatus.REJECTED) & self.no_node_is(NodeStatus.CANDIDATE)
        with when(over & self.no_node_is(NodeStatus.ERROR)):
            self.no_candidate()
        with otherwise(over):
            self._after_preemption()

    def is_searched(self, pod: Pod) -> Expr:
        """Whether all dry runs are done."""
        searched = self.no_node_is(NodeStatus.REJECTED) | self.preemption.has_enough(pod)
        return self.at(Phase.DRY_RUN, pod) & searched

    def asks_about_victims(self, pod: Pod) -> Sequence[HTTPExtender]:
        """The extenders that take part in preemption."""
        return self.extender.preempts(pod)

    @step(actor="scheduler", lasts=Lasts.ANY_TIME)
    @tells(
        changes("faults.left"),
        "The scheduler asks {extender} about the victims for {pod}, and the call fails.",
        "The scheduler asks {extender} on which nodes evicting the victims would help {pod}.",
    )
    def ask_extender_about_victims(self, pod: Pod, extender: HTTPExtender, ok: bool) -> None:
        """callExtenders: candidates remain on which the extender has room without the victims, by its own count. At the end, candidates without victims are removed.

        The next one is asked about what is left. The error of one that is not ignorable ends the preemption, and so does it that none is left; the preemptor's nomination
        stays as it is.
        """
        asked = self.asks_about_victims(pod)
        require(extender in asked)
        candidates = {n: self.verdict[n] == NodeStatus.CANDIDATE for n in self.universe[Node]}
        if extender is asked[0]:
            require(self.is_searched(pod) & any_of(candidates.values()))
        else:
            require(self.at(Phase.EXTENDERS_PREEMPT, pod))
        require(self.is_next(extender, asked))
        if not ok:
            self.faults.spend(Fault.EXTENDER_FAILURE, pod)
            if not extender.spec.ignorable:
                self.nobody_has_answered()
                self._after_preemption()
                return
        managed = self.extender.managed(pod, extender)
        kept = {}
        for node, found in candidates.items():
            victims = self.preemption.victims_on(node)
            kept[node] = found & self.extender.has_room(managed, node, victims) if ok else found
            if extender is asked[-1]:
                kept[node] = kept[node] & ~self.preemption.is_placeholder(pod, victims)
        for node, found in candidates.items():
            victims = self.preemption.victims_on(node)
            with when(found & ~kept[node]):
                self.verdict[node] = NodeStatus.NO_CANDIDATE
                for victim, here in victims.items():
                    with when(here):
                        self.preemption.victim[victim] = False
        with when(any_of(kept.values())):
            self.passed(extender, asked)
            self.phase = Phase.EXTENDERS_PREEMPT
        with otherwise():
            self.nobody_has_answered()
            self._after_preemption()

    @step(actor="scheduler", random=True)
    @tells("Preemption decides: {pod} is to go to {node}.")
    def choose_candidate(self, pod: Pod, node: Node) -> None:
        """Choose the node on which preemption costs least; from here on the pod has this node as its target."""
        asked = self.asks_about_victims(pod)
        if asked:
            require(self.at(Phase.EXTENDERS_PREEMPT, pod))
            require(~any_of(self.answered[extender] for extender in asked[:-1]))
        else:
            require(self.is_searched(pod))
        require(self.preemption.may_be_chosen(pod, node))
        for preemptor, acts in self.preemptors(pod):
            with when(acts):
                self.preemption.commit(preemptor, node)
                self.nominee = node
                self.after_choice(preemptor, node)

    def preemptors(self, pod: Pod) -> list[tuple[Pod, Expr]]:
        """For whom the victims of `pod` are evicted: for the popped pod, whichever pod was found under its name (Preempt, 1.37)."""
        found = [(r, as_expr(self.stands_in[r])) for r in self.universe[Recreation] if r.after is pod]
        for r, _ in found:
            self.stands_in[r] = False
        return [(pod, ~any_of(stands for _, stands in found)), *((r.before, stands) for r, stands in found)]

    def after_choice(self, pod: Pod, node: Node) -> None:
        """The phase after the choice: a goroutine evicts the victims (the failure handler records the nomination)."""
        victims = {q: self.to_be_evicted(q) for q in self.universe[Pod] if q is not pod}
        self.async_preemption.start(pod, node, victims, self.preemption.last_of(pod, victims))
        self._after_preemption()

    def to_be_evicted(self, victim: Pod) -> Expr:
        """The victims that were not terminating in the snapshot."""
        return self.preemption.victim[victim] & ~as_expr(self.snapshot.pod[victim].terminating)

    def preempts_in_cycle(self) -> bool:
        """Whether the scheduling cycle itself evicts the victims, one after the other."""
        return False

    def advance_preemption(self) -> None:
        """Continue with the next phase of preemption that has work."""
        evicted, cleared = self.preemption.none_left("victim"), self.preemption.none_left("to_clear")
        with when(~evicted):
            self.phase = Phase.EVICT
        with otherwise(~cleared):
            self.phase = Phase.CLEAR_NOMINATIONS
        with otherwise():
            self._after_preemption()

    @step(actor="scheduler")
    @tells(*eviction("it counts as deleted"))
    def evict(self, pod: Pod, victim: Pod, ok: bool) -> None:
        """DELETE one victim at the API server; an error ends the preemption."""
        require(pod is not victim and self.preempts_in_cycle())
        require(self.at(Phase.EVICT, pod) & self.preemption.is_next_victim(pod, victim))
        self.require_deletion(victim)
        if not ok:
            self.faults.spend(Fault.WRITE_FAILURE, victim)
            self.eviction_failed()
            return
        with when(self.api.finds(victim)):
            self.api.evict_pod(victim)
            self.victim_deleted(victim)
        with otherwise():
            self.victim_was_gone(victim)

    def victim_was_gone(self, victim: Pod) -> None:
        """The consequence if the API server does not know the victim: it counts as deleted."""
        self.done_with(victim)

    def require_deletion(self, victim: Pod) -> None:
        """Requires that the victim cannot be stopped in memory; only such victims are deleted."""
        require(~self.async_preemption.is_stoppable(victim))

    def victim_deleted(self, victim: Pod) -> None:
        """The phase after a deletion: the next victim."""
        self.done_with(victim)

    def done_with(self, victim: Pod) -> None:
        """One victim fewer is left."""
        self.preemption.victim[victim] = False
        self.advance_preemption()

    @step(actor="scheduler")
    @tells("The scheduler rejects the victim {victim}, if it waits for permission.")
    def reject_waiting(self, pod: Pod, victim: Pod) -> None:
        """Stop a victim in memory. Up to 1.35, this has no effect on a waiting pod that was just allowed."""
        require(pod is not victim and self.rejects_in_cycle(victim))
        require(self.at(Phase.EVICT, pod) & self.preemption.is_next_victim(pod, victim))
        require(self.async_preemption.is_stoppable(victim))
        self.async_preemption.stop(victim)
        self.done_with(victim)

    def rejects_in_cycle(self, victim: Pod) -> bool:
        """Whether the scheduling cycle itself can have to stop this victim in memory."""
        stoppable = {ExtensionPoint.PERMIT, ExtensionPoint.PRE_BIND}
        return self.preempts_in_cycle() and not stoppable.isdisjoint(self.extension_points(victim))

    def eviction_failed(self) -> None:
        """PostFilter returns an error: no node is nominated."""
        self.nominee = None
        self.preemption.clear()
        self._after_preemption()

    @step(actor="scheduler")
    @tells(
        "The scheduler withdraws, at the API server, the nomination of {other}, which has a lower priority."
    )
    def clear_lower_nomination(self, pod: Pod, other: Pod) -> None:
        """Remove, at the API server, the nomination of a lower-priority pod to the chosen node. If the pod is gone, this is only logged."""
        require(pod is not other and self.preempts_in_cycle())
        require(self.at(Phase.CLEAR_NOMINATIONS, pod) & self.preemption.to_clear[other])
        self.api.clear_nomination(other)
        self.preemption.to_clear[other] = False
        self.advance_preemption()

    @step(actor="scheduler")
    @tells(
        "The scheduler tries to withdraw the nomination of {other} at the API server, and the write fails."
    )
    def fail_to_clear_nomination(self, pod: Pod, other: Pod) -> None:
        """The write fails, which is only logged: the nomination stays."""
        require(pod is not other and self.preempts_in_cycle() and bool(self.scope.status_failures))
        require(self.at(Phase.CLEAR_NOMINATIONS, pod) & self.preemption.to_clear[other])
        self.faults.spend(Fault.STATUS_FAILURE, other)
        self.preemption.to_clear[other] = False
        self.advance_preemption()

    def _after_preemption(self) -> None:
        self.preemption.clear()
        for r in self.universe[Recreation]:
            self.stands_in[r] = False
        self.after_preemption()

    def after_preemption(self) -> None:
        """The phase after preemption, whatever its outcome."""
        self.phase = Phase.FAIL
