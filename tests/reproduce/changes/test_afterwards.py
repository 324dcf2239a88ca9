"""A run that violates a property in its last step on both sides, and what follows in the call that it ends in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from podrace.analysis.request.method import USUAL
from podrace.checker.core.exploration import Budget
from podrace.reports.verify.code_change import Race
from podrace.reproduce.case import Case
from podrace.reproduce.changes.afterwards import MOVES, PATIENCE, mended_afterwards
from podrace.reproduce.changes.beyond import RoamingCase
from podrace.reproduce.changes.replays import Counterexample, Question, counterexamples
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.outcome import Outcome, OutcomeMove, OutcomeStep
from podrace.scenarios import find_scenarios

KEPT: dict[str, Any] = {"cache.pod[b].node": "n1", "cache.pod[b].assumed": True}
FORGOTTEN: dict[str, Any] = {"cache.pod[b].node": None, "cache.pod[b].assumed": False}


@pytest.fixture(scope="module")
def found() -> Counterexample:
    question = Question(find_scenarios("assumed-after-look")[0])
    version = parse_version("v1.36.3")
    return next(iter(counterexamples(question, version, "1.36.3", Budget(), USUAL)))


def side(*moves: Mapping[str, Any]) -> Any:
    """Two are held: the first goes nowhere, and the second makes these moves."""

    def play(cases: Sequence[Case]) -> dict[str, Outcome]:
        return {case.id: outcome(case) for case in cases}

    def outcome(case: Case) -> Outcome:
        assert isinstance(case, RoamingCase)
        assert (case.alone, case.epilogue) == (True, False)
        assert case.roam in (MOVES, MOVES * PATIENCE)
        steps = tuple(OutcomeStep((), seen(step.changes)) for step in case.steps)
        sees = seen(case.initial)
        for step in steps:
            sees |= step.real
        mine = moves[: case.roam] if case.seed == 1 else ()
        roam = tuple(OutcomeMove(f"scheduler calls {n}", dict(move)) for n, move in enumerate(mine))
        return Outcome(case.id, "DONE", steps=steps, initial=seen(case.initial), sees=sees, roam=roam)

    return play


def seen(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the driver cannot see."""
    return {name: value for name, value in values.items() if not name.startswith(("binding.", "waiting."))}


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ([{}, {}], [{}, FORGOTTEN], "closes"),
        ([{}, FORGOTTEN], [{}, FORGOTTEN], "still open"),  # so does the other code
        ([{}, {}], [{}, {}], "still open"),
        ([{}, {}], [FORGOTTEN, KEPT], "still open"),  # only for a while
        ([{}, {}], [], "still open"),
    ],
)
def test_a_violation_that_is_mended_at_once(
    found: Counterexample, before: list[Any], after: list[Any], outcome: str
) -> None:
    race = Race("assumed-after-look", "S-ROOM", "still open", "REPRODUCED", "REPRODUCED")
    judged = mended_afterwards(race, found, "1.36.3", side(*before), side(*after))
    assert judged.outcome == outcome
    assert ("mends it at once: scheduler calls 1" in judged.words) == (outcome == "closes")
    other = mended_afterwards(race, found, "1.36.3", side(*after), side(*before))
    assert other.outcome == {"closes": "opens"}.get(outcome, outcome)
    assert other.steps == (found.words if outcome == "closes" else ())


@pytest.mark.parametrize("late", [False, True])
def test_a_race_that_does_not_open(found: Counterexample, late: bool) -> None:
    """The changed code mends it a few calls later, or the model of the base has a run that is no longer."""
    race = Race("assumed-after-look", "S-ROOM", "still open", "REPRODUCED", "REPRODUCED")
    after: list[Any] = [{}] * MOVES + [FORGOTTEN] if late else [{}]
    before = side({}, FORGOTTEN)
    judged = mended_afterwards(
        race, found, "1.36.3", before, side(*after), lambda: None if late else found.length
    )
    assert judged == race


@pytest.mark.parametrize("changed", [False, True])
def test_a_second_replay_that_goes_otherwise(found: Counterexample, changed: bool) -> None:
    """Of the unchanged code or of the changed one; the third is as the first."""
    race = Race("assumed-after-look", "S-ROOM", "still open", "REPRODUCED", "REPRODUCED")
    usual = side({}, FORGOTTEN), side({})
    one, other = iter([usual[changed], usual[not changed], usual[changed]]), usual[not changed]

    def otherwise(cases: Sequence[Case]) -> Any:
        return next(one)(cases)

    before, after = (other, otherwise) if changed else (otherwise, other)
    assert mended_afterwards(race, found, "1.36.3", before, after) == race


def test_a_run_that_does_not_violate_it_by_what_was_seen(found: Counterexample) -> None:
    """The verdict on a replay has what a property remembers from the model's run."""
    race = Race("assumed-after-look", "S-ROOM", "still open", "REPRODUCED", "REPRODUCED")

    def forgets(cases: Sequence[Case]) -> dict[str, Outcome]:
        outcomes = side()(cases)
        last = {**seen(found.case.steps[-1].changes), **FORGOTTEN}
        return {
            name: replace(one, steps=(*one.steps[:-1], OutcomeStep((), last)), sees={**one.sees, **FORGOTTEN})
            for name, one in outcomes.items()
        }

    judged = mended_afterwards(race, found, "1.36.3", side({}, {}), forgets)
    assert (judged.outcome, judged.after) == ("closes", "DIFFERS")
    assert "executes the whole run" in judged.words
    assert mended_afterwards(race, found, "1.36.3", forgets, side({}, {})) == race, "it is none that mends"
