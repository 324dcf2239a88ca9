"""Preemption (core/generic_scheduler.go up to 1.18, framework/plugins/defaultpreemption from 1.19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...environment.objects import Node, Pod, node_or_none
from ...language import Expr, Value, all_of, any_of, as_expr, boolean, per
from ..framework.status import NodeVerdict
from .candidates import Candidates

if TYPE_CHECKING:
    from ..queue.nominator import Nominator


class Preemption(Candidates):
    """The preemption of one scheduling cycle: dry run per node, victims, choice, what is left to do.

    `victim[p]`: p would be evicted from (and is in the snapshot on) the node that the dry run looked at;
    after the choice, from the chosen node. `to_clear[p]`: p's nomination to the chosen node is to be withdrawn.
    """

    nominator: Nominator

    victim = per(Pod, boolean())
    to_clear = per(Pod, boolean())

    def eligible(self, pod: Pod, nominated: Value) -> Expr:
        """PodEligibleToPreemptOthers: not while a lower-priority pod on its nominated node terminates.

        Unless this cycle found that no eviction there would help.
        """
        target = node_or_none(nominated)
        waits = any_of(
            (target == node)
            & ~self.is_retried(node)
            & self.snapshot.on(q, node)
            & self.snapshot.pod[q].terminating
            & self.may_evict(pod, q, node)
            for node in self.universe[Node]
            for q in self.universe[Pod]
            if q is not pod
        )
        return self.may_preempt(pod) & ~waits

    def may_preempt(self, pod: Pod) -> Expr:
        """preemptionPolicy: Never keeps a pod from preempting."""
        return as_expr(pod.preempts)

    def is_retried(self, node: Node) -> Expr:
        """Whether a nominated node is given up for good, so that its victims are not waited for."""
        given_up: Expr = self.scheduler.verdict[node] == NodeVerdict.UNRESOLVABLE
        return given_up

    def might_help(self, node: Node) -> Expr:
        """nodesWherePreemptionMightHelp: every node but those that no eviction makes fit."""
        hopeless: Expr = self.scheduler.verdict[node] == NodeVerdict.UNRESOLVABLE
        unknown: Expr = self.scheduler.verdict[node] == NodeVerdict.UNTRIED
        return ~hopeless & (self.tries_unfiltered() | ~unknown)

    def tries_unfiltered(self) -> bool:
        """Whether a node of which the filters said nothing is tried."""
        return False

    def extenders_accept(self, pod: Pod, node: Node) -> Expr:
        """callExtenders: every extender with a say in preemption keeps the candidate. There are none, unless a patch has some."""
        return as_expr(True)

    def reasons(self, pod: Pod, node: Node) -> dict[str, Expr]:
        """What PostFilter says of a node that is no candidate: one of these, or several resources at once."""
        potential = self.potential_victims(pod, node)
        some = any_of(potential.values())
        placement = self.snapshot.placement()
        emptied = {q: here & ~potential[q] for q, here in placement.present(pod, node).items()}
        without = placement.with_present(node, emptied)
        tried = self.might_help(node) & some
        found = {"not helpful": ~self.might_help(node), "no victims": self.might_help(node) & ~some}
        for name, rejects in self.filters.rejected_by(pod, node, without).items():
            if name == "NodeResourcesFit":
                for resource, lacking in self.filters.insufficient(pod, node, without).items():
                    found[f"insufficient {resource}"] = tried & rejects & lacking
            else:
                found[name] = tried & rejects
        return found

    # --- what is left to do --------------------------------------------------------------------------

    def commit(self, pod: Pod, node: Node) -> None:
        """Keep the victims of the chosen node; note which lower-priority nominations it makes void."""
        for q in self.universe[Pod]:
            self.victim[q] = self.victim[q] & self.snapshot.on(q, node)
            if q is not pod:
                self.to_clear[q] = self.nominator.nominated_to(q, node) & (q.priority < pod.priority)

    def is_next_victim(self, preemptor: Pod, pod: Pod) -> Expr:
        """Victims are evicted in parallel: any may be the next."""
        return as_expr(self.victim[pod])

    def is_first_victim(self, preemptor: Pod, pod: Pod) -> Expr:
        """The victim that the order of victims has first: violators of budgets, then the most important."""
        others = [q for q in self.universe[Pod] if q is not preemptor]
        violating = self._violating(preemptor)
        before = [self.victim[q] & self.is_ahead(q, pod, violating) for q in others if q is not pod]
        return self.victim[pod] & ~any_of(before)

    def _violating(self, preemptor: Pod) -> dict[Pod, Expr]:
        return {
            q: any_of(self.snapshot.on(q, n) & self.violating(preemptor, n)[q] for n in self.universe[Node])
            for q in self.universe[Pod]
            if q is not preemptor
        }

    def is_last(self, preemptor: Pod, pod: Pod, victims: Mapping[Pod, Expr]) -> Expr:
        """Whether the order of victims has none of these behind the pod."""
        violating = self._violating(preemptor)
        return ~any_of(v & self.is_ahead(pod, q, violating) for q, v in victims.items() if q is not pod)

    def none_left(self, table: str) -> Expr:
        """Whether no `victim`, or nothing `to_clear`, is left."""
        return all_of(~getattr(self, table)[q] for q in self.universe[Pod])

    def clear(self) -> None:
        """The preemption is over, or given up."""
        for q in self.universe[Pod]:
            self.victim[q] = False
            self.to_clear[q] = False
