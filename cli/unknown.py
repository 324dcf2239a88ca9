"""Clusters of so many pods and nodes with unknown requests, capacities and priorities, and the scenario files of those found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product

from ..model.environment.objects import ClusterSpec, Node, Pod, Scope
from ..model.language import Expr, Parameter, all_of, any_of, total
from ..model.language.expr import fresh_graph

Size = tuple[int, int]
"""Pods and nodes."""


def sizes(pods: int, nodes: int) -> list[Size]:
    """All sizes up to these, the smaller first; of those that are equally large, the one with fewer nodes."""
    return sorted(product(range(1, pods + 1), range(1, nodes + 1)), key=lambda s: (s[0] + s[1], s[1]))


@dataclass(frozen=True, slots=True)
class Ranges:
    """The largest request, capacity and priority that are tried; the least are 0."""

    request: int
    capacity: int
    priority: int

    @classmethod
    def of(cls, pods: int) -> Ranges:
        """Requests large enough to tell apart which sets of so many pods fit where; a node may have room for all."""
        return cls(2**pods, pods * 2**pods, 2**pods)

    def node(self, node: Node) -> Parameter:
        """A node's capacity."""
        return Parameter(f"{node.name}.cpu", 0, self.capacity)

    def pod(self, pod: Pod) -> tuple[Parameter, Parameter]:
        """A pod's request and priority."""
        return Parameter(f"{pod.name}.cpu", 0, self.request), Parameter(
            f"{pod.name}.priority", 0, self.priority
        )

    @property
    def words(self) -> str:
        """In words."""
        return f"requests up to {self.request}, capacities up to {self.capacity} and priorities up to {self.priority}"


def with_unknown(spec: ClusterSpec) -> ClusterSpec:
    """The same cluster with unknown CPU and priorities; what else it has stays as it is."""
    ranges = Ranges.of(len(spec.pods))
    nodes = {n.name: n.with_cpu(ranges.node(n)) for n in spec.nodes}
    pods = (p.with_cpu(*ranges.pod(p), None if p.node is None else nodes[p.node.name]) for p in spec.pods)
    return replace(spec, pods=tuple(pods), nodes=tuple(nodes.values()))


def describable(spec: ClusterSpec) -> Expr:
    """That every node has room for the pods on it at the start, and that some node could hold each pod."""
    with fresh_graph():
        return all_of(
            [
                *(total(p.cpu for p in spec.pods if p.node is n) <= n.cpu for n in spec.nodes),
                *(any_of(p.cpu <= n.cpu for n in spec.nodes) for p in spec.pods),
            ]
        )


@dataclass(frozen=True)
class Unknown:
    """Pods and nodes with a CPU request or capacity and a priority that nobody knows; `bound` pods begin on each node.

    The pods that are bound come first, in the order of the nodes; the others are pending. Every pod goes at once when
    it is deleted (terminationGracePeriodSeconds 0). Left out are clusters whose nodes are too small for the pods
    on them at the start, and those with a pod that no node could ever hold: scenarios cannot say these either.
    """

    pods: int
    bound: tuple[int, ...]
    scope: Scope

    @property
    def ranges(self) -> Ranges:
        """What is possible."""
        return Ranges.of(self.pods)

    @property
    def places(self) -> list[int | None]:
        """For each pod, the node that it begins on."""
        on: list[int | None] = [n for n, count in enumerate(self.bound) for _ in range(count)]
        return on + [None] * (self.pods - len(on))

    @cached_property
    def spec(self) -> ClusterSpec:
        """The cluster, with parameters for what is unknown."""
        nodes = tuple(Node(i, f"n{i + 1}", 0) for i in range(len(self.bound)))
        pods = tuple(
            Pod(i, f"p{i + 1}", 0, node=None if place is None else nodes[place], graceful=False)
            for i, place in enumerate(self.places)
        )
        return with_unknown(ClusterSpec(f"{self.pods}-pods-{len(nodes)}-nodes", pods, nodes, self.scope))

    @cached_property
    def assumption(self) -> Expr:
        """What sets the clusters apart that a scenario can describe."""
        return describable(self.spec)

    def renamings(self) -> Iterator[dict[str, str]]:
        """Every way to exchange nodes, and pods that begin on the same node, that leaves this placement as it is."""
        for nodes in permutations(range(len(self.bound))):
            if any(self.bound[n] != self.bound[m] for n, m in enumerate(nodes)):
                continue
            for pods in permutations(range(self.pods)):
                moved = [self.places[p] for p in pods]
                if moved == [None if place is None else nodes[place] for place in self.places]:
                    yield {
                        **{f"n{i + 1}.cpu": f"n{n + 1}.cpu" for i, n in enumerate(nodes)},
                        **{
                            f"p{i + 1}.{what}": f"p{p + 1}.{what}"
                            for i, p in enumerate(pods)
                            for what in QUANTITIES
                        },
                    }


QUANTITIES = ("cpu", "priority")


def placements(pods: int, nodes: int, scope: Scope) -> list[Unknown]:
    """Every way to begin, up to the names of pods and nodes: fewer bound pods first."""
    counts = [
        c
        for c in product(range(pods + 1), repeat=nodes)
        if sum(c) <= pods and list(c) == sorted(c, reverse=True)
    ]
    return [Unknown(pods, count, scope) for count in sorted(counts, key=lambda c: (sum(c), c))]


def scenario_text(
    unknown: Unknown,
    values: Mapping[str, int],
    *,
    name: str,
    title: str,
    release: str,
    properties: str,
    comment: str,
) -> str:
    """A scenario file with these values for what is unknown."""
    nodes = [f"  {n.name}: {{cpu: {values[f'{n.name}.cpu']}}}" for n in unknown.spec.nodes]
    pods = []
    for p in unknown.spec.pods:
        place = f", nodeName: {p.node.name}" if p.node is not None else ""
        numbers = f"cpu: {values[f'{p.name}.cpu']}, priority: {values[f'{p.name}.priority']}"
        pods.append(f"  {p.name}: {{{numbers}{place}, terminationGracePeriodSeconds: 0}}")
    default = Scope()
    bounds = [
        f"{field}: {str(value).lower()}"
        for field, value in ((f, getattr(unknown.scope, f)) for f in Scope.__dataclass_fields__)
        if value != getattr(default, field)
    ]
    lines = [
        *(f"# {line}" for line in comment.splitlines()),
        f"name: {name}",
        f"title: {title}",
        f'release: "{release}"',
        f"properties: [{properties}]",
        "nodes:",
        *nodes,
        "pods:",
        *pods,
        *([f"scope: {{{', '.join(bounds)}}}"] if bounds else []),
    ]
    return "\n".join(lines) + "\n"
