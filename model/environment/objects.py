"""Pods and nodes: what of a Kubernetes object a scheduler race can depend on.

Names, labels, affinity terms and the initial placement are fixed by the scenario. Requests,
capacities and priorities are quantities: constants in explicit checking, unknown in symbolic checking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..language import Entity, Expr, Parameter, Record, Value, as_expr, boolean, integer, ref
from ..language.sorts import sort_of_ref

Quantity = int | Parameter


@dataclass(frozen=True, slots=True)
class Term:
    """A pod (anti-)affinity term: pods whose labels include `match_labels`, in one topology domain."""

    match_labels: Mapping[str, str]
    topology_key: str
    required: bool = True
    anti: bool = False

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels is meant."""
        return all(labels.get(k) == v for k, v in self.match_labels.items())


class Node(Entity):
    """A node: allocatable CPU and labels."""

    def __init__(
        self,
        index: int,
        name: str,
        cpu: Quantity,
        labels: Mapping[str, str] | None = None,
        exists: bool = True,
    ) -> None:
        super().__init__(index, name)
        self._cpu = cpu
        self.labels = {"kubernetes.io/hostname": name, **(labels or {})}
        self.exists = exists

    @property
    def cpu(self) -> Expr:
        """Allocatable CPU, in the scenario's unit."""
        return as_expr(self._cpu)


def node_or_none(value: Value) -> Expr:
    """A node, a symbolic reference to one, or None, as an expression."""
    return as_expr(value, sort_of_ref(Node))


class Pod(Entity):
    """A pod: requests, priority, labels, affinity terms, and where it is in the beginning.

    `node` is the node that it is bound to at the start. `exists` is False for a pod that a user may
    create later. `graceful` is False for terminationGracePeriodSeconds 0: a DELETE removes it at once.
    """

    def __init__(
        self,
        index: int,
        name: str,
        cpu: Quantity,
        priority: Quantity = 0,
        *,
        labels: Mapping[str, str] | None = None,
        terms: Sequence[Term] = (),
        node: Node | None = None,
        exists: bool = True,
        graceful: bool = True,
    ) -> None:
        super().__init__(index, name)
        self._cpu, self._priority = cpu, priority
        self.labels, self.terms = dict(labels or {}), tuple(terms)
        self.node, self.exists, self.graceful = node, exists, graceful

    @property
    def cpu(self) -> Expr:
        """Requested CPU, in the scenario's unit."""
        return as_expr(self._cpu)

    @property
    def priority(self) -> Expr:
        """The value of the pod's PriorityClass."""
        return as_expr(self._priority)


@dataclass(frozen=True, slots=True)
class Scope:
    """How often each disturbance may happen, and how far views may lag behind the API server.

    Counts are totals over a run. `pod_events` and `node_events` bound the backlog of undelivered
    events of one watch; a full backlog stops API writes, and a verdict names it.
    """

    pod_events: int = 4
    node_events: int = 2
    node_deletions: int = 0
    node_creations: int = 0
    pod_deletions: int = 0
    pod_creations: int = 0
    bind_failures: int = 0
    lost_replies: int = 0
    write_failures: int = 0
    assume_expiries: int = 0
    pod_gc: bool = True
    flush: bool = True


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster and the scope in which it is explored."""

    name: str
    pods: tuple[Pod, ...]
    nodes: tuple[Node, ...]
    scope: Scope = field(default_factory=Scope)


def last_version(scope: object) -> int:
    """The highest version of a pod's specification: no step changes one, only conformance cases do."""
    return int(getattr(scope, "pod_versions", 1)) - 1


class PodObject(Record):
    """A pod object as the API server stores it and watches deliver it (status.phase is not modelled)."""

    exists = boolean()
    node = ref(Node)  # spec.nodeName
    nominated = ref(Node)  # status.nominatedNodeName
    failed = boolean()  # condition PodScheduled=False, reason Unschedulable
    terminating = boolean()  # metadata.deletionTimestamp is set
    version = integer(0, last_version)  # what else is not status

    @property
    def assigned(self) -> Expr:
        """spec.nodeName is set."""
        return as_expr(self.exists) & as_expr(self.node).is_some

    @property
    def pending(self) -> Expr:
        """Exists without spec.nodeName."""
        return as_expr(self.exists) & as_expr(self.node).is_none

    def copy(self) -> PodCopy:
        """What a component keeps of an object that is not assigned."""
        return PodCopy(
            nominated=self.nominated, failed=self.failed, terminating=self.terminating, version=self.version
        )


class PodCopy(Record):
    """A component's own copy of a pod object without spec.nodeName."""

    nominated = ref(Node)
    failed = boolean()
    terminating = boolean()
    version = integer(0, last_version)
