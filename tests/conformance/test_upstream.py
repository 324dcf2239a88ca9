"""Rows of upstream's own unit-test tables, restated as facts in tests/conformance/upstream."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from podrace.conformance.cases.cases import read_table
from podrace.conformance.registry import run_table

FOLDER = Path(__file__).parents[1] / "conformance" / "upstream"
FILES = sorted(file.stem for file in FOLDER.glob("*.json"))


@cache
def outcomes(name: str, release: str) -> dict[str, tuple[str, str]]:
    table = read_table(FOLDER / f"{name}.json")
    return {case: (o.status, o.reason) for case, o in run_table(table, release)}


@pytest.mark.parametrize(
    "release",
    [
        "1.22",
        *(
            pytest.param(release, marks=pytest.mark.ci)
            for release in ("1.36", "1.29", "1.21", "1.19", "1.18")
        ),
    ],
)
@pytest.mark.parametrize("name", FILES)
def test_every_row_that_applies_holds(name: str, release: str) -> None:
    found = outcomes(name, release)
    assert {case: reason for case, (status, reason) in found.items() if status == "FAIL"} == {}
    skipped = [reason for status, reason in found.values() if status == "SKIP"]
    assert [reason for reason in skipped if not reason.startswith(f"does not apply to {release}")] == []


def test_how_many_rows_there_are() -> None:
    counts = Counter(status for name in FILES for status, _ in outcomes(name, "1.22").values())
    assert counts == {"PASS": 232, "SKIP": 174}


@pytest.mark.parametrize("name", FILES)
def test_every_row_says_where_it_is_from(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.json").read_text())
    assert {case["source"]["version"] for case in content["cases"]} == set(content["sources"])
    assert all(case["description"] and case["source"]["func"] for case in content["cases"])
