"""Preemption as it was."""

from __future__ import annotations

from collections.abc import Mapping

from ..environment.objects import Budget, Node, Pod
from ..language import Expr, any_of, as_expr, select
from ..scheduler import Preemption
from .change import before


@before("101560", "a node where preemption would evict nobody is no candidate", first_in="1.22")
class Before101560(Preemption):
    """A dry run that needed no victim gave a candidate, and the chooser took it at once."""

    def is_candidate(self, feasible: Expr, victims: Mapping[Pod, Expr]) -> Expr:
        return feasible

    def preferred(self, pod: Pod, a: Node, b: Node) -> Expr:
        free_one = ~any_of(self.victims_on(a).values())
        free_two = ~any_of(self.victims_on(b).values())
        return select(free_two, False, free_one | super().preferred(pod, a, b))


@before("no-victims", "a node without lower-priority pods is not tried by preemption", first_in="1.21")
class EveryNodeTried(Preemption):
    """Every node was filtered again, also where nobody could be evicted."""

    def worth_trying(self, potential: Mapping[Pod, Expr]) -> Expr:
        return as_expr(True)


@before(
    "nominated-status",
    "a preemptor does not wait for victims on a node that no eviction makes fit",
    first_in="1.19",
)
class WaitsForHopelessNode(Preemption):
    """A terminating pod on the nominated node was waited for, whatever the filters said of the node."""

    def is_retried(self, node: Node) -> Expr:
        return as_expr(False)


@before("preemption-policy", "preemptionPolicy Never keeps a pod from preempting", first_in="1.19")
class EveryPodMayPreempt(Preemption):
    """The policy was not there, or behind a feature gate that was off."""

    def may_preempt(self, pod: Pod) -> Expr:
        return as_expr(True)


@before("disrupted-pods", "evictions that a budget has paid for already cost it nothing", first_in="1.19")
class DisruptedPodsCount(Preemption):
    """A budget's disruptedPods were not looked at."""

    def takes_from(self, budget: Budget, pod: Pod) -> bool:
        return budget.selects(pod)


@before("budget-countdown", "each victim takes one disruption from its budgets", first_in="1.18")
class BudgetsAreNotSpent(Preemption):
    """A budget with any disruption left was violated by no number of victims."""

    def exceeds(self, budget: Budget, pod: Pod, potential: Mapping[Pod, Expr]) -> Expr:
        return budget.allowed <= 0


@before("start-time-tie", "of equal candidates the one whose victims started last is chosen", first_in="1.15")
class StartTimesIgnored(Preemption):
    """The chooser did not look at start times."""

    def earliest_start(self, victims: Mapping[Pod, Expr]) -> Expr:
        return as_expr(0)
