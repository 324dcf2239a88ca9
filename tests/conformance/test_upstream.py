"""Rows of upstream's own unit-test tables, restated as facts in tests/conformance/upstream."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.cases.cases import Case, applies, read_table
from tests.conformance.registry import run_table

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
        pytest.param("1.36", marks=pytest.mark.ci),
        *(
            pytest.param(release, marks=pytest.mark.nightly)
            for release in ("1.34", "1.29", "1.21", "1.19", "1.18")
        ),
    ],
)
@pytest.mark.parametrize("name", FILES)
def test_every_row_that_applies_holds(name: str, release: str) -> None:
    found = outcomes(name, release)
    assert {case: reason for case, (status, reason) in found.items() if status == "FAIL"} == {}
    skipped = [reason for status, reason in found.values() if status == "SKIP"]
    assert [reason for reason in skipped if not reason.startswith(f"does not apply to {release}")] == []


def rows(name: str) -> list[Case]:
    return list(read_table(FOLDER / f"{name}.json").cases)


def test_how_many_rows_there_are() -> None:
    assert {name: len(rows(name)) for name in FILES} == {
        "cache": 53,
        "claims": 129,
        "eligible": 6,
        "eligible_later": 6,
        "event_match_later": 8,
        "filter_status": 9,
        "filters": 168,
        "host_ports": 13,
        "interpod_score": 29,
        "interpod_score_later": 36,
        "might_help": 6,
        "might_help_later": 20,
        "node_tree": 19,
        "nominated_filter": 9,
        "nominated_filter_later": 11,
        "order_backoff": 10,
        "order_backoff_later": 5,
        "pick_one": 11,
        "preempt": 25,
        "preempt_later": 16,
        "queue": 48,
        "queue_hints": 78,
        "select_host": 18,
        "select_host_later": 48,
        "spread_score": 51,
        "victims": 37,
        "victims_later": 25,
    }


def test_the_page_tells_how_many_apply() -> None:
    """Every row that applies holds (above), so these are the rows that hold."""
    page = (Path(__file__).parents[2] / "docs" / "notebook" / "conformance.md").read_text()
    header = next(line for line in page.splitlines() if line.startswith("| Rows of"))
    releases = header.strip("| ").split(" | ")[1:]
    for name in FILES:
        counts = [sum(applies(case, release) for case in rows(name)) for release in releases]
        assert f"| `{name}` | {' | '.join(map(str, counts))} |" in page


@pytest.mark.parametrize("name", FILES)
def test_every_row_says_where_it_is_from(name: str) -> None:
    content = json.loads((FOLDER / f"{name}.json").read_text())
    assert {case["source"]["version"] for case in content["cases"]} == set(content["sources"])
    assert all(case["description"] and case["source"]["func"] for case in content["cases"])
