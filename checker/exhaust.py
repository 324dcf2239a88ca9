"""One property of a system with unknown parameters: every choice of them that can be told apart is searched to the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from ..model.language import Parameter
from .core.exploration import Budget, Exploration, Watcher
from .core.result import Counts, Coverage, EngineDisagreement, Result, Verdict, combine
from .parametric.explorer import Explorer
from .parametric.parameters import with_parameters
from .parametric.parametric_system import ParametricSystem, RegionRepresentative, Regions
from .reduction.conclusion import coverage_of, times_fired, verdict_of
from .reduction.questions import kind_of
from .reduction.slicing import Slicer
from .search import Engine, check
from .trace.execution import ReplayError

MOST = 20_000
"""More choices than this are not begun with."""


class TooManyChoices(ValueError):
    """More choices can be told apart than `exhaust` begins with."""


class _OutOfTime(Exception):
    """The time was over before the choices were known."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What came out for a representative, which stands for so many regions.

    `steps` is the length of its counterexample; `stopped` is None unless its search ran out of its budget.
    """

    values: Mapping[Parameter, int]
    regions: int
    verdict: Verdict
    counts: Counts
    steps: int | None = None
    stopped: str | None = None


@dataclass(frozen=True)
class Exhausted:
    """The result for all choices together, and what came out for each that was searched.

    `regions` is None if time was over before the choices were known. In the `result`, states and transitions are those of all
    searches, the depth is that of the deepest; it has no evidence: `simplest` says where to look for some.
    """

    result: Result
    regions: Regions | None
    searched: tuple[Searched, ...]

    def count(self, verdict: Verdict | None = None) -> int:
        """How many choices that can be told apart have this verdict; without one, how many there are."""
        return sum(one.regions for one in self.searched if verdict in (None, one.verdict))

    def simplest(self) -> Mapping[Parameter, int] | None:
        """Of the choices with the shortest counterexample the one with the least numbers; None without any."""
        violating = [one for one in self.searched if one.steps is not None]
        if not violating or self.regions is None:
            return None
        shortest = min(one.steps for one in violating if one.steps is not None)
        least = [self.regions.smallest(one.values) for one in violating if one.steps == shortest]
        return min(least, key=lambda values: (sum(map(abs, values.values())), tuple(values.values())))


def exhaust(
    parametric: ParametricSystem,
    property_id: str,
    budget: Budget,
    *,
    engine: Engine = "native",
    progress: Watcher | None = None,
) -> Exhausted:
    """Search every choice; the states and the memory of the budget are for each search, the time for all together.

    Every counterexample is executed by the interpreter, and for each witness a shortest run to it. Raises
    TooManyChoices, EngineDisagreement, what `Regions` raises, and ValueError if the assumptions leave no choice.
    """
    began = time.monotonic()

    def left() -> float | None:
        return None if budget.timeout is None else budget.timeout - (time.monotonic() - began)

    def look(found: int) -> None:
        if found > MOST:
            raise TooManyChoices(f"more than {MOST:,} clusters can be told apart")
        if (seconds := left()) is not None and seconds <= 0:
            raise _OutOfTime

    regions = Regions(parametric, property_id, look)
    seen = _Seen()
    found: list[Searched] = []

    def exhausted(known: Regions | None) -> Exhausted:
        system = parametric.system
        unfinished = [one.stopped for one in found if one.stopped is not None] if known else ["timeout"]
        result = Result(
            system=system.name,
            property_id=property_id,
            kind=kind_of(system, property_id),
            verdict=combine(one.verdict for one in found) if known else Verdict.INCONCLUSIVE,
            counts=Counts(
                states=sum(one.counts.states or 0 for one in found),
                transitions=sum(one.counts.transitions or 0 for one in found),
                depth=max((one.counts.depth or 0 for one in found), default=0),
                seconds=time.monotonic() - began,
            ),
            coverage=seen.coverage(parametric, known, property_id),
            stopped=unfinished[0] if unfinished else None,
            engine=engine,
        )
        return Exhausted(result, known, tuple(found))

    try:
        chosen = regions.representatives
    except _OutOfTime:
        return exhausted(None)
    if not chosen:
        raise ValueError("no choice of numbers meets what is assumed of them")
    search: Callable[[RegionRepresentative, Budget], Searched]
    if engine == "native":
        search = _Series(regions, property_id, seen, progress)
    else:
        search = _Alone(regions, property_id, seen, engine, progress)
    for one in chosen:
        seconds = left()
        if seconds is not None and seconds <= 0:
            nothing = Counts(states=0, transitions=0, depth=0)
            found.append(Searched(one.values, one.regions, Verdict.INCONCLUSIVE, nothing, stopped="timeout"))
        else:
            found.append(search(one, replace(budget, timeout=seconds)))
    return exhausted(regions)


@dataclass
class _Seen:
    """What happened with any choice: how often each step could be taken, and the shortest run to each witness."""

    fired: dict[str, int] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    constraints_hit: set[str] = field(default_factory=set)

    def add(self, fired: Mapping[str, int], reached: Mapping[str, int], hit: Collection[str]) -> None:
        for step, times in fired.items():
            self.fired[step] = self.fired.get(step, 0) + times
        for witness, steps in reached.items():
            self.reached[witness] = min(steps, self.reached.get(witness, steps))
        self.constraints_hit.update(hit)

    def coverage(self, parametric: ParametricSystem, regions: Regions | None, property_id: str) -> Coverage:
        """The same of the whole system."""
        return coverage_of(
            Slicer(parametric.system),
            regions.slice if regions else parametric.system,
            property_id,
            fired=self.fired,
            reached=self.reached,
            constraints_hit=self.constraints_hit,
        )


class _Series:
    """One compiled search after the other, by the native engine."""

    def __init__(self, regions: Regions, property_id: str, seen: _Seen, progress: Watcher | None) -> None:
        self.explorer = Explorer(regions.parametric, property_id, regions.ranges)
        self.seen, self.progress = seen, progress

    def __call__(self, one: RegionRepresentative, budget: Budget) -> Searched:
        answer = self.explorer.explore(one.values, budget, self.progress)
        try:
            trace = self.explorer.confirm(answer, one.values)
            self._confirm_witnesses(answer, one.values)
        except ReplayError as error:
            raise EngineDisagreement(
                f"the native engine claims what the reference interpreter does not confirm: {error}"
            ) from error
        verdict = verdict_of(answer.complete, trace is not None)
        if verdict is Verdict.INCONCLUSIVE and answer.stopped not in ("states", "memory", "timeout"):
            raise EngineDisagreement(f"the native engine stopped with `{answer.stopped}` and no answer")
        reached = {witness: len(path) for witness, path in answer.witnesses.items()}
        self.seen.add(times_fired(self.explorer.slice, answer.fired), reached, answer.constraints_hit)
        return Searched(
            one.values,
            one.regions,
            verdict,
            Counts(answer.states, answer.transitions, answer.depth, answer.seconds),
            None if trace is None else len(trace.steps),
            answer.stopped if verdict is Verdict.INCONCLUSIVE else None,
        )

    def _confirm_witnesses(self, answer: Exploration, values: Mapping[Parameter, int]) -> None:
        """Execute the runs to witnesses that are shorter than all before."""
        shortest = self.seen.reached
        for witness, path in answer.witnesses.items():
            if witness not in shortest or len(path) < shortest[witness]:
                self.explorer.confirm_witness(answer, values, witness)


class _Alone:
    """Every choice as a system of its own: for other engines than the native one."""

    def __init__(
        self,
        regions: Regions,
        property_id: str,
        seen: _Seen,
        engine: Engine,
        progress: Watcher | None,
    ) -> None:
        self.system, self.property, self.seen = regions.parametric.system, property_id, seen
        self.engine, self.progress = engine, progress

    def __call__(self, one: RegionRepresentative, budget: Budget) -> Searched:
        system = with_parameters(self.system, {q.name: value for q, value in one.values.items()})
        (result,) = check(
            system,
            [self.property],
            budget,
            engine=self.engine,
            progress=self.progress,
        )
        seen = result.coverage
        self.seen.add(seen.fired, seen.witnesses_reached, seen.constraints_hit)
        return Searched(
            one.values,
            one.regions,
            result.verdict,
            result.counts,
            None if result.trace is None else len(result.trace.steps),
            result.stopped if result.verdict is Verdict.INCONCLUSIVE else None,
        )
