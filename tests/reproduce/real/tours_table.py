"""The table of docs/notebook/tours-table.md: for each small scenario and version what became of its transitions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from podrace.reports.tours import Tour

PAGE = Path(__file__).parents[3] / "docs" / "notebook" / "tours-table.md"
VERSIONS = ("v1.36.3", "v1.37.2")
MOST = 3_000
"""Transitions of a scenario of the table, at most."""

BEGIN, END = "<!-- tours: made by `make real` -->", "<!-- end of tours -->"

Table = dict[str, dict[str, str]]
"""By the scenario's file below scenarios/, and by the version."""


def cell(tour: Tour) -> str:
    """What became of the transitions."""
    refused = sum(tour.not_forced.values()) + tour.within_lock
    rest = {
        "not forced": refused,
        "behind those": tour.behind,
        "differ": tour.differing,
        "behind a difference": tour.behind_differing,
        "left": tour.left,
    }
    told = ", ".join(f"{count:,} {words}" for words, count in rest.items() if count)
    taken = "all" if tour.taken == tour.transitions else f"{tour.taken:,}"
    return f"{taken} of {tour.transitions:,}{f': {told}' if told else ''}"


def read(text: str) -> Table:
    """The table of a page."""
    found: Table = {}
    for row in _between(text).splitlines()[2:]:
        name, *cells = (part.strip() for part in row.strip("|").split("|"))
        found[name] = {version: told for version, told in zip(VERSIONS, cells, strict=True) if told}
    return found


def put(text: str, table: Mapping[str, Mapping[str, str]]) -> str:
    """The page with another table."""
    lines = [f"| Scenario | {' | '.join(VERSIONS)} |", "|---" * (len(VERSIONS) + 1) + "|"]
    for name, cells in sorted(table.items()):
        lines.append(f"| {name} | {' | '.join(cells.get(version, '') for version in VERSIONS)} |")
    new = "\n".join([BEGIN, *lines, END])
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: new, text, flags=re.DOTALL)


def _between(text: str) -> str:
    return text.partition(BEGIN)[2].partition(END)[0].strip()
