"""Topology spread as it was."""

from __future__ import annotations

from ..environment.objects import Pod
from ..environment.spread import SpreadConstraint
from ..language import Expr, as_expr
from ..scheduler import Filters, PriorityQueue
from ..scheduler.framework.filters import Plugin
from .change import before


@before("even-pods-spread", "topology spread constraints are looked at", first_in="1.18")
class NothingSpread(Filters):
    """The feature gate EvenPodsSpread was off (1.16), and before that there was no such field."""

    def plugins(self) -> dict[str, Plugin]:
        return {name: plugin for name, plugin in super().plugins().items() if name != "PodTopologySpread"}


@before("empty-spread-selector", "a spread constraint with an empty selector counts nobody", first_in="1.24")
class EmptySelectorsCount(Filters):
    """An empty selector counted every pod of the namespace (1.23)."""

    def counts_pods(self, constraint: SpreadConstraint) -> bool:
        return True


@before(
    "122627",
    "an assigned pod wakes the pods that topology spread rejected",
    first_in="1.31",
    issues=(122626,),
)
class AssignedPodsWakeByAffinityOnly(PriorityQueue):
    """Of the parked pods only those with a required affinity term for the assigned pod were moved."""

    def looks_at(self, parked: Pod, pod: Pod) -> Expr:
        return as_expr(any(t.required and not t.anti and t.matches(pod) for t in parked.terms))
