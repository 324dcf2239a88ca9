"""Nodes: what of their objects a scheduler race can depend on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from ...language import Entity, Expr, Value, as_expr
from ...language.expressions.sorts import sort_of_ref
from .placement_rules import Taint
from .resources import Quantity, amounts

READY = "Ready"
"""The condition of a node that its kubelet reports."""


class Node(Entity):
    """A node: allocatable resources, how many pods it admits (None for no limit), labels and taints.

    `conditions` are statuses by type; Ready is True unless it says otherwise. `features` is status.declaredFeatures.
    `later` are the versions that its object may be updated to, by name; each has the name and the index of the node.
    """

    about = "node {}"

    def __init__(
        self,
        index: int,
        name: str,
        cpu: Quantity,
        labels: Mapping[str, str] | None = None,
        exists: bool = True,
        *,
        memory: Quantity = 0,
        ephemeral: Quantity = 0,
        extended: Mapping[str, Quantity] | None = None,
        pods: Quantity | None = None,
        taints: Sequence[Taint] = (),
        unschedulable: bool = False,
        conditions: Mapping[str, str] | None = None,
        features: Iterable[str] = (),
        hostname_label: bool = True,
        later: Mapping[str, Node] | None = None,
    ) -> None:
        super().__init__(index, name)
        self.later = dict(later or {})
        self._allocatable = amounts(cpu, memory, ephemeral, extended)
        self._pods = pods
        self.labels = {**({"kubernetes.io/hostname": name} if hostname_label else {}), **(labels or {})}
        self.exists = exists
        self.taints, self.unschedulable = tuple(taints), unschedulable
        self.conditions = {READY: "True", **(conditions or {})}
        self.features = frozenset(features)

    @property
    def ready(self) -> bool:
        """The kubelet has said so, and not long ago (IsNodeReady)."""
        return self.conditions[READY] == "True"

    @property
    def reachable(self) -> bool:
        """Whether the node's kubelet and the API server hear of each other: else the node lifecycle controller makes Ready Unknown."""
        return self.conditions[READY] != "Unknown"

    @property
    def cpu(self) -> Expr:
        """Allocatable CPU, in the scenario's unit."""
        return self.allocatable("cpu")

    def allocatable(self, resource: str) -> Expr:
        """How much of a resource the node has."""
        return as_expr(self._allocatable.get(resource, 0))

    def with_cpu(self, cpu: Quantity) -> Node:
        """The same node with another capacity."""
        other = copy(self)
        other._allocatable = {**self._allocatable, "cpu": cpu}
        return other

    @property
    def pods(self) -> Expr | None:
        """How many pods the node admits; None for no limit."""
        return None if self._pods is None else as_expr(self._pods)

    @property
    def room(self) -> tuple[Mapping[str, Quantity], Quantity | None]:
        """status.allocatable: resources by name, and how many pods."""
        return self._allocatable, self._pods

    @property
    def quantities(self) -> tuple[Quantity | None, ...]:
        """All that is counted of it."""
        return (*self._allocatable.values(), self._pods)


def node_or_none(value: Value) -> Expr:
    """A node, a symbolic reference to one, or None, as an expression."""
    return as_expr(value, sort_of_ref(Node))
