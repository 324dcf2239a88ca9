"""Which pods preemption would evict from a node (selectVictimsOnNode, filterPodsWithPDBViolation)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...environment.objects import Budget, Node, Pod
from ...language import Component, Expr, any_of, as_expr, count, select, when

if TYPE_CHECKING:
    from ..cache.snapshot import Snapshot
    from ..framework.filters import Filters


class Victims(Component):
    """The dry run of preemption on one node."""

    snapshot: Snapshot
    filters: Filters

    def more_important(self, a: Pod, b: Pod) -> Expr:
        """MoreImportantPod: higher priority, then the earlier start."""
        return (a.priority > b.priority) | ((a.priority == b.priority) & (as_expr(a.start) < b.start))

    def comes_before(self, a: Pod, b: Pod) -> Expr:
        """The order of victims; of pods that are equally important, the scenario's order."""
        if a is b:
            return as_expr(False)
        if a.index < b.index:
            return ~self.more_important(b, a)
        return self.more_important(a, b)

    def potential_victims(self, pod: Pod, node: Node) -> dict[Pod, Expr]:
        """The lower-priority pods on a node of the snapshot."""
        present = self.snapshot.placement().present(pod, node)
        return {q: here & self.may_evict(pod, q, node) for q, here in present.items()}

    def may_evict(self, pod: Pod, victim: Pod, node: Node) -> Expr:
        """isPreemptionAllowed: the victim's priority is lower. (IsEligiblePod, 1.34, may narrow that; by default it does not.)"""
        return victim.priority < pod.priority

    def violating(self, pod: Pod, node: Node) -> dict[Pod, Expr]:
        """filterPodsWithPDBViolation: whose eviction from the node some budget has no room for.

        Each budget is spent on potential victims in their order.
        """
        potential = self.potential_victims(pod, node)
        return {
            q: here & any_of(self.exceeds(b, q, potential) for b in self.budgets(q))
            for q, here in potential.items()
        }

    def budgets(self, pod: Pod) -> list[Budget]:
        """The budgets that evicting the pod takes from."""
        return [budget for budget in self.universe[Budget] if self.takes_from(budget, pod)]

    def takes_from(self, budget: Budget, pod: Pod) -> bool:
        """Whether the budget protects the pod, and has not paid for its eviction already."""
        return budget.selects(pod) and pod.name not in budget.disrupted

    def exceeds(self, budget: Budget, pod: Pod, potential: Mapping[Pod, Expr]) -> Expr:
        """Whether a budget is used up when it is the pod's turn."""
        before = count(
            here & self.comes_before(q, pod) for q, here in potential.items() if self.takes_from(budget, q)
        )
        return before >= budget.allowed

    def dry_run(self, pod: Pod, node: Node) -> tuple[Expr, dict[Pod, Expr]]:
        """selectVictimsOnNode: remove every lower-priority pod, then reprieve, budgets' violators first.

        Gives whether the node is a candidate, and for each pod whether it is a victim there.
        """
        placement = self.snapshot.placement()
        snapshot = placement.present(pod, node)
        potential, violating = self.potential_victims(pod, node), self.violating(pod, node)
        present = {q: here & ~potential[q] for q, here in snapshot.items()}
        tried = self.worth_trying(potential)
        with when(tried):
            feasible = tried & self.filters.fits_with_nominated(
                pod, node, placement.with_present(node, present)
            )
        pods = list(snapshot)
        turn = {q: count(potential[r] & self.is_ahead(r, q, violating) for r in pods) for q in pods}
        for place in range(len(pods)):
            now = {q: potential[q] & (turn[q] == place) for q in pods}
            back = {q: present[q] | now[q] for q in pods}
            with when(feasible & any_of(now.values())):
                spared = self.filters.fits_with_nominated(pod, node, placement.with_present(node, back))
            present = {q: select(spared, back[q], present[q]) for q in pods}
        victims = {q: feasible & potential[q] & ~present[q] for q in pods}
        return self.is_candidate(feasible, victims), victims

    def is_ahead(self, a: Pod, b: Pod, violating: Mapping[Pod, Expr]) -> Expr:
        """The order of reprieves and evictions: violators of budgets first."""
        alike = (violating[a] == violating[b]) & self.comes_before(a, b)
        return (violating[a] & ~violating[b]) | alike

    def worth_trying(self, potential: Mapping[Pod, Expr]) -> Expr:
        """A node without any lower-priority pod is not looked at."""
        return any_of(potential.values())

    def is_candidate(self, feasible: Expr, victims: Mapping[Pod, Expr]) -> Expr:
        """A node where nobody would have to go is none: the cycle has just found that the pod does not fit there."""
        return feasible & any_of(victims.values())
