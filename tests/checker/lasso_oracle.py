"""Fair cycles by definition: every strongly connected set of edges that a run might repeat is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from podrace.checker.explicit.liveness.fair_cycles import (
    FairRegion,
    Obligations,
    fair_component,
    shortest_found,
)
from podrace.checker.explicit.liveness.fair_graph import FairGraph, as_words


@dataclass(frozen=True)
class Graph:
    """Edges (source, target, mask of the fair sets it belongs to); `strong` is the mask of the strong sets.

    Edges that `leave` go somewhere else: they only make their sets wait. `recurring[r]` are the states where condition r holds.
    """

    size: int
    edges: tuple[tuple[int, int, int], ...]
    sets: int = 0
    strong: int = 0
    leave: tuple[tuple[int, int], ...] = ()
    recurring: tuple[frozenset[int], ...] = field(default=())

    def waiting(self, state: int) -> int:
        found = 0
        for source, sets in [*((s, m) for s, _, m in self.edges), *self.leave]:
            found |= sets if source == state else 0
        return found

    def recurs(self, state: int) -> int:
        return sum(1 << i for i, states in enumerate(self.recurring) if state in states)

    @property
    def fair(self) -> Obligations:
        everything = (1 << self.sets) - 1
        return Obligations(everything & ~self.strong, self.strong, [mask for *_, mask in self.edges])

    @property
    def region(self) -> FairRegion:
        edges = {
            s: [(i, t) for i, (source, t, _) in enumerate(self.edges) if source == s]
            for s in range(self.size)
        }
        waiting = {s: self.waiting(s) for s in range(self.size)}
        recurring = {s: self.recurs(s) for s in range(self.size)}
        return FairRegion(edges, waiting, recurring, (1 << len(self.recurring)) - 1)


def repeated(graph: Graph) -> Iterator[tuple[set[int], tuple[int, ...]]]:
    """All that a run may do again and again: a set of states, and edges that connect them strongly.

    A run may rest, so one state without edges is among them.
    """
    for state in range(graph.size):
        yield {state}, ()
    for count in range(1, len(graph.edges) + 1):
        for chosen in combinations(range(len(graph.edges)), count):
            pairs = [graph.edges[i][:2] for i in chosen]
            states = {s for pair in pairs for s in pair}
            if strongly_connected(states, pairs):
                yield states, chosen


def strongly_connected(states: set[int], pairs: Sequence[tuple[int, int]]) -> bool:
    def reached(pairs: Sequence[tuple[int, int]]) -> set[int]:
        found = {min(states)}
        for _ in states:
            found |= {t for s, t in pairs if s in found}
        return found

    return reached(pairs) == states == reached([(t, s) for s, t in pairs])


def fairly_repeated(graph: Graph, states: set[int], edges: tuple[int, ...]) -> bool:
    """Whether a run that does this again and again, and nothing else, is fair and does all that must recur."""
    for bit in range(graph.sets):
        acts = any(graph.edges[i][2] >> bit & 1 for i in edges)
        waits = [bool(graph.waiting(s) >> bit & 1) for s in states]
        strong = graph.strong >> bit & 1
        if not acts and (any(waits) if strong else all(waits)):
            return False
    return all(states & wanted for wanted in graph.recurring)


def fair_states(graph: Graph) -> set[int]:
    """The states that some fair run visits again and again."""
    found: set[int] = set()
    for states, edges in repeated(graph):
        if not states <= found and fairly_repeated(graph, states, edges):
            found |= states
    return found


def native(graph: Graph) -> tuple[int, tuple[int, ...]] | None:
    """What the compiled search finds."""
    ordered = sorted(range(len(graph.edges)), key=lambda i: (graph.edges[i][0], i))
    starts = np.array([sum(s < m for s, *_ in graph.edges) for m in range(graph.size + 1)], np.int64)
    targets = np.array([graph.edges[i][1] for i in ordered], np.uint32)
    words = -(-graph.sets // 64)
    rows = np.array(
        [
            np.append(as_words(1 | graph.recurs(m) << 1, 1), as_words(graph.waiting(m), words))
            for m in range(graph.size)
        ],
        np.uint64,
    )
    stored = FairGraph(starts, targets, np.array(ordered, np.uint16), rows, 1, graph.fair)
    (found,) = stored.fair_cycles([(0, ((1 << len(graph.recurring)) - 1) << 1)])
    return found


def agree(graph: Graph) -> set[int]:
    """Ask everybody; the states that fair runs visit again and again."""
    expected = fair_states(graph)
    component = fair_component(graph.region, graph.fair)
    found = native(graph)
    if not expected:
        assert component is None
        assert found is None
        return expected
    assert component is not None
    assert found is not None
    assert min(component) == min(expected)
    assert component <= expected
    assert found == shortest_found(graph.region.within(component), graph.fair)
    follow(graph, *found)
    return expected


def follow(graph: Graph, start: int, cycle: tuple[int, ...]) -> None:
    """Walk along a cycle, which must be made of edges, lead back, and be fair."""
    at, states = start, {start}
    for edge in cycle:
        source, target, _ = graph.edges[edge]
        assert source == at
        at = target
        states.add(at)
    assert at == start
    assert fairly_repeated(graph, states, cycle)
