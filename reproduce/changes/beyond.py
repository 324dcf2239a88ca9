"""Beyond a departure: where the changed code has left the model, random moves of the code itself, and the properties that are evaluated on what is seen.

The unchanged code makes three times as many moves from the same place. What it violates, too, does not count, and not what the model of the base violates there.
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

MORE_BEFORE = 3
"""How many times as many the unchanged code makes, once a violation was seen: what it violates in any of them does not count."""

MOST_PLACES, MOST_OF_ONE = 16, 10
"""In how many scenarios it is searched, and from how many places of one; they share its runs."""

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
    """Where the changed code has left the model: after these steps of a case, for this cause. `labels` tell them."""

    scenario: Scenario
    case: Case
    labels: tuple[str, ...]
    cause: str = ""


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


def grouped(places: Iterable[Place]) -> list[list[Place]]:
    """The places of each scenario, those with the fewest steps first: one of each cause, then others. The scenario with the shortest way comes first."""
    found: dict[str, list[Place]] = {}
    for place in sorted(places, key=lambda one: len(one.case.steps)):
        found.setdefault(place.scenario.name, []).append(place)
    groups = []
    for members in found.values():
        firsts = list({place.cause: place for place in reversed(members)}.values())
        groups.append([*firsts[::-1], *(place for place in members if place not in firsts)][:MOST_OF_ONE])
    return groups[:MOST_PLACES]


def beyond(
    places: Iterable[Place],
    release: str,
    before: Play,
    after: Play,
    say: Say,
    goes_on: Callable[[], bool] = lambda: True,
    violates: Callable[[Scenario, str], bool] = lambda scenario, name: False,
    keep: Callable[[Case, Violation], None] = lambda case, violation: None,
) -> Iterator[Beyond]:
    """The search from each place while it `goes_on`, until one shows a violation. What the base's model `violates` in a scenario does not count. The run of each violation is given to `keep`."""
    for group in grouped(places):
        if not goes_on():
            return
        found = _search(group, release, before, after, say, violates)
        if found is not None:
            yield found
            for violation in found.violations:
                keep(_cases(group)[violation.seed], violation)
            if found.violations:
                return


def _search(
    places: Sequence[Place],
    release: str,
    before: Play,
    after: Play,
    say: Say,
    violates: Callable[[Scenario, str], bool],
) -> Beyond | None:
    place = places[0]
    try:
        composition = plan(Selection(release=release, given=[place.scenario]))[0].composition
    except Problem:
        return None
    monitors = monitors_of(place.scenario.spec, composition.classes, PROPERTIES)
    say(f"beyond {place.scenario.name}: {RUNS} runs of {MOVES} moves on the changed code")
    cases = _cases(places)
    runs = _played(cases, after)
    violated = _violated(runs, monitors)
    if violated:
        say(f"beyond {place.scenario.name}: {MORE_BEFORE} times as many on the unchanged code")
        others = _played(_cases(places, MORE_BEFORE), before)
        known = {name for found in _violated(others, monitors).values() for name in found}
        names = {name for found in violated.values() for name in found} - known
        known |= {name for name in names if violates(place.scenario, name)}
        violated = {
            seed: {name: at for name, at in found.items() if name not in known}
            for seed, found in violated.items()
        }
    told = list(_told(runs, violated, cases, monitors, after))
    if told:
        place = places[told[0].seed % len(places)]
    return Beyond(place.scenario.name, len(runs), MOVES, place.labels, tuple(told))


def _cases(places: Sequence[Place], times: int = 1) -> list[RoamingCase]:
    return [_case(places[seed % len(places)], seed) for seed in range(times * RUNS)]


def _case(place: Place, seed: int) -> RoamingCase:
    case = msgspec.structs.replace(place.case, loop_from=None, epilogue=True)
    facts = {name: getattr(case, name) for name in case.__struct_fields__}
    return RoamingCase(**{**facts, "id": f"{case.id} {seed}"}, seed=seed)


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
