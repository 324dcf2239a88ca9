"""Orders of entities as state: which of them are in a list, and who comes after whom.

Zones: what nodes are spread over (component-helpers, GetZoneKey).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ...environment.objects import Node
from ...language import Entity, Expr, Record, Value, boolean, count, per

REGION_LABELS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


class Zone(Entity):
    """A failure domain. Nodes without zone labels share the zone named by the empty string."""


def zone_key(labels: Mapping[str, str]) -> str:
    """The zone of a node with these labels: region/zone, or the empty string."""
    region, zone = (
        next((labels[k] for k in keys if labels.get(k)), "") for keys in (REGION_LABELS, ZONE_LABELS)
    )
    return f"{region}/{zone}" if region or zone else ""


def zones_named(keys: Iterable[str]) -> tuple[Zone, ...]:
    """One zone for each key."""
    return tuple(Zone(i, key) for i, key in enumerate(dict.fromkeys(keys)))


def zones_of(nodes: Iterable[Node]) -> tuple[Zone, ...]:
    """The zones that these nodes are in."""
    return zones_named(zone_key(node.labels) for node in nodes)


class Order(Record):
    """A list without repetitions. `after[a][b]`: both are in the list, and a comes after b.

    A relation rather than positions: it has the same size for every list, and a change of one entry
    touches only what is said of that entry. Subclasses name the kind of entity.
    """

    member: Any
    after: Any

    @property
    def keys(self) -> tuple[Any, ...]:
        """Everything that can be in the list."""
        return self.member.cell.keys

    def put_first(self, item: Entity) -> None:
        """Move an entry to the front, or insert it there."""
        for other in self.keys:
            if other is not item:
                self.after[other][item] = self.member[other]
                self.after[item][other] = False
        self.member[item] = True

    def put_last(self, item: Entity) -> None:
        """Move an entry to the end, or insert it there."""
        for other in self.keys:
            if other is not item:
                self.after[item][other] = self.member[other]
                self.after[other][item] = False
        self.member[item] = True

    def remove(self, item: Entity) -> None:
        """Take an entry out, if it is in the list."""
        for other in self.keys:
            if other is not item:
                self.after[item][other] = False
                self.after[other][item] = False
        self.member[item] = False

    def index(self, item: Entity) -> Expr:
        """How many entries come before this one."""
        return count(self.after[item][other] for other in self.keys if other is not item)

    def precedes(self, a: Value, b: Value) -> Expr:
        """Whether both are in the list, and a comes first."""
        return self.after[b][a]


class NodeOrder(Order):
    """A list of nodes."""

    member = per(Node, boolean())
    after = per(Node, per(Node, boolean()))


class ZoneOrder(Order):
    """A list of zones."""

    member = per(Zone, boolean())
    after = per(Zone, per(Zone, boolean()))
