"""A plan: runs from the first state of a graph that between them take every edge, as far as a guide allows.

Greedy: through edges that are wanted while there are some, by a shortest way to the nearest one otherwise, and from the beginning where none lies ahead. What a guide allows may depend on
the way so far: an edge that is refused after one way may be taken after another. After `TRIES` refusals it is given up, with the most frequent reason. A run that gains nothing is
followed by others: from a random beginning, around edges that were refused, or along an earlier run to a state in which something is left.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Generic, Protocol, TypeVar

import numpy as np

from ...base.structs import Data
from ...checker.explicit.state_graph import StateGraph
from .nearest import Flags, Ways

LONGEST = 200
"""Steps of a run, unless it goes along an earlier one that is as long."""

TRIES = 12
IDLE = 150
"""After so many runs in a row that gain nothing, planning ends."""
MOST_STRAYING = 25

_BARRED, _AVOIDED, _CLOSED = 1, 2, 4

T_co = TypeVar("T_co", covariant=True)


class Guide(Protocol[T_co]):
    """What goes along with one run, and says which edges can be taken after it."""

    def take(self, edge: int) -> str:
        """Go on by an edge; or say why that cannot be, and stay."""

    def end(self, steps: int) -> T_co:
        """What there is to say of the first steps of the run."""


class Planned(Data, Generic[T_co]):
    """A run, as edges, with what its guide says of it."""

    edges: tuple[int, ...]
    about: T_co


@dataclass
class Plan(Generic[T_co]):
    """The edges that are still wanted, and the runs that take them. `guide` makes one for a new run; edges that are `closed` are never taken."""

    graph: StateGraph
    guide: Callable[[], Guide[T_co]]
    closed: Flags
    longest: int = LONGEST
    seed: int = 0
    wanted: Flags = field(init=False)
    refused: dict[int, Counter[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.ways = Ways(self.graph)
        self.wanted = (self.closed == 0).astype(np.uint8)
        self._closed = np.where(self.closed != 0, _CLOSED, 0).astype(np.uint8)
        self._random = Random(self.seed)
        self._starts: list[int] = self.graph.starts.tolist()
        self._targets: list[int] = self.graph.targets.tolist()
        self.left = int(self.wanted.sum())
        self._runs: list[tuple[int, ...]] = []
        self._come_by = np.full(
            (2, self.graph.states), -1, np.int64
        )  # the first and the last run that came to a state

    def runs(self) -> Iterator[Planned[T_co]]:
        """Runs, each of which takes a wanted edge, until there are none left or it is no use. What is `want`ed meanwhile is planned for, too."""
        idle = 0
        while self.left and idle < IDLE:
            run = self._run(idle)
            idle = idle + 1 if run is None else 0
            if run is not None:
                yield run
            elif not self._way(0):  # what is wanted lies behind what is closed
                return

    def want(self, edges: list[int]) -> None:
        """Have these edges taken once more."""
        for edge in edges:
            if not self.wanted[edge] and not self._closed[edge] & _CLOSED:
                self.wanted[edge] = 1
                self.left += 1

    def close(self, edge: int) -> None:
        """Never take this edge again."""
        self._settle(edge)
        self._closed[edge] |= _CLOSED

    def _settle(self, edge: int) -> None:
        if self.wanted[edge]:
            self.wanted[edge] = 0
            self.left -= 1

    def _refuse(self, edge: int, why: str) -> None:
        reasons = self.refused.setdefault(edge, Counter())
        reasons[why] += 1
        if reasons.total() >= TRIES:
            self._settle(edge)

    def _run(self, idle: int) -> Planned[T_co] | None:
        """A run that takes at least one wanted edge, and ends with such a one."""
        guide, random = self.guide(), self._random
        path: list[int] = []
        state = useful = 0
        touched = self._avoided() if idle % 2 else []
        stray = random.randrange(MOST_STRAYING) if idle % 3 else 0
        way: list[int] = []  # the last edge first
        if idle % 2:
            way = self._known_way()[::-1]
        longest = max(self.longest, len(way))
        while len(path) < longest:
            if not way:
                edge = self._any(state) if len(path) < stray else self._best(state)
                way = [edge] if edge is not None else self._way(state)
                if not way:
                    break
            edge = way.pop()
            why = guide.take(edge)
            if why:
                self._refuse(edge, why)
                self._closed[edge] |= _BARRED
                touched.append(edge)
                way.clear()
                continue
            path.append(edge)
            if self.wanted[edge]:
                useful = len(path)
                self._settle(edge)
            state = self._targets[edge]
        for edge in touched:
            self._closed[edge] &= _CLOSED
        if not useful:
            return None
        self._note(tuple(path[:useful]))
        return Planned(self._runs[-1], guide.end(useful))

    def _note(self, run: tuple[int, ...]) -> None:
        """Remember which states the run comes to."""
        states = self.graph.targets[list(run)]
        first = states[self._come_by[0, states] < 0]
        self._come_by[0, first] = self._come_by[1, states] = len(self._runs)
        self._runs.append(run)

    def _known_way(self) -> list[int]:
        """As an earlier run came to a state in which something is left, to an edge of it."""
        came = self._come_by[self._random.randrange(2)]
        sources = self.ways.sources
        left = np.flatnonzero((self.wanted != 0) & (self._closed == 0) & (came[sources] >= 0))
        if not len(left):
            return []
        edge = int(left[self._random.randrange(len(left))])
        source = int(sources[edge])
        run = self._runs[came[source]]
        length = next(i for i, taken in enumerate(run, 1) if self._targets[taken] == source)
        return [*run[:length], edge]

    def _avoided(self) -> list[int]:
        """Edges that were refused before, the more often the likelier: other ways lead around them."""
        tries = ((edge, reasons.total()) for edge, reasons in self.refused.items())
        some = [edge for edge, n in tries if self._random.random() < n / (n + 2)]
        for edge in some:
            self._closed[edge] |= _AVOIDED
        return some

    def _way(self, state: int) -> list[int]:
        turn = self._random.randrange(1 << 16)
        return self.ways.nearest(state, self.wanted, self._closed, turn)[::-1]

    def _any(self, state: int) -> int | None:
        first, last = self._starts[state], self._starts[state + 1]
        there = [edge for edge in range(first, last) if not self._closed[edge]]
        return self._random.choice(there) if there else None

    def _best(self, state: int) -> int | None:
        """A wanted edge of the state: the one that leads to where most is wanted."""
        first, last = self._starts[state], self._starts[state + 1]
        there = [edge for edge in range(first, last) if self.wanted[edge] and not self._closed[edge]]
        if len(there) < 2:
            return there[0] if there else None
        return max(there, key=lambda edge: (self._wanted_at(self._targets[edge]), self._random.random()))

    def _wanted_at(self, state: int) -> int:
        return int(self.wanted[self._starts[state] : self._starts[state + 1]].sum())
