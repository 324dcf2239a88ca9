"""The table of what the survey found: a part of it again in every run, all of it as a campaign (`make survey`).

`PODRACE_UPDATE_GOLDEN=1 make survey` finds out everything anew, and stores it.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from podrace.checker.core.result import Verdict
from podrace.model.history import CHANGES, resolve
from podrace.properties import PROPERTIES
from podrace.scenarios import catalogue
from tests.survey.clusters import FAULTS, cluster_named, clusters, disturbed
from tests.survey.explaining import HAZARDS, MOST_STATES, UNDECIDED, Changes, Explainer, with_changes
from tests.survey.finding import decide, survey
from tests.survey.table import FILE, Row, read, successes, write

SURVEYED = ("1.22", "1.34.4", "1.35.4", "1.36.3")
"""The versions that the table is about."""

ROWS = read()
EXPLAINED = [row for row in ROWS if row.changes not in (None, UNDECIDED)]
PAGE = (Path(__file__).parents[2] / "docs" / "notebook" / "survey.md").read_text(encoding="utf-8")
CHOSEN, IN_EVERY_RUN = 24, 8
"""About how many violations, and how many explanations, are found again by `make nightly`, and in every run."""


def test_the_table_has_known_names_only() -> None:
    assert len({row.place for row in ROWS}) == len(ROWS)
    assert {row.release for row in ROWS} == set(SURVEYED)
    assert {row.fault for row in ROWS} <= set(FAULTS)
    assert {row.cluster for row in ROWS} <= {cluster.name for cluster in clusters()}
    changes = {name for row in EXPLAINED for name in row.changes or ()}
    assert changes <= {*CHANGES, *HAZARDS}


def test_the_table_is_stored_as_it_would_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.survey.table.FILE", tmp_path / "found.tsv")
    write(ROWS)
    assert (tmp_path / "found.tsv").read_bytes() == FILE.read_bytes()


def chosen(rows: list[Row]) -> list[Any]:
    """Rows from the whole table."""
    some = rows[:: len(rows) // CHOSEN]
    return [
        pytest.param(
            row,
            id="-".join(row.place).replace(" ", "_"),
            marks=[pytest.mark.nightly] if number % (CHOSEN // IN_EVERY_RUN) else [],
        )
        for number, row in enumerate(some)
    ]


@pytest.mark.parametrize("row", chosen(ROWS))
def test_a_violation_of_the_table_is_there(row: Row) -> None:
    found = decide(disturbed(cluster_named(row.cluster), row.fault), resolve(row.release), row.property_id)
    assert found.trace is not None
    assert (found.verdict, len(found.trace.steps)) == (Verdict.VIOLATED, row.steps)


@pytest.mark.parametrize("row", chosen(EXPLAINED))
def test_what_explains_a_violation_removes_it(row: Row) -> None:
    check_explanation(row)


def check_explanation(row: Row) -> None:
    """The property holds with the changes of the row, and is not known to hold with one of them less."""
    spec, changes = disturbed(cluster_named(row.cluster), row.fault), row.changes or ()

    def verdict(chosen: Changes) -> Verdict:
        return decide(spec, with_changes(row.release, chosen), row.property_id, MOST_STATES).verdict

    assert verdict(changes) is Verdict.HOLDS
    for left_out in changes:
        assert verdict(tuple(k for k in changes if k != left_out)) is not Verdict.HOLDS


def catalogued() -> set[str]:
    """The changes that some race of the catalogue is about."""
    races = [scenario.race for scenario in catalogue() if scenario.race]
    return {k for r in races for k in (*r.after, *(r.residual.closed_by if r.residual else ()))}


def left_over(row: Row, races: set[str]) -> str:
    """What of an explanation belongs to no race of the catalogue, as the page calls it."""
    if row.changes is None:
        return "nothing known"
    return "undecided" if row.changes == UNDECIDED else " + ".join(k for k in row.changes if k not in races)


def test_whatever_is_not_in_the_catalogue_is_judged_on_the_page() -> None:
    races = catalogued()
    unmatched = {(left_over(row, races), row.property_id) for row in ROWS} - {("", p) for p in PROPERTIES}
    table = PAGE[PAGE.index("| Remaining members |") :].partition("\n\n")[
        0
    ]  # the survey of everyday changes has others
    judged = [
        [cell.strip() for cell in line.split("|")] for line in table.splitlines() if line.startswith("| ")
    ]
    on_page = {(cells[1], name) for cells in judged[1:] for name in cells[2].split(", ")}
    assert on_page == unmatched
    counted = Counter(left_over(row, races) for row in ROWS)
    assert {cells[1]: int(cells[3].replace(",", "")) for cells in judged[1:]} | {"": counted[""]} == counted
    assert (
        f"Of the {len(ROWS):,} violations, {counted['']:,} disappear with changes of the [catalogue]" in PAGE
    )


PREEMPTORS = [
    ("2 bound, 1 waits above it", "pod deletion", 28),
    ("2 bound, 1 waits above it", "interrupted watch", 28),
    ("gated preemptor", "pod deletion", 31),
    ("gated preemptor", "interrupted watch", 31),
]


@pytest.mark.parametrize(("cluster", "fault", "steps"), PREEMPTORS)
def test_what_changes_with_a_preemptor_that_is_activated_at_once(
    cluster: str, fault: str, steps: int
) -> None:
    """1.38 wakes it (last-victim-gone): S-STUCK holds, and the next attempt comes before the event of the nomination."""
    spec, newest = disturbed(cluster_named(cluster), fault), resolve("1.38.0-beta.0")
    found = decide(spec, newest, "S-FRESH")
    assert found.trace is not None
    assert (found.verdict, len(found.trace.steps)) == (Verdict.VIOLATED, steps)
    assert decide(spec, newest, "S-STUCK").verdict is Verdict.HOLDS
    without = resolve("1.38.0-beta.0", without_fixes=["last-victim-gone"])
    assert decide(spec, without, "S-FRESH").verdict is Verdict.HOLDS
    assert decide(spec, without, "S-STUCK").verdict is Verdict.VIOLATED
    patched = with_changes("1.38.0-beta.0", ["FreshRequeue"])
    assert decide(spec, patched, "S-FRESH").verdict is Verdict.HOLDS


@pytest.mark.campaign
@pytest.mark.parametrize("release", SURVEYED)
def test_all_of_a_release(release: str) -> None:
    known = {row.place: row for row in read() if row.release == release}
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        others = [row for row in read() if row.release != release]
        explainer = Explainer(release, successes(others))
        rows = [
            Row(f.property_id, f.fault, f.spec.name, f.steps, explainer.explain(f), release)
            for f in survey(release)
        ]
        write([*others, *rows])
        return
    found = {(release, f.property_id, f.fault, f.spec.name): f.steps for f in survey(release)}
    assert found == {place: row.steps for place, row in known.items()}
    for row in known.values():
        if row.changes not in (None, UNDECIDED):
            check_explanation(row)
