"""The table of docs/notebook/real-runs.md: a row for each race or hazard and property, a column for each version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from podrace.reports.reproduction import Reproduction
from podrace.scenarios import Scenario

PAGE = Path(__file__).parents[3] / "docs" / "notebook" / "real-runs.md"
VERSIONS = (
    "1.29.6",
    "1.30.14",
    "1.32.13",
    "1.33.6",
    "1.34.4",
    "1.35.4",
    "1.36.1",
    "1.36.3",
    "1.37.2",
    "1.38.0-beta.0",
)

_BLOCK = re.compile(r"(<!-- real -->\n)(.*?)(<!-- /real -->)", re.DOTALL)
_HOLDS = "holds"
_EVERYWHERE = "Hold in all of these versions: "

Table = dict[tuple[str, str], dict[str, str]]
"""By race or hazard and property: what is said of each version."""


def cell(one: Reproduction) -> str:
    """What the table says of one."""
    words = {"REPRODUCED": f"reproduced ({len(one.steps)})", "HOLDS": _HOLDS, "NOT THERE": "not there"}
    at = "" if one.at is None else f" at {one.at}"
    if at and one.steps:  # none where no durations let the run happen: then nothing was executed
        at += f" of {len(one.steps)}"
    return words.get(one.verdict, one.verdict.lower() + at)


def read(text: str) -> Table:
    """The table of a page."""
    found = _BLOCK.search(text)
    assert found is not None
    table: Table = {}
    columns: list[str] = []
    for line in found[2].splitlines():
        cells = [part.strip() for part in line.strip("|").split("|")]
        if line.startswith("| What"):
            columns = cells[2:]
        elif line.startswith("| ") and columns:
            table[cells[0], cells[1]] = {v: c for v, c in zip(columns, cells[2:], strict=True) if c}
        elif line.startswith(_EVERYWHERE):
            for name in line.removeprefix(_EVERYWHERE).rstrip(".").split(", "):
                what, identifier = name.split(" ")
                table[what, identifier] = dict.fromkeys(columns, _HOLDS)
    return table


def put(text: str, table: Table) -> str:
    """A page with this table."""
    everywhere = [key for key, cells in table.items() if _is_plain(cells)]
    shown = {key: cells for key, cells in table.items() if key not in everywhere}
    lines = [f"| What | Property | {' | '.join(VERSIONS)} |", f"|---|---|{'---|' * len(VERSIONS)}"]
    lines += [
        f"| {what} | {identifier} | {' | '.join(cells.get(v, '') for v in VERSIONS)} |"
        for (what, identifier), cells in shown.items()
    ]
    if everywhere:
        lines += ["", _EVERYWHERE + ", ".join(" ".join(key) for key in everywhere) + "."]
    return _BLOCK.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[3], text)


def _is_plain(cells: Mapping[str, str]) -> bool:
    return all(cells.get(version) == _HOLDS for version in VERSIONS)


def merged(
    table: Table, version: str, column: Mapping[tuple[str, str], str], order: list[tuple[str, str]]
) -> Table:
    """The table with what was said of a version; rows in this order. Cells of rows that are no more are gone."""
    made = {key: dict(table.get(key, {})) for key in order}
    for key, said in column.items():
        made.setdefault(key, {})[version] = said
    return {key: cells for key, cells in made.items() if cells}


def rows_of(scenarios: Sequence[Scenario]) -> list[tuple[str, str]]:
    """The rows that the table has place for."""
    return [(scenario.name, identifier) for scenario in scenarios for identifier in scenario.properties]


def without_cells(scenarios: Sequence[Scenario], table: Table, version: str) -> list[Scenario]:
    """Those of which the table does not say everything about a version."""
    return [s for s in scenarios if any(version not in table.get(row, {}) for row in rows_of([s]))]
