"""Beyond a departure: where the changed code has left the model, random moves of the code itself, and the properties that are evaluated on what is seen.

The unchanged code makes three times as many moves from the same place. What it violates, too, with no other acts of users and faults, does not count, and not what the model of the base
violates there with these acts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ...analysis.request.plan import Selection, plan
from ...base.problems import Problem
from ...base.structs import Data
from ...model.environment.faults import Fault
from ...properties import PROPERTIES
from ...reports.reproduction import FLUSH_SECONDS
from ...reports.step import Value
from ...reports.verify.code_change import Beyond, Move, Violation
from ...scenarios import Scenario
from ..case import Case
from ..outcome import Outcome, OutcomeMove
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

PENDING = "L-PEND"
"""A pod that no flush brings back, and that is scheduled after a restart of the scheduler: something in memory kept it out."""

RESTARTS = 3
"""So many runs at least must show that. The base's model is not asked about it: its clusters have no flush, which would bring other pods back."""

SECOND = "a second passes"
"""What the driver calls a move of the clock."""

USERS = dict.fromkeys(
    (
        "pod_deletions",
        "external_binds",
        "bind_failures",
        "write_failures",
        "status_failures",
        "node_deletions",
    ),
    1,
)
"""How often users and faults may act in every fourth run from a place, by the scope's names."""

DELETION = {"pod_deletions": 1}
"""The same in another fourth: a node that is deleted as well leaves no room for a pod that nobody wakes."""

_USED = re.compile(rf"(?:users\.delete_(?:pod|node) \[(\S+)\] |.*)\(({'|'.join(USERS)})\)")

MOST_ASKED = 3
"""So many times it is asked what the base's model has of a property, about the runs with the fewest acts of users and faults."""

Acts = tuple[tuple[str, str], ...]
"""What users and faults did: the kind by the scope's name, and the object that it struck if the move says so."""

Play = Callable[[Sequence[Case]], Mapping[str, Outcome]]
"""Has the real scheduler execute cases."""


class RoamingCase(Case, frozen=True):
    """A case after whose steps the code makes `roam` moves of its own, which `seed` determines; users and faults act in these as often as is `left` to them. `ranked`: who moves has a rank that seldom changes, so that others wait for long. `alone`: only one of those who are held moves, the one of this number by name, and those whom it starts."""

    roam: int = MOVES
    seed: int = 0
    left: dict[str, int] = msgspec.field(default_factory=dict)
    ranked: bool = False
    alone: bool = False


class Place(Data):
    """Where the changed code has left the model: after these steps of a case, for this cause. `labels` tell them."""

    scenario: Scenario
    case: Case
    labels: tuple[str, ...]
    cause: str = ""

    @property
    def somebody_waits(self) -> bool:
        """Whether a pod is parked in the model there, which the code may forget to wake."""
        return any(
            value == "UNSCHEDULABLE"
            for name, value in self.case.last.items()
            if name.startswith("queue.sub_queue[")
        )


class Run(Data):
    """A run: what was seen after each of its moves, with the place first."""

    outcome: Outcome
    states: list[dict[str, Value]]
    start: int

    def acts(self, end: int) -> Acts:
        """What users and faults have done up to a state."""
        moves = (_USED.fullmatch(one.move) for one in self.outcome.roam[: max(end - self.start, 0)])
        return tuple(sorted((match[2], match[1] or "") for match in moves if match is not None))

    @property
    def is_flushed(self) -> bool:
        """Whether only the periodic flush let a pod be bound."""
        late = flushed_after(self.outcome.roam)
        return any(seconds >= late for seconds in self.outcome.bound_after.values())

    @classmethod
    def of(cls, outcome: Outcome) -> Run:
        states = [dict(outcome.initial)]
        for step in outcome.steps:
            states.append({**states[-1], **step.real})
        states[-1] = {**states[-1], **outcome.sees}
        start = len(states) - 1
        for move in outcome.roam:
            states.append({**states[-1], **move.real})
        return cls(outcome, states, start)


def grouped(places: Iterable[Place]) -> list[list[Place]]:
    """The places of each scenario, those first where a pod is parked, and with the fewest steps: one of each cause, then others. The scenario with the first place comes first."""
    found: dict[str, list[Place]] = {}
    for place in sorted(places, key=lambda one: (not one.somebody_waits, len(one.case.steps))):
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
    in_base: Callable[[Scenario, str], str] = lambda scenario, name: "HOLDS",
    keep: Callable[[Case, Violation], None] = lambda case, violation: None,
) -> Iterator[Beyond]:
    """The search from each place while it `goes_on`, until one shows a violation. What the base's model violates does not count: `in_base` is its verdict in a scenario. The run of each violation is given to `keep`."""
    for group in grouped(places):
        if not goes_on():
            return
        found = _search(group, release, before, after, say, in_base)
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
    in_base: Callable[[Scenario, str], str],
) -> Beyond | None:
    place = places[0]
    try:
        composition = plan(Selection(release=release, given=[place.scenario]))[0].composition
    except Problem:
        return None
    monitors = monitors_of(place.scenario.spec, composition.classes, PROPERTIES)
    say(f"beyond {place.scenario.name}: {RUNS} runs of {MOVES} moves on the changed code")
    cases = _cases(places)
    runs = played(cases, after)
    violated = _often(violations_of(runs, monitors))
    if violated:
        say(f"beyond {place.scenario.name}: {MORE_BEFORE} times as many on the unchanged code")
        others = played(_cases(places, MORE_BEFORE), before)
        known: dict[str, list[Acts]] = {}
        for seed, names in violations_of(others, monitors).items():
            for name, end in names.items():
                known.setdefault(name, []).append(others[seed].acts(end))
        violated = _news(violated, runs, places, known, in_base)
    told = list(_told(runs, violated, cases, monitors, after))
    if told:
        place = places[told[0].seed % len(places)]
    return Beyond(place.scenario.name, len(runs), MOVES, place.labels, tuple(told))


def _often(violated: Mapping[int, Mapping[str, int]]) -> dict[int, dict[str, int]]:
    """All of it, but for pods that only a restart binds if few runs show one."""
    rare = sum(PENDING in found for found in violated.values()) < RESTARTS
    left = {
        seed: {name: end for name, end in found.items() if not (rare and name == PENDING)}
        for seed, found in violated.items()
    }
    return {seed: found for seed, found in left.items() if found}


def _news(
    violated: Mapping[int, Mapping[str, int]],
    runs: Mapping[int, Run],
    places: Sequence[Place],
    known: Mapping[str, Sequence[Acts]],
    in_base: Callable[[Scenario, str], str],
) -> dict[int, dict[str, int]]:
    """What neither the unchanged code, with no other acts of users and faults, nor the base's model violates. `known` are the acts of each run of the unchanged code that violates it."""
    found: dict[int, dict[str, int]] = {seed: {} for seed in violated}
    for name in {name for names in violated.values() for name in names}:
        asked: dict[tuple[int, Acts], bool] = {}
        made = [(runs[seed].acts(names[name]), seed) for seed, names in violated.items() if name in names]
        for acts, seed in sorted(made, key=lambda one: (len(one[0]), one[1])):
            if any(_kinds(fewer) <= _kinds(acts) for fewer in known.get(name, ())):
                continue
            key = seed % len(places), acts
            if key not in asked and len(asked) < MOST_ASKED:
                asked[key] = name == PENDING or _is_news(places[key[0]], name, acts, in_base)
            if asked.get(key):
                found[seed][name] = violated[seed][name]
    return found


def _kinds(acts: Acts) -> Counter[str]:
    return Counter(kind for kind, _ in acts)


def _is_news(place: Place, name: str, acts: Acts, in_base: Callable[[Scenario, str], str]) -> bool:
    """Whether it holds in the base's model if no other users and faults act than those of the run. If that is not known, and none acted beyond the place, all that can happen in the scenario must not be known to violate it."""
    verdict = in_base(with_the_acts_of(place, acts), name)
    if verdict == "INCONCLUSIVE" and not acts:
        return in_base(place.scenario, name) != "VIOLATED"
    return verdict == "HOLDS"


def with_the_acts_of(place: Place, acts: Acts) -> Scenario:
    """The scenario in which each kind of users' acts and faults happens as often as up to the place and in what follows, and strikes nothing else, where that is known."""
    state = place.case.last
    scope = place.scenario.spec.scope
    before = {kind.value: _left(place.case.initial, kind) - _left(state, kind) for kind in Fault}
    counts = {kind: count + sum(one == kind for one, _ in acts) for kind, count in before.items()}
    aims = list(scope.aims)
    for kind in sorted({kind for kind, _ in acts if not before[kind]}):
        aims = [aim for aim in aims if aim[0] != kind]
        struck = sorted({name for one, name in acts if one == kind})
        if "" not in struck:
            aims.append((kind, "nodes" if kind == Fault.NODE_DELETION.value else "pods", tuple(struck)))
    bounds: dict[str, Any] = {**counts, "aims": tuple(aims)}
    limited = replace(scope, **bounds)
    return replace(place.scenario, spec=replace(place.scenario.spec, scope=limited))


def _left(state: Mapping[str, Value], kind: Fault) -> int:
    left = state.get(f"faults.left[{kind.name}]", 0)
    assert isinstance(left, int)
    return left


def _cases(places: Sequence[Place], times: int = 1) -> list[RoamingCase]:
    """Each place in turn, every second time with users and faults, of which half only delete a pod, and every second pair of times by ranks."""
    return [
        roaming(
            places[seed % len(places)].case,
            seed,
            {}
            if seed // len(places) % 2
            else (USERS, DELETION)[(seed % len(places) + seed // len(places) // 4) % 2],
            ranked=seed // len(places) % 4 > 1,
        )
        for seed in range(times * RUNS)
    ]


def roaming(
    case: Case,
    seed: int,
    left: Mapping[str, int],
    *,
    ranked: bool = False,
    alone: bool = False,
    moves: int = MOVES,
) -> RoamingCase:
    """The case with moves after its steps."""
    facts = {name: getattr(case, name) for name in case.__struct_fields__}
    own = {"id": f"{case.id} {seed}", "loop_from": None, "epilogue": not alone}
    return RoamingCase(**{**facts, **own}, roam=moves, seed=seed, left=dict(left), ranked=ranked, alone=alone)


def played(cases: Sequence[RoamingCase], play: Play) -> dict[int, Run]:
    outcomes = play(cases)
    return {
        case.seed: Run.of(outcome)
        for case in cases
        if (outcome := outcomes.get(case.id)) is not None and outcome.verdict not in ("CRASHED", "NOT THERE")
    }


def flushed_after(moves: Iterable[OutcomeMove | Move]) -> int:
    """After how many seconds beyond these moves only the flush still binds a pod: it may have waited since before them."""
    return FLUSH_SECONDS - sum(one.move == SECOND for one in moves)


def violations_of(runs: Mapping[int, Run], monitors: Monitors) -> dict[int, dict[str, int]]:
    """Which runs violate what, each with the number of the state in which it does."""
    found = {}
    for seed, run in runs.items():
        names = monitors.readable(run.outcome.sees)
        here = monitors.violated(run.states, names)
        if run.is_flushed:
            here[STUCK] = len(run.states) - 1
        if run.outcome.restarted:
            here[PENDING] = len(run.states) - 1
        if here:
            found[seed] = here
    return found


def _told(
    runs: Mapping[int, Run],
    violated: Mapping[int, Mapping[str, int]],
    cases: Sequence[RoamingCase],
    monitors: Monitors,
    after: Play,
) -> Iterator[Violation]:
    """Each property with its shortest run, if that goes the same way twice."""
    for name in dict.fromkeys(name for found in violated.values() for name in found):
        mine = {seed: found[name] for seed, found in violated.items() if name in found}
        seed = min(mine, key=lambda seed: (mine[seed], seed))
        again = violations_of(played([case for case in cases if case.seed == seed], after), monitors)
        if again.get(seed, {}).get(name) != mine[seed]:
            continue
        run = runs[seed]
        moves = [
            Move(move.move, dict(move.real)) for move in run.outcome.roam[: max(mine[seed] - run.start, 0)]
        ]
        words = _words(name, run)
        yield Violation(name, words, len(mine), seed, tuple(moves))


def _words(name: str, run: Run) -> str:
    if name == PENDING:
        return f"{min(run.outcome.restarted)} is scheduled only after a restart of the scheduler, and by no flush"
    if name != STUCK:
        return PROPERTIES[name].sentence()
    late = max(run.outcome.bound_after.items(), key=lambda pair: pair[1])
    return f"{late[0]} is bound only after {late[1]:.0f} s, by the periodic flush"
