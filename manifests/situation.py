"""Who fits where, and who would have to go: the arithmetic by which a representative is chosen.

It decides only what is kept; verdicts come from the model. Selectors, tolerations and terms are asked of the
model's own objects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from ..model.environment.objects import Term
from .inventory import Inventory
from .members import ClusterNode, ClusterPod
from .skews import Skews

Pods = Collection[ClusterPod]


class Situation:
    """A cluster as it is, and with some of its pods gone."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.node = {n.name: n for n in inventory.nodes}
        self._guarded = [
            (pod, [t for t in pod.terms if t.anti])
            for pod in inventory.bound
            if any(t.anti for t in pod.terms)
        ]
        self.skews = Skews(inventory.nodes, inventory.bound)
        self._meant: dict[tuple[int, int], list[ClusterPod]] = {}

    def free(self, node: ClusterNode, gone: Pods = (), more: Pods = ()) -> dict[str, int]:
        """What is left of each resource without the pods that are `gone` and with `more`; negative if overcommitted."""
        left = dict(node.allocatable)
        for pod in self.inventory.on(node.name):
            if pod not in gone:
                _take(left, pod)
        for pod in more:
            _take(left, pod)
        return left

    @cached_property
    def sound_nodes(self) -> list[ClusterNode]:
        """The nodes whose pods fit them; a node that shrank under its pods can be no start of a scenario."""
        return [
            n
            for n in self.inventory.nodes
            if all(v >= 0 for v in self.free(n).values()) and self._room(n) >= 0
        ]

    def fits(self, pod: ClusterPod, node: ClusterNode, gone: Pods = (), more: Pods = ()) -> bool:
        """Whether the pod could go to the node as things are, without `gone` and with `more`."""
        easy = self.has_room(pod, node, gone, more) and self.at_ease(pod, node, gone)
        return easy and self.skews.allow(pod, node, gone, more)

    def has_room(self, pod: ClusterPod, node: ClusterNode, gone: Pods = (), more: Pods = ()) -> bool:
        """The same apart from inter-pod affinity and topology spread."""
        if not pod.admitted(node) or self._room(node, gone, more) < 1:
            return False
        left = self.free(node, gone, more)
        return all(left.get(r, 0) >= a for r, a in pod.requests.items() if a)

    def at_ease(self, pod: ClusterPod, node: ClusterNode, gone: Pods = ()) -> bool:
        """Whether required affinity and anti-affinity, of the pod and of bound pods, allow it there."""
        for other, terms in self._guarded:
            if other not in gone and any(
                t.matches(pod.entity) and self.together(other, node, t) for t in terms
            ):
                return False
        for term in pod.terms:
            meant = [p for p in self.meant(pod, term) if p not in gone]
            near = any(self.together(p, node, term) for p in meant)
            if term.anti:
                if near:
                    return False
            elif not near and (meant or not term.matches(pod.entity) or term.topology_key not in node.labels):
                return False
        return True

    def meant(self, pod: ClusterPod, term: Term) -> list[ClusterPod]:
        """The bound pods that a term of this pod means."""
        key = (id(pod), id(term))
        if key not in self._meant:
            self._meant[key] = [p for p in self.inventory.bound if term.matches(p.entity)]
        return self._meant[key]

    def together(self, pod: ClusterPod, node: ClusterNode, term: Term) -> bool:
        """Whether a bound pod is in the node's domain of a term."""
        key = term.topology_key
        there = self.node[pod.node or ""].labels.get(key)
        return there is not None and there == node.labels.get(key)

    def victims(self, pod: ClusterPod, node: ClusterNode) -> list[ClusterPod] | None:
        """Pods of lower priority without which the pod fits the node, none of which could stay; None if there are none.

        As preemption does, begins without all of them and takes back the most important ones first.
        """
        lower = [p for p in self.inventory.on(node.name) if p.priority < pod.priority and not p.terminating]
        if not pod.preempts or not lower or not self.fits(pod, node, lower):
            return None
        gone = set(lower)
        for candidate in sorted(lower, key=self._importance):
            if self.fits(pod, node, gone - {candidate}):
                gone.discard(candidate)
        return [p for p in lower if p in gone]

    def protected(self, pod: ClusterPod) -> bool:
        """Whether a disruption budget that allows no disruption protects the pod."""
        return any(b.allowed == 0 and b.protects(pod) for b in self.inventory.budgets)

    def _importance(self, pod: ClusterPod) -> tuple[bool, int, float, str]:
        start = pod.start.timestamp() if pod.start else float("inf")
        return (not self.protected(pod), -pod.priority, start, pod.name)

    def _room(self, node: ClusterNode, gone: Pods = (), more: Pods = ()) -> int:
        if node.pods is None:
            return 1 << 30
        return node.pods - sum(p not in gone for p in self.inventory.on(node.name)) - len(more)


def _take(left: dict[str, int], pod: ClusterPod) -> None:
    for resource, amount in pod.requests.items():
        left[resource] = left.get(resource, 0) - amount


def used_by(pods: Iterable[ClusterPod]) -> Mapping[str, int]:
    """What these pods ask for together."""
    total: dict[str, int] = {}
    for pod in pods:
        for resource, amount in pod.requests.items():
            total[resource] = total.get(resource, 0) + amount
    return total
