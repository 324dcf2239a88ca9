"""Verdicts: how they combine, what they say, and the exit codes that they give."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podrace.base.text import counted
from podrace.checker.core.result import UNMEASURED, Counts, Coverage, Result, Verdict, combine, exit_code
from podrace.checker.core.trace import Trace
from podrace.checker.trace.execution import replay
from podrace.reports.verdict_words import verdict_words
from tests.checker.machines import house

SEEN = Coverage(fired={"room.ask": 34})
HOLDS = Result("house", "alone", "invariant", Verdict.HOLDS, Counts(1200, 34, 5, 0.1), SEEN)
VIOLATED = replace(HOLDS, verdict=Verdict.VIOLATED, trace=replay(house(), (0, 2)))
INCONCLUSIVE = replace(HOLDS, verdict=Verdict.INCONCLUSIVE, stopped="states")


def test_the_weakest_verdict_decides() -> None:
    assert combine([Verdict.HOLDS, Verdict.INCONCLUSIVE]) is Verdict.INCONCLUSIVE
    assert combine([Verdict.INCONCLUSIVE, Verdict.VIOLATED, Verdict.HOLDS]) is Verdict.VIOLATED
    assert combine(iter([Verdict.HOLDS])) is Verdict.HOLDS
    with pytest.raises(ValueError, match="there is no verdict on nothing"):
        combine([])


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([HOLDS], 0),
        ([HOLDS, VIOLATED], 1),
        ([], 2),
        ([HOLDS, INCONCLUSIVE], 3),
        ([INCONCLUSIVE, VIOLATED, HOLDS], 1),
    ],
)
def test_exit_codes(results: list[Result], code: int) -> None:
    assert exit_code(iter(results)) == code


def test_words_of_holds() -> None:
    assert verdict_words(HOLDS) == "Holds in every interleaving: 1,200 states, 34 transitions, depth 5."
    bounded = replace(HOLDS, coverage=replace(SEEN, constraints_hit=("a", "b")))
    assert verdict_words(bounded).endswith("Within these constraints, which were hit: a; b.")


def test_vacuous() -> None:
    assert not HOLDS.vacuous
    assert not replace(HOLDS, coverage=UNMEASURED).vacuous
    missed = replace(HOLDS, coverage=replace(SEEN, witnesses_missed=("in", "out")))
    assert missed.vacuous
    assert verdict_words(missed).endswith("Vacuous: never reached: in; out.")
    idle = replace(HOLDS, coverage=Coverage())
    assert idle.vacuous
    assert verdict_words(idle).endswith("Vacuous: no step makes a difference to it.")
    assert not replace(VIOLATED, coverage=Coverage(witnesses_missed=("in",))).vacuous
    assert not replace(INCONCLUSIVE, coverage=Coverage(witnesses_missed=("in",))).vacuous


def test_words_of_violated() -> None:
    explored = "1,200 states, 34 transitions, depth 5 explored"
    assert verdict_words(VIOLATED) == f"Violated after 2 steps, and no run is shorter ({explored})."
    start = replace(VIOLATED, trace=Trace((), ((0, 0, 0),)))
    assert verdict_words(start) == f"Violated in the initial state, and no run is shorter ({explored})."
    assert VIOLATED.trace is not None
    no_way_back = replace(
        VIOLATED, kind="resettability", trace=replace(VIOLATED.trace, closure=7, closed=True)
    )
    assert verdict_words(no_way_back) == (
        "Violated after 2 steps: from there, fair steps alone never lead back "
        f"(executed again in the 7 states that they lead to; {explored})."
    )
    assert no_way_back.trace is not None
    partly = replace(no_way_back, trace=replace(no_way_back.trace, closed=False))
    assert "in the first 7 states that they lead to" in verdict_words(partly)


@pytest.mark.parametrize(
    ("stopped", "said"),
    [("states", "the limit of states"), ("memory", "the limit of memory"), ("timeout", "the time limit")],
)
def test_words_of_inconclusive(stopped: str, said: str) -> None:
    result = replace(INCONCLUSIVE, stopped=stopped)
    explored = f"Stopped by {said} after 1,200 states, 34 transitions, depth 5"
    # The last level may be incomplete, so runs of 4 steps are covered, not of 5.
    assert verdict_words(result) == f"{explored}: no violation within 4 steps, nothing known beyond."
    resettability = replace(result, kind="resettability")
    assert (
        verdict_words(resettability)
        == f"{explored}: resettability can be decided only when every state was visited."
    )
    assert "within 0 steps" in verdict_words(replace(result, counts=replace(result.counts, depth=0)))


def test_numbers() -> None:
    assert counted(1, "state") == "1 state"
    assert counted(0, "state") == "0 states"
    assert counted(1024, "state") == "1,024 states"
