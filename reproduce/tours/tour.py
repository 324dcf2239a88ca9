"""A tour: every transition of a model's graph, planned, executed on the real scheduler, and what became of each.

    graph = state_graph(model.system, budget)
    toured = tour(model, graph, plays(built_for(version, go, say)), Asked(processes=2))

A transition is TAKEN if a run came through it and nothing that can be seen differed, up to it and after it. What differs is closed, and what lay behind it is planned again on other ways, up to
`ROUNDS` times.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...checker.explicit.state_graph import StateGraph
from ..case import Case
from ..lockstep.lockstep import AT_ONCE, WITHIN_LOCKS, Difference, Play, difference_of
from ..random_runs.random_runs import Model, RandomRun
from ..timing.timing import Timing
from ..waiting import waiting
from .cases import Cases
from .guiding import Guided
from .kept import Taken
from .planning import Plan, Planned

ROUNDS = 4
AHEAD = 3
"""Batches for each process that are planned before it is free."""


class Fate(IntEnum):
    """What became of a transition."""

    LEFT = 0
    """Not planned: time was up, a bound was reached, or no way to it was found."""
    TAKEN = 1
    WITHIN_LOCK = 2
    REFUSED = 3
    """No run could be forced to take it."""
    DIFFERS = 4
    BEHIND_LOCK = 5
    """No way leads to it but through those within a lock."""
    BEHIND_REFUSED = 6
    BEHIND_DIFFERENCE = 7


@dataclass(frozen=True, slots=True)
class Asked:
    """How a tour is made. `seconds`: how long, in all. `departures`: it ends after so many runs that differ. `forced`: steps within one lock that this driver forces all the same.

    `known`: edges that were taken before. The plan is made as without them, since a run may show a way to what is behind them, and runs that take nothing else are not played.
    """

    processes: int = 2
    seconds: float | None = None
    seed: int = 0
    departures: int | None = None
    forced: frozenset[str] = frozenset()
    at_once: int = AT_ONCE
    known: Taken | None = None


@dataclass
class Toured:
    """What became of each edge of the graph. `refused` and `differing` have the reason for each such edge; `examples` the shortest run of each cause."""

    model: Model
    graph: StateGraph
    fates: NDArray[np.uint8]
    refused: dict[int, str] = field(default_factory=dict)
    differing: dict[int, str] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Difference] = field(default_factory=dict)
    runs: int = 0
    steps: int = 0
    seconds: float = 0.0
    in_time: bool = True

    def count(self, *fates: Fate) -> int:
        """How many transitions have one of these fates."""
        return int(np.isin(self.fates, fates).sum())

    @property
    def is_whole(self) -> bool:
        """Whether every transition of the whole graph was taken, or is one that cannot be forced by itself, or lies behind such a one."""
        return self.graph.stopped is None and not self.count(Fate.LEFT, Fate.DIFFERS, Fate.BEHIND_DIFFERENCE)


def tour(
    model: Model,
    graph: StateGraph,
    play: Play,
    asked: Asked = Asked(),
    tell: Callable[[Toured], None] = lambda toured: None,
) -> Toured:
    """Take every edge, as far as it goes. `tell` is called after each batch of runs."""
    return _Tour(model, graph, play, asked, tell).made()


_Played = tuple[Planned[Timing], Case]


class _Tour:
    def __init__(
        self, model: Model, graph: StateGraph, play: Play, asked: Asked, tell: Callable[[Toured], None]
    ) -> None:
        self.model, self.graph, self.play, self.asked, self.tell = model, graph, play, asked, tell
        locked = {name for name in WITHIN_LOCKS if name not in asked.forced}
        within = np.array([f"{t.part}.{t.step}" in locked for t in model.system.transitions])
        self.within = within[graph.labels].astype(np.uint8)
        known = np.zeros(graph.edges, bool) if asked.known is None else asked.known & (self.within == 0)
        first = Guided(model, graph)
        self.plan: Plan[Timing] = Plan(graph, first.for_another, self.within, seed=asked.seed)
        self.planned = np.zeros(graph.edges, bool)
        self.cases = Cases(model, graph)
        fates = np.where(self.within, Fate.WITHIN_LOCK, Fate.LEFT)
        fates[known] = Fate.TAKEN
        self.found = Toured(model, graph, fates.astype(np.uint8))
        self.began = time.monotonic()

    def made(self) -> Toured:
        """Round by round: what differences have hidden is planned again."""
        hidden: list[int] = []
        for _ in range(ROUNDS):
            hidden = self._round()
            if not hidden or not self._goes_on():
                break
            self.plan.want(hidden)
        self._conclude(hidden)
        return self.found

    def _goes_on(self) -> bool:
        asked, found = self.asked, self.found
        if asked.seconds is not None and time.monotonic() - self.began >= asked.seconds:
            found.in_time = False
        enough = asked.departures is not None and found.causes.total() >= asked.departures
        return found.in_time and not enough

    def _round(self) -> list[int]:
        """Plan and play until nothing is left to plan; gives the edges that runs would have taken behind a difference."""
        hidden: set[int] = set()
        pending: list[tuple[list[_Played], Future[list[Difference | None]]]] = []
        with ThreadPoolExecutor(self.asked.processes) as pool:
            runs = self._timely(self.plan.runs())
            while True:
                while len(pending) < self.asked.processes * AHEAD and (
                    batch := [self._with_case(*one) for one in enumerate(islice(runs, self.asked.at_once))]
                ):
                    pending.append((batch, pool.submit(self._played, batch)))
                if not pending:
                    break
                batch, future = pending.pop(0)
                for (run, case), difference in zip(batch, future.result(), strict=True):
                    hidden.update(self._note(run, case, difference))
                self.found.seconds = time.monotonic() - self.began
                self.tell(self.found)
        fates = self.found.fates
        return sorted(edge for edge in hidden if fates[edge] == Fate.LEFT)

    def _timely(self, runs: Iterator[Planned[Timing]]) -> Iterator[Planned[Timing]]:
        """The runs that may show something, as long as there is time."""
        while self._goes_on() and (run := next(runs, None)) is not None:
            if (self.found.fates[list(run.edges)] != Fate.TAKEN).any():
                yield run

    def _with_case(self, name: int, run: Planned[Timing]) -> _Played:
        """The scheduler waits in Pop as long as the run takes what earlier ones take, since what is marked so is not compared."""
        edges = list(run.edges)
        new = ~self.planned[edges]
        self.planned[edges] = True
        case = self.cases.case(str(name), 0, run.edges, run.about)
        return run, waiting(case, int(new.argmax()) if new.any() else len(edges))

    def _played(self, batch: list[_Played]) -> list[Difference | None]:
        outcomes = self.play([case for _, case in batch])
        return [difference_of(self._as_run(run, case), outcomes[case.id]) for run, case in batch]

    def _as_run(self, run: Planned[Timing], case: Case) -> RandomRun:
        waits = any(step.waiting for step in case.steps)
        return RandomRun(self.model, self.graph.transitions_of(run.edges), run.about, waits)

    def _note(self, run: Planned[Timing], case: Case, difference: Difference | None) -> tuple[int, ...]:
        """Take in one run; gives the edges behind its difference."""
        found = self.found
        taken = len(run.edges) if difference is None else max(difference.at - 1, 0)
        found.runs += 1
        found.steps += taken
        compared = [
            edge for edge, step in zip(run.edges[:taken], case.steps, strict=False) if not step.waiting
        ]
        found.fates[compared] = Fate.TAKEN
        if difference is None:
            return ()
        found.causes[difference.cause] += 1
        known = found.examples.get(difference.cause)
        if known is None or difference.at < known.at:
            found.examples[difference.cause] = difference
        if difference.at:
            edge = run.edges[difference.at - 1]
            found.differing.setdefault(edge, difference.cause)
            if found.fates[edge] == Fate.LEFT:
                self.plan.close(edge)
        return run.edges[max(difference.at, 0) :]

    def _conclude(self, hidden: list[int]) -> None:
        """Say of what was not taken why."""
        found, fates, sources = self.found, self.found.fates, self.plan.ways.sources
        found.differing = {e: why for e, why in found.differing.items() if fates[e] != Fate.TAKEN}
        fates[list(found.differing)] = Fate.DIFFERS
        found.refused = {
            edge: reasons.most_common(1)[0][0]
            for edge, reasons in self.plan.refused.items()
            if fates[edge] == Fate.LEFT and (found.in_time or not self.plan.wanted[edge])
        }
        fates[list(found.refused)] = Fate.REFUSED
        behind_differences = np.array(hidden, np.int64)
        fates[behind_differences[fates[behind_differences] == Fate.LEFT]] = Fate.BEHIND_DIFFERENCE
        closed: NDArray[Any] = np.zeros(self.graph.edges, bool)
        for why, behind in (
            (Fate.WITHIN_LOCK, Fate.BEHIND_LOCK),
            (Fate.REFUSED, Fate.BEHIND_REFUSED),
            (Fate.DIFFERS, Fate.BEHIND_DIFFERENCE),
        ):
            closed |= fates == why
            reached = self.plan.ways.reached(closed)
            fates[(fates == Fate.LEFT) & ~reached[sources]] = behind
        found.seconds = time.monotonic() - self.began
