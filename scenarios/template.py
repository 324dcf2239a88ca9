"""Cluster templates: which pods are where, with parameters for all sizes and priorities; everything else is as in a plain scenario.

Pods are numbered: first those that are bound at the start, node by node, then those that wait, in the order in which
they arrived in activeQ. Nodes are numbered so that no node has fewer pods at the start than the next one. Every
placement of pods is one of these but for the names.

The pods of a gang are alike, and share their parameters: they come from one pod template, as those of a Job do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise, product
from typing import Any

from ..base.structs import Data
from ..model.environment.objects import ClusterSpec, Node, Pod, PodGroup, Quantity, Scope
from ..model.language import Expr, Parameter, all_of, any_of, total
from ..model.language.expressions.expr import parameter

LOWEST_PRIORITY = -(1 << 31)
"""What the API server allows at all."""

HIGHEST_PRIORITY = 1_000_000_000
"""What it allows a PriorityClass of a user's own."""


class Limits(Data):
    """The ranges of the parameters: sizes and priorities."""

    request: int = 1 << 40
    capacity: int = 1 << 40
    priority: int = HIGHEST_PRIORITY
    least_request: int = 0
    least_priority: int = 0

    def capacity_of(self, node: str, resource: str) -> Parameter:
        """The parameter for the capacity of a node."""
        return Parameter(f"{node}.{resource}", 0, self.capacity)

    def request_of(self, pod: str, resource: str) -> Parameter:
        """The parameter for the request of a pod."""
        return Parameter(f"{pod}.{resource}", self.least_request, self.request)

    def priority_of(self, pod: str) -> Parameter:
        """The parameter for the priority of a pod."""
        return Parameter(f"{pod}.priority", self.least_priority, self.priority)


WIDE = Limits()


class ClusterTemplate(Data):
    """So many pods bound to each node, and so many that wait.

    `resources` are those that pods ask for; `graceful` is as of Pod. `gangs` has the size of each gang, whose pods wait, too; then
    `arrival` has for each pod that waits the number of its gang, or None, in the order in which they came. `together`: only orders
    are wanted in which the pods of a gang come one after the other.
    """

    bound: tuple[int, ...]
    waiting: int
    resources: tuple[str, ...] = ("cpu",)
    graceful: bool = True
    limits: Limits = WIDE
    scope: Scope = field(default_factory=Scope)
    gangs: tuple[int, ...] = ()
    arrival: tuple[int | None, ...] = ()
    together: bool = False

    @property
    def pods(self) -> int:
        """How many pods there are."""
        return sum(self.bound) + self.waiting + sum(self.gangs)

    @property
    def owners(self) -> tuple[str, ...]:
        """For each pod the name of what has its request and its priority: itself, or its gang."""
        count = sum(self.bound)
        arrival = self.arrival or (None,) * self.waiting
        return tuple(
            pod_name(i) if gang is None else gang_name(gang)
            for i, gang in enumerate((*(None,) * count, *arrival))
        )

    @property
    def places(self) -> tuple[int | None, ...]:
        """For each pod the number of its node, or None."""
        placed = tuple(n for n, count in enumerate(self.bound) for _ in range(count))
        return placed + (None,) * (self.waiting + sum(self.gangs))

    def __str__(self) -> str:
        where = [f"{count} on {node_name(n)}" for n, count in enumerate(self.bound) if count]
        if self.gangs:
            come = ["single" if gang is None else gang_name(gang) for gang in self.arrival]
            return ", ".join([*where, f"waiting {' '.join(come)}"])
        return ", ".join([*where, *([f"{self.waiting} waiting"] if self.waiting else [])])


class ParametricCluster(Data):
    """The cluster of a template with a parameter for each size and priority: per node and per pod, by resource."""

    spec: ClusterSpec
    capacities: tuple[Mapping[str, Parameter], ...]
    requests: tuple[Mapping[str, Parameter], ...]
    priorities: tuple[Parameter, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All of them: capacities, requests, priorities."""
        amounts = [q for table in (*self.capacities, *self.requests) for q in table.values()]
        return tuple(dict.fromkeys((*amounts, *self.priorities)))

    def assumptions(self) -> tuple[Expr, ...]:
        """That the pods that are bound at the start fit their nodes; in the graph in use."""
        found = []
        for node, capacity in zip(self.spec.nodes, self.capacities, strict=True):
            here = [asks for pod, asks in zip(self.spec.pods, self.requests, strict=True) if pod.node is node]
            if here:
                found += [
                    total(parameter(asks[r]) for asks in here) <= parameter(q) for r, q in capacity.items()
                ]
        return tuple(e for e in found if not e.is_const)

    def neighbours(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Pairs of pods in one place, and of empty nodes, that are next to each other in the cluster; each with the name of its priority, or of its first capacity. Of clusters with gangs, none."""
        pods, nodes = self.spec.pods, self.spec.nodes
        if self.spec.groups:
            return []
        used = {pod.node for pod in pods}
        ranked = [(pod.name, rank) for pod, rank in zip(pods, self.priorities, strict=True)]
        sizes = [(node.name, next(iter(q.values()))) for node, q in zip(nodes, self.capacities, strict=True)]
        found = [(ranked[a.index], ranked[b.index]) for a, b in pairwise(pods) if a.node is b.node]
        found += [(sizes[a.index], sizes[b.index]) for a, b in pairwise(nodes) if not used & {a, b}]
        return [
            ((one, rank.name), (other, its.name)) for (one, rank), (other, its) in found if rank.lo < rank.hi
        ]

    def oversize(self) -> tuple[Expr, ...]:
        """For each pod, that no node could hold it, which a scenario file cannot say; in the graph in use."""
        return tuple(
            all_of(
                any_of(parameter(asks[r]) > parameter(q) for r, q in capacity.items())
                for capacity in self.capacities
            )
            for asks in self.requests
        )


def sizes(pods: int, nodes: int, least: int = 1) -> list[tuple[int, int]]:
    """All sizes from the least number of pods up to so many pods and nodes, the smaller first; of those equally large, the one with fewer nodes."""
    return sorted(product(range(least, pods + 1), range(1, nodes + 1)), key=lambda s: (s[0] + s[1], s[1]))


def templates(pods: int, nodes: int, example: ClusterTemplate) -> Iterator[ClusterTemplate]:
    """Every template of exactly so many pods and nodes, in other respects like the example."""

    def counts(left: int, most: int, nodes: int) -> Iterator[tuple[int, ...]]:
        if nodes == 0:
            yield ()
            return
        for here in range(min(left, most) + 1):
            for rest in counts(left - here, here, nodes - 1):
                yield (here, *rest)

    for bound in counts(pods, pods, nodes):
        waiting = pods - sum(bound)
        if not example.gangs:
            yield replace(example, bound=bound, waiting=waiting)
            continue
        for arrival in arrivals(example.gangs, waiting):
            if example.together and any(_is_split(arrival, gang) for gang in range(len(example.gangs))):
                continue
            yield replace(example, bound=bound, waiting=waiting, arrival=arrival)


def arrivals(gangs: Sequence[int], singles: int) -> Iterator[tuple[int | None, ...]]:
    """Every order in which the pods of gangs and so many single pods can come. Of gangs of one size the first in name comes first."""

    def orders(
        left: tuple[int, ...], singles: int, begun: frozenset[int]
    ) -> Iterator[tuple[int | None, ...]]:
        if not singles and not any(left):
            yield ()
            return
        for gang, count in enumerate(left):
            earlier = [g for g in range(gang) if gangs[g] == gangs[gang] and g not in begun]
            if count and not (gang not in begun and earlier):
                fewer = tuple(c - (g == gang) for g, c in enumerate(left))
                for rest in orders(fewer, singles, begun | {gang}):
                    yield (gang, *rest)
        if singles:
            for rest in orders(left, singles - 1, begun):
                yield (None, *rest)

    yield from orders(tuple(gangs), singles, frozenset())


def _is_split(arrival: tuple[int | None, ...], gang: int) -> bool:
    first, count = arrival.index(gang), arrival.count(gang)
    return arrival[first : first + count] != (gang,) * count


def instantiate(template: ClusterTemplate) -> ParametricCluster:
    """The cluster of a template with a parameter for every size and priority."""
    limits, resources = template.limits, template.resources
    capacities = tuple(
        {r: limits.capacity_of(node_name(n), r) for r in resources} for n in range(len(template.bound))
    )
    owners = template.owners
    asks = {o: {r: limits.request_of(o, r) for r in resources} for o in owners}
    ranks = {o: limits.priority_of(o) for o in owners}
    requests = tuple(asks[o] for o in owners)
    priorities = tuple(ranks[o] for o in owners)
    return ParametricCluster(
        _spec(template, capacities, requests, priorities), capacities, requests, priorities
    )


def concrete(template: ClusterTemplate, values: Mapping[str, int]) -> ClusterSpec:
    """The cluster of a template with these sizes and priorities, by the names of its parameters; one that nothing was asked of has its least value."""

    def value(of: Parameter) -> int:
        return values.get(of.name, of.lo)

    def known(table: Mapping[str, Parameter]) -> dict[str, int]:
        return {r: value(q) for r, q in table.items()}

    found = instantiate(template)
    return _spec(
        template,
        tuple(map(known, found.capacities)),
        tuple(map(known, found.requests)),
        tuple(map(value, found.priorities)),
    )


def node_name(number: int) -> str:
    """n1, n2, ..."""
    return f"n{number + 1}"


def pod_name(number: int) -> str:
    """p1, p2, ..."""
    return f"p{number + 1}"


def gang_name(number: int) -> str:
    """g1, g2, ..."""
    return f"g{number + 1}"


def _amounts(table: Mapping[str, Quantity]) -> dict[str, Any]:
    """As Node and Pod take them; both must be told of the CPU."""
    native = {"cpu": table.get("cpu", 0), "memory": table.get("memory", 0)}
    extended = {r: q for r, q in table.items() if r not in native}
    return {**native, **({"extended": extended} if extended else {})}


def _spec(
    template: ClusterTemplate,
    capacities: Sequence[Mapping[str, Quantity]],
    requests: Sequence[Mapping[str, Quantity]],
    priorities: Sequence[Quantity],
) -> ClusterSpec:
    nodes = tuple(Node(i, node_name(i), **_amounts(table)) for i, table in enumerate(capacities))
    pods = tuple(
        Pod(
            i,
            pod_name(i),
            priority=priorities[i],
            node=None if place is None else nodes[place],
            graceful=template.graceful,
            group=None if owner == pod_name(i) else owner,
            arrival=0 if place is not None else i - sum(template.bound),
            **_amounts(requests[i]),
        )
        for i, (place, owner) in enumerate(zip(template.places, template.owners, strict=True))
    )
    groups = tuple(PodGroup(i, gang_name(i), size) for i, size in enumerate(template.gangs))
    name = f"{template.pods} pods and {len(nodes)} nodes, {template}"
    return ClusterSpec(name, pods, nodes, template.scope, groups=groups)
