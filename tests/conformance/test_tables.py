"""Upstream's situations, in our own words, on the model's own functions."""

from functools import cache
from pathlib import Path

import pytest

from podrace.conformance.cases.cases import Outcome, read_table
from podrace.conformance.registry import run_case, run_table

CASES = Path(__file__).parent.parent / "conformance"
OWN = (
    "victims", "pick_one", "eligible", "might_help", "preempt", "nominated_filter", "select_host",
    "interpod_score",
)  # fmt: skip


@cache
def outcomes(name: str, release: str) -> dict[str, tuple[str, str]]:
    table = read_table(CASES / f"{name}.json")
    return {case: (o.status, o.reason) for case, o in run_table(table, release)}


@pytest.mark.parametrize("name", OWN)
def test_every_case_that_applies_holds(name: str) -> None:
    found = outcomes(name, "1.22")
    assert {case: reason for case, (status, reason) in found.items() if status == "FAIL"} == {}
    assert any(status == "PASS" for status, _ in found.values())


@pytest.mark.parametrize(
    ("name", "release"),
    [
        pytest.param(name, release, marks=[] if release == "1.13" else [pytest.mark.ci])
        for name in OWN
        for release in ("1.9", "1.13", "1.15", "1.18", "1.19", "1.20", "1.21")
    ],
)
def test_and_so_it_does_in_older_releases(name: str, release: str) -> None:
    found = outcomes(name, release)
    assert {case: reason for case, (status, reason) in found.items() if status == "FAIL"} == {}


def test_what_is_left_out_is_skipped_and_says_why() -> None:
    skipped = {
        case: reason
        for name in OWN
        for case, (status, reason) in outcomes(name, "1.22").items()
        if status == "SKIP" and not reason.startswith("does not apply to 1.22: ")
    }
    assert skipped == {
        "extender-unknown": "not covered: the extender dice is not modelled",
        "unknown-filter": "not covered: the filter Nobody is not modelled",
    }


def test_a_rule_that_changed_is_checked_on_both_sides() -> None:
    assert outcomes("victims", "1.21")["fits-already-old"] == ("PASS", "")
    assert outcomes("victims", "1.22")["fits-already"] == ("PASS", "")
    assert outcomes("interpod_score", "1.20")["pinned"] == ("PASS", "")
    assert outcomes("interpod_score", "1.15")["scale-of-ten"] == ("PASS", "")
    assert outcomes("pick_one", "1.20")["free-node-old"] == ("PASS", "")
    assert outcomes("nominated_filter", "1.21")["count-old"] == ("PASS", "")


def test_an_end_that_is_stated_anew_counts_from_its_release_on() -> None:
    node = {"name": "n", "allocatable": {"pods": 1}}
    case = {
        "id": "c", "nodes": [node], "pods": [{"name": "v", "nodeName": "n", "priority": 1}],
        "preemptor": {"name": "p", "priority": 2}, "expected_nominated_node": None, "expected_evicted": [],
        "expected_from_1_20": {"nominated_node": "n", "expected_evicted": ["v"], "note": "derived"},
    }  # fmt: skip
    assert run_case(case, "preempt", "1.22") == Outcome("PASS")
    assert run_case(case, "preempt", "1.19").reason == "nominated node: expected {}, the model lets {n} win"
    assert run_case({**case, "expected_from_1_20": "n"}, "preempt", "1.22") == Outcome(
        "FAIL", "not translated: the end n instead of an object with a nominated node"
    )


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ({"expected_nominated_node": "n"}, Outcome("PASS")),
        ({"expected_evicted": ["v"]}, Outcome("PASS")),
        (
            {"expected_nominated_node": "n", "expected_evicted": []},
            Outcome("FAIL", "evicted: expected {}, the model gives {v}"),
        ),
        ({"expected_evicted": None}, Outcome("FAIL", "not translated: the case expects nothing")),
    ],
)
def test_what_a_case_does_not_tell_is_not_compared(expected, outcome):
    case = {
        "id": "c", "nodes": [{"name": "n", "allocatable": {"pods": 1}}],
        "pods": [{"name": "v", "nodeName": "n", "priority": 1}],
        "preemptor": {"name": "p", "priority": 2}, **expected,
    }  # fmt: skip
    assert run_case(case, "preempt", "1.22") == outcome
