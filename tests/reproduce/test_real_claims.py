"""What claims of devices do on the real scheduler: traces of `scenarios/claims/`, against the table of docs/reproduce.md.

`PODRACE_REAL` names the versions, as for the other table; with `PODRACE_UPDATE_GOLDEN` this one is made anew, too.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podrace.analysis.asked.method import Method, budget_for
from podrace.reproduce.across import across
from podrace.reproduce.asked import Wanted
from podrace.scenarios import find_scenarios
from tests.reproduce.claims_table import ROWS, VERSIONS, put, read
from tests.reproduce.real_table import PAGE, cell
from tests.reproduce.test_real import CHOSEN, go_or_skip

CLAIMS = Path(__file__).parents[2] / "scenarios" / "claims"


@pytest.mark.real
@pytest.mark.parametrize("version", [version for version in VERSIONS if version in CHOSEN])
def test_claims_of_devices(version: str) -> None:
    go = go_or_skip()
    anew = bool(os.environ.get("PODRACE_UPDATE_GOLDEN"))
    text = PAGE.read_text(encoding="utf-8")
    run = [row for row in ROWS if anew or version in read(text)[row]]  # an empty cell has not been run
    column = {}
    for name, identifier in run:
        wanted = Wanted("", version, properties=[identifier])
        (found,) = across(
            find_scenarios(str(CLAIMS / f"{name}.yaml")), wanted, go, budget_for(), Method(), say=print
        )
        column[name, identifier] = cell(found)
    if anew:
        table = read(text)
        made = {row: {**table.get(row, {}), version: column[row]} for row in ROWS}
        PAGE.write_text(put(text, made), encoding="utf-8")
    said = read(PAGE.read_text(encoding="utf-8"))
    assert {row: cells[version] for row, cells in said.items() if version in cells} == column


def test_the_table_is_of_these_rows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = read(text)
    assert list(table) == list(ROWS)
    assert put(text, table) == text
    assert {name for name, _ in ROWS} <= {path.stem for path in CLAIMS.glob("*.yaml")}
