"""JUnit XML: valid by the schema, and nothing undecided looks fine."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.reports.ci_outcome import Style
from podrace.reports.document import Finding
from podrace.reports.formats.junit import to_junit
from tests.profiles import examples
from tests.reports.findings import findings
from tests.reports.golden import assert_golden
from tests.reports.samples import ALL, HOLDS, INCONCLUSIVE, VACUOUS, VIOLATED
from tests.reports.standards import assert_junit

PLACED = [msgspec.structs.replace(f, seconds=None) for f in ALL]


def test_every_verdict() -> None:
    assert_golden("all.junit.xml", to_junit(PLACED))


def test_every_verdict_is_valid() -> None:
    root = assert_junit(to_junit(ALL))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("7", "3", "1")
    assert_junit(to_junit([]))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(findings(), max_size=4))
def test_anything_is_valid(found: list[Finding]) -> None:
    root = assert_junit(to_junit(found))
    outcomes = [Style().outcome(finding) for finding in found]
    assert len(root.findall(".//failure")) == outcomes.count("failed")
    assert len(root.findall(".//error")) == outcomes.count("undecided")
    assert root.findall(".//skipped") == []


@pytest.mark.parametrize(
    ("finding", "element"), [(INCONCLUSIVE, "error"), (HOLDS, "system-out"), (VIOLATED, "system-out")]
)
def test_what_stands_in_a_case(finding: Finding, element: str) -> None:
    (case,) = ElementTree.fromstring(to_junit([finding])).iter("testcase")
    assert [child.tag for child in case] == [element]


def test_a_violation_shows_its_steps_and_its_place() -> None:
    from podrace.reports.document import Place

    finding = msgspec.structs.replace(VIOLATED, expected=None, place=Place("a.yaml", 4))
    (failure,) = ElementTree.fromstring(to_junit([finding])).iter("failure")
    lines = (failure.text or "").splitlines()
    first = "1. scheduler: pop(p) (NextPod: take the head of activeQ); queue: p leaves activeQ."
    assert (lines[0], lines[2]) == ("a.yaml:4", first)
    assert failure.get("message") == "Violated after 4 steps, and no run is shorter."


def test_times_only_where_there_are_any() -> None:
    assert "time=" not in to_junit(PLACED)
    assert '<testsuite name="nominated-node-race, 1.13" tests="1" failures="0" errors="0" time="1.234">' in (
        to_junit(ALL)
    )


def test_a_vacuous_proof_fails_where_that_is_asked_for() -> None:
    assert "<failure" not in to_junit([VACUOUS])
    assert '<failure type="HOLDS"' in to_junit([VACUOUS], Style(vacuous_fails=True))


def test_what_xml_cannot_write_is_replaced() -> None:
    finding = msgspec.structs.replace(INCONCLUSIVE, words="a\x00b\ud800c")
    assert "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c" in to_junit([finding])
