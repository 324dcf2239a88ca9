"""What other actors, volumes and claims of devices do on the real scheduler: traces of the folders of `scenarios/`, against the tables of docs/notebook/real-runs.md.

`PODRACE_REAL` names the versions, as for the table of races and hazards; with `PODRACE_UPDATE_GOLDEN` these are made anew, too, and only what has no cell where
`PODRACE_REAL_PART` is `empty`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podrace.analysis.request.method import Method, budget_for
from podrace.reproduce.across import across
from podrace.reproduce.request import Wanted
from podrace.scenarios import find_scenarios
from tests.reproduce.real.real_table import PAGE, cell
from tests.reproduce.real.real_table import VERSIONS as ALL
from tests.reproduce.real.scenario_tables import ACTORS, EXTENDERS, TABLES, VERSIONS, ScenarioTable
from tests.reproduce.real.test_real import CHOSEN, go_or_skip

SCENARIOS = Path(__file__).parents[3] / "scenarios"


@pytest.mark.real
@pytest.mark.parametrize(
    ("table", "version"),
    [
        pytest.param(table, version, id=f"{table.name}-{version}")
        for table in TABLES
        for version in VERSIONS
        if version in CHOSEN
    ],
)
def test_scenarios_of_a_folder(table: ScenarioTable, version: str) -> None:
    go = go_or_skip()
    anew = bool(os.environ.get("PODRACE_UPDATE_GOLDEN"))
    told = table.read(PAGE.read_text(encoding="utf-8"))
    known = [row for row in table.rows if version in told.get(row, {})]
    run = known  # an empty cell has not been run
    if anew:
        empty = os.environ.get("PODRACE_REAL_PART") == "empty"
        run = [row for row in table.rows if not (empty and row in known)]
    if not run:
        pytest.skip(f"no row of {table.name} was run on {version}")
    column = {}
    for name, identifier in run:
        wanted = Wanted("", version, properties=[identifier])
        (found,) = across(
            find_scenarios(str(SCENARIOS / table.folder / f"{name}.yaml")),
            wanted,
            go,
            budget_for(),
            Method(),
            say=print,
        )
        column[name, identifier] = cell(found)
    if anew:
        made = {
            row: {**told.get(row, {}), **({version: column[row]} if row in column else {})}
            for row in table.rows
        }
        PAGE.write_text(table.put(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    said = table.read(PAGE.read_text(encoding="utf-8"))
    assert {row: cells[version] for row, cells in said.items() if version in cells and row in run} == column


@pytest.mark.real
@pytest.mark.skipif(
    "1.34.0" not in CHOSEN and CHOSEN != list(ALL), reason="a version of its own: name it, or run all"
)
def test_a_device_is_allocated_twice_before_the_fix_that_came_with_1_34_4() -> None:
    found = across(
        find_scenarios("device-twice"), Wanted("", "1.34.0"), go_or_skip(), budget_for(), Method(), say=print
    )
    assert [(one.property, one.verdict, len(one.steps)) for one in found] == [("S-DEV", "REPRODUCED", 28)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_is_of_these_rows(table: ScenarioTable) -> None:
    text = PAGE.read_text(encoding="utf-8")
    told = table.read(text)
    assert list(told) == list(table.rows)
    assert table.put(text, told) == text
    assert {name for name, _ in table.rows} <= {
        path.stem for path in (SCENARIOS / table.folder).glob("*.yaml")
    }


def test_whoever_else_acts_has_a_row() -> None:
    told = {row for table in (ACTORS, EXTENDERS) for row in table.rows}
    for path in sorted((SCENARIOS / "actors").glob("*.yaml")):
        (scenario,) = find_scenarios(str(path))
        assert {(scenario.name, identifier) for identifier in scenario.properties} <= told
