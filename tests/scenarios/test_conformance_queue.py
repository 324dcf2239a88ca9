"""The queue's conformance runner, on cases of our own in tests/conformance."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from podrace.scenarios.conformance import order_backoff, queue
from podrace.scenarios.conformance.outcome import applies

FOLDER = Path(__file__).parents[1] / "conformance"


def cases(table):
    return json.loads((FOLDER / f"{table}.json").read_text())["cases"]


def releases(case):
    return [r for r in ("1.13", "1.15", "1.19", "1.20", "1.21", "1.22") if applies(case, r)]


@pytest.mark.parametrize("case", cases("queue"), ids=lambda c: c["id"])
def test_queue(case):
    # The tables state what priority queues with a backoff do; applies_to says since when.
    played = [r for r in releases(case) if r != "1.13"]
    assert {r: queue.run(case, r).reason for r in played} == dict.fromkeys(played, "")
    assert {queue.run(case, r).status for r in played} == {"PASS"}


@pytest.mark.parametrize("case", cases("order_backoff"), ids=lambda c: c["id"])
def test_order_and_backoff(case):
    assert {r: order_backoff.run(case, r).reason for r in releases(case)} == dict.fromkeys(releases(case), "")


def by_id(name):
    return deepcopy(next(c for c in cases("queue") if c["id"] == name))


def test_a_release_outside_the_bounds_is_skipped():
    assert queue.run(by_id("activate"), "1.21").status == "SKIP"


@pytest.mark.parametrize(
    ("name", "at", "change", "reason"),
    [
        ("priority-first", 3, {"expect": "low"}, "next is team/high, expected team/low"),
        ("delete", -1, {"counts": [1, 0, 0]}, "counts: [0, 0, 0], expected [1, 0, 0]"),
        ("nominations", 2, {"nominated": {"n1": ["low", "highN"]}}, "nominated: "),
        ("update-unknown", 3, {"active": ["high"]}, "active holds another version of high"),
        ("attempts", 2, {"expect_attempts": 2}, "attempts: 1, expected 2"),
        ("attempts", 2, {"expect_initial_attempt": 0}, "initial attempt: "),
        ("requeue-twice", 1, {"expect_error": False}, "an error: True, expected False"),
        (
            "backoff-flow",
            5,
            {"seconds": 3},
            "remaining backoff of team/low in ns: 1000000000, expected 3000000000",
        ),
        ("precheck", 6, {"backoff_order": ["high", "mid"]}, "ends of backoff: "),
        ("priority-first", 2, {"active_order": ["low", "high"]}, "low does not leave active at its turn"),
    ],
)
def test_a_wrong_expectation_fails_and_says_where(name, at, change, reason):
    case = by_id(name)
    case["ops"][at].update(change)
    outcome = queue.run(case, "1.22")
    assert outcome.status == "FAIL"
    number = at % len(case["ops"])
    assert outcome.reason.startswith(f"operation {number} ({case['ops'][at]['op']}): {reason}")


def test_wrong_counts_by_cause_fail():
    case = by_id("entries-by-cause")
    case["expected_incoming"][0]["count"] = 2
    assert queue.run(case, "1.22").reason.startswith("entries by cause: ")


def test_a_wrong_event_match_fails():
    case = by_id("match-all")
    case["expected_match"] = False
    assert queue.run(case, "1.22").reason == "NodeTaintChange: True, expected False"


@pytest.mark.parametrize(
    "op", [{"op": "dance"}, {"op": "expect", "joy": 1}, {"op": "advance", "seconds": "a while"}]
)
def test_what_the_runner_does_not_know_is_skipped(op):
    case = by_id("delete")
    case["ops"].append(op)
    outcome = queue.run(case, "1.22")
    assert outcome.status == "SKIP"
    assert outcome.reason.startswith("not covered: ")
