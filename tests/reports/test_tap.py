"""TAP 14."""

from __future__ import annotations

import re

import msgspec
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podrace.reports.document import Finding, Place
from podrace.reports.formats.tap import to_tap
from podrace.reports.outcome import Style
from tests.reports.findings import findings
from tests.reports.samples import ALL, HOLDS, INCONCLUSIVE, VIOLATED

POINT = re.compile(r"(ok|not ok) ([0-9]+) - (.*)")


def test_every_verdict() -> None:
    points = [line for line in to_tap(ALL).splitlines() if POINT.fullmatch(line)]
    assert to_tap(ALL).startswith("TAP version 14\n1..7\nok 1 - nominated-node-race, 1.13: S-NOM\n")
    assert [line.startswith("ok") for line in points] == [True, True, True, False, False, False, False]


def test_what_did_not_pass_says_why_in_yaml() -> None:
    finding = msgspec.structs.replace(VIOLATED, expected=None, place=Place("a.yaml", 4))
    text = to_tap([finding]).split("---\n")[1].split("  ...\n")[0]
    details = yaml.safe_load(text)
    assert details["message"] == "Violated after 4 steps, and by no shorter run."
    assert details["outcome"] == "failed"
    assert details["at"] == {"file": "a.yaml", "line": 4}
    assert len(details["steps"]) == 4
    undecided = yaml.safe_load(to_tap([INCONCLUSIVE]).split("---\n")[1].split("  ...\n")[0])
    assert undecided["outcome"] == "undecided"


def test_a_directive_cannot_be_smuggled_in() -> None:
    finding = msgspec.structs.replace(INCONCLUSIVE, scenario="a # SKIP")
    assert "not ok 1 - a \\# SKIP, 1.19: S-CAP\n" in to_tap([finding])


@given(st.lists(findings(), max_size=4))
def test_the_plan_counts_the_points(found: list[Finding]) -> None:
    lines = to_tap(found).split("\n")
    assert lines[1] == f"1..{len(found)}"
    points = [match for match in map(POINT.fullmatch, lines) if match]
    assert [int(match[2]) for match in points] == list(range(1, len(found) + 1))
    assert [match[1] == "ok" for match in points] == [Style().outcome(f) == "passed" for f in found]
    assert all(re.search(r"(?<!\\)(\\\\)*#", match[3]) is None for match in points)


def test_nothing_found() -> None:
    assert to_tap([]) == "TAP version 14\n1..0\n"
    assert to_tap([HOLDS]).count("\n") == 3
