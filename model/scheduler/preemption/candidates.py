"""Candidates of preemption: how many are looked for, and which is chosen (DefaultPreemption)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...environment.objects import NOW, Node, Pod
from ...language import Expr, Value, any_of, as_expr, count, largest, select, smallest, total
from ..framework.status import NodeVerdict
from .victims import Victims

if TYPE_CHECKING:
    from ..cycle import Scheduler

# The chooser adds this to each victim's priority, so that a further victim never lowers the sum.
SHIFT = 1 << 31


def highest(victims: Mapping[Pod, Expr]) -> Expr:
    """The highest priority among the victims; below every priority if there are none."""
    found = as_expr(-SHIFT)
    for q, is_victim in victims.items():
        found = select(is_victim & (q.priority > found), q.priority, found)
    return found


class Candidates(Victims):
    """The nodes that the dry run left, as `scheduler.verdict` and `victim` tell them."""

    scheduler: Scheduler

    victim: Any

    def victims_on(self, node: Node) -> dict[Pod, Expr]:
        """The victims that the dry run found on a node."""
        return {q: self.victim[q] & self.snapshot.on(q, node) for q in self.universe[Pod]}

    def violations(self, pod: Pod, victims: Mapping[Pod, Expr], node: Node) -> dict[Pod, Expr]:
        """The victims on a node whose eviction a budget has no room for."""
        violating = self.violating(pod, node)
        return {q: victims[q] & v for q, v in violating.items()}

    def wanted(self, potential_nodes: Value) -> Expr:
        """calculateNumCandidates: how many candidates are enough, of so many nodes to try."""
        config = self.scope.config
        nodes = as_expr(potential_nodes)
        share = nodes * config.min_candidates_percentage // 100
        return smallest(largest(share, config.min_candidates), nodes)

    def has_room(self, pod: Pod, violates: Value) -> Expr:
        """Whether the list for candidates that do, or do not, violate a budget has room for another."""
        if self._takes_all():
            return as_expr(True)
        clean, violating = self._candidates(pod)
        return select(violates, violating, clean) < self.wanted(self._potential_nodes())

    def has_enough(self, pod: Pod) -> Expr:
        """Whether the search is over: enough candidates, one of which violates no budget."""
        if self._takes_all():
            return as_expr(False)
        clean, violating = self._candidates(pod)
        return (clean > 0) & (clean + violating >= self.wanted(self._potential_nodes()))

    def _takes_all(self) -> bool:
        # With room for every node, the search is over only when every node has been tried.
        return bool(self.scope.config.min_candidates >= len(self.universe[Node]))

    def _candidates(self, pod: Pod) -> tuple[Expr, Expr]:
        verdict = self.scheduler.verdict
        dirty = {n: any_of(self.violations(pod, self.victims_on(n), n).values()) for n in self.universe[Node]}
        found = {n: verdict[n] == NodeVerdict.CANDIDATE for n in self.universe[Node]}
        return count(f & ~dirty[n] for n, f in found.items()), count(f & dirty[n] for n, f in found.items())

    def _potential_nodes(self) -> Expr:
        tried = (NodeVerdict.REJECTED, NodeVerdict.CANDIDATE, NodeVerdict.NO_CANDIDATE)
        return count(any_of(self.scheduler.verdict[n] == v for v in tried) for n in self.universe[Node])

    # --- choice ------------------------------------------------------------------------------------

    def preferred(self, pod: Pod, a: Node, b: Node) -> Expr:
        """pickOneNodeForPreemption: whether the chooser strictly prefers candidate `a` to candidate `b`."""
        result = as_expr(False)
        for one, two in reversed(list(zip(self.costs(pod, a), self.costs(pod, b), strict=True))):
            result = (one < two) | ((one == two) & result)
        return result

    def costs(self, pod: Pod, node: Node) -> list[Expr]:
        """What the chooser compares, one after the other; less is better.

        Violations of budgets; priority of the first victim; sum of priorities; number of victims; how long the
        earliest of the most important victims has been running.
        """
        victims = self.victims_on(node)
        return [
            count(self.violations(pod, victims, node).values()),
            self.first_priority(pod, victims, node),
            total(select(v, q.priority + SHIFT, 0) for q, v in victims.items()),
            count(victims.values()),
            -1 * self.earliest_start(victims),
        ]

    def first_priority(self, pod: Pod, victims: Mapping[Pod, Expr], node: Node) -> Expr:
        """The priority of the first victim of the list, where violators of budgets stand first."""
        violating = self.violations(pod, victims, node)
        return select(any_of(violating.values()), highest(violating), highest(victims))

    def earliest_start(self, victims: Mapping[Pod, Expr]) -> Expr:
        """GetEarliestPodStartTime: among the victims of the highest priority."""
        top = highest(victims)
        earliest = as_expr(NOW)
        for q, is_victim in victims.items():
            counts = is_victim & (q.priority == top)
            earliest = select(counts, smallest(q.start, earliest), earliest)
        return earliest

    def may_be_chosen(self, pod: Pod, node: Node) -> Expr:
        """Whether the chooser can return this node: a candidate that no other candidate beats."""
        verdict = self.scheduler.verdict
        better = [
            (verdict[n] == NodeVerdict.CANDIDATE) & self.preferred(pod, n, node)
            for n in self.universe[Node]
            if n is not node
        ]
        return (verdict[node] == NodeVerdict.CANDIDATE) & ~any_of(better)
