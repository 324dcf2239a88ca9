"""Rows of the unit tests of DynamicResources and VolumeBinding, played on the model."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.cases.cases import Outcome, read_table
from tests.conformance.registry import run_case

TABLE = read_table(Path(__file__).parent / "upstream" / "claims.json")


@cache
def outcomes(release: str) -> dict[str, tuple[str, str]]:
    found = {case["id"]: run_case(case, TABLE.name, release) for case in TABLE.cases}
    return {name: (o.status, o.reason) for name, o in found.items()}


@pytest.mark.parametrize(
    ("release", "passed", "skipped"),
    [
        pytest.param("1.34.4", 93, 36, marks=pytest.mark.campaign),
        pytest.param("1.36.3", 128, 1, marks=pytest.mark.ci),
        pytest.param("1.37.2", 127, 2, marks=pytest.mark.ci),
        pytest.param("1.38.0-beta.0", 127, 2, marks=pytest.mark.campaign),
    ],
)
def test_every_row_that_applies_holds(release: str, passed: int, skipped: int) -> None:
    found = outcomes(release)
    assert {name: reason for name, (status, reason) in found.items() if status == "FAIL"} == {}
    assert Counter(status for status, _ in found.values()) == Counter({"PASS": passed, "SKIP": skipped})


def row(name: str, **change: Any) -> dict[str, Any]:
    (found,) = [case for case in TABLE.cases if case["id"] == name]
    return {**found, **change}


@pytest.mark.parametrize(
    "name",
    [
        "with-resources",
        "wrong-topology",
        "unbound claims no matches",
        "check:binding-bound",
        "with-resources-finalizer-gets-removed",
        "wrong-claim",
        "bound-claim-with-failed-binding",
        "prebind-fail-with-binding-timeout",
        "extended-resource-name-with-resources",
        "extended-resource-name-with-resources-fail-patch",
        "add-allocation-timestamp-failure",
        "CEL-runtime-error-for-one-of-two-nodes",
        "extended-resource-name-claim-creation-failure",
    ],
)
def test_some_rows(name: str) -> None:
    assert run_case(row(name), TABLE.name, "1.36.3") == Outcome("PASS")


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("canceled", {"expected": {"nodes": {"worker2": "Success"}}}, "nodes: {'worker2': 'UnschedulableAndUnresolvable'}, expected {'worker2': 'Success'}"),
        ("CEL-runtime-error-for-one-of-two-nodes", {"expected": {"end": "bound"}}, "end: errs, expected bound"),
        ("claim-with-prioritized-list-feature-disabled", {"gates": {}}, "nodes: {'worker': 'Success'}, expected {'worker': 'UnschedulableAndUnresolvable'}"),
        ("extended-resource-name-claim-creation-failure", {"fails": ""}, "claims_at_the_end: {'p-extended-resources': ['d', 'p']}, expected {'p-extended-resources': []}"),
    ],
)  # fmt: skip
def test_a_new_row_that_says_otherwise_fails(name: str, change: dict[str, Any], reason: str) -> None:
    assert run_case(row(name, **change), TABLE.name, "1.36.3") == Outcome("FAIL", reason)


def test_since_1_37_the_flight_ends_in_unreserve() -> None:
    name = "extended-resource-name-with-resources-fail-patch"
    reason = "in_flight_when_pre_bind_fails: {'p-extended-resources': 'd'}, expected {}"
    assert run_case(row(name), TABLE.name, "1.37.2") == Outcome("PASS")
    assert run_case(row(name, expected_from_1_37=row(name)["expected"]), TABLE.name, "1.37.2") == Outcome(
        "FAIL", reason
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"expected": {"end": "rejected"}}, "end: bound, expected rejected"),
        ({"expected": {"in_flight": {}}}, "in_flight: {'c': 'd'}, expected {}"),
        ({"expected": {"colour": "red"}}, "not translated: nobody compares expected.colour"),
        ({"in_flight": {"c": "x"}}, "not translated: there is no x"),
        ({"expected": {}}, "not translated: the case expects nothing"),
        ({"fails": "permit"}, "not translated: fails is permit, not one of reserve, create, bind, name"),
        ({"for": "nobody"}, "not translated: there is no nobody"),
        ({"written": ["x"]}, "not translated: there is no x"),
        ({"inflight": {"c": "d"}}, "not translated: nobody reads inflight"),
        ({"then": ["kubelet.wait"]}, "not translated: there is no step kubelet.wait"),
        ({"then": ["claim_controller.sync_claim c"]}, "claim_controller.sync_claim cannot be taken"),
    ],
)
def test_a_row_that_says_otherwise_fails(change: dict[str, Any], reason: str) -> None:
    assert run_case(row("with-resources", **change), TABLE.name, "1.36.3") == Outcome("FAIL", reason)
