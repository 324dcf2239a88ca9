"""Scores as they were: what plugins count for, and how topology spread scored its soft constraints (framework/plugins/podtopologyspread/scoring.go)."""

from collections.abc import Mapping, Sequence

from ....environment.cluster.placement_rules import SpreadConstraint
from ....environment.objects import Node, Pod, Term
from ....language import Expr, as_expr, clamp, select, total
from ....scheduler import Placement, ResourceScores, Scores, SpreadScores
from ....scheduler.framework.float_sums import share, weighted
from ....scheduler.framework.scores import (
    INTER_POD_AFFINITY,
    NODE_AFFINITY,
    POD_TOPOLOGY_SPREAD,
    TAINT_TOLERATION,
    ScorePlugin,
)
from ....scheduler.framework.spread_scores import HOSTNAME, MAX_SCORE
from ...registry.change import before, yes


@before(
    "own-terms-merged",
    "a pod's own affinity terms apply only to the namespaces that they name or select",
    first_in="1.37",
    since="1.34",
    backports=("1.34.13", "1.35.10", "1.36.6"),
)
class PreferredTermsKeepTheirSelectors(Scores):
    """The same of preferred terms (scoring.go, 1.34 to 1.36)."""

    def means(self, term: Term, other: Pod) -> bool:
        return super().means(term, other) or term.matches_by_name(other)


@before("104251", "taints and affinity count more in scores", first_in="1.23")
class AllCountOnce(Scores):
    """Of the plugins, topology spread alone counted twice (the default configuration up to v1beta2)."""

    def default_weights(self) -> dict[str, int]:
        return {
            **super().default_weights(),
            **dict.fromkeys((TAINT_TOLERATION, NODE_AFFINITY, INTER_POD_AFFINITY), 1),
        }


@before("91258", "topology spread counts twice in scores", first_in="1.19", issues=(88174,))
class SpreadCountsOnce(Scores):
    """It counted once (1.18)."""

    def default_weights(self) -> dict[str, int]:
        return {**super().default_weights(), POD_TOPOLOGY_SPREAD: 1}


@before(
    "even-pods-spread", "topology spread constraints are respected", first_in="1.18", gate="EvenPodsSpread"
)
class NoSpreadScores(Scores):
    """Up to 1.17 no such plugin scored."""

    def plugins(self, pod: Pod) -> dict[str, ScorePlugin]:
        return {name: plugin for name, plugin in super().plugins(pod).items() if name != POD_TOPOLOGY_SPREAD}


@before(
    "91793",
    "pods without topology spread constraints have soft ones by default",
    first_in="1.20",
    gate="DefaultPodTopologySpread",
)
class NoneByDefault(SpreadScores):
    """The feature gate DefaultPodTopologySpread was off (1.19), and before that there was none: SelectorSpread scored, which is no part of the model."""

    def constraints(self, pod: Pod) -> Sequence[SpreadConstraint]:
        return [c for c in super().constraints(pod) if not c.by_default]


@before(
    "105046",
    "nodes without a zone are scored by the default topology spread constraints",
    first_in="1.23",
    issues=(102136,),
)
class DefaultsNeedAllKeys(SpreadScores):
    """A node without one of the topology keys was ignored by these, too, and had the least score."""

    needs_all_keys = yes


@before(
    "135573",
    "the balance of a node's resources is scored by how much the pod improves it",
    first_in="1.36",
    issues=(129733,),
)
class BalanceAfterwards(ResourceScores):
    """It counted as it would be with the pod (1.22 to 1.35)."""

    def balance(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        return self.evenness(pod, node, placement)


@before(
    "101946",
    "the balance of a node's resources is scored by the standard deviation of their shares",
    first_in="1.22",
)
class BalanceByDifference(ResourceScores):
    """It counted by their difference, and a node of which nothing would be left had 0 (up to 1.21)."""

    def evenness(self, pod: Pod | None, node: Node, placement: Placement) -> Expr:
        even = self.evened(pod, node, placement, halves=1)
        return even if pod is None else select(self.is_full(pod, node, placement), 0, even)


@before("107384", "scores of topology spread are rounded", first_in="1.24")
class SpreadRoundedDown(SpreadScores):
    """They were rounded down (1.19 to 1.23)."""

    def rounded(self, terms: Sequence[tuple[Expr, Expr]]) -> Expr:
        return weighted(terms, half=False)


@before(
    "129119",
    "soft spread constraints with the same topology key are counted separately",
    first_in="1.33",
    issues=(129067,),
)
class OneCountForOneKey(SpreadScores):
    """Constraints of one key had one count, to which each added what it selects, and only the first of them knew how many domains there are."""

    def pods(self, pod: Pod, constraint: SpreadConstraint, node: Node, placement: Placement) -> Expr:
        counted = super().pods
        if constraint.topology_key == HOSTNAME:
            return counted(pod, constraint, node, placement)
        same = [c for c in self.constraints(pod) if c.topology_key == constraint.topology_key]
        return total(counted(pod, c, node, placement) for c in same)

    def size(
        self, pod: Pod, constraint: SpreadConstraint, looked_at: Mapping[Node, Expr], number: int
    ) -> Expr:
        before_it = [c.topology_key for c in self.constraints(pod)[:number]]
        if constraint.topology_key != HOSTNAME and constraint.topology_key in before_it:
            return as_expr(0)
        return super().size(pod, constraint, looked_at, number)


@before(
    "90475",
    "the score for topology spread weights pods by the number of domains, and respects maxSkew",
    first_in="1.19",
)
class PodsCountAlike(SpreadScores):
    """A node had as many points against it as there were pods in its domains, and was compared with the sum of all nodes (1.18)."""

    def pods(self, pod: Pod, constraint: SpreadConstraint, node: Node, placement: Placement) -> Expr:
        """A host name was a topology as any other: pods on a node that the policies leave out did not count."""
        counted = super().pods
        if constraint.topology_key != HOSTNAME:
            return counted(pod, constraint, node, placement)
        return total(
            select(self.is_included(pod, c, node, placement), counted(pod, c, node, placement), 0)
            for c in self.constraints(pod)
            if c.topology_key == HOSTNAME
        )

    def raw(self, pod: Pod, node: Node, looked_at: Mapping[Node, Expr], placement: Placement) -> Expr:
        return total(self.pods(pod, c, node, placement) for c in self.constraints(pod))

    def normalised(self, looked_at: Mapping[Node, Expr], raw: Mapping[Node, Expr]) -> dict[Node, Expr]:
        everything = total(select(looked_at[n], score, 0) for n, score in raw.items())
        least, _ = self.bounds(looked_at, raw)
        most = everything - least
        divisor = clamp(most, 1, max(1, most.hi))
        return {
            n: select(most == 0, MAX_SCORE, share(everything - score, divisor, MAX_SCORE))
            for n, score in raw.items()
        }
