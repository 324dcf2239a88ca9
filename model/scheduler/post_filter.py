"""PostFilter in the scheduling cycle: preemption step by step (sched.preempt up to 1.18, PostFilter from 1.19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.faults import Fault
from ..environment.objects import ExtensionPoint, Node, Pod
from ..language import Expr, Value, any_of, as_expr, otherwise, require, select, step, when
from ..language.sorts import sort_of_ref
from .framework.status import NodeVerdict, Phase
from .reservation import Reservation

if TYPE_CHECKING:
    from .preemption.async_preemption import AsyncPreemption


class PostFilter(Reservation):
    """The steps of preemption; what they compute is in `Preemption`."""

    async_preemption: AsyncPreemption

    def read_preemptor(self, pod: Pod) -> tuple[Expr, Expr]:
        """The preemptor is read again, from the lister: whether it exists, and its nomination."""
        current = self.pod_watch.lister[pod]
        return current.exists, current.nominated

    @step(actor="scheduler")
    def reread_preemptor(self, pod: Pod) -> None:
        """PostFilter begins: read the preemptor again and see whether it may preempt."""
        require(self.at(Phase.REREAD_PREEMPTOR, pod))
        exists, nominated = self.read_preemptor(pod)
        helpful = any_of(self.snapshot.listed[n] & self.preemption.might_help(n) for n in self.universe[Node])
        may = exists & self.preemption.eligible(pod, nominated)
        with when(may & helpful):
            self.phase = Phase.DRY_RUN
        with otherwise(may):
            self.hopeless(nominated)
        with otherwise():
            self._after_preemption()

    def hopeless(self, nominated: Value) -> None:
        """No eviction on any node would help."""
        self.no_candidate()

    def no_candidate(self) -> None:
        """Preemption ends without a candidate: the preemptor is not nominated any more."""
        self.withdraws = True
        self._after_preemption()

    @step(actor="scheduler")
    def dry_run(self, pod: Pod, node: Node) -> None:
        """Find the victims whose eviction would make room on one node (the nominator is read now)."""
        require(self.at(Phase.DRY_RUN, pod))
        require((self.verdict[node] == NodeVerdict.REJECTED) & ~self.preemption.has_enough(pod))
        possible, victims = self.preemption.dry_run(pod, node)
        violates = any_of(self.preemption.violations(pod, victims, node).values())
        accepted = self.preemption.has_room(pod, violates) & self.preemption.extenders_accept(pod, node)
        candidate = self.snapshot.live[node] & possible & accepted
        self.verdict[node] = select(candidate, NodeVerdict.CANDIDATE, NodeVerdict.NO_CANDIDATE)
        for q, is_victim in victims.items():
            with when(candidate & is_victim):
                self.preemption.victim[q] = True
        with when(self.no_node_is(NodeVerdict.REJECTED) & self.no_node_is(NodeVerdict.CANDIDATE)):
            self.no_candidate()

    @step(actor="scheduler", random=True)
    def choose_candidate(self, pod: Pod, node: Node) -> None:
        """Choose the node where preemption costs least; from here on the pod is meant to go there."""
        searched = self.no_node_is(NodeVerdict.REJECTED) | self.preemption.has_enough(pod)
        require(self.at(Phase.DRY_RUN, pod) & searched)
        require(self.preemption.may_be_chosen(pod, node))
        self.preemption.commit(pod, node)
        self.nominee = node
        self.after_choice(pod, node)

    def after_choice(self, pod: Pod, node: Node) -> None:
        """What follows the choice: a goroutine evicts the victims (the failure handler records the nomination)."""
        victims = {q: self.to_be_evicted(q) for q in self.universe[Pod] if q is not pod}
        last = as_expr(None, sort_of_ref(Pod))
        for q, is_victim in victims.items():
            last = select(is_victim & self.preemption.is_last(pod, q, victims), q, last)
        self.async_preemption.start(pod, node, victims, last)
        self._after_preemption()

    def to_be_evicted(self, victim: Pod) -> Expr:
        """Of the victims, those that were not terminating already when the snapshot was taken."""
        return self.preemption.victim[victim] & ~as_expr(self.snapshot.pod[victim].terminating)

    def preempts_in_cycle(self) -> bool:
        """Whether the scheduling cycle itself evicts the victims, one step after the other."""
        return False

    def advance_preemption(self) -> None:
        """The next thing that preemption has left to do."""
        evicted, cleared = self.preemption.none_left("victim"), self.preemption.none_left("to_clear")
        with when(~evicted):
            self.phase = Phase.EVICT
        with otherwise(~cleared):
            self.phase = Phase.CLEAR_NOMINATIONS
        with otherwise():
            self._after_preemption()

    @step(actor="scheduler")
    def evict(self, pod: Pod, victim: Pod, ok: bool) -> None:
        """DELETE one victim at the API server; an error ends the preemption."""
        if pod is victim or not self.preempts_in_cycle():
            require(False)
            return
        require(self.at(Phase.EVICT, pod) & self.preemption.is_next_victim(pod, victim))
        self.require_deletion(victim)
        if not ok:
            self.faults.spend(Fault.WRITE_FAILURE)
            self.eviction_failed()
            return
        with when(self.api.pod[victim].exists):
            self.api.delete_pod(victim)
            self.victim_deleted(victim)
        with otherwise():
            self.victim_was_gone(victim)

    def victim_was_gone(self, victim: Pod) -> None:
        """What follows if the API server does not know the victim: as good as deleted."""
        self.done_with(victim)

    def require_deletion(self, victim: Pod) -> None:
        """A victim that waits for permission is not deleted."""
        require(~self.waiting.holds(victim))

    def victim_deleted(self, victim: Pod) -> None:
        """What follows the deletion: the next victim."""
        self.done_with(victim)

    def done_with(self, victim: Pod) -> None:
        """One victim less."""
        self.preemption.victim[victim] = False
        self.advance_preemption()

    @step(actor="scheduler")
    def reject_waiting(self, pod: Pod, victim: Pod) -> None:
        """A victim that waits for permission is rejected in memory; if it was allowed just now, that is lost."""
        if pod is victim or not self.rejects_in_cycle(victim):
            require(False)
            return
        require(self.at(Phase.EVICT, pod) & self.preemption.is_next_victim(pod, victim))
        require(self.waiting.holds(victim))
        self.waiting.reject(victim)
        self.done_with(victim)

    def rejects_in_cycle(self, victim: Pod) -> bool:
        """Whether the scheduling cycle itself may have to reject this victim."""
        return self.preempts_in_cycle() and ExtensionPoint.PERMIT in self.extension_points(victim)

    def eviction_failed(self) -> None:
        """PostFilter returns an error: no node is nominated."""
        self.nominee = None
        self.preemption.clear()
        self._after_preemption()

    @step(actor="scheduler")
    def clear_lower_nomination(self, pod: Pod, other: Pod) -> None:
        """Withdraw, at the API server, the nomination of a lower-priority pod to the chosen node."""
        if pod is other or not self.preempts_in_cycle():
            require(False)
        require(self.at(Phase.CLEAR_NOMINATIONS, pod) & self.preemption.to_clear[other])
        self.api.clear_nomination(other)
        self.preemption.to_clear[other] = False
        self.advance_preemption()

    def _after_preemption(self) -> None:
        self.preemption.clear()
        self.after_preemption()

    def after_preemption(self) -> None:
        """What follows preemption, whatever its outcome."""
        self.phase = Phase.FAIL
