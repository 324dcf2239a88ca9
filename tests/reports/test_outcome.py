"""What a verdict means for a CI service."""

from __future__ import annotations

import msgspec
import pytest

from podrace.reports.ci_outcome import Style, message, numbered
from podrace.reports.document import Finding
from tests.reports.samples import AT_ONCE, HOLDS, INCONCLUSIVE, NO_WAY_BACK, STARVED, VACUOUS, VIOLATED


@pytest.mark.parametrize(
    ("finding", "outcome", "strictly"),
    [
        (VIOLATED, "passed", "passed"),  # as expected
        (msgspec.structs.replace(VIOLATED, expected="HOLDS"), "failed", "failed"),
        (msgspec.structs.replace(VIOLATED, expected=None), "failed", "failed"),
        (HOLDS, "passed", "passed"),
        (msgspec.structs.replace(HOLDS, expected="VIOLATED"), "failed", "failed"),
        (VACUOUS, "passed", "failed"),
        (INCONCLUSIVE, "undecided", "undecided"),
        (msgspec.structs.replace(INCONCLUSIVE, expected="HOLDS"), "undecided", "undecided"),
    ],
)
def test_outcomes(finding: Finding, outcome: str, strictly: str) -> None:
    assert Style().outcome(finding) == outcome
    assert Style(vacuous_fails=True).outcome(finding) == strictly


def test_messages() -> None:
    assert message(VIOLATED) == "Violated after 4 steps, and no run is shorter. As expected: VIOLATED."
    gone = msgspec.structs.replace(HOLDS, expected="VIOLATED", words="Holds.")
    assert message(gone) == "Holds. Expected: VIOLATED."
    assert message(INCONCLUSIVE).startswith("INCONCLUSIVE: Stopped by the time limit")
    assert message(msgspec.structs.replace(INCONCLUSIVE, words="")) == "INCONCLUSIVE"


def test_steps_with_what_is_to_be_said_between_them() -> None:
    said = "3. binding cycle of a pod: bind(q, ok) (POST the Binding <first & last>); API: q is bound to n1; "
    assert numbered(VIOLATED)[2] == f"{said}mine.seen[q]: false -> true."
    said = "The scheduler takes p from the head of activeQ."
    spoken = msgspec.structs.replace(VIOLATED.story[0], told=said)
    assert numbered(msgspec.structs.replace(VIOLATED, trace=(spoken,))) == [f"1. {said}"]
    assert numbered(STARVED)[1] == "indefinitely:"
    assert numbered(NO_WAY_BACK)[3] == "and these steps repeat indefinitely:"
    assert numbered(AT_ONCE) == []
    assert numbered(msgspec.structs.replace(STARVED, cycle=()))[-1] == "here it stays indefinitely"
