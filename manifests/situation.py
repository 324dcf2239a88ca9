"""Which pods matter for a question about a large cluster, and the question about them that the model answers.

The model decides by the room that is left on a node, by the pods there that have a host port which is wanted, and by those that affinity
and topology spread mean. A question brings these pods: of those that are alike for the affinity in question one, and those that topology
spread counts as the numbers in `others` of a constraint. All other pods only take room. A representative is made in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

from ..model.environment.cluster.placement_rules import SpreadConstraint
from ..model.environment.objects import Node, Operator, Pod, Requirement, Selector, Term
from .inventory import Inventory
from .members import ClusterNode, ClusterPod
from .reading.pod_objects import Spread
from .request import Asked, NodeLayout

EVERYBODY = Selector(expressions=(Requirement("podrace.io/nobody", Operator.DOES_NOT_EXIST),))
"""A selector that every pod meets, and that is not empty."""

Pods = Collection[ClusterPod]


class Situation:
    """A cluster as it is, and with some of its pods gone."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self.asked = Asked([budget.entity for budget in inventory.budgets])
        self._node = {n.name: n for n in inventory.nodes}
        self._entities = _numbered(inventory.bound)
        self._taken = {n.name: used_by(inventory.on(n.name)) for n in inventory.nodes}
        self._guards = {p: terms for p in inventory.bound if (terms := [t for t in p.terms if t.anti])}
        self._fits: dict[tuple[ClusterPod, ClusterNode], bool] = {}
        self._clash: dict[tuple[frozenset[ClusterPod], ClusterNode], bool] = {}
        self._victims: dict[tuple[ClusterPod, ClusterNode], list[ClusterPod]] = {}
        self._related: dict[ClusterPod, _Related] = {}
        self._reach: dict[ClusterPod, frozenset[str] | None] = {}
        self._counts: dict[tuple[ClusterPod, int, ClusterNode], tuple[str, int] | None] = {}

    @cached_property
    def sound_nodes(self) -> list[ClusterNode]:
        """The nodes whose pods fit them; a node that shrank under its pods can be no start of a scenario."""
        return [n for n in self.inventory.nodes if self._is_sound(n)]

    def _is_sound(self, node: ClusterNode) -> bool:
        """Whether each of its pods has room beside the others; only one is asked of those that ask for the same resources."""
        here = self.inventory.on(node.name)
        asking = {tuple(r for r, amount in p.requests.items() if amount): p for p in here}
        enough = all(
            self.asked.has_resources(
                self._entities[p], node.entity, self.layout(q for q in here if q is not p)
            )
            for p in asking.values()
        )
        return enough and not any(self.port_taken(p, node, [q for q in here if q is not p]) for p in here)

    def fits(self, pod: ClusterPod, node: ClusterNode, gone: Pods = (), more: Pods = ()) -> bool:
        """Whether the pod could go to the node as things are, without `gone`, and with `more` on the node."""
        if gone or more:
            return self._would_fit(pod, node, gone, more)
        # Every other pod that waits asks again whether this one is a rival there.
        if (pod, node) not in self._fits:
            self._fits[pod, node] = self._would_fit(pod, node, (), ())
        return self._fits[pod, node]

    def _would_fit(self, pod: ClusterPod, node: ClusterNode, gone: Pods, more: Pods) -> bool:
        if not self.reaches(pod, node):
            return False
        asking, place, layout = self._question(pod, node, gone, self._around(pod, node, gone))
        added = {p.entity: place for p in more}
        return self.asked.fits(asking, place, NodeLayout({**layout.on, **added}, layout.leaving))

    def clash(self, one: ClusterPod, other: ClusterPod, node: ClusterNode, gone: Pods) -> bool:
        """Whether two pods, each of which fits the node without `gone`, cannot both be there."""
        if gone:
            return self._would_clash(one, other, node, gone)
        pair = frozenset((one, other)), node
        if pair not in self._clash:
            self._clash[pair] = self._would_clash(one, other, node, ())
        return self._clash[pair]

    def _would_clash(self, one: ClusterPod, other: ClusterPod, node: ClusterNode, gone: Pods) -> bool:
        if self.inventory.claims.compete(one.claims, other.claims, node.name):
            return True
        return not (self.fits(one, node, gone, [other]) and self.fits(other, node, gone, [one]))

    def reaches(self, pod: ClusterPod, node: ClusterNode) -> bool:
        """Whether a pod that waits can have its volumes and devices on the node, which no eviction changes."""
        if pod not in self._reach:
            self._reach[pod] = self.inventory.claims.reach(pod.claims)
        reach = self._reach[pod]
        return reach is None or node.name in reach

    def victims(self, pod: ClusterPod, node: ClusterNode) -> list[ClusterPod]:
        """Whom preemption would evict from the node for the pod; nobody where that does not help.

        A pod that terminates is nobody's victim: it stays where it is, as all that a representative leaves out.
        """
        if (pod, node) not in self._victims:
            lower = self._lower(pod, node)
            self._victims[pod, node] = self._dry_run(pod, node, lower) if lower else []
        return self._victims[pod, node]

    def can_preempt(self, pod: ClusterPod, node: ClusterNode) -> bool:
        """Whether it helps to evict pods from a node that the pod does not fit. Quicker to say than whom."""
        return bool(self._lower(pod, node))

    def _lower(self, pod: ClusterPod, node: ClusterNode) -> list[ClusterPod]:
        """The pods that may be evicted; nobody where the pod does not fit without them, either."""
        staying = {self._entities[p]: p for p in self.inventory.on(node.name) if not p.terminating}
        potential = self.asked.potential_victims(pod.entity, node.entity, self.layout(staying.values()))
        lower = [staying[e] for e in potential]
        return lower if lower and self.fits(pod, node, lower) else []

    def _dry_run(self, pod: ClusterPod, node: ClusterNode, lower: Sequence[ClusterPod]) -> list[ClusterPod]:
        related = self._around(pod, node, lower)
        asking, place, layout = self._question(pod, node, (), [*lower, *related])
        staying = {self._entities[p]: _as_important_as(pod, p) for p in related}
        chosen = self.asked.victims(
            asking,
            place,
            NodeLayout(
                {staying.get(e, e): at for e, at in layout.on.items()},
                [staying.get(e, e) for e in layout.leaving],
            ),
        )
        return [p for p in lower if self._entities[p] in chosen]

    def _question(
        self, pod: ClusterPod, node: ClusterNode, gone: Pods, present: Sequence[ClusterPod]
    ) -> tuple[Pod, Node, NodeLayout]:
        """The pod that asks for a node, this node, and the pods that are `present` in person.

        The other pods on the node, but for those that are gone, only keep their room. The pod's topology spread counts by a
        label that no other node has, and all pods that are not present on the node are numbers of its constraints.
        """
        here = [p for p in present if p.node == node.name]
        away = {*here, *(p for p in gone if p.node == node.name)}
        place = self._place(node, away, [c.topology_key for c in pod.spread])
        layout = self.layout(present)
        on = {e: place if at is node.entity else at for e, at in layout.on.items()}
        if not pod.spread:
            return pod.entity, place, NodeLayout(on, layout.leaving)
        touched = {p.node for p in gone}

        def rest(other: ClusterNode) -> Pods | None:
            if other is node:
                return [p for p in self.inventory.on(node.name) if p not in away]
            return (
                [p for p in self.inventory.on(other.name) if p not in gone] if other.name in touched else None
            )

        asking = copy(pod.entity)
        asking.spread = tuple(
            c.entity(self.others(pod, i, [node], rest), _counted_by(c.topology_key))
            for i, c in enumerate(pod.spread)
        )
        return asking, place, NodeLayout(on, layout.leaving)

    def _place(self, node: ClusterNode, away: Pods, keys: Sequence[str]) -> Node:
        """The node with the room that its pods leave which are not `away`, and with the labels by which spread counts it."""
        room = Counter(node.allocatable)
        room.subtract(self._taken[node.name])
        for pod in away:
            room.update(pod.requests)
        number = len(self.inventory.on(node.name)) - len(away)
        counted = {_counted_by(key): node.labels[key] for key in keys if key in node.labels}
        return node.resized(room, None if node.pods is None else node.pods - number, counted)

    def layout(self, pods: Iterable[ClusterPod]) -> NodeLayout:
        """Where these bound pods are."""
        entities = {self._entities[p]: p for p in pods}
        return NodeLayout(
            {e: self._node[p.node or ""].entity for e, p in entities.items()},
            [e for e, p in entities.items() if p.terminating],
        )

    # --- affinity ----------------------------------------------------------------------------------

    def related(self, pod: ClusterPod) -> _Related:
        """The bound pods that required affinity between them and the pod is about."""
        if pod not in self._related:
            self._related[pod] = _Related.of(pod, self.inventory.bound, self._guards, self._node)
        return self._related[pod]

    def has_affinity(
        self, pod: ClusterPod, terms: Sequence[Term], node: ClusterNode, pods: Collection[ClusterPod]
    ) -> bool:
        """Whether these of the pod's terms, and the anti-affinity terms of these bound pods, let it go to the node."""
        asking = copy(pod.entity)
        asking.terms = tuple(terms)
        some = self.related(pod).around(node, set(pods).__contains__)
        return self.asked.has_affinity(asking, node.entity, self.layout(some))

    def _around(self, pod: ClusterPod, node: ClusterNode, gone: Pods) -> list[ClusterPod]:
        related = self.related(pod).around(node, lambda p: p not in gone)
        in_the_way = [p for p in self._on_port_of(pod, node) if p not in gone]
        return list(dict.fromkeys([*related, *in_the_way]))

    # --- host ports --------------------------------------------------------------------------------

    def port_taken(self, pod: ClusterPod, node: ClusterNode, by: Pods) -> bool:
        """Whether one of these pods is on the node, and has a host port there that the pod wants."""
        return any(p in by for p in self._on_port_of(pod, node))

    def _on_port_of(self, pod: ClusterPod, node: ClusterNode) -> list[ClusterPod]:
        if not pod.host_ports:
            return []
        return [p for p in self.inventory.on(node.name) if pod.entity.wants_port_of(p.entity)]

    # --- topology spread ---------------------------------------------------------------------------

    def others(
        self,
        pod: ClusterPod,
        number: int,
        near: Sequence[ClusterNode],
        rest: Callable[[ClusterNode], Pods | None],
    ) -> dict[str, int]:
        """What a constraint of the pod counts among the pods that are no part of a question about the nodes `near`.

        `rest` gives these pods on a node, None for all. The numbers are those of the domains of `near`, and of the emptiest
        of the other domains, of which there are as many as minDomains asks for: no more can matter.
        """
        spread = pod.spread[number]
        found: Counter[str] = Counter()
        for node in self.inventory.nodes:
            counted = self._counted(pod, number, node, rest(node))
            if counted is not None:
                found[counted[0]] += counted[1]
        key = spread.topology_key
        here = {node.labels[key] for node in near if key in node.labels}
        shown = {node.labels[key] for node in near if self.counts(pod, spread, node)}
        elsewhere = sorted((count, domain) for domain, count in found.items() if domain not in here)
        others = {d: count for d, count in found.items() if d in here and (count or d not in shown)}
        more = max(1, spread.min_domains - len(found.keys() & here))
        return others | {domain: count for count, domain in elsewhere[:more]}

    def counts(self, pod: ClusterPod, spread: Spread, node: ClusterNode) -> bool:
        """Whether a constraint of the pod counts a node."""
        return self._count(pod, spread, node, ()) is not None

    def _counted(
        self, pod: ClusterPod, number: int, node: ClusterNode, pods: Pods | None
    ) -> tuple[str, int] | None:
        if pods is not None:
            return self._count(pod, pod.spread[number], node, pods)
        key = (pod, number, node)
        if key not in self._counts:
            self._counts[key] = self._count(pod, pod.spread[number], node, self.inventory.on(node.name))
        return self._counts[key]

    def _count(
        self, pod: ClusterPod, spread: Spread, node: ClusterNode, pods: Pods
    ) -> tuple[str, int] | None:
        """The node's domain, and how many of the pods the constraint counts there."""
        asking = copy(pod.entity)
        asking.spread = tuple(_as_constraint(c) for c in pod.spread)
        return self.asked.domain(asking, _as_constraint(spread), node.entity, self.layout(pods))


def used_by(pods: Iterable[ClusterPod]) -> Counter[str]:
    """What these pods ask for together, by resource."""
    found: Counter[str] = Counter()
    for pod in pods:
        found.update(pod.requests)
    return found


class _Related:
    """Bound pods by what affinity can tell of them: which terms are about them, and their node's values of the keys."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys
        self.alike: dict[tuple[tuple[str | None, ...], Hashable], list[ClusterPod]] = {}

    @classmethod
    def of(
        cls,
        pod: ClusterPod,
        bound: Iterable[ClusterPod],
        guards: Mapping[ClusterPod, Sequence[Term]],
        nodes: Mapping[str, ClusterNode],
    ) -> _Related:
        """The pods that the pod's terms mean, and those whose anti-affinity terms mean the pod."""
        about: dict[ClusterPod, tuple[tuple[bool, ...], tuple[str, ...]]] = {}
        for other in bound if pod.terms else ():
            means = tuple(t.matches(other.entity) for t in pod.terms)
            if any(means):
                about[other] = (means, ())
        for other, terms in guards.items():
            by = tuple(sorted(t.topology_key for t in terms if t.matches(pod.entity)))
            if by:
                about[other] = (about.get(other, ((), ()))[0], by)
        keys = {t.topology_key for t in pod.terms} | {key for _, by in about.values() for key in by}
        found = cls(sorted(keys))
        for other, kind in about.items():
            labels = nodes[other.node or ""].labels
            values = tuple(labels.get(key) for key in found.keys)
            found.alike.setdefault((values, kind), []).append(other)
        return found

    def around(self, node: ClusterNode, counts: Callable[[ClusterPod], bool]) -> list[ClusterPod]:
        """Of those pods that are alike and count, one each: all kinds in a domain of the node, and one of each elsewhere."""
        found: list[ClusterPod] = []
        far: dict[Hashable, ClusterPod] = {}
        own = [node.labels.get(key) for key in self.keys]
        for (values, kind), pods in self.alike.items():
            one = next((p for p in pods if counts(p)), None)
            if one is None:
                continue
            if any(a is not None and a == b for a, b in zip(values, own, strict=True)):
                found.append(one)
            else:
                far.setdefault((kind, tuple(v is not None for v in values)), one)
        return [*found, *far.values()]


def _as_constraint(spread: Spread) -> SpreadConstraint:
    """The constraint as it is asked whom it means. An empty selector means every pod, but only old releases heed that; the
    numbers are given in any case, and the release that is checked decides what it makes of them.
    """
    selector = EVERYBODY if spread.selector.empty else spread.selector
    return replace(spread, selector=selector).entity({})


def _counted_by(key: str) -> str:
    return f"podrace.io/spread-by/{key}"


def _as_important_as(pod: ClusterPod, other: ClusterPod) -> Pod:
    return other.entity.with_cpu(other.requests.get("cpu", 0), pod.priority, None)


def _numbered(pods: Sequence[ClusterPod]) -> dict[ClusterPod, Pod]:
    """The pods as the model knows them, each an object of its own: by name, and with the order of their start times."""
    starts = sorted({p.start for p in pods if p.start})
    rank = {start: i for i, start in enumerate(starts)}
    found = {}
    for i, pod in enumerate(sorted(pods, key=lambda p: p.name)):
        found[pod] = entity = copy(pod.entity)
        entity.index = i
        if pod.start is not None:
            entity.start = rank[pod.start]
    return found
