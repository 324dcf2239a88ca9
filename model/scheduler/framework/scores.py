"""Scores: which of the feasible nodes wins (framework/plugins: tainttoleration, nodeaffinity, podtopologyspread, interpodaffinity; prioritizeNodes and
selectHost in schedule_one.go, 1.36)."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...environment.cluster.scope import SCORE_PLUGINS
from ...environment.extender import HTTPExtender
from ...environment.objects import Node, Pod, Term
from ...language import Component, Expr, all_of, any_of, as_expr, clamp, largest, select, smallest, total
from .float_sums import share
from .interface import SharedLister
from .placement import Placement
from .resource_scores import ResourceScores
from .spread_scores import MAX_SCORE, SpreadScores
from .status import Code

(
    TAINT_TOLERATION,
    NODE_AFFINITY,
    POD_TOPOLOGY_SPREAD,
    INTER_POD_AFFINITY,
    NODE_RESOURCES_FIT,
    BALANCED_ALLOCATION,
) = SCORE_PLUGINS

ScorePlugin = Callable[[Pod, Mapping[Node, Expr], Placement], dict[Node, Expr]]
"""Gives the normalised score of each node."""


class Scores(Component):
    """The score plugins that upstream enables, limited to those that read preferences of pods and nodes."""

    snapshot: SharedLister
    spread_scores: SpreadScores
    resource_scores: ResourceScores

    def plugins(self, pod: Pod) -> dict[str, ScorePlugin]:
        """The plugins that can score nodes differently for the pod. All others give each node the same score."""
        found: dict[str, ScorePlugin] = {}
        if any(self.disliked(pod, form) for node in self.universe[Node] for form in _forms(node)):
            found[TAINT_TOLERATION] = self.taint_toleration
        if pod.wishes.nodes:
            found[NODE_AFFINITY] = self.node_affinity
        if pod.wishes.spread:
            found[POD_TOPOLOGY_SPREAD] = self.spread_scores.scores
        found[INTER_POD_AFFINITY] = self.interpod
        if self.scope.config.scoring_strategy:
            found[NODE_RESOURCES_FIT] = self.resource_scores.fit
            found[BALANCED_ALLOCATION] = self.resource_scores.balanced
        return found

    def default_weights(self) -> dict[str, int]:
        """The weights of the default profile."""
        return {
            TAINT_TOLERATION: 3,
            NODE_AFFINITY: 2,
            POD_TOPOLOGY_SPREAD: 2,
            INTER_POD_AFFINITY: 2,
            NODE_RESOURCES_FIT: 1,
            BALANCED_ALLOCATION: 1,
        }

    def weights(self) -> dict[str, int]:
        """The weight of each plugin's score."""
        return {**self.default_weights(), **dict(self.scope.config.score_weights)}

    def totals(self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement) -> dict[Node, Expr]:
        """The weighted sum of all plugins' scores, for each node. Only feasible nodes count."""
        weights = self.weights()
        asked = {name: plugin for name, plugin in self.plugins(pod).items() if weights[name]}
        said = {name: plugin(pod, feasible, placement) for name, plugin in asked.items()}
        more = any(extender.spec.scores for extender in self.universe[HTTPExtender])
        alone = len(said) == 1 and not more  # a factor then changes nothing
        return {
            node: total(given[node] * (1 if alone else weights[name]) for name, given in said.items())
            for node in feasible
        }

    def may_win(self, node: Node, feasible: Mapping[Node, Expr], scores: Mapping[Node, Expr]) -> Expr:
        """selectHost: whether the node is feasible and has the highest score. Any such node can win."""
        return feasible[node] & ~any_of(f & (scores[n] > scores[node]) for n, f in feasible.items())

    # --- taints and node affinity ------------------------------------------------------------------

    def disliked(self, pod: Pod, node: Node) -> int:
        """countIntolerableTaintsPreferNoSchedule."""
        return sum(
            taint.effect == "PreferNoSchedule" and not any(t.tolerates(taint) for t in pod.tolerations)
            for taint in node.taints
        )

    def taint_toleration(
        self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement
    ) -> dict[Node, Expr]:
        """TaintToleration: fewer PreferNoSchedule taints that the pod does not tolerate give a higher score."""
        raw = {n: placement.ask(n, lambda content, _: as_expr(self.disliked(pod, content))) for n in feasible}
        return self.by_greatest(feasible, raw, reverse=True)

    def node_affinity(
        self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement
    ) -> dict[Node, Expr]:
        """NodeAffinity: the sum of the weights of the preferred terms that match the node."""

        def liked(node: Node) -> int:
            return sum(p.weight for p in pod.wishes.nodes if p.term.matches(node.name, node.labels))

        raw = {n: placement.ask(n, lambda content, _: as_expr(liked(content))) for n in feasible}
        return self.by_greatest(feasible, raw)

    def by_greatest(
        self, feasible: Mapping[Node, Expr], raw: Mapping[Node, Expr], *, reverse: bool = False
    ) -> dict[Node, Expr]:
        """DefaultNormalizeScore: in proportion to the greatest score; or reversed: the maximum minus this."""
        scale = self.max_score()
        greatest = as_expr(0)
        for node, score in raw.items():
            greatest = select(feasible[node], largest(score, greatest), greatest)
        divisor = clamp(greatest, 1, max(1, greatest.hi))
        part = {n: select(greatest == 0, 0, score * scale // divisor) for n, score in raw.items()}
        return {n: scale - p for n, p in part.items()} if reverse else part

    # --- inter-pod affinity ------------------------------------------------------------------------

    def pre_score(self, pod: Pod) -> Code:
        """Whether inter-pod affinity has terms to score for the pod. It returns an error if they cannot be read."""
        if not all(term.valid for term in pod.terms):
            return Code.ERROR
        preferring = any(not term.required for term in pod.terms)
        if self.scope.config.ignore_preferred_of_existing and not preferring:
            return Code.SKIP
        return Code.SUCCESS

    def interpod(self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement) -> dict[Node, Expr]:
        """The scores of inter-pod affinity, normalised over the feasible nodes."""
        if self.pre_score(pod) is not Code.SUCCESS:
            return dict.fromkeys(feasible, as_expr(0))
        return self.normalised(feasible, {n: self.raw(pod, n, placement) for n in feasible})

    def raw(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """The sum for a node of the pod's preferred terms, and of the other pods' terms that select the pod."""
        return total(
            select(here & placement.live[place], weight, 0)
            for other, where in placement.copies
            for place, here in where.items()
            if (weight := self.mutual_weight(pod, other, node, place))
        )

    def mutual_weight(self, pod: Pod, other: Pod, node: Node, place: Node) -> int:
        """How much `other` on `place` adds to the score of `node` for `pod`."""
        own = [(t, self.weight(t)) for t in pod.terms if not t.required and self.means(t, other)]
        theirs = [(t, self.weight(t)) for t in other.terms if t.valid and t.matches(pod)]
        return sum(weight for term, weight in [*own, *theirs] if _share_domain(term, node, place))

    def means(self, term: Term, other: Pod) -> bool:
        """Whether a preferred term of the incoming pod selects another pod. PreScore has resolved its namespace selector."""
        return term.matches(other)

    def weight(self, term: Term) -> int:
        """The weight of one match of a term. Required anti-affinity terms count only in the filters."""
        if term.required:
            return 0 if term.anti else int(self.scope.config.hard_affinity_weight)
        return -term.weight if term.anti else term.weight

    def normalised(self, feasible: Mapping[Node, Expr], raw: Mapping[Node, Expr]) -> dict[Node, Expr]:
        """NormalizeScore: scaled to 0..100, rounded down as floating point does; 0 everywhere if all scores are equal."""
        low, high = self.bounds([(feasible[n], score) for n, score in raw.items()])
        spread = clamp(high - low, 1, max(1, (high - low).hi))
        scale = self.max_score()
        return {n: select(high == low, 0, share(score - low, spread, scale)) for n, score in raw.items()}

    def max_score(self) -> int:
        """The highest score of the scale."""
        return MAX_SCORE

    def bounds(self, scores: Sequence[tuple[Expr, Expr]]) -> tuple[Expr, Expr]:
        """Minimum and maximum of the scores that count, each with its condition."""
        least, greatest = as_expr(_limit(scores)), as_expr(-_limit(scores))
        for counts, score in scores:
            least = select(counts, smallest(score, least), least)
            greatest = select(counts, largest(score, greatest), greatest)
        some = any_of(counts for counts, _ in scores)
        return select(some, least, 0), select(some, greatest, 0)

    # --- for the cycle -------------------------------------------------------------------------------

    def wins(
        self, pod: Pod, node: Node, feasible: Mapping[Node, Expr], more: Mapping[Node, Expr] | None = None
    ) -> Expr:
        """Whether this cycle can choose the node: any feasible node, unless the scenario has scores. `more` is the sum of the extenders' scores."""
        if not self.scope.config.scored:
            return as_expr(True)
        scores = self.totals(pod, feasible, self.snapshot.placement())
        if more is not None:
            scores = {n: score + more[n] for n, score in scores.items()}
        return all_of([feasible[node], self.may_win(node, feasible, scores)])


def _forms(node: Node) -> tuple[Node, ...]:
    return node, *node.later.values()


def _share_domain(term: Term, node: Node, place: Node) -> bool:
    value = place.labels.get(term.topology_key)
    return value is not None and node.labels.get(term.topology_key) == value


def _limit(scores: Iterable[tuple[Expr, Expr]]) -> int:
    return max((max(abs(score.lo), abs(score.hi)) for _, score in scores), default=0)
