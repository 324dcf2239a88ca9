"""The tables of docs/notebook/tours-table.md: for each scenario and version what became of its transitions, small scenarios and large ones apart, each with the totals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from podrace.reports.tours import Tour

PAGE = Path(__file__).parents[3] / "docs" / "notebook" / "tours-table.md"
VERSIONS = ("v1.36.3", "v1.37.2")
SMALL, MOST = 3_000, 60_000
"""Transitions of a scenario of the first table, and of the second one, at most."""

KINDS = ("small", "large")
BEGIN, END = "<!-- {0} tours: made by `make real` -->", "<!-- end of {0} tours -->"

Table = dict[str, dict[str, str]]
"""By the scenario's file below scenarios/, and by the version."""

REST = {
    "not forced": "cannot be forced",
    "behind those": "behind those",
    "differ": "differ",
    "behind a difference": "behind a difference",
    "left": "not reached in time",
    "runs differ where others do not": "runs that differ at transitions that other runs take",
}
"""What a cell says of the transitions that were not taken, and of runs that differ all the same; and the row of the totals."""


def cell(tour: Tour) -> str:
    """What became of the transitions."""
    refused = sum(tour.not_forced.values()) + tour.within_lock
    elsewhere = sum(found.runs for found in tour.departures if not found.transitions)
    counts = (refused, tour.behind, tour.differing, tour.behind_differing, tour.left, elsewhere)
    told = ", ".join(f"{count:,} {words}" for count, words in zip(counts, REST, strict=True) if count)
    taken = "all" if tour.taken == tour.transitions else f"{tour.taken:,}"
    return f"{taken} of {tour.transitions:,}{f': {told}' if told else ''}"


def counts_of(told: str) -> Counter[str]:
    """What a cell says, in numbers."""
    of, _, rest = told.partition(": ")
    taken, _, transitions = of.replace(",", "").partition(" of ")
    found = Counter({"scenarios": 1, "transitions": int(transitions)})
    found["taken"] = int(transitions if taken == "all" else taken)
    for part in rest.split(", ") if rest else ():
        count, _, words = part.partition(" ")
        found[REST[words]] = int(count.replace(",", ""))
    return found


def is_small(cells: Mapping[str, str]) -> bool:
    """Whether the row is one of the first table."""
    return all(counts_of(told)["transitions"] <= SMALL for told in cells.values())


def read(text: str) -> Table:
    """The rows of a page, of both tables."""
    found: Table = {}
    for kind in KINDS:
        for row in _between(text, kind).partition("| Scenario |")[2].splitlines()[2:]:
            name, *cells = (part.strip() for part in row.strip("|").split("|"))
            found[name] = {version: told for version, told in zip(VERSIONS, cells, strict=True) if told}
    return found


def put(text: str, table: Mapping[str, Mapping[str, str]]) -> str:
    """The page with other tables."""
    for kind in KINDS:
        rows = {name: cells for name, cells in table.items() if is_small(cells) is (kind == "small")}
        begin, end = (mark.format(kind) for mark in (BEGIN, END))
        new = "\n".join([begin, *_totals(rows.values()), "", *_rows(rows), end])
        text = re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _, new=new: new, text, flags=re.DOTALL)  # type: ignore[misc]
    return text


def _totals(rows: Iterable[Mapping[str, str]]) -> list[str]:
    columns: list[Counter[str]] = [Counter() for _ in VERSIONS]
    for cells in rows:
        for version, told in cells.items():
            columns[VERSIONS.index(version)].update(counts_of(told))
    kinds = [
        kind
        for kind in ("scenarios", "transitions", "taken", *REST.values())
        if any(c[kind] for c in columns)
    ]
    return [
        f"| | {' | '.join(VERSIONS)} |",
        "|---" * (len(VERSIONS) + 1) + "|",
        *(f"| {kind} | {' | '.join(f'{column[kind]:,}' for column in columns)} |" for kind in kinds),
    ]


def _rows(rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        f"| Scenario | {' | '.join(VERSIONS)} |",
        "|---" * (len(VERSIONS) + 1) + "|",
        *(
            f"| {name} | {' | '.join(cells.get(version, '') for version in VERSIONS)} |"
            for name, cells in sorted(rows.items())
        ),
    ]


def _between(text: str, kind: str) -> str:
    return text.partition(BEGIN.format(kind))[2].partition(END.format(kind))[0].strip()
