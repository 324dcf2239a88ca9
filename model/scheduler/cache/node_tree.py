"""The node tree (backend/cache/node_tree.go, 1.34): live nodes by zone, and the order in which cycles try them."""

from ...environment.objects import Node
from ...language import UNTOLD, Component, Expr, any_of, count, per, record, ref, when
from .order import NodeOrder, Zone, ZoneOrder, zone_key


class NodeTree(Component):
    """The nodes of each zone in the order in which they arrived, and the zones in the same order.

    Upstream would keep a node twice that is added again under another zone's label; here it moves.
    """

    zone = per(Node, ref(Zone))
    nodes = record(NodeOrder)
    zones = record(ZoneOrder)

    phrases = UNTOLD

    def setup(self) -> None:
        for node in self.universe[Node]:
            if node.exists:
                self.add(node, self.zone_by_labels(node))

    def zone_by_labels(self, node: Node) -> Zone:
        """The zone in a node's labels."""
        key = zone_key(node.labels)
        return next(zone for zone in self.universe[Zone] if zone.name == key)

    def has(self, node: Node) -> Expr:
        """Whether the node is in the tree."""
        return self.zone[node].is_some

    @property
    def size(self) -> Expr:
        """numNodes."""
        return count(self.has(n) for n in self.universe[Node])

    def add(self, node: Node, zone: Zone) -> None:
        """addNode: adds the node at the end of its zone. A new zone is added at the end."""
        with when(self.zone[node] != zone):
            self._leave(node)
            with when(~self._inhabited(zone)):
                self.zones.put_last(zone)
            self.zone[node] = zone
            self.nodes.put_last(node)

    def remove(self, node: Node, zone: Zone) -> Expr:
        """removeNode: removes the node from the zone in its labels. Returns whether it was missing, which is an error."""
        missing: Expr = self.zone[node] != zone
        with when(~missing):
            self._leave(node)
        return missing

    def update(self, node: Node, old: Zone | None, new: Zone) -> None:
        """updateNode: the place in the tree changes only if the zone does."""
        if (old.name if old is not None else "") != new.name:
            if old is not None:
                self.remove(node, old)
            self.add(node, new)

    def precedes(self, a: Node, b: Node) -> Expr:
        """Whether node a comes before b in `list`, which takes one node of each zone in turn."""
        i, j = self._row(a), self._row(b)
        zones = self.zones.precedes(self.zone[a], self.zone[b])
        return self.has(a) & self.has(b) & ((i < j) | ((i == j) & zones))

    def index(self, node: Node) -> Expr:
        """The position of a node in `list`."""
        return count(self.precedes(n, node) for n in self.universe[Node] if n is not node)

    def _row(self, node: Node) -> Expr:
        mates = (n for n in self.universe[Node] if n is not node)
        return count((self.zone[n] == self.zone[node]) & self.nodes.precedes(n, node) for n in mates)

    def _inhabited(self, zone: Zone) -> Expr:
        return any_of(self.zone[n] == zone for n in self.universe[Node])

    def _leave(self, node: Node) -> None:
        left = self.zone[node]
        self.zone[node] = None
        self.nodes.remove(node)
        for zone in self.universe[Zone]:
            with when((left == zone) & ~self._inhabited(zone)):
                self.zones.remove(zone)
