"""One property of a system with unknown quantities: every choice of them that can be told apart is searched to the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ...model.language import Parameter
from ..core.exploration import Budget, Exploration
from ..explicit.reference import Watcher
from ..reduction.policy import Mode
from ..reduction.slicing import step_name
from ..search import Engine, EngineDisagreement, check
from ..trace.trace import ReplayError
from ..verdict import Verdict, combine
from .explorer import Explorer
from .parameters import with_quantities
from .parametric_system import Family, Representative, Unknown

MOST = 20_000
"""More choices than this are not begun with."""


class TooManyChoices(ValueError):
    """More choices can be told apart than `exhaust` begins with."""


class _OutOfTime(Exception):
    """The time was over before the choices were known."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What came out for a representative: also for how many choices that can be told apart it stands.

    `steps` is the length of its counterexample, `witnesses` that of a shortest run to each witness that was reached.
    """

    values: Mapping[Parameter, int]
    cells: int
    verdict: Verdict
    states: int
    transitions: int
    depth: int
    steps: int | None
    witnesses: Mapping[str, int]
    fired: frozenset[str]
    bounds: frozenset[str]
    stopped: str | None


@dataclass(frozen=True)
class Exhausted:
    """The verdict on all choices, and what it rests on; `family` is None if time was over before the choices were known."""

    family: Family | None
    searched: tuple[Searched, ...]
    seconds: float
    engine: Engine

    @property
    def verdict(self) -> Verdict:
        """The weakest of all."""
        return combine([one.verdict for one in self.searched]) if self.family else Verdict.INCONCLUSIVE

    def count(self, verdict: Verdict | None = None) -> int:
        """How many choices that can be told apart have this verdict; without one, how many there are."""
        return sum(one.cells for one in self.searched if verdict in (None, one.verdict))

    @property
    def witnesses(self) -> dict[str, int]:
        """For each witness that was reached by any choice, the length of a shortest run to it."""
        found: dict[str, int] = {}
        for one in self.searched:
            for witness, steps in one.witnesses.items():
                found[witness] = min(steps, found.get(witness, steps))
        return found

    def simplest(self) -> Mapping[Parameter, int] | None:
        """Of the choices with the shortest counterexample the one with the least numbers; None without any."""
        violating = [one for one in self.searched if one.steps is not None]
        if not violating or self.family is None:
            return None
        shortest = min(one.steps for one in violating if one.steps is not None)
        least = [self.family.smallest(one.values) for one in violating if one.steps == shortest]
        return min(least, key=lambda values: (sum(map(abs, values.values())), tuple(values.values())))


def exhaust(
    unknown: Unknown,
    property_id: str,
    budget: Budget,
    *,
    engine: Engine = "native",
    reductions: Mode = "auto",
    progress: Watcher | None = None,
) -> Exhausted:
    """Search every choice; the states and the memory of the budget are for each search, the time for all together.

    Every counterexample is executed by the interpreter, and for each witness a shortest run to it. Raises
    TooManyChoices, EngineDisagreement, what `Family` raises, and ValueError if the assumptions leave no choice.
    """
    began = time.monotonic()

    def left() -> float | None:
        return None if budget.timeout is None else budget.timeout - (time.monotonic() - began)

    def look(found: int) -> None:
        if found > MOST:
            raise TooManyChoices(f"more than {MOST:,} clusters can be told apart")
        if (seconds := left()) is not None and seconds <= 0:
            raise _OutOfTime

    family = Family(unknown, property_id, look)
    try:
        chosen = family.representatives
    except _OutOfTime:
        return Exhausted(None, (), time.monotonic() - began, engine)
    if not chosen:
        raise ValueError("no choice of numbers meets what is assumed of them")
    search: Callable[[Representative, Budget], Searched]
    if engine == "native" and reductions != "on":
        search = _Series(family, property_id, progress)
    else:
        search = _Alone(family, property_id, engine, reductions, progress)
    found = []
    for one in chosen:
        seconds = left()
        if seconds is not None and seconds <= 0:
            found.append(_put_off(one))
        else:
            found.append(search(one, replace(budget, timeout=seconds)))
    return Exhausted(family, tuple(found), time.monotonic() - began, engine)


def _put_off(one: Representative) -> Searched:
    nothing: frozenset[str] = frozenset()
    return Searched(
        one.values, one.cells, Verdict.INCONCLUSIVE, 0, 0, 0, None, {}, nothing, nothing, "timeout"
    )


class _Series:
    """One compiled search after the other, by the native engine."""

    def __init__(self, family: Family, property_id: str, progress: Watcher | None) -> None:
        self.explorer = Explorer(family.unknown, property_id, family.ranges)
        self.progress = progress
        self.steps = [step_name(t) for t in self.explorer.slice.transitions]
        self.witnesses: dict[str, int] = {}

    def __call__(self, one: Representative, budget: Budget) -> Searched:
        answer = self.explorer.explore(one.values, budget, self.progress)
        try:
            trace = self.explorer.confirm(answer, one.values)
            self._confirm_witnesses(answer, one.values)
        except ReplayError as error:
            raise EngineDisagreement(
                f"the native engine claims what the reference interpreter does not confirm: {error}"
            ) from error
        if trace is not None:
            verdict = Verdict.VIOLATED
        elif answer.complete:
            verdict = Verdict.HOLDS
        elif answer.stopped in ("states", "memory", "timeout"):
            verdict = Verdict.INCONCLUSIVE
        else:
            raise EngineDisagreement(f"the native engine stopped with `{answer.stopped}` and no answer")
        return Searched(
            one.values,
            one.cells,
            verdict,
            answer.states,
            answer.transitions,
            answer.depth,
            None if trace is None else len(trace.steps),
            {witness: len(path) for witness, path in answer.witnesses.items()},
            frozenset(name for name, times in zip(self.steps, answer.fired, strict=True) if times),
            answer.constraints_hit,
            answer.stopped if verdict is Verdict.INCONCLUSIVE else None,
        )

    def _confirm_witnesses(self, answer: Exploration, values: Mapping[Parameter, int]) -> None:
        """Execute the runs to witnesses that are shorter than all before."""
        for witness, path in answer.witnesses.items():
            if witness not in self.witnesses or len(path) < self.witnesses[witness]:
                self.witnesses[witness] = self.explorer.confirm_witness(answer, values, witness)


class _Alone:
    """Every choice as a system of its own: for other engines, and for searches that are to be reduced."""

    def __init__(
        self,
        family: Family,
        property_id: str,
        engine: Engine,
        reductions: Mode,
        progress: Watcher | None,
    ) -> None:
        self.system, self.property = family.unknown.system, property_id
        self.engine, self.reductions, self.progress = engine, reductions, progress

    def __call__(self, one: Representative, budget: Budget) -> Searched:
        system = with_quantities(self.system, {q.name: value for q, value in one.values.items()})
        (result,) = check(
            system,
            [self.property],
            budget,
            engine=self.engine,
            reductions=self.reductions,
            progress=self.progress,
        )
        return Searched(
            one.values,
            one.cells,
            result.verdict,
            result.states,
            result.transitions,
            result.depth,
            None if result.trace is None else len(result.trace.steps),
            result.witnesses_reached,
            frozenset(result.fired),
            frozenset(result.constraints_hit),
            result.stopped if result.verdict is Verdict.INCONCLUSIVE else None,
        )
