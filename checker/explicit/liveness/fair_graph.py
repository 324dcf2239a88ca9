"""A stored graph whose edges keep their transitions, and the fair cycles in parts of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

import numpy as np

from ....base.structs import Data
from ...core.exploration import Path
from . import components
from .fair_cycles import Edge, FairRegion, Nearest, Obligations, Owed, shortest_found


class FairGraph(Data):
    """The edges of member m are starts[m] .. starts[m + 1] - 1: their targets, and their transitions as `labels`.

    Row m of `observed` has `conditions` words with what holds in m, then words with the fair sets that wait there.
    `new` makes arrays of zeros.
    """

    starts: np.ndarray
    targets: np.ndarray
    labels: np.ndarray
    observed: np.ndarray
    conditions: int
    fair: Obligations
    new: Callable[[type, int], np.ndarray] = lambda dtype, length: np.zeros(length, dtype)

    def fair_cycles(self, queries: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Path] | None]:
        """For each query: a member, and a fair cycle from it.

        A query is a bit that holds all along the cycle, and the mask of those that each hold somewhere on it.
        """
        search = ComponentSearch(self)
        for bit, wanted in queries:
            chosen = search.fair_component(bit, wanted)
            if chosen is None:
                yield None
            else:
                yield shortest_found(self._region(chosen, wanted, search.walker(chosen)), self.fair)

    def _region(self, chosen: np.ndarray, wanted: int, nearest: Nearest) -> FairRegion:
        return FairRegion(
            edges=_Edges(chosen, self.starts, self.targets, self.labels),
            waiting=_Rows(self.observed[:, self.conditions :]),
            recurring=_Rows(self.observed[:, : self.conditions]),
            wanted=wanted,
            nearest=nearest,
        )


class ComponentSearch:
    """Room for one search for a fair component of a graph after the other."""

    def __init__(self, graph: FairGraph) -> None:
        size, self._width = graph.observed.shape
        self._conditions, sets = graph.conditions, self._width - graph.conditions
        self._marks = [graph.new(np.uint8, size) for _ in range(3)]
        self._search = components.Tarjan(*(graph.new(np.uint32, size) for _ in range(6)))
        self._weak, self._strong = as_words(graph.fair.weak, sets), as_words(graph.fair.strong, sets)
        self._acting = np.concatenate(
            [as_words(mask, sets) for mask in graph.fair.acting] or [np.zeros(0, np.uint64)]
        )
        self._edges = components.Edges(graph.starts, graph.targets, graph.labels)
        self._rows = graph.observed.reshape(-1)
        self._offered = components.Offered(
            *(np.zeros(count, np.uint64) for count in (sets, sets, sets, graph.conditions))
        )

    def fair_component(self, bit: int, wanted: int, among: np.ndarray | None = None) -> np.ndarray | None:
        """Marks of the members of a strongly connected part that a fair run can repeat, the one with the least member; None without one.

        A bit holds in all of them, and each of the mask `wanted` in some. Only those that are marked `among` all members count, if that is given.
        The marks are valid until the next search.
        """
        inside, again, chosen = self._marks
        wanted_words = as_words(wanted, self._conditions)
        fair = components.FairSets(wanted_words, self._weak, self._strong, self._acting)
        left = components.select(self._rows, self._width, bit // 64, np.uint64(1 << bit % 64), inside)
        if among is not None:
            inside &= among
            left = int(np.count_nonzero(inside))
        best = size = len(inside)
        while left:
            self._search.found[:] = 0
            again[:] = 0
            marks = components.Marks(inside, again, chosen)
            best = components.fair_components(
                self._edges, self._rows, marks, fair, self._search, self._offered, best
            )
            left = int(np.count_nonzero(again))
            inside, again = again, inside
        return None if best == size else chosen

    def walker(self, chosen: np.ndarray) -> Nearest:
        """What looks for the nearest thing among the chosen members; valid until the next search."""
        tree, turns = self._search, count(1)
        tree.found[:] = 0
        sets, edges = len(self._weak), self._edges

        def nearest(start: int, owed: Owed) -> tuple[list[Edge], int]:
            masks = components.Owed(
                as_words(owed.either, sets),
                as_words(owed.weak, sets),
                as_words(owed.recurrent, self._conditions),
                self._acting,
            )
            edge, member, looks = components.nearest(
                edges, self._rows, chosen, start, owed.home, masks, tree, next(turns)
            )
            way: list[Edge] = []
            while edge >= 0:
                way.append((int(edges.labels[edge]), int(edges.targets[edge])))
                edge = -1
                if member != start:
                    source = int(tree.path[member])
                    edge, member = int(edges.starts[source]) + int(tree.cursor[member]), source
            return way[::-1], looks

        return nearest


def as_words(mask: int, count: int) -> np.ndarray:
    """A mask as 64-bit words."""
    return np.array([mask >> 64 * w & (1 << 64) - 1 for w in range(count)], np.uint64)


class _Rows(Mapping[int, int]):
    """Some words of each member's row, as one number."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = rows

    def __getitem__(self, member: int) -> int:
        return sum(int(word) << 64 * w for w, word in enumerate(self._rows[member]))

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._rows)))

    def __len__(self) -> int:
        return len(self._rows)


class _Edges(Mapping[int, Sequence[Edge]]):
    """The edges among the members that are `chosen`."""

    def __init__(
        self, chosen: np.ndarray, starts: np.ndarray, targets: np.ndarray, labels: np.ndarray
    ) -> None:
        self._chosen, self._starts, self._targets, self._labels = chosen, starts, targets, labels

    def __getitem__(self, member: int) -> Sequence[Edge]:
        first, last = int(self._starts[member]), int(self._starts[member + 1])
        pairs = zip(self._labels[first:last].tolist(), self._targets[first:last].tolist(), strict=True)
        return [(label, target) for label, target in pairs if self._chosen[target]]

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self._chosen).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._chosen))
