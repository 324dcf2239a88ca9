"""All races and hazards on the real scheduler, against the table of docs/reproduce.md: what `make real` runs.

`PODRACE_REAL` names the versions (all of the table's), `PODRACE_REAL_PART=hazards` leaves out the races. With `PODRACE_UPDATE_GOLDEN` the table is made anew.
"""

from __future__ import annotations

import os

import pytest

from podrace.analysis.asked.method import Method, budget_for
from podrace.reports.reproduction import Reproduction
from podrace.reproduce.across import across, everything
from podrace.reproduce.asked import Wanted
from podrace.reproduce.modules.toolchain import GoProblem, find_go
from podrace.scenarios import hazards
from tests.reproduce.real_table import PAGE, VERSIONS, cell, merged, put, read

CHOSEN = os.environ.get("PODRACE_REAL", "").replace(",", " ").split() or list(VERSIONS)
HAZARDS_ALONE = os.environ.get("PODRACE_REAL_PART") == "hazards"


@pytest.mark.real
@pytest.mark.parametrize("version", CHOSEN)
def test_races_and_hazards(version: str) -> None:
    try:
        go = find_go()
    except GoProblem as problem:
        if os.environ.get("PODRACE_GO") == "required":
            raise
        pytest.skip(str(problem))
    chosen = list(hazards()) if HAZARDS_ALONE else everything()
    found = across(chosen, Wanted("", version), go, budget_for(), Method(), say=print)
    column = {key_of(one): cell(one) for one in found}
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(put(text, merged(read(text), version, column, list(column))), encoding="utf-8")
        return
    table = read(PAGE.read_text(encoding="utf-8"))
    assert column == {key: table.get(key, {}).get(version) for key in column}


def key_of(one: Reproduction) -> tuple[str, str]:
    """The row that one belongs to."""
    return one.name, one.property
