"""Trace validation: is what was seen of something real a behaviour of the system?

A record is a sequence of observations. Each knows some of the variables, and may know which transitions can have happened since the one before. A
run explains the record if it can be cut so that every observation agrees with the state where a piece ends, and every piece has only
transitions that its observation allows. See Howard, Kuppe, Ashton, Chamayou and Crooks, Smart Casual Verification of the Confidential
Consortium Framework (2025), for the method.

The search keeps all states in which the system can be after an observation, so nothing is guessed and nothing tried twice. Within its
bounds it is exact and complete; where a bound kept it from looking further, it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

from ...base.structs import Data
from ...model.language import State, TransitionSystem
from ..core.exploration import Path
from ..core.trace import Trace
from .execution import replay

MOST_NEAREST = 3
"""How many states are told that nearly agree with an observation."""

S = TypeVar("S", bound=Hashable)

Seen = Mapping[str, int | frozenset[int]]


class Observation(Data):
    """What was seen at one moment: of some variables, by name, their codes; or of which codes it can be one.

    `possible`: the transitions that may have happened since the observation before (None: any), of which at most `most`
    did (None: any number).
    """

    seen: Seen
    possible: frozenset[int] | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far is looked between two observations: so many steps, so many states."""

    steps: int = 12
    states: int = 20_000


class Answer(Enum):
    """What is known about a record."""

    EXPLAINED = "explained"
    REFUSED = "refused"
    """No run of the system explains it."""
    UNKNOWN = "unknown"
    """None was found within the bounds, and one of them was met."""


class Difference(Data):
    """A variable that was seen with one value (or with one of several), and has another in a state of the system; as codes."""

    variable: str
    seen: int | frozenset[int]
    in_system: int


class Candidate(Data):
    """A state that nearly agrees with an observation: `path` leads to it from the initial state through all observations before."""

    path: Path
    differences: tuple[Difference, ...]


class Explanation(Data):
    """The answer for one record. `trace` explains the first `len(at)` observations: after `at[i]` of its steps, observation i was made.

    Where the record goes on after them: the states that are `nearest` to the next observation. `states` were looked at.
    """

    answer: Answer
    trace: Trace
    at: tuple[int, ...]
    states: int
    nearest: tuple[Candidate, ...] = ()


class Expander(Protocol[S]):
    """The states of a system in some form, and what they lead to."""

    @property
    def initial(self) -> S:
        """Where a run begins."""
        ...

    def successors(self, state: S, possible: frozenset[int] | None) -> Iterable[tuple[int, S]]:
        """The enabled ones of the transitions, in their order, with the states that they lead to."""
        ...

    def agreeing(self, seen: Seen) -> Callable[[S], bool]:
        """Whether a state is as it was seen. Raises ValueError for a name that is no variable."""
        ...

    def state(self, state: S) -> State:
        """The codes of a state."""
        ...


def positions(system: TransitionSystem, seen: Seen) -> list[tuple[int, frozenset[int]]]:
    """Where each of the variables stands in a state, with its codes. Raises ValueError for a name that is no variable."""
    known = {variable.name: place for variable, place in system.position.items()}
    unknown = next((name for name in seen if name not in known), None)
    if unknown is not None:
        raise ValueError(f"`{unknown}` is no variable of {system.name}")
    return [
        (known[name], codes if isinstance(codes, frozenset) else frozenset({codes}))
        for name, codes in seen.items()
    ]


class Search(Generic[S]):
    """Looks for runs that explain records of one system."""

    def __init__(self, system: TransitionSystem, expander: Expander[S], bounds: Bounds = Bounds()) -> None:
        self.system, self.expander, self.bounds = system, expander, bounds

    def explain(self, record: Sequence[Observation]) -> Explanation:
        """The answer for one record. Whatever is claimed has been executed by the reference interpreter."""
        start = self.expander.initial
        gaps: list[_Gap[S]] = []
        standing: list[S] = [start]
        states, stopped = 1, False
        for observation in record:
            gap = _Gap(self.expander, standing, observation, self.bounds)
            states, stopped = states + len(gap.came_from) - len(standing), stopped or gap.stopped
            if not gap.agreeing:
                path, at = _way(gaps, standing[0])
                answer = Answer.UNKNOWN if stopped else Answer.REFUSED
                nearest = self._nearest(observation, gaps, gap)
                return Explanation(answer, self._executed(record, path, at), at, states, nearest)
            gaps.append(gap)
            standing = gap.agreeing
        path, at = _way(gaps, standing[0])
        return Explanation(Answer.EXPLAINED, self._executed(record, path, at), at, states)

    def _nearest(self, observation: Observation, gaps: list[_Gap[S]], last: _Gap[S]) -> tuple[Candidate, ...]:
        """Of the states that were looked at, those with the fewest differences, no two with the same."""
        wanted = positions(self.system, observation.seen)
        found: dict[tuple[Difference, ...], S] = {}
        for state in last.came_from:
            codes = self.expander.state(state)
            different = tuple(
                Difference(name, seen, codes[place])
                for (name, seen), (place, allowed) in zip(observation.seen.items(), wanted, strict=True)
                if codes[place] not in allowed
            )
            found.setdefault(different, state)
        chosen = sorted(found.items(), key=lambda item: len(item[0]))[:MOST_NEAREST]
        return tuple(Candidate(_way([*gaps, last], state)[0], different) for different, state in chosen)

    def _executed(self, record: Sequence[Observation], path: Path, at: tuple[int, ...]) -> Trace:
        """The run, executed, which agrees with each observation. Raises ReplayError and AssertionError: errors of an expander."""
        trace = replay(self.system, path)
        before = 0
        for observation, steps in zip(record, at, strict=False):
            state, piece = trace.states[steps], path[before:steps]
            assert all(state[place] in codes for place, codes in positions(self.system, observation.seen))
            assert observation.possible is None or observation.possible.issuperset(piece)
            assert observation.most is None or len(piece) <= observation.most
            before = steps
        return trace


class _Gap(Generic[S]):
    """All that can have happened between two observations, level by level.

    `came_from` has each state that was met, with the state before it and the transition between them; `agreeing` are those that agree with the
    later observation. `stopped`: a bound kept the search from looking further.
    """

    def __init__(
        self, expander: Expander[S], standing: list[S], observation: Observation, bounds: Bounds
    ) -> None:
        self.came_from: dict[S, tuple[S, int] | None] = dict.fromkeys(standing)
        self.stopped = False
        agrees = expander.agreeing(observation.seen)
        self.agreeing = [state for state in standing if agrees(state)]
        level, steps = standing, 0
        while level and steps != observation.most:
            following: list[S] = []
            for state in level:
                for number, target in expander.successors(state, observation.possible):
                    if target in self.came_from:
                        continue
                    if steps == bounds.steps or len(self.came_from) >= bounds.states:
                        self.stopped = True
                        return
                    self.came_from[target] = state, number
                    following.append(target)
                    if agrees(target):
                        self.agreeing.append(target)
            level, steps = following, steps + 1


def _way(gaps: Sequence[_Gap[S]], state: S) -> tuple[Path, tuple[int, ...]]:
    """The run to a state of the last gap, and after how many of its steps each gap ends."""
    pieces: list[list[int]] = []
    for gap in reversed(gaps):
        piece: list[int] = []
        while (link := gap.came_from[state]) is not None:
            state, number = link
            piece.append(number)
        pieces.append(piece[::-1])
    path: list[int] = []
    at: list[int] = []
    for piece in reversed(pieces):
        path += piece
        at.append(len(path))
    return tuple(path), tuple(at)
