"""What the node lifecycle controller makes of a node: its condition Ready, and the taints that follow from it.

A node's object goes from version to version (`node_versions`). Where the scope has the controller, the versions are those that the scenario gives,
each with every condition Ready that the run can bring and every set of the controller's taints.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from itertools import chain, combinations, product
from typing import Protocol

from ....base.structs import Data
from ...language import Expr
from .node_versions import INITIAL, NodeVersion
from .nodes import READY, Node
from .placement_rules import Taint
from .scope import Scope


class DecidesOnHealth(Protocol):
    """The node lifecycle controller, as users and kubelets meet it."""

    def is_silent(self, node: Node) -> Expr:
        """Whether the node's kubelet is disconnected."""

    def joins_as(self, node: Node) -> NodeVersion | None:
        """The version in which a node is created; none for the first that the scenario gives."""

    def join(self, node: Node) -> None:
        """A node is created."""

    def may_become(self, version: NodeVersion) -> Expr:
        """Whether an update by somebody else may bring this version."""


NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
KEYS = {"False": NOT_READY, "Unknown": UNREACHABLE}
"""The key of the taints for each status of Ready but True (nodeConditionToTaintKeyStatusMap)."""

NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "NoExecute"
EFFECTS = (NO_SCHEDULE, NO_EXECUTE)

Mark = tuple[str, str]
"""Key and effect of a taint that the controller sets."""


class Health(Data):
    """The status of a node's condition Ready, and the taints on it that the node lifecycle controller sets."""

    status: str
    marks: frozenset[Mark]

    def wanted(self, effect: str) -> frozenset[Mark]:
        """The taints with an effect that the status asks for."""
        return frozenset([(KEYS[self.status], effect)] if self.status in KEYS else [])

    def having(self, effect: str) -> frozenset[Mark]:
        """The taints with an effect that are there."""
        return frozenset(mark for mark in self.marks if mark[1] == effect)

    @property
    def word(self) -> str:
        """What a version with this health is called."""
        own = KEYS.get(self.status)
        short = {
            (key, effect): effect if key == own else f"{key.rpartition('/')[2]}:{effect}"
            for key, effect in self.marks
        }
        return "+".join(
            (
                self.status,
                *(
                    short[mark]
                    for mark in sorted(self.marks, key=lambda m: (m[0] != own, m[0], m[1] != NO_SCHEDULE))
                ),
            )
        )


def is_mark(taint: Taint) -> bool:
    """Whether a taint is one that the controller sets for the condition Ready."""
    return taint.key in KEYS.values() and taint.effect in EFFECTS


def health_of(node: Node) -> Health:
    """What a node's object says of it."""
    return Health(node.conditions[READY], frozenset((t.key, t.effect) for t in node.taints if is_mark(t)))


def in_health(node: Node, health: Health) -> Node:
    """The same node in another health. Its own taints stay as they are."""
    other = copy(node)
    other.later = {}
    other.conditions = {**node.conditions, READY: health.status}
    added = sorted(health.marks, key=lambda m: (m[0], m[1] != NO_SCHEDULE))
    other.taints = (
        *(t for t in node.taints if not is_mark(t)),
        *(Taint(key, "", effect) for key, effect in added),
    )
    return other


def statuses_of(nodes: Iterable[Node], scope: Scope) -> tuple[str, ...]:
    """The statuses of Ready that a run can bring."""
    found = {health_of(node).status for node in nodes if node.exists}
    if scope.node_failures or scope.node_creations:
        found.add("False")
    if scope.heartbeat_losses:
        found.add("Unknown")
    return ("True", *(status for status in KEYS if status in found))


def healths(statuses: Iterable[str]) -> Iterator[Health]:
    """Each of these statuses with each set of the taints that go with them."""
    known = tuple(statuses)
    marks = [(KEYS[status], effect) for status in known if status in KEYS for effect in EFFECTS]
    sets = chain.from_iterable(combinations(marks, size) for size in range(len(marks) + 1))
    for status, some in product(known, list(sets)):
        yield Health(status, frozenset(some))


def give_healths(nodes: Iterable[Node], scope: Scope) -> None:
    """Give each node the versions that it has in other health, those of its updates among them."""
    known = list(nodes)
    every = list(healths(statuses_of(known, scope)))
    for node in known:
        for base, content in list({INITIAL: node, **node.later}.items()):
            own = health_of(content)
            for health in every:
                if health != own:
                    word = health.word if base == INITIAL else f"{base}.{health.word}"
                    node.later[word] = in_health(content, health)


def of_one_kind(versions: Iterable[NodeVersion]) -> list[dict[Health, NodeVersion]]:
    """Versions of a node, by their health: a table for each of those that differ in anything else."""
    tables: list[tuple[object, dict[Health, NodeVersion]]] = []
    for version in versions:
        rest = _but_health(version.content)
        table = next((found for known, found in tables if known == rest), None)
        if table is None:
            table = {}
            tables.append((rest, table))
        table[health_of(version.content)] = version
    return [table for _, table in tables]


def _but_health(node: Node) -> object:
    own = tuple(t for t in node.taints if not is_mark(t))
    conditions = {kind: status for kind, status in node.conditions.items() if kind != READY}
    return own, conditions, node.labels, node.unschedulable, node.features, node.room
