"""How pods are drawn together and spread over topology domains, as it was: scores of inter-pod affinity, topology spread."""

from collections.abc import Sequence

from ....environment.cluster.placement_rules import SpreadConstraint
from ....environment.objects import Node, Pod
from ....language import Expr, as_expr, largest, smallest
from ....scheduler import Filters, PriorityQueue, ResourceScores, Scores
from ....scheduler.framework.filters import FilterPlugin
from ...registry.change import before, yes
from ...versions import PRE_RELEASES


@before(
    "98096", "inter-pod affinity scores are scaled between the actual minimum and maximum", first_in="1.21"
)
class Before98096(Scores):
    """The least score was held at or below 0, the greatest at or above it."""

    def bounds(self, scores: Sequence[tuple[Expr, Expr]]) -> tuple[Expr, Expr]:
        least, greatest = super().bounds(scores)
        return smallest(least, as_expr(0)), largest(greatest, as_expr(0))


@before("score-scale", "scores range from 0 to 100", first_in="1.17")
class ScoresUpToTen(Scores):
    """Scores went from 0 to 10 (up to 1.16)."""

    def max_score(self) -> int:
        return 10


@before("score-scale", "scores range from 0 to 100", first_in="1.17")
class ResourceScoresUpToTen(ResourceScores):
    """Those of resources, too."""

    def max_score(self) -> int:
        return 10


@before(
    "even-pods-spread", "topology spread constraints are respected", first_in="1.18", gate="EvenPodsSpread"
)
class NothingSpread(Filters):
    """The feature gate EvenPodsSpread was off (1.16, 1.17), and before that there was no such field."""

    def plugins(self) -> dict[str, FilterPlugin]:
        return {name: plugin for name, plugin in super().plugins().items() if name != "PodTopologySpread"}


@before(
    "empty-spread-selector",
    "a spread constraint with an empty selector counts no pod",
    first_in="1.27",
    until=PRE_RELEASES[0],
)
class EmptySelectorsCount(Filters):
    """An empty selector counted every pod of the namespace (1.26), and does so again with 141340 (countPodsMatchSelector, 1.38)."""

    counts_pods = yes


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


@before(
    "min-domains",
    "minDomains of topology spread constraints is respected",
    first_in="1.27",
    gate="MinDomainsInPodTopologySpread",
)
class AnyNumberOfDomains(Filters):
    """The feature gate MinDomainsInPodTopologySpread was off (1.24 to 1.26), and before that there was no such field."""

    def wanted_domains(self, constraint: SpreadConstraint) -> int:
        return 1


@before(
    "node-inclusion-policies",
    "nodeAffinityPolicy and nodeTaintsPolicy of topology spread constraints are respected",
    first_in="1.26",
    gate="NodeInclusionPolicyInPodTopologySpread",
)
class NodesCountByAffinity(Filters):
    """The feature gate NodeInclusionPolicyInPodTopologySpread was off (1.25), and before that there were no such fields."""

    def counts_node(self, pod: Pod, constraint: SpreadConstraint, node: Node) -> bool:
        return pod.asks_for(node)
