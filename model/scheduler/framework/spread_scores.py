"""The scores of topology spread: soft constraints, ScheduleAnyway (framework/plugins/podtopologyspread/scoring.go, 1.36)."""

from collections.abc import Mapping, Sequence

from ...environment.cluster.placement_rules import SpreadConstraint
from ...environment.objects import Node, Pod
from ...language import Component, Expr, any_of, as_expr, clamp, count, largest, select, smallest, total
from .filters import Filters
from .float_sums import weighted
from .placement import Placement

HOSTNAME = "kubernetes.io/hostname"
MAX_SCORE = 100


class SpreadScores(Component):
    """PodTopologySpread as a score plugin. A node's score depends on all feasible nodes: on the number of their domains, and on the minimum and maximum score."""

    filters: Filters

    def constraints(self, pod: Pod) -> Sequence[SpreadConstraint]:
        """The constraints that are scored."""
        return pod.wishes.spread

    def scores(self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement) -> dict[Node, Expr]:
        """PreScore, Score and NormalizeScore, for each node. An ignored node gets 0."""
        looked_at = {n: f for n, f in feasible.items() if not self.ignores(pod, n)}
        raw = {node: self.raw(pod, node, looked_at, placement) for node in looked_at}
        return {**dict.fromkeys(feasible, as_expr(0)), **self.normalised(looked_at, raw)}

    # --- PreScore ----------------------------------------------------------------------------------------

    def needs_all_keys(self, pod: Pod) -> bool:
        """Whether a node without one of the topology keys is ignored: not for the default constraints of a pod."""
        return not all(c.by_default for c in self.constraints(pod))

    def ignores(self, pod: Pod, node: Node) -> bool:
        """IgnoredNodes."""
        lacks = any(c.topology_key not in node.labels for c in self.constraints(pod))
        return lacks and self.needs_all_keys(pod)

    def size(
        self, pod: Pod, constraint: SpreadConstraint, looked_at: Mapping[Node, Expr], number: int
    ) -> Expr:
        """How many domains of the pod's constraint `number` have a feasible node. A missing value counts as one domain."""
        domains: dict[str, list[Expr]] = {}
        for node, is_feasible in looked_at.items():
            of = node.name if constraint.topology_key == HOSTNAME else _value(node, constraint)
            domains.setdefault(of, []).append(is_feasible)
        return count(any_of(some) for some in domains.values())

    def pods(self, pod: Pod, constraint: SpreadConstraint, node: Node, placement: Placement) -> Expr:
        """How many pods the constraint counts in the domain of the node. Pods on the node itself always count."""
        if constraint.topology_key == HOSTNAME:
            return self.pods_on(pod, constraint, node, placement)
        others = constraint.others.get(_value(node, constraint), 0) if self._counts(constraint) else 0
        there = [
            select(self.is_included(pod, constraint, other, placement), pods, 0)
            for other in placement.nodes
            if _value(other, constraint) == _value(node, constraint) and not self.ignores(pod, other)
            for pods in [self.pods_on(pod, constraint, other, placement, alone=True)]
        ]
        return total(there) + others

    def is_included(self, pod: Pod, constraint: SpreadConstraint, node: Node, placement: Placement) -> Expr:
        """Whether the policies of the constraint include the node (matchNodeInclusionPolicies)."""
        return placement.ask(
            node, lambda content, _: as_expr(self.filters.counts_node(pod, constraint, content))
        )

    def pods_on(
        self, pod: Pod, constraint: SpreadConstraint, node: Node, placement: Placement, *, alone: bool = False
    ) -> Expr:
        """countPodsMatchSelector: the pods on a node that do not terminate, with pods outside of the model, unless those are counted by domain (`alone`)."""
        if not self._counts(constraint):
            return as_expr(0)
        there = count(
            row[node] & placement.live[node] & ~placement.is_leaving(q)
            for q, row in placement.on.items()
            if q.namespace == pod.namespace and constraint.counts(q.labels)
        )
        return there if alone else there + constraint.others.get(_value(node, constraint), 0)

    def _counts(self, constraint: SpreadConstraint) -> bool:
        return self.filters.counts_pods(constraint)

    # --- Score, NormalizeScore ---------------------------------------------------------------------------

    def raw(self, pod: Pod, node: Node, looked_at: Mapping[Node, Expr], placement: Placement) -> Expr:
        """Score: the penalty of the node. Each pod counts with the weight of its topology, which grows with the number of domains."""
        asked = [(i, c) for i, c in enumerate(self.constraints(pod)) if c.topology_key in node.labels]
        terms = [
            (self.pods(pod, c, node, placement), self.size(pod, c, looked_at, number)) for number, c in asked
        ]
        return self.rounded(terms) + sum(c.max_skew - 1 for _, c in asked)

    def rounded(self, terms: Sequence[tuple[Expr, Expr]]) -> Expr:
        """The sum of the constraints' scores (scoreForCount), rounded."""
        return weighted(terms, half=True)

    def normalised(self, looked_at: Mapping[Node, Expr], raw: Mapping[Node, Expr]) -> dict[Node, Expr]:
        """NormalizeScore: the node with the lowest penalty gets 100, others less in proportion to the greatest."""
        low, high = self.bounds(looked_at, raw)
        divisor = clamp(high, 1, max(1, high.hi))
        return {
            n: select(high == 0, MAX_SCORE, (high + low - score) * MAX_SCORE // divisor)
            for n, score in raw.items()
        }

    def bounds(self, looked_at: Mapping[Node, Expr], raw: Mapping[Node, Expr]) -> tuple[Expr, Expr]:
        """Minimum and maximum over the feasible nodes; undefined if there are none."""
        limit = max((score.hi for score in raw.values()), default=0)
        least, greatest = as_expr(limit), as_expr(0)
        for node, score in raw.items():
            least = select(looked_at[node], smallest(score, least), least)
            greatest = select(looked_at[node], largest(score, greatest), greatest)
        return least, greatest


def _value(node: Node, constraint: SpreadConstraint) -> str:
    return node.labels.get(constraint.topology_key, "")
