"""Reading tables, finding runners, and what becomes of mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from tests.conformance import registry
from tests.conformance.cases.cases import CaseTable, Outcome, read_table

WORTH: dict[str, Any] = {
    "expected_candidate_nodes": ["n"],
    "nodes": [{"name": "n"}],
    "statuses": {"n": "Unschedulable"},
}


def run(release: str = "1.22", **case: Any) -> Outcome:
    return registry.run_case({"id": "c", **case}, "t", release)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: "),
        ("[]", "expected an object with `table` and a list of `cases`"),
        ('{"cases": {}}', "expected an object with `table` and a list of `cases`"),
        ('{"cases": [{}]}', "case 1 has no `id`"),
        ('{"cases": [{"id": "a"}, {"id": "a"}]}', "two cases have the id `a`"),
    ],
)
def test_an_unreadable_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text)
    with pytest.raises(Problem) as caught:
        read_table(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(file))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="cannot be read: No such file"):
        read_table(tmp_path / "none.json")
    with pytest.raises(Problem, match="is a directory"):
        read_table(tmp_path)


def test_a_case_outside_its_bounds_is_skipped() -> None:
    assert run(applies_to={"min": "1.34", "max": None}) == Outcome(
        "SKIP", "does not apply to 1.22: from 1.34"
    )
    assert run(applies_to={"min": None, "max": "1.21"}).reason == "does not apply to 1.22: up to 1.21"
    assert run(applies_to={"min": "1.22.5", "max": "1.30"}).reason == (
        "does not apply to 1.22: 1.22.5 to 1.30"
    )
    assert run(applies_to={"min": "1.22", "max": "1.22"}, **WORTH) == Outcome("PASS")


@pytest.mark.parametrize(
    ("low", "high", "release", "applies"),
    [
        ("1.22.5", None, "1.22", False),
        ("1.9", "1.10", "1.34.4", False),
        ("1.34", None, "1.34.4", True),
        ("1.34.3", None, "1.34.2", False),
        ("1.34.3", None, "1.34.4", True),
        ("1.34.10", None, "1.34.4", False),
        (None, "1.34", "1.34.4", True),
        (None, "1.34.0", "1.34.4", False),
        (None, "1.34.0", "1.34", True),
        ("1.34.0", "1.34.3", "1.34.3", True),
        (None, "1.33", "1.34.4", False),
    ],
)
def test_bounds_order_patch_versions(low: str | None, high: str | None, release: str, applies: bool) -> None:
    outcome = run(release=release, applies_to={"min": low, "max": high}, **WORTH)
    assert (outcome == Outcome("PASS")) is applies


def test_a_case_without_bounds_always_applies() -> None:
    assert run(**WORTH) == Outcome("PASS")
    assert run(release="1.8", **WORTH) == Outcome("PASS")


def test_what_nobody_can_run_fails() -> None:
    assert run(kind="surprise") == Outcome("FAIL", "not translated: no runner for kind surprise")
    assert run(colour="red") == Outcome(
        "FAIL", "not translated: no runner for a case with the fields colour, id"
    )
    assert run(steps=[], nodes=[{"name": "n"}]) == Outcome(
        "FAIL", "not translated: a scenario that expects nothing of any pod"
    )
    assert set(registry.RUNNERS) == set(registry.EXPECTATIONS)


def test_a_difference_is_a_failure_with_both_sides() -> None:
    outcome = run(**{**WORTH, "expected_candidate_nodes": []})
    assert outcome == Outcome("FAIL", "nodes to try: expected {}, the model gives {n}")


def test_a_mistake_in_a_case_is_a_failure() -> None:
    outcome = run(**{**WORTH, "statuses": {"n": {}}})
    assert outcome == Outcome("FAIL", "not translated: statuses.n is {}, not a status code")
    assert run(**{**WORTH, "statuses": ["n"]}).reason == "not translated: statuses is ['n'], not an object"
    for bounds in ({"min": "new", "max": None}, {"min": 1.22}, "1.22", ["1.22"]):
        assert run(**{**WORTH, "applies_to": bounds}) == Outcome(
            "FAIL", "not translated: `applies_to` must be {min, max} with versions such as 1.22, or null"
        )


def test_an_expectation_that_nobody_compares_fails() -> None:
    assert run(**WORTH, expected_weather="fine") == Outcome(
        "FAIL", "not translated: nobody compares expected_weather"
    )
    assert run(**WORTH, expected_weather=None) == Outcome("PASS")


@pytest.mark.parametrize(
    ("case", "table", "home"),
    [
        ({"kind": "ops", "ops": [{"op": "pop"}]}, "queue", "queue"),
        ({"kind": "ops", "ops": [{"op": "pop"}]}, "scheduler cache", "cache"),
        ({"kind": "ops", "ops": [{"op": "assume"}]}, "", "cache"),
        ({"kind": "ops", "ops": [{"finish_binding": {}}]}, "", "cache"),
        ({"ops": []}, "", "queue"),
        ({"kind": "event_match"}, "", "queue"),
        ({"kind": "backoff"}, "", "order_backoff"),
        ({"kind": "rotation"}, "", "scheduling"),
        ({"expected_scores": {}}, "", "scheduling"),
        ({"cycles": []}, "", "preemption"),
        ({}, "", None),
    ],
)
def test_the_home_of_a_case(case: dict[str, Any], table: str, home: str | None) -> None:
    assert registry.home_of(case, table) == home


def test_cases_run_in_order(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"table": "t", "cases": [{"id": "b", **WORTH}, {"id": "a"}]}))
    table = read_table(file)
    assert isinstance(table, CaseTable)
    assert [name for name, _ in registry.run_table(table, "1.22")] == ["b", "a"]


def test_what_a_later_patch_version_does_passes_and_says_so() -> None:
    """109245: a pod that the lister shows on a node is not nominated; 1.22.17 has it, 1.22.0 has not."""
    pod = {
        "name": "p",
        "uid": "p",
        "namespace": "ns",
        "labels": {},
        "priority": 1,
        "requests": {},
        "nodeName": "n0",
    }
    ops = [{"op": "add_nominated", "pod": "p", "node": "n1"}, {"op": "expect", "nominated": {}}]
    case = {"id": "c", "kind": "ops", "pods": {"p": pod}, "known_pods": ["p"], "ops": ops}
    assert registry.run_case(case, "queue", "1.22") == Outcome(
        "PASS",
        "as 1.22.17 does it; not yet 1.22.0: operation 1 (expect): nominated: {'n1': ['ns/p']}, expected {}",
    )
    assert (
        registry.run_case(case, "queue", "1.22.17")
        == registry.run_case(case, "queue", "1.24")
        == Outcome("PASS")
    )
    assert registry.run_case(case, "queue", "1.19").status == "FAIL"
