"""The shortest way from a state to an edge that is still wanted, in native code."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checker.explicit.state_graph import StateGraph
from ...checker.kernel_compiler.jit import jit

Flags = NDArray[np.uint8]


class Room(NamedTuple):
    """What a search needs: by which edge each state was found, in which search, the states in the order in which they were found, and the way."""

    by: NDArray[np.int64]
    found_in: NDArray[np.int64]
    queue: NDArray[np.int64]
    way: NDArray[np.int64]


@jit
def _nearest(
    starts: NDArray[np.int64],
    targets: NDArray[np.uint32],
    sources: NDArray[np.uint32],
    wanted: Flags,
    closed: Flags,
    start: int,
    search: int,
    turn: int,
    room: Room,
) -> int:
    """Write the way to `room.way`, the last edge first; gives its length, 0 if there is none.

    An edge that is `closed` is neither taken nor wanted. The edges of a state are looked at from `turn` on.
    """
    queue, found_in, by = room.queue, room.found_in, room.by
    queue[0] = start
    found_in[start] = search
    head = 0
    tail = 1
    length = 0
    while head < tail and length == 0:
        state = queue[head]
        head += 1
        first = starts[state]
        count: int = starts[state + 1] - first
        for i in range(count):
            edge = first + (i + turn) % count
            if length == 0 and closed[edge] == 0:
                if wanted[edge] != 0:
                    room.way[0] = edge
                    length = 1
                else:
                    target = np.int64(targets[edge])
                    if found_in[target] != search:
                        found_in[target] = search
                        by[target] = edge
                        queue[tail] = target
                        tail += 1
    if length == 0:
        return 0
    at = np.int64(sources[room.way[0]])
    while at != start:
        room.way[length] = by[at]
        at = np.int64(sources[by[at]])
        length += 1
    return length


class Ways:
    """Searches in one graph."""

    def __init__(self, graph: StateGraph) -> None:
        self._graph = graph
        counts = np.diff(graph.starts)
        self.sources = np.repeat(np.arange(graph.states, dtype=np.uint32), counts)
        rooms = [np.zeros(graph.states + 1, np.int64) for _ in range(4)]
        self._room, self._searches = Room(*rooms), 0

    def nearest(self, start: int, wanted: Flags, closed: Flags, turn: int) -> list[int]:
        """The edges of a shortest way whose last one is wanted; none if there is no such way."""
        self._searches += 1
        graph = self._graph
        length = int(
            _nearest(
                graph.starts,
                graph.targets,
                self.sources,
                wanted,
                closed,
                start,
                self._searches,
                turn,
                self._room,
            )
        )
        way: list[int] = self._room.way[:length].tolist()
        return way[::-1]

    def reached(self, closed: NDArray[Any]) -> NDArray[np.bool_]:
        """Which states can be reached from the first by edges that are not closed."""
        graph = self._graph
        there = np.zeros(graph.states, bool)
        there[0] = True
        level = np.array([0])
        while len(level):
            counts = graph.starts[level + 1] - graph.starts[level]
            ends = np.cumsum(counts)
            edges = np.repeat(graph.starts[level] - (ends - counts), counts) + np.arange(counts.sum())
            targets = np.unique(graph.targets[edges[closed[edges] == 0]])
            level = targets[~there[targets]].astype(np.int64)
            there[level] = True
        return there
