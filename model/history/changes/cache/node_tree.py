"""The node tree as it was: an iterator, which went on where it had stopped (internal/cache/node_tree.go, 1.12 to 1.18)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from .....base.structs import Data
from ....environment.cluster.node_versions import NodeVersion
from ....environment.objects import Node
from ....language import (
    UNTOLD,
    Expr,
    Universe,
    any_of,
    as_expr,
    boolean,
    clamp,
    count,
    integer,
    per,
    select,
    total,
    when,
)
from ....scheduler import NodeTree
from ....scheduler.cache.order import Zone, zone_key
from ....scheduler.framework.placement import Placement
from ...registry.change import before, no
from .kept import LIST_IN_SNAPSHOT, KeptSnapshot, nodes_come

_TITLE = "the list of nodes is read from the beginning of the tree"
Row = Callable[[Node], Expr]
_MOST = 64


def goes_wrong(universe: Universe) -> bool:
    """Whether the iterator may leave out a node: where nodes come, by themselves or into another zone, and there are several zones.

    Where none comes, each walk ends where it began. Where there is one zone, it is a walk round it.
    """
    moves = any(zone_key(v.content.labels) != zone_key(v.node.labels) for v in universe[NodeVersion])
    return len(universe[Zone]) > 1 and (nodes_come(universe.scope) or moves)


class Visit(Data):
    """How often a walk met a node: at all, and twice."""

    once: Expr
    twice: Expr


@before("93355", _TITLE, first_in="1.19", issues=(91601,), since="1.12", backports=("1.18.8",))
class IteratedTree(NodeTree):
    """`next` gave one node of each zone in turn; each zone noted how many of its nodes it had given (`given`, upstream's lastIndex).

    A list was as many calls as there are nodes. Once every zone had given all of its nodes, all began anew. A node that came after that
    was given first, and for each that was given so a node at the end of the order was left out, while others were given twice.
    `next_zone` is zoneIndex. From 1.17 on it was 0 whenever all began anew, so that it decided nothing but the order.
    """

    given = per(Zone, integer(0, _MOST))
    next_zone = integer(0, _MOST)

    phrases = UNTOLD

    def begins_with_first_zone(self) -> bool:
        """Whether it is the first zone's turn when all begin anew."""
        return True

    def visit_all(self) -> dict[Node, Visit]:
        """As many calls of `next` as there are nodes: what each node was given."""
        nodes = self.universe[Node]
        rest = {n: self._is_left(n) for n in nodes}
        left, size = count(rest.values()), self.size
        calls = select(left == size, size, size - left)
        first = as_expr(0) if self.begins_with_first_zone() else self._turn_after(rest)
        place = {n: self._place(n, self._row, first, nodes) for n in nodes}
        again = {n: self.has(n) & (place[n] < calls) for n in nodes}
        with when(size != 0):
            for zone in self.universe[Zone]:
                self.given[zone] = count(again[n] & (self.zone[n] == zone) for n in nodes)
            if not self.begins_with_first_zone():
                self.next_zone = self._behind(lambda n: again[n] & (place[n] == calls - 1), first)
        return {n: Visit(rest[n] | again[n], rest[n] & again[n] & (left != size)) for n in nodes}

    def _is_left(self, node: Node) -> Expr:
        row = self._row(node)
        return any_of((self.zone[node] == z) & (row >= self.given[z]) for z in self.universe[Zone])

    def _turn_after(self, rest: Mapping[Node, Expr]) -> Expr:
        """Whose turn it is, by its place among the zones, once these nodes were given."""
        at, nodes = self._wrapped(self.next_zone), self.universe[Node]

        def row(node: Node) -> Expr:
            given = (select(self.zone[node] == z, self.given[z], 0) for z in self.universe[Zone])
            return self._row(node) + len(nodes) - total(given)

        def is_last(node: Node) -> Expr:
            later = (rest[m] & self._is_before(node, m, row, at) for m in nodes if m is not node)
            return rest[node] & ~any_of(later)

        return self._wrapped(self._behind(is_last, at))

    def _behind(self, chosen: Callable[[Node], Expr], otherwise: Expr) -> Expr:
        """The place behind the zone of the chosen node."""
        found = otherwise
        for node in self.universe[Node]:
            found = select(chosen(node), self._zone_place(node) + 1, found)
        return clamp(found, 0, _MOST)

    def _wrapped(self, place: Expr) -> Expr:
        return select(place >= count(self.zones.member[z] for z in self.universe[Zone]), 0, place)

    def _zone_place(self, node: Node) -> Expr:
        zones = self.universe[Zone]
        return total(select(self.zone[node] == z, self.zones.index(z), 0) for z in zones)

    def _place(self, node: Node, row: Row, first: Expr, nodes: Sequence[Node]) -> Expr:
        """How many nodes are given before this one, from the first zone on."""
        others = (m for m in nodes if m is not node)
        return count(self.has(m) & self._is_before(m, node, row, first) for m in others)

    def _is_before(self, a: Node, b: Node, row: Row, first: Expr) -> Expr:
        """Whether a is given before b if it is the turn of the zone at this place."""
        early, late = self._zone_place(a), self._zone_place(b)
        turns = select((early >= first) == (late >= first), early < late, early >= first)
        return (row(a) < row(b)) | ((row(a) == row(b)) & turns)

    def _leave(self, node: Node) -> None:
        super()._leave(node)
        for zone in self.universe[Zone]:
            with when(~self._inhabited(zone)):
                self.given[zone] = 0


@before("84014", LIST_IN_SNAPSHOT, first_in="1.17", issues=(83922, 86919), since="1.12")
class TurnsGoOn(NodeTree):
    """When all zones began anew it was the turn of the zone behind the last one (1.12 to 1.16)."""

    begins_with_first_zone = no


@before("93355", _TITLE, first_in="1.19", issues=(91601,), since="1.12", backports=("1.18.8",))
class ListsFromIterator(KeptSnapshot):
    """A list of the snapshot, or a walk through the tree (up to 1.16), had nodes twice, and others not at all.

    In 1.18 the list was kept until nodes came or went: no cycle tried the node that it lacked.
    """

    node_tree: IteratedTree

    twice = per(Node, boolean())

    phrases = UNTOLD

    def remembers(self) -> bool:
        return super().remembers() or (self.keeps_list() and goes_wrong(self.universe))

    def list_nodes(self) -> None:
        if goes_wrong(self.universe):
            self.read_tree()
        else:
            super().list_nodes()

    def read_tree(self) -> None:
        if not goes_wrong(self.universe):
            super().read_tree()
            return
        for node, visit in self.node_tree.visit_all().items():
            self.listed[node] = visit.once & self.cache.live[node]
            self.twice[node] = visit.twice & self.cache.live[node]

    @property
    def length(self) -> Expr:
        once = super().length
        return once + count(self.twice[n] for n in self.universe[Node]) if goes_wrong(self.universe) else once

    def clear(self) -> None:
        super().clear()
        if not self.remembers():
            for node in self.universe[Node]:
                self.twice[node] = False

    def placement(self) -> Placement:
        seen = super().placement()
        if not (goes_wrong(self.universe) and self.counts_twice()):
            return seen
        return replace(seen, twice={node: as_expr(self.twice[node]) for node in self.universe[Node]})

    def counts_twice(self) -> bool:
        """Whether topology spread counts the pods of such a node twice: it does from 1.18 on, which kept numbers, and not names of pods."""
        return self.keeps_list()
