"""Verdicts: nothing is called reproduced that the real state does not show."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from podrace.analysis.stored.replayed import Replayed, replayed
from podrace.reports.reproduction import Differing, Reproduction, exit_code, seconds_in_words
from podrace.reports.stored import parse_trace
from podrace.reproduce.case import Case, case_of
from podrace.reproduce.judging import reproduction_of
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.timing.timing import Timing
from tests.reproduce.ghosts import GHOST

ABOUT = {"name": "ghost", "scheduler": "v1.36.3", "release": "1.36.3", "property": "S-GHOST"}


@cache
def ghost() -> tuple[Replayed, Case]:
    found = replayed(parse_trace(GHOST.encode(), "ghost"))
    return found, case_of(found, "ghost")


def as_the_model(forced: int = 11, **more: Any) -> Outcome:
    """An outcome that shows what the model has, for the first steps."""
    _, case = ghost()
    seen = tuple(OutcomeStep(("Queue.Pop< p",), step.changes) for step in case.steps[:forced])
    return Outcome(**{"id": "ghost", "verdict": "DONE", "steps": seen, "initial": case.initial, **more})


def judged(outcome: Outcome, **timing: Any) -> Reproduction:
    found, case = ghost()
    return reproduction_of(found, case, outcome, ABOUT, Timing(**timing))


def with_step(number: int, **fields: Any) -> tuple[OutcomeStep, ...]:
    steps = list(as_the_model().steps)
    steps[number - 1] = OutcomeStep(**{"points": (), "real": steps[number - 1].real, **fields})
    return tuple(steps)


def test_reproduced() -> None:
    found = judged(as_the_model())
    assert (found.verdict, found.at, found.violated) == ("REPRODUCED", None, True)
    assert found.words == "All 11 steps were forced, and the real state violates S-GHOST."
    assert (found.forced, found.differences, found.unseen) == (11, 0, ())
    assert exit_code([found]) == 1


def test_a_difference() -> None:
    """The first step that differs is named, also where the property is violated all the same."""
    differs = (Differing("nominator.node[p]", None, "n1"),)
    found = judged(as_the_model(verdict="DIFFERS", steps=with_step(4, differs=differs)))
    assert (found.verdict, found.at) == ("DIFFERS", 4)
    assert found.words.startswith(
        "nominator.node[p]: model none, real n1; all the same, the real state violates"
    )
    assert (found.headline, exit_code([found])) == ("DIFFERS at step 4", 3)


def test_the_beginning_differs() -> None:
    found = judged(as_the_model(start=(Differing("queue.sub_queue[p]", "ACTIVE", "NONE"),)))
    assert (found.verdict, found.at) == ("DIFFERS", 0)


def test_the_real_state_decides() -> None:
    """No step is said to differ, and yet nothing is reproduced: the pod is really in no sub-queue."""
    found = judged(as_the_model(steps=with_step(11, real={"queue.sub_queue[p]": "NONE"})))
    assert (found.verdict, found.violated) == ("DIFFERS", False)
    assert "the real state does not violate S-GHOST" in found.words


def test_a_real_state_that_the_model_does_not_have() -> None:
    found = judged(as_the_model(steps=with_step(11, real={"queue.sub_queue[p]": "ELSEWHERE"})))
    assert (found.verdict, found.violated) == ("DIFFERS", None)


def test_what_is_not_seen_is_said() -> None:
    """The property reads it, and the model's own value is taken."""
    _, case = ghost()
    hidden = "queue.sub_queue[p]"
    steps = tuple(
        OutcomeStep((), {name: value for name, value in step.changes.items() if name != hidden}) for step in case.steps
    )  # fmt: skip
    initial = {name: value for name, value in case.initial.items() if name != hidden}
    found = judged(Outcome("ghost", "DONE", steps=steps, initial=initial))
    assert found.verdict == "REPRODUCED"
    assert hidden in found.unseen


def test_held() -> None:
    found = judged(as_the_model(6, verdict="CANNOT BE FORCED", at=7, why="held at Queue.Pop>"))
    assert (found.verdict, found.at, found.words, found.violated) == (
        "CANNOT BE FORCED",
        7,
        "held at Queue.Pop>",
        None,
    )
    assert [step.forced for step in found.steps] == [True] * 6 + [False] * 5
    assert exit_code([found]) == 3


def test_not_there_and_crashed() -> None:
    absent = judged(Outcome("ghost", "NOT THERE", 3, "Cache.FinishBinding is gone"))
    assert (absent.verdict, absent.at, exit_code([absent])) == ("NOT THERE", 3, 0)
    crashed = judged(Outcome("ghost", "CRASHED", None, "panic: nil map"))
    assert (crashed.verdict, crashed.words, exit_code([crashed])) == ("CRASHED", "panic: nil map", 3)


def test_a_flush_takes_all() -> None:
    """The real queue may have in activeQ already what one flush took, and the model takes next."""
    differs = (Differing("queue.sub_queue[p]", "BACKOFF", "ACTIVE"),)
    outcome = as_the_model(verdict="DIFFERS", steps=with_step(10, differs=differs))
    assert judged(outcome).verdict == "DIFFERS"
    assert judged(outcome, ahead=[frozenset()] * 9 + [frozenset("p")]).verdict == "REPRODUCED"


def test_what_followed() -> None:
    waits = {"10s": {"p": "UNSCHEDULABLE"}, "60s": {"p": "UNSCHEDULABLE"}, "330s": {"p": "ACTIVE"}}
    found = judged(as_the_model(epilogue={**waits, "bound": {"p": 331.0}}))
    assert found.consequence == (
        "p is bound after 5 min 31 s (by the periodic flush): UNSCHEDULABLE after 10 s, ACTIVE after 5 min 30 s.",
    )
    for_ever = judged(as_the_model(epilogue={"660s": {"p": "UNSCHEDULABLE"}, "bound": {}}))
    assert for_ever.consequence == ("p is not bound within 11 min: UNSCHEDULABLE after 11 min.",)


@pytest.mark.parametrize(
    ("due", "bound", "flushed"),
    [(None, 299, False), (None, 300, True), (270, 269, False), (270, 270, True), (30, 31, False)],
)
def test_the_flush_comes_when_the_pod_has_been_parked_for_long(
    due: int | None, bound: float, flushed: bool
) -> None:
    """A pod that was parked long before the end is flushed earlier; within a minute of the end anybody else may have helped."""
    timing = {} if due is None else {"flushed": {"p": due}}
    (line,) = judged(as_the_model(epilogue={"bound": {"p": float(bound)}}), **timing).consequence
    assert ("by the periodic flush" in line) is flushed


@pytest.mark.parametrize(
    ("seconds", "words"), [(4.26, "4.3 s"), (60, "1 min"), (331, "5 min 31 s"), (0, "0 s"), (59.96, "60 s")]
)
def test_times(seconds: float, words: str) -> None:
    assert seconds_in_words(seconds) == words
