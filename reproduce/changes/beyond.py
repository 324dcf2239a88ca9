"""Beyond a departure: where the changed code has left the model, random moves of the code itself, and the properties that are evaluated on what is seen.

The unchanged code makes as many moves from the same place. What it violates, too, does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ...analysis.request.plan import Selection, plan
from ...base.problems import Problem
from ...properties import PROPERTIES
from ...reports.reproduction import FLUSH_SECONDS
from ...reports.step import Value
from ...reports.verify.code_change import Beyond, Move, Violation
from ...scenarios import Scenario
from ..case import Case
from ..outcome import Outcome
from ..running import Say
from .monitors import Monitors, monitors_of

RUNS, MOVES = 40, 80
"""How many runs are made from a place, and of how many moves."""

MOST_PLACES = 8

STUCK = "S-STUCK"
"""A pod that only the periodic flush brings back, though it could have been bound."""

Play = Callable[[Sequence[Case]], Mapping[str, Outcome]]
"""Has the real scheduler execute cases."""


class RoamingCase(Case, frozen=True):
    """A case after whose steps the code makes `roam` moves of its own, which `seed` determines."""

    roam: int = MOVES
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where the changed code has left the model: after these steps of a case. `labels` tell them."""

    scenario: Scenario
    case: Case
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Run:
    """A run: what was seen after each of its moves, with the place first."""

    outcome: Outcome
    states: list[dict[str, Value]]
    start: int

    @classmethod
    def of(cls, outcome: Outcome) -> _Run:
        states = [dict(outcome.initial)]
        for step in outcome.steps:
            states.append({**states[-1], **step.real})
        states[-1] = {**states[-1], **outcome.sees}
        start = len(states) - 1
        for move in outcome.roam:
            states.append({**states[-1], **move.real})
        return cls(outcome, states, start)


def first_places(places: Iterable[Place]) -> list[Place]:
    """One place of each scenario, that with the fewest steps; the shortest first."""
    found: dict[str, Place] = {}
    for place in sorted(places, key=lambda one: len(one.case.steps)):
        found.setdefault(place.scenario.name, place)
    return list(found.values())[:MOST_PLACES]


def beyond(places: Iterable[Place], release: str, before: Play, after: Play, say: Say) -> Iterator[Beyond]:
    """The search from each place, until one shows a violation."""
    for place in first_places(places):
        found = _search(place, release, before, after, say)
        if found is not None:
            yield found
            if found.violations:
                return


def _search(place: Place, release: str, before: Play, after: Play, say: Say) -> Beyond | None:
    try:
        composition = plan(Selection(release=release, given=[place.scenario]))[0].composition
    except Problem:
        return None
    monitors = monitors_of(place.scenario.spec, composition.classes, PROPERTIES)
    say(f"beyond {place.scenario.name}: {RUNS} runs of {MOVES} moves on the changed code")
    cases = _cases(place)
    runs = _played(cases, after)
    violated = _violated(runs, monitors)
    if violated:
        say(f"beyond {place.scenario.name}: as many on the unchanged code")
        known = {name for found in _violated(_played(cases, before), monitors).values() for name in found}
        violated = {
            seed: {name: at for name, at in found.items() if name not in known}
            for seed, found in violated.items()
        }
    told = list(_told(runs, violated, cases, monitors, after))
    return Beyond(place.scenario.name, len(runs), MOVES, place.labels, tuple(told))


def _cases(place: Place) -> list[RoamingCase]:
    case = msgspec.structs.replace(place.case, loop_from=None, epilogue=True)
    facts = {name: getattr(case, name) for name in case.__struct_fields__}
    return [RoamingCase(**{**facts, "id": f"{case.id} {seed}"}, seed=seed) for seed in range(RUNS)]


def _played(cases: Sequence[RoamingCase], play: Play) -> dict[int, _Run]:
    outcomes = play(cases)
    return {
        case.seed: _Run.of(outcome)
        for case in cases
        if (outcome := outcomes.get(case.id)) is not None and outcome.verdict not in ("CRASHED", "NOT THERE")
    }


def _violated(runs: Mapping[int, _Run], monitors: Monitors) -> dict[int, dict[str, int]]:
    """Which runs violate what, each with the number of the state in which it does."""
    found = {}
    for seed, run in runs.items():
        names = monitors.readable(run.outcome.sees)
        here = monitors.violated(run.states, names)
        if any(seconds >= FLUSH_SECONDS for seconds in run.outcome.bound_after.values()):
            here[STUCK] = len(run.states) - 1
        if here:
            found[seed] = here
    return found


def _told(
    runs: Mapping[int, _Run],
    violated: Mapping[int, Mapping[str, int]],
    cases: Sequence[RoamingCase],
    monitors: Monitors,
    after: Play,
) -> Iterator[Violation]:
    """Each property with its shortest run, if that goes the same way twice."""
    for name in dict.fromkeys(name for found in violated.values() for name in found):
        mine = {seed: found[name] for seed, found in violated.items() if name in found}
        seed = min(mine, key=lambda seed: (mine[seed], seed))
        again = _violated(_played([case for case in cases if case.seed == seed], after), monitors)
        if again.get(seed, {}).get(name) != mine[seed]:
            continue
        run = runs[seed]
        moves = [
            Move(move.move, dict(move.real)) for move in run.outcome.roam[: max(mine[seed] - run.start, 0)]
        ]
        late = max(run.outcome.bound_after.items(), key=lambda pair: pair[1], default=("", 0.0))
        words = (
            f"{late[0]} is bound only after {late[1]:.0f} s, by the periodic flush"
            if name == STUCK
            else PROPERTIES[name].sentence()
        )
        yield Violation(name, words, len(mine), seed, tuple(moves))
