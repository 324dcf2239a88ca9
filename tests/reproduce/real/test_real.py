"""All races and hazards on the real scheduler, against the table of docs/notebook/real-runs.md: what `make real` runs.

`PODRACE_REAL` names the versions (all of the table's), `PODRACE_REAL_PART=hazards` leaves out the races, and `PODRACE_REAL_PART=empty` what has its cells. With
`PODRACE_UPDATE_GOLDEN` what was run is written into the table, cell by cell: what is stopped goes on with `PODRACE_REAL_PART=empty`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podrace.analysis.request.method import Method, budget_for
from podrace.base.files import write_whole
from podrace.reports.reproduction import Reproduction
from podrace.reproduce.across import across, everything
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import Go, GoProblem, find_go
from podrace.reproduce.request import Wanted
from podrace.reproduce.running import built_for, run_test
from podrace.scenarios import hazards
from tests.reproduce.real.real_table import PAGE, VERSIONS, cell, merged, put, read, rows_of, without_cells

CHOSEN = os.environ.get("PODRACE_REAL", "").replace(",", " ").split() or list(VERSIONS)
PART = os.environ.get("PODRACE_REAL_PART", "")


def go_or_skip() -> Go:
    """The Go that is there; where it need not be there, the test is skipped without."""
    try:
        return find_go()
    except GoProblem as problem:
        if os.environ.get("PODRACE_GO") == "required":
            raise
        pytest.skip(str(problem))


@pytest.mark.real
@pytest.mark.parametrize("version", CHOSEN)
def test_the_drivers_own_tests_pass(version: str, tmp_path: Path) -> None:
    """Those of its parts in Go, with the version's own packages: they need no cases."""
    built = built_for(parse_version(version), go_or_skip(), say=print)
    assert run_test(built, ".*", {}, tmp_path, 60) == ""


@pytest.mark.real
@pytest.mark.parametrize("version", CHOSEN)
def test_races_and_hazards(version: str) -> None:
    go = go_or_skip()
    table = read(PAGE.read_text(encoding="utf-8"))
    chosen = list(hazards()) if PART == "hazards" else everything()
    if PART == "empty":
        chosen = without_cells(chosen, table, version)
    updates = bool(os.environ.get("PODRACE_UPDATE_GOLDEN"))
    column: dict[tuple[str, str], str] = {}
    for some in [[one] for one in chosen] if updates else [chosen]:
        found = across(some, Wanted("", version), go, budget_for(), Method(), say=print)
        column |= {key_of(one): cell(one) for one in found}
        if updates:
            text = PAGE.read_text(encoding="utf-8")
            write_whole(PAGE, put(text, merged(read(text), version, column, rows_of(everything()))).encode())
    if updates:
        return
    assert column == {key: table.get(key, {}).get(version) for key in column}


def key_of(one: Reproduction) -> tuple[str, str]:
    """The row that one belongs to."""
    return one.name, one.property
