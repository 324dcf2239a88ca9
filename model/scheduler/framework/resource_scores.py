"""The scores of resources: NodeResourcesFit and NodeResourcesBalancedAllocation (framework/plugins/noderesources, 1.36).

Upstream's integers are divided as here. What it computes in floating point is an exact quotient here, and is put right for those amounts of which
the two come to different integers: what a node may have is one of few sums.
"""

from collections.abc import Callable, Mapping, Sequence

from ...environment.cluster.footprint import CPU, MEMORY
from ...environment.cluster.scope import LEAST_ALLOCATED, SCORED_RESOURCES
from ...environment.objects import Node, Pod
from ...language import Component, Expr, Value, as_expr, largest, select, smallest, total
from ...language.expressions.errors import ModelError
from .placement import Placement
from .spread_scores import MAX_SCORE

MOST_SUMS = 5000

Pair = tuple[int, int]


class ResourceScores(Component):
    """The scores of a node by the requests of its pods, with or without the new pod. Each pod and each node has an amount of both resources."""

    def max_score(self) -> int:
        """The highest score of the scale."""
        return MAX_SCORE

    # --- NodeResourcesFit ----------------------------------------------------------------------------------

    def fit(self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement) -> dict[Node, Expr]:
        """LeastAllocated: more free resources give a higher score. MostAllocated: fewer (leastResourceScorer, mostResourceScorer)."""
        return self._of_each(feasible, placement, lambda node, seen: self._fit(pod, node, seen))

    def _fit(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        least = self.scope.config.scoring_strategy == LEAST_ALLOCATED
        parts = []
        for resource in SCORED_RESOURCES:
            capacity = node.allocatable(resource)
            used = smallest(self._used(node, placement, resource) + pod.request(resource), capacity)
            part = capacity - used if least else used
            parts.append(part * self.max_score() // capacity)
        return total(parts) // len(parts)

    # --- NodeResourcesBalancedAllocation -------------------------------------------------------------------

    def balanced(self, pod: Pod, feasible: Mapping[Node, Expr], placement: Placement) -> dict[Node, Expr]:
        """A higher score if the shares of the two resources are closer to each other."""
        return self._of_each(feasible, placement, lambda node, seen: self.balance(pod, node, seen))

    def balance(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """balancedResourceScorer: how much the pod improves the balance of the node, from 50 to 100."""
        half = self.max_score() // 2
        after = self.evenness(pod, node, placement)
        before = self.evenness(None, node, placement)
        return half + (half + after - before) // 2

    def evenness(self, pod: Pod | None, node: Node, placement: Placement) -> Expr:
        """balancedResourceScore: 1 minus the standard deviation of the two shares, which is half of their difference. Without a pod, for the node as it is."""
        return self.evened(pod, node, placement, halves=2)

    def evened(self, pod: Pod | None, node: Node, placement: Placement, *, halves: int) -> Expr:
        """1 minus the difference of the shares, or minus a part of it."""
        cpu, memory = (_number(node.allocatable(r)) for r in SCORED_RESOURCES)
        asked = [0 if pod is None else _number(pod.request(r)) for r in SCORED_RESOURCES]
        used_cpu, used_memory = (
            smallest(self._used(node, placement, r) + own, node.allocatable(r))
            for r, own in zip(SCORED_RESOURCES, asked, strict=True)
        )
        ahead, whole = used_cpu * memory - used_memory * cpu, halves * cpu * memory
        apart = largest(ahead, -ahead)
        exact = (whole - apart) * self.max_score() // whole

        def by_floats(amounts: Pair) -> int:
            shares = [min(amount / most, 1.0) for amount, most in zip(amounts, (cpu, memory), strict=True)]
            return int((1 - abs(shares[0] - shares[1]) / halves) * float(self.max_score()))

        def by_integers(amounts: Pair) -> int:
            a, b = min(amounts[0], cpu), min(amounts[1], memory)
            return (whole - abs(a * memory - b * cpu)) * self.max_score() // whole

        sums = _sums(self._requests(node, placement), (asked[0], asked[1]))
        wrong = {
            amounts: by_floats(amounts) for amounts in sums if by_floats(amounts) != by_integers(amounts)
        }
        found = exact
        for (a, b), score in sorted(wrong.items()):
            is_it = (used_cpu == min(a, cpu)) & (used_memory == min(b, memory))
            found = select(is_it, score, found)
        return found

    # --- what a node has -----------------------------------------------------------------------------------

    def is_full(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Whether the pod would use up one of the two resources."""
        cpu, memory = (
            self._used(node, placement, r) + pod.request(r) >= node.allocatable(r) for r in SCORED_RESOURCES
        )
        return cpu | memory

    def _used(self, node: Node, placement: Placement, resource: str) -> Expr:
        return total(select(here, q.request(resource), 0) for q, here in placement.counted(node))

    def _requests(self, node: Node, placement: Placement) -> list[Pair]:
        return [(_number(q.request(CPU)), _number(q.request(MEMORY))) for q, _ in placement.counted(node)]

    def _of_each(
        self, feasible: Mapping[Node, Expr], placement: Placement, score: Callable[[Node, Placement], Expr]
    ) -> dict[Node, Expr]:
        return {node: as_expr(placement.ask(node, score)) for node in feasible}


def _number(amount: Value) -> int:
    known = as_expr(amount)
    if not known.is_const:
        raise ModelError(
            "the scores of resources need amounts that are known: give numbers in place of ranges"
        )
    return int(known.value)


def _sums(requests: Sequence[Pair], own: Pair) -> set[Pair]:
    """All that some of the pods may ask for together, with what is there in any case."""
    found = {own}
    for cpu, memory in requests:
        found |= {(a + cpu, b + memory) for a, b in found}
        if len(found) > MOST_SUMS:
            raise ModelError(
                "the scores of resources have too many cases: give the pods fewer different requests, or the cluster fewer pods"
            )
    return found
