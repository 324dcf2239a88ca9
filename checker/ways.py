"""The essentially different ways to a violation: counterexamples none of which takes all kinds of steps that another takes.

The kinds of steps of a run to a violation are a conflict in the sense of diagnosis: they cannot all be there while the
property holds. The minimal conflicts are enumerated with a hitting set tree (Reiter, A Theory of Diagnosis from First
Principles, 1987): each node is the system without some kinds of steps; if it is still violated, the node's children are without
one more kind of its counterexample. A tree that is built to its end leaves no way out: every run to a violation takes
all kinds of steps of one of the ways.

`minimal_sets` finds such sets of anything by trying all subsets: few are enough for that, and nothing need be known of them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

from ..model.language import Entity, Transition, TransitionSystem
from .core.exploration import Budget, Path
from .core.result import Counts, Coverage, Result, Verdict
from .core.trace import Trace
from .reduction.questions import UnknownProperty
from .search import Engine, check
from .trace.execution import confirm

T = TypeVar("T")

Kinds = frozenset[str]
Watcher = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the violation: its kinds of steps, in the order in which the run takes them first, and a shortest run of no others.

    Unless a search ran out of its budget, no kind can be left out, and no run is shorter.
    """

    kinds: tuple[str, ...]
    trace: Trace


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways that were found, the shorter first.

    The `result` is VIOLATED if there are some, by the shortest. It is not complete (`stopped`) if runs to a violation may take
    all kinds of steps of none of them: "most" (as many as were asked for), "states", "memory" or "timeout". Its counts are those of
    all `searches`, its depth that of the deepest; the constraints hit are those of the system without some kinds of steps that
    keep it from being violated.
    """

    result: Result
    ways: tuple[Way, ...]
    searches: int

    @property
    def common(self) -> tuple[str, ...]:
        """The kinds of steps that every way takes, in the order of the first; empty if there is no way."""
        first = self.ways[0].kinds if self.ways else ()
        return tuple(kind for kind in first if all(kind in way.kinds for way in self.ways))

    def own(self, way: Way) -> tuple[str, ...]:
        """The kinds of steps of a way that not all others take."""
        common = frozenset(self.common)
        return tuple(kind for kind in way.kinds if kind not in common)


def kind_of_step(transition: Transition) -> str:
    """The step and how it turned out, whatever the pods and nodes: for example ``binding.bind(reply=LOST)``."""
    told = [f"{name}={getattr(v, 'name', v)}" for name, v in transition.args if not isinstance(v, Entity)]
    step = f"{transition.part}.{transition.step}"
    return f"{step}({', '.join(told)})" if told else step


def find_ways(
    system: TransitionSystem,
    invariant: str,
    most: int,
    budget: Budget | None = None,
    *,
    engine: Engine = "native",
    watch: Watcher | None = None,
) -> Ways:
    """The essentially different ways in which the invariant can be violated, `most` at most (at least 1).

    `budget` is that of each search, but for its `timeout`, which is for all together. `watch` is told after each search
    how many there were, and how many ways are known. Raises UnknownProperty if the system has no such invariant, and
    EngineDisagreement.
    """
    if invariant not in system.invariants:
        raise UnknownProperty(f"{system.name} has no invariant `{invariant}`")
    if most < 1:
        raise ValueError(f"at least 1 way must be asked for, not {most}")
    return _Tree(system, invariant, budget or Budget(), engine, watch).build(most)


@dataclass(frozen=True, slots=True)
class _Conflict:
    kinds: Kinds
    path: Path


class _Tree:
    """The hitting set tree of one property."""

    def __init__(
        self,
        system: TransitionSystem,
        invariant: str,
        budget: Budget,
        engine: Engine,
        watch: Watcher | None,
    ) -> None:
        self._whole, self._invariant = system, invariant
        self._system = system.with_predicates(
            invariants={invariant: system.invariants[invariant]},
            witnesses={},
            resettabilities={},
            livenesses={},
            views={},
            scales=False,  # without some kinds of steps, minutes would pass where a run of the whole has no time for it
        )
        self._budget, self._engine, self._watch = budget, engine, watch
        self._kinds = [kind_of_step(transition) for transition in system.transitions]
        self._started = time.monotonic()
        self._found: list[_Conflict] = []
        self._harmless: list[Kinds] = []
        self._ran_out: str | None = None
        self._searches = self._states = self._transitions = self._depth = 0
        self._constraints_hit: set[str] = set()

    def build(self, most: int) -> Ways:
        every = frozenset(self._kinds)
        waiting, seen = deque([frozenset[str]()]), set[Kinds]()
        while waiting:
            without = waiting.popleft()
            if without in seen:
                continue
            seen.add(without)
            conflict = next((known for known in self._found if not known.kinds & without), None)
            if conflict is None:
                conflict = self._search(every - without)
                if conflict is None:
                    continue
                if len(self._found) == most:
                    return self._answer("most")
                conflict = self._minimal(conflict)
                self._found.append(conflict)
            waiting.extend(without | {kind} for kind in self._in_order(conflict))
        return self._answer(self._ran_out)

    def _search(self, allowed: Kinds) -> _Conflict | None:
        """A run to a violation that takes none but these kinds of steps; None if there is none, or none is found."""
        if any(allowed <= harmless for harmless in self._harmless) or self._out_of_time():
            return None
        numbers = [number for number, kind in enumerate(self._kinds) if kind in allowed]
        part = replace(self._system, transitions=tuple(self._system.transitions[n] for n in numbers))
        result = self._check(part)
        if result.verdict is Verdict.HOLDS:
            self._harmless.append(allowed)
            self._constraints_hit.update(result.coverage.constraints_hit)
        if result.verdict is Verdict.INCONCLUSIVE:
            self._ran_out = self._ran_out or result.stopped
        if result.trace is None:
            return None
        path = tuple(numbers[number] for number in result.trace.path)
        kinds = frozenset(self._kinds[number] for number in path)
        return _Conflict(kinds, path)

    def _check(self, part: TransitionSystem) -> Result:
        (result,) = check(
            part,
            [self._invariant],
            replace(self._budget, timeout=self._left()),
            engine=self._engine,
        )
        self._searches += 1
        counts = result.counts
        self._states += counts.states or 0
        self._transitions += counts.transitions or 0
        self._depth = max(self._depth, counts.depth or 0)
        if self._watch is not None:
            self._watch(self._searches, len(self._found))
        return result

    def _left(self) -> float | None:
        timeout = self._budget.timeout
        return None if timeout is None else max(0.0, self._started + timeout - time.monotonic())

    def _out_of_time(self) -> bool:
        if self._left() != 0.0:
            return False
        self._ran_out = self._ran_out or "timeout"
        return True

    def _minimal(self, conflict: _Conflict) -> _Conflict:
        """A conflict within this one of which no kind can be left out."""
        needed: set[str] = set()
        while rest := [kind for kind in self._in_order(conflict) if kind not in needed]:
            smaller = self._search(conflict.kinds - {rest[0]})
            if smaller is None:
                needed.add(rest[0])
            else:
                conflict = smaller
        return conflict

    def _in_order(self, conflict: _Conflict) -> Sequence[str]:
        return tuple(dict.fromkeys(self._kinds[number] for number in conflict.path))

    def _answer(self, stopped: str | None) -> Ways:
        ways = [
            Way(tuple(self._in_order(one)), confirm(self._whole, one.path, self._invariant))
            for one in sorted(self._found, key=lambda one: len(one.path))
        ]
        verdict = Verdict.HOLDS if stopped is None else Verdict.INCONCLUSIVE
        hit = tuple(c for c in self._whole.constraints if c in self._constraints_hit)
        result = Result(
            system=self._whole.name,
            property_id=self._invariant,
            kind="invariant",
            verdict=Verdict.VIOLATED if ways else verdict,
            counts=Counts(self._states, self._transitions, self._depth, time.monotonic() - self._started),
            coverage=Coverage(constraints_hit=hit, measured=False),
            trace=ways[0].trace if ways else None,
            stopped=stopped,
            engine=self._engine,
        )
        return Ways(result, tuple(ways), self._searches)


def minimal_sets(candidates: Sequence[T], suffices: Callable[[tuple[T, ...]], bool]) -> list[tuple[T, ...]]:
    """Every set of candidates that suffices while none of its proper subsets does, in the order of the candidates.

    Asks about each subset at most once, and not about supersets of one that suffices. Nothing is assumed of `suffices`:
    a superset may well not suffice.
    """
    found: list[tuple[T, ...]] = []
    for size in range(len(candidates) + 1):
        for chosen in combinations(candidates, size):
            if not any(set(smaller) <= set(chosen) for smaller in found) and suffices(chosen):
                found.append(chosen)
    return found
