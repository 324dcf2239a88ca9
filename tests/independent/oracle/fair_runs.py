"""Whether a system has a fair run that is, from some point on, as a case of a liveness says: Streett's condition by sets.

A run that goes on for ever repeats, from some point on, the states and edges of one strongly connected part of what is
reachable; it may also rest where it is. Parts are found by walking forwards and backwards, and of a part that is unfair to one
strong set the rest without the states in which that set waits is looked at again. No numbers, no masks: only
sets of states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from podrace.model.language import Case, State
from tests.independent.oracle.graph import Graph

Edge = tuple[State, int, State]


@dataclass(frozen=True, slots=True)
class FairSet:
    """A fair set: its transitions, and the states in which one of them would go if no bound stopped it."""

    strong: bool
    members: frozenset[int]
    waits: frozenset[State]

    def content(self, states: set[State], edges: Iterable[Edge]) -> bool:
        """Whether a run that repeats these states and edges, and nothing else, is fair to the set."""
        if any(number in self.members for _, number, _ in edges):
            return True
        waiting = states & self.waits
        return not waiting if self.strong else waiting != states


def fair_sets(graph: Graph) -> list[FairSet]:
    """The fair sets that the transitions of the system name."""
    transitions = graph.reader.system.transitions
    found = []
    for fairness in {f for t in transitions for f in t.fairness}:
        members = frozenset(i for i, t in enumerate(transitions) if fairness in t.fairness)
        waits = frozenset(s for s, m in graph.moves.items() if m.willing & members)
        found.append(FairSet(fairness.strong, members, waits))
    return found


def has_fair_run(graph: Graph, sets: list[FairSet], case: Case) -> bool:
    """Whether some fair run stays, from some point on, where the case persists, and meets what must recur again and again."""
    wanted = [graph.where(condition) for condition in case.recurrent]
    return any(_fair_part(graph, part, sets, wanted) for part in _parts(graph, graph.where(case.persistent)))


def _fair_part(graph: Graph, part: set[State], sets: list[FairSet], wanted: list[set[State]]) -> bool:
    if any(not states & part for states in wanted):
        return False
    edges = [e for s in part for e in _edges(graph, s) if e[2] in part]
    for fair in sets:
        if fair.content(part, edges):
            continue
        if not fair.strong:
            return False
        return any(_fair_part(graph, smaller, sets, wanted) for smaller in _parts(graph, part - fair.waits))
    return True


def _edges(graph: Graph, state: State) -> Iterator[Edge]:
    return ((state, number, target) for number, target in graph.moves[state].steps)


def _parts(graph: Graph, states: set[State]) -> Iterator[set[State]]:
    """The strongly connected components of some states, one after the other."""
    onwards = {s: {t for _, t in graph.moves[s].steps if t in states} for s in states}
    back: dict[State, set[State]] = {s: set() for s in states}
    for source, targets in onwards.items():
        for target in targets:
            back[target].add(source)
    left = set(states)
    while left:
        start = next(iter(left))
        part = _closure(start, onwards) & _closure(start, back)
        yield part
        left -= part


def _closure(start: State, following: dict[State, set[State]]) -> set[State]:
    found, waiting = {start}, [start]
    while waiting:
        for state in following[waiting.pop()] - found:
            found.add(state)
            waiting.append(state)
    return found


def is_fair_lasso(
    graph: Graph, sets: list[FairSet], case: Case, prefix: Iterable[int], cycle: Iterable[int]
) -> bool:
    """Whether this is a run of the system whose cycle leads back, is fair, and is as the case says."""
    at = next(iter(graph.distance))
    for number in prefix:
        following = dict(graph.moves[at].steps)
        if number not in following:
            return False
        at = following[number]
    start, states, edges = at, {at}, list[Edge]()
    for number in cycle:
        following = dict(graph.moves[at].steps)
        if number not in following:
            return False
        edges.append((at, number, following[number]))
        at = following[number]
        states.add(at)
    reader = graph.reader
    return (
        at == start
        and all(fair.content(states, edges) for fair in sets)
        and all(reader.holds(case.persistent, s) for s in states)
        and all(any(reader.holds(e, s) for s in states) for e in case.recurrent)
    )
