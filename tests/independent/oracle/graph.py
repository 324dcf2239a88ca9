"""The reachable states of a system, level by level, and what can be said about runs by walking over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from podrace.model.language import Expr, State, TransitionSystem
from tests.independent.oracle.reading import Moves, Reader


class TooLarge(Exception):
    """The system has more reachable states than were asked for."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Reachable states with their distances from the initial state, in the order in which they were met."""

    reader: Reader
    distance: Mapping[State, int]
    moves: Mapping[State, Moves]

    def where(self, condition: Expr) -> set[State]:
        """The states in which a condition holds."""
        return {s for s in self.distance if self.reader.holds(condition, s)}

    def nearest(self, condition: Expr, holds: bool = True) -> int | None:
        """The length of a shortest run to a state in which the condition holds, or does not; None without one."""
        found = (d for s, d in self.distance.items() if self.reader.holds(condition, s) is holds)
        return min(found, default=None)

    def stranded(self, home: Expr) -> int | None:
        """The length of a shortest run to a state from which fair transitions never lead home; None without one."""
        fair = {i for i, t in enumerate(self.reader.system.transitions) if t.fair}
        good = self.where(home)
        for state, distance in self.distance.items():  # nearest first
            if not good & self.reached_from(state, lambda number: number in fair):
                return distance
        return None

    def reached_from(self, start: State, allowed: Callable[[int], bool]) -> set[State]:
        """The states that allowed transitions lead to from a state, and the state itself."""
        found, waiting = {start}, [start]
        while waiting:
            for number, target in self.moves[waiting.pop()].steps:
                if allowed(number) and target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    def distances(self, allowed: Collection[int]) -> dict[State, int]:
        """How far each state is from the initial one by these transitions alone."""
        start = next(iter(self.distance))
        found, level, depth = {start: 0}, [start], 0
        while level:
            depth += 1
            following = []
            for state in level:
                for number, target in self.moves[state].steps:
                    if number in allowed and target not in found:
                        found[target] = depth
                        following.append(target)
            level = following
        return found

    def counts(self, last: int | None = None) -> tuple[int, int, int, tuple[int, ...], frozenset[str]]:
        """States, transitions, depth, how often each transition was possible, bounds hit.

        With `last`, those of a search that ends after the level of that number: its states are met, and not left.
        """
        left = [m for s, m in self.moves.items() if last is None or self.distance[s] < last]
        met = [d for d in self.distance.values() if last is None or d <= last]
        fired = [0] * len(self.reader.system.transitions)
        for moves in left:
            for number, _ in moves.steps:
                fired[number] += 1
        hit = frozenset(name for moves in left for name in moves.hit)
        return len(met), sum(fired), max(met), tuple(fired), hit


def graph_of(
    system: TransitionSystem,
    initial: State | None = None,
    parameters: Mapping[str, int] | None = None,
    most: int = 400,
) -> Graph:
    """The reachable part of a system, from its own initial state or from another. Raises TooLarge and OutOfRange."""
    reader = Reader(system, parameters)
    start = tuple(v.initial for v in system.variables) if initial is None else initial
    distance, moves, level = {start: 0}, dict[State, Moves](), [start]
    while level:
        following: list[State] = []
        for state in level:
            moves[state] = reader.moves(state)
            for _, target in moves[state].steps:
                if target not in distance:
                    distance[target] = distance[state] + 1
                    following.append(target)
        if len(distance) > most:
            raise TooLarge
        level = following
    return Graph(reader, distance, moves)


def smallest_first(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Sets without those that another one is a part of."""
    kept: list[frozenset[str]] = []
    for one in sorted(sets, key=len):
        if not any(other <= one for other in kept):
            kept.append(one)
    return kept
