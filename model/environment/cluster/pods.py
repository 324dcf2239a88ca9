"""Pods: what of their objects a scheduler race can depend on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from enum import Enum

from ...language import Entity, Expr, as_expr
from .nodes import Node
from .placement_rules import NO_WISHES, HostPort, NodeAffinity, SpreadConstraint, Term, Toleration, Wishes
from .resources import Quantity, amounts


class ExtensionPoint(Enum):
    """Where a plugin has work to do for a pod; the value is how a scenario names it."""

    RESERVE = "reserve"
    PERMIT = "permit"
    PRE_BIND = "preBind"


NOW = 1 << 40
"""The start time of a pod that has none yet: later than every other."""


class Pod(Entity):
    """A pod: requests, priority, labels, affinity terms, and where it is in the beginning.

    `node` is the node that it is bound to at the start. `exists` is False for a pod that a user may
    create later. `graceful` is False for terminationGracePeriodSeconds 0: a DELETE removes it at once.
    `start` is status.startTime, as a number. `arrival` is how many times of creation are earlier, of those of pods that wait at the start: of two with the same number either may have come first. `preempts` is False for preemptionPolicy Never.
    `namespace_labels` are those of the pod's namespace. `node_selector` and the required `node_affinity` say which
    nodes the pod may go to, `spread` how evenly it and its like must lie over them, `wishes` what it would like. `extension_points` are those at
    which some plugin has work to do for the pod. `host_ports` are the ports of its node that it occupies. `gated`: it is created
    with scheduling gates, of which `gates` are the names where they matter. `finalizers`: its object stays when it is deleted, until whoever set them has taken them away.
    `recreates` names the pod whose name it takes when that one is gone. `finishes`: once it is bound, its containers may end by themselves.
    `claims` are the names of the ResourceClaims that it refers to: the plugin DynamicResources then has work at Reserve and PreBind.
    `generated` are those of them that are made for it, from templates; `extended_claim`, if any, the special one for the extended resources that devices back: the last.
    `volumes` are the names of the PersistentVolumeClaims that it mounts, `exclusive` those of them that one pod only may use.
    `group` is the name of the pod group that it belongs to (spec.schedulingGroup).
    `extender_selector` are the labels that an extender of the scheduler wants of the pod's node. `foreign`: another scheduler places it (spec.schedulerName).
    `features` are those that its node has to declare: upstream infers them from the specification. `ready` is False for one that is bound at the start and not ready, `started` for one whose phase is Pending then. `deleted`: it is bound at the start, and somebody has deleted it already (deletionTimestamp).
    `later` are the versions that its object may be updated to, by name;
    each has the name and the index of the pod, and a `number`; that of the pod as it is created is 0.
    """

    def __init__(
        self,
        index: int,
        name: str,
        cpu: Quantity,
        priority: Quantity = 0,
        *,
        memory: Quantity = 0,
        ephemeral: Quantity = 0,
        extended: Mapping[str, Quantity] | None = None,
        namespace: str = "default",
        namespace_labels: Mapping[str, str] | None = None,
        uid: str | None = None,
        start: int | None = None,
        arrival: int = 0,
        preempts: bool = True,
        labels: Mapping[str, str] | None = None,
        terms: Sequence[Term] = (),
        tolerations: Sequence[Toleration] = (),
        node_selector: Mapping[str, str] | None = None,
        node_affinity: NodeAffinity | None = None,
        node: Node | None = None,
        exists: bool = True,
        graceful: bool = True,
        extension_points: Iterable[ExtensionPoint] = (),
        claims: Sequence[str] = (),
        generated: Iterable[str] = (),
        extended_claim: str | None = None,
        volumes: Sequence[str] = (),
        exclusive: Iterable[str] = (),
        group: str | None = None,
        spread: Sequence[SpreadConstraint] = (),
        wishes: Wishes = NO_WISHES,
        gated: bool = False,
        gates: Sequence[str] = (),
        finalizers: bool = False,
        recreates: str | None = None,
        host_ports: Sequence[HostPort] = (),
        finishes: bool = False,
        extender_selector: Mapping[str, str] | None = None,
        foreign: bool = False,
        features: Iterable[str] = (),
        ready: bool = True,
        started: bool = True,
        deleted: bool = False,
        later: Mapping[str, Pod] | None = None,
    ) -> None:
        super().__init__(index, name)
        self._requests, self._priority = amounts(cpu, memory, ephemeral, extended), priority
        self.namespace, self.namespace_labels = namespace, dict(namespace_labels or {})
        self.uid = name if uid is None else uid
        self.start = NOW if start is None else start
        self.arrival = arrival
        self.preempts = preempts
        self.labels, self.tolerations = dict(labels or {}), tuple(tolerations)
        self.terms = tuple(_owned(term, namespace) for term in terms)
        self.node_selector, self.node_affinity = dict(node_selector or {}), node_affinity
        self.node, self.exists, self.graceful = node, exists, graceful
        self.claims = (*claims, *(() if extended_claim is None else (extended_claim,)))
        self.extended_claim = extended_claim
        by_claims = {ExtensionPoint.RESERVE, ExtensionPoint.PRE_BIND} if self.claims or volumes else set()
        self.extension_points = frozenset(extension_points) | by_claims
        self.gated, self.gates = gated or bool(gates), tuple(gates)
        self.volumes, self.exclusive = tuple(volumes), frozenset(exclusive)
        self.generated = frozenset(generated)
        self.group = group
        self.spread, self.wishes, self.finalizers = tuple(spread), wishes, finalizers
        self.host_ports, self.recreates, self.finishes = tuple(host_ports), recreates, finishes
        self.extender_selector, self.foreign = dict(extender_selector or {}), foreign
        self.features, self.ready, self.started = frozenset(features), ready, started
        self.deleted = deleted
        self.later, self.number = dict(later or {}), 0
        for number, version in enumerate(self.later.values(), start=1):
            version.number = number

    def asks_for(self, node: Node) -> bool:
        """Whether nodeSelector and required node affinity both match the node (GetRequiredNodeAffinity, 1.22)."""
        selected = all(node.labels.get(k) == v for k, v in self.node_selector.items())
        return selected and (self.node_affinity is None or self.node_affinity.matches(node.name, node.labels))

    def endures(self, node: Node, effects: Collection[str] = ("NoExecute",)) -> bool:
        """Whether the pod tolerates all taints of the node with these effects: those that would have it leave, if no others are named."""
        return all(
            taint.effect not in effects or any(t.tolerates(taint) for t in self.tolerations)
            for taint in node.taints
        )

    def passes_extender(self, node: Node) -> bool:
        """Whether the extender lets the pod go to the node; one that has no say lets all go."""
        return all(node.labels.get(k) == v for k, v in self.extender_selector.items())

    def wants_port_of(self, other: Pod) -> bool:
        """Whether the pod cannot be on the node of the other for a port that both want."""
        return any(own.conflicts(port) for own in self.host_ports for port in other.host_ports)

    def with_cpu(self, cpu: Quantity, priority: Quantity, node: Node | None) -> Pod:
        """The same pod with another request and priority, on a node that takes the place of its own."""
        other = copy(self)
        other._requests, other._priority, other.node = {**self._requests, "cpu": cpu}, priority, node
        return other

    def bare(self) -> Pod:
        """What a reference to the pod tells: namespace, name and UID. It asks for nothing, and has priority 0 and no labels."""
        return Pod(
            self.index,
            self.name,
            0,
            namespace=self.namespace,
            namespace_labels=self.namespace_labels,
            uid=self.uid,
        )

    @property
    def requests(self) -> Mapping[str, Quantity]:
        """What the pod asks for, by resource."""
        return self._requests

    @property
    def cpu(self) -> Expr:
        """Requested CPU, in the scenario's unit."""
        return self.request("cpu")

    def request(self, resource: str) -> Expr:
        """How much of a resource the pod asks for."""
        return as_expr(self._requests.get(resource, 0))

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that the pod names; the native ones are always among them."""
        return tuple(self._requests)

    @property
    def priority(self) -> Expr:
        """The value of the pod's PriorityClass."""
        return as_expr(self._priority)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All that is counted of it."""
        return (*self._requests.values(), self._priority)


def _owned(term: Term, namespace: str) -> Term:
    own = not term.namespaces and term.namespace_selector is None
    return replace(term, namespaces=(namespace,)) if own else term
