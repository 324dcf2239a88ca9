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


def side(stuck: Sequence[int], played: list[Case], crashed: bool = False) -> Play:
    """A side of which the runs of these numbers need the flush."""

    def play(cases: Sequence[Case]) -> dict[str, Outcome]:
        played.extend(cases)
        return {
            one.id: Outcome(
                one.id,
                "CRASHED" if crashed else "DONE",
                epilogue={"bound": {"b": FLUSH_SECONDS if int(one.id.split()[-1]) in stuck else 1.0}},
            )
            for one in cases
        }

    return play


@pytest.mark.parametrize(
    ("before", "after", "outcome", "runs"),
    [
        (range(6), (), "closes", (RUNS, MORE_AFTER * RUNS)),
        (range(0, 160, 20), (), "closes", (3 * RUNS, 3 * MORE_AFTER * RUNS)),
        (range(5), (), "left the model", (MOST_BATCHES * RUNS, 0)),
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
    assert {len(one.steps) for one in played[0]} == {1}, "they begin where both sides are the same"
    assert said.leaves, "the run was not executed to its end"


def test_runs_that_crash_close_nothing(found: Counterexample) -> None:
    played: list[Case] = []
    left = Replay(Outcome("x", "CANNOT BE FORCED", steps=(OutcomeStep(),)))
    said = mended_earlier(
        LEFT, found, left, "1.36.3", side(range(40), played), side((), played, crashed=True)
    )
    assert said == LEFT
