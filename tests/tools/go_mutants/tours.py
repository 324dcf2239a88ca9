"""Tours of small scenarios, recorded once with the lines that each batch of runs executes, and played with a mutant at work until something differs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podrace.checker.explicit.state_graph import state_graph
from podrace.model.history import resolve
from podrace.properties import instrument
from podrace.reproduce.case import Case
from podrace.reproduce.changes.lines import ChangedLine
from podrace.reproduce.changes.replays import replayed_at_once
from podrace.reproduce.lockstep.lockstep import HELD
from podrace.reproduce.outcome import Outcome
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.running import Built, OutOfTime
from podrace.reproduce.tours.tour import Asked, Fate, tour
from podrace.scenarios import Scenario

from .mutants import Mutant

AT_ONCE = 25
NO_MUTANT = 0
LONGER, LEAST_SECONDS = 20, 30.0
"""Runs with a mutant have so many times the seconds that they took without, and these."""

Departures = tuple[object, ...]
"""What a tour looks at in a run: where it differs from the model, or could not be forced."""


@dataclass
class Batch:
    """Runs of one tour that one process plays: what they executed, what became of them without a mutant, and how long that took."""

    scenario: str
    cases: Sequence[Case]
    executed: frozenset[ChangedLine]
    departures: Mapping[str, Departures]
    seconds: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """A whole tour."""

    scenario: str
    transitions: int
    taken: int
    batches: Sequence[Batch]


def departures_of(outcome: Outcome) -> Departures:
    """What a tour looks at in a run."""
    return outcome.start, [step.differs for step in outcome.forced], outcome.verdict, outcome.at


def recorded(scenario: Scenario, release: str, built: Built, lines: Sequence[ChangedLine]) -> Recorded:
    """The tour of a scenario on a binary that counts what is executed."""
    composition = resolve(release, gates=scenario.feature_gates)
    model = Model(scenario, composition, instrument(scenario.spec, composition.classes, []))
    batches: list[Batch] = []

    def play(cases: Sequence[Case]) -> Mapping[str, Outcome]:
        began = time.monotonic()
        outcomes, counted = replayed_at_once(built, cases, lines)
        seen = {name: departures_of(outcome) for name, outcome in outcomes.items()}
        batches.append(Batch(scenario.name, cases, counted.executed, seen, time.monotonic() - began))
        return outcomes

    forced = HELD if built.holds else frozenset()
    toured = tour(model, state_graph(model.system), play, Asked(1, forced=forced, at_once=AT_ONCE))
    if toured.causes:
        raise AssertionError(f"{scenario.name} differs without a mutant: {dict(toured.causes)}")
    return Recorded(scenario.name, toured.graph.edges, toured.count(Fate.TAKEN), batches)


def first_departure(built: Built, batches: Sequence[Batch], mutant: Mutant, number: int) -> str:
    """Where the first run with the mutant goes otherwise, as it does again, and as it does not without; empty if none does. Only runs that execute its line are played."""
    for batch in batches:
        if mutant.line not in batch.executed:
            continue
        name, why = _departs(built, batch, number)
        if name and _departs(built, batch, number)[0] and not _departs(built, batch, NO_MUTANT)[0]:
            return f"{batch.scenario}: {why}"
    return ""


def _departs(built: Built, batch: Batch, number: int) -> tuple[str, str]:
    """The first run of a batch that goes otherwise, and in which way; empty if none does."""
    until = time.monotonic() + LONGER * batch.seconds + LEAST_SECONDS
    try:
        outcomes, _ = replayed_at_once(replace(built, until=until), batch.cases, (), number)
    except OutOfTime:
        return "all", "it does not end"
    for case in batch.cases:
        outcome = outcomes[case.id]
        if departures_of(outcome) != batch.departures[case.id]:
            return case.id, _told(case, outcome)
    return "", ""


def _told(case: Case, outcome: Outcome) -> str:
    """The step and the variables that differ, or why it cannot be forced."""
    if outcome.start:
        return f"start: {outcome.start[0].variable}"
    for step, forced in zip(case.steps, outcome.forced, strict=False):
        if forced.differs:
            kinds = sorted({one.variable.partition("[")[0] for one in forced.differs})
            return f"{step.step}: {', '.join(kinds)}"
    at = outcome.at or len(outcome.steps)
    name = case.steps[at - 1].step if 0 < at <= len(case.steps) else "start"
    return f"{name}: {outcome.verdict}"
