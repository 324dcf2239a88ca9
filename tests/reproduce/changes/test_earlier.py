"""A race that the changed code cannot execute closes only if random runs of both sides tell them apart clearly."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from podrace.analysis.chain import verdicts
from podrace.analysis.request.method import USUAL
from podrace.analysis.request.plan import Selection, plan
from podrace.checker.core.exploration import Budget
from podrace.reports.reproduction import FLUSH_SECONDS, Differing
from podrace.reports.verify.code_change import Race
from podrace.reproduce.case import Case
from podrace.reproduce.changes.beyond import RUNS, Play
from podrace.reproduce.changes.earlier import MORE_AFTER, MOST_BATCHES, mended_earlier
from podrace.reproduce.changes.replays import Counterexample, Replay
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.reproducing import prepared
from podrace.reproduce.request import question_of
from podrace.scenarios import find_scenarios


@pytest.fixture(scope="module")
def found() -> Counterexample:
    (run,) = plan(Selection(release="1.36.3", given=find_scenarios("emptied-zone")))
    (finding,) = verdicts([run], Budget(), USUAL)
    return Counterexample(prepared(question_of(run, finding, parse_version("v1.36.3"))))


DIFFERENT = Differing("cache.live[w]", True, False)
LEFT = Race("emptied-zone", "S-STUCK", "left the model", "REPRODUCED", "DIFFERS", differs=True)


def side(stuck: Sequence[int], played: list[Case], crashed: bool = False, least: int = 0) -> Play:
    """A side of which the runs of these numbers need the flush, from so many steps on."""

    def play(cases: Sequence[Case]) -> dict[str, Outcome]:
        played.extend(cases)
        return {
            one.id: Outcome(
                one.id,
                "CRASHED" if crashed else "DONE",
                epilogue={
                    "bound": {
                        "b": FLUSH_SECONDS
                        if int(one.id.split()[-1]) in stuck and len(one.steps) >= least
                        else 1.0
                    }
                },
            )
            for one in cases
        }

    return play


@pytest.mark.parametrize(
    ("before", "after", "outcome", "runs"),
    [
        (range(6), (), "closes", (RUNS, MORE_AFTER * RUNS)),
        (range(0, 160, 20), (), "closes", (3 * RUNS, 3 * MORE_AFTER * RUNS)),
        (range(5), (), "left the model", (2 * MOST_BATCHES * RUNS, 0)),
        (range(40), (100,), "left the model", (RUNS, MORE_AFTER * RUNS)),
    ],
)
def test_when_it_closes(
    found: Counterexample, before: Sequence[int], after: Sequence[int], outcome: str, runs: tuple[int, int]
) -> None:
    played: tuple[list[Case], list[Case]] = ([], [])
    left = Replay(Outcome("x", "DIFFERS", steps=(OutcomeStep(), OutcomeStep(differs=(DIFFERENT,)))))
    said = mended_earlier(LEFT, found, left, "1.36.3", side(before, played[0]), side(after, played[1]))
    assert said.outcome == outcome
    assert tuple(map(len, played)) == runs
    ends = {1} if len(played[0]) <= MOST_BATCHES * RUNS else {1, 2}
    assert {len(one.steps) for one in played[0]} == ends, "they begin where both sides are the same"
    assert said.leaves, "the run was not executed to its end"


@pytest.mark.parametrize(
    ("last", "outcome"),
    [(OutcomeStep(differs=(DIFFERENT,)), "closes"), (None, "left the model")],
)
def test_a_step_that_no_random_move_makes(
    found: Counterexample, last: OutcomeStep | None, outcome: str
) -> None:
    """Such as a restart, which differs: from before it, nothing violates the property. One that could not be executed is no beginning."""
    played: tuple[list[Case], list[Case]] = ([], [])
    steps = (OutcomeStep(),) if last is None else (OutcomeStep(), last)
    sides = side(range(40), played[0], least=2), side((), played[1])
    said = mended_earlier(LEFT, found, Replay(Outcome("x", "DIFFERS", steps=steps)), "1.36.3", *sides)
    assert said.outcome == outcome
    if outcome == "closes":
        assert said.words.startswith("from step 2 on, 40 of 40 random runs of the unchanged code violate it")


def test_runs_that_crash_close_nothing(found: Counterexample) -> None:
    played: list[Case] = []
    left = Replay(Outcome("x", "CANNOT BE FORCED", steps=(OutcomeStep(),)))
    said = mended_earlier(
        LEFT, found, left, "1.36.3", side(range(40), played), side((), played, crashed=True)
    )
    assert said == LEFT
