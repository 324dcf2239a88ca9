"""The table "since, until" of docs/notebook/history.md: in which versions each race and each hazard is violated. `python -m tests.races.ranges` writes it again.

`ranges.tsv` has a row for each scenario and property, a column for each version, and in a cell the verdict with the steps of the counterexample, or the states.
What was violated in older versions says the table of what was run on the real scheduler (`real_table.py`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from podrace.analysis.affected import open_in
from podrace.analysis.request.method import USUAL
from podrace.analysis.request.release_names import newest_of
from podrace.checker.core.exploration import Budget
from podrace.model.history import PRE_RELEASES, RELEASE_ORDER
from podrace.model.history.versions import exact
from podrace.reproduce.across import everything
from podrace.scenarios import Scenario
from tests.reproduce.real import real_table

FILE = Path(__file__).with_name("ranges.tsv")
PAGE = Path(__file__).parents[2] / "docs" / "notebook" / "history.md"

FIRST = "1.36"
"""The first release that is searched."""

VERSIONS = tuple(exact(newest_of(r)) for r in RELEASE_ORDER[RELEASE_ORDER.index(FIRST) :]) + PRE_RELEASES
LAST, COMING = VERSIONS[-2:]
ALL = (*(version for version in real_table.VERSIONS if version not in VERSIONS), *VERSIONS)
MOST = 20_000_000

VIOLATED, HOLDS, ABSENT, UNKNOWN = "violated", "holds", "-", ""
_SAID = {"reproduced": VIOLATED, "cannot": VIOLATED, "differs": VIOLATED, "holds": HOLDS, "not": ABSENT}
"""The first word of a cell of the real table, and what the model has found there: a run is forced only where there is one."""

Row = tuple[str, str]
Cells = Mapping[str, str]
Ranges = dict[Row, Cells]

_BLOCK = re.compile(r"(<!-- ranges -->\n).*?(<!-- /ranges -->)", re.DOTALL)


def asked(version: str, scenario: Scenario) -> dict[Row, str]:
    """What a search of each property of a scenario says of a version; nothing of what the version does not have."""
    found = open_in(version, [scenario], Budget(max_states=MOST), USUAL)
    return {
        (
            scenario.name,
            one.property,
        ): f"{one.verdict.lower()} {one.states if one.trace is None else len(one.trace) + len(one.cycle)}"
        for one in found
    }


def read() -> Ranges:
    """The rows of the file."""
    head, *lines = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())
    return {(name, key): dict(zip(head[2:], cells, strict=True)) for name, key, *cells in lines}


def written(ranges: Ranges) -> str:
    """The file's text."""
    head = "\t".join(("scenario", "property", *VERSIONS))
    lines = ["\t".join((*row, *(cells.get(v, ABSENT) for v in VERSIONS))) for row, cells in ranges.items()]
    return "\n".join((head, *lines, ""))


def with_older(ranges: Ranges) -> Ranges:
    """The same with the columns of the versions that were run."""
    run = that_were_run()
    nothing = dict.fromkeys(real_table.VERSIONS, UNKNOWN)
    return {row: {**nothing, **run.get(row, {}), **cells} for row, cells in ranges.items()}


def that_were_run() -> Ranges:
    """What the model found in the versions whose code was run, where the table of these has a cell."""
    real = real_table.read(real_table.PAGE.read_text(encoding="utf-8"))
    return {
        row: {version: _SAID[cell.split(" ")[0]] for version, cell in cells.items()}
        for row, cells in real.items()
    }


def spans(cells: Cells) -> Iterator[tuple[str, str]]:
    """Since when and until when the property is violated, for each range of versions."""
    at = 0
    for violated, group in groupby(ALL, key=lambda v: cells[v].startswith(VIOLATED)):
        some = list(group)
        if violated:
            before = " or before" if at == 0 or _is_undecided(cells[ALL[at - 1]]) else ""
            after = " or later" if some[-1] != COMING and _is_undecided(cells[ALL[at + len(some)]]) else ""
            yield some[0] + before, "open" if some[-1] == COMING else some[-1] + after
        at += len(some)


def _is_undecided(cell: str) -> bool:
    return cell == UNKNOWN or cell.startswith("inconclusive")


def put(page: str, ranges: Ranges) -> str:
    """A page with this table."""
    whole = with_older(ranges)
    lines = [
        f"| Race or hazard | Property | Violated since | Violated until | {LAST} | {COMING} |",
        "|---|---|---|---|---|---|",
    ]
    never: list[Row] = []
    for (name, key), cells in whole.items():
        unclear = [("", "")] if any(cell.startswith("inconclusive") for cell in cells.values()) else []
        if found := list(spans(cells)) or unclear:
            since, until = ("; ".join(ends) for ends in zip(*found, strict=True))
            lines.append(f"| {name} | {key} | {since} | {until} | {cells[LAST]} | {cells[COMING]} |")
        else:
            never.append((name, key))
    if never:
        lines += ["", f"Violated in none of these versions: {', '.join(' '.join(row) for row in never)}."]
    return _BLOCK.sub(lambda m: m[1] + "\n".join(lines) + "\n" + m[2], page)


def turned(ranges: Ranges, of: str, to: str) -> list[Row]:
    """The rows that are `of` in the last release and `to` in the one that is coming."""
    return [
        row for row, cells in ranges.items() if cells[LAST].startswith(of) and cells[COMING].startswith(to)
    ]


if __name__ == "__main__":
    made: dict[Row, dict[str, str]] = {}
    for one in everything():
        for release in VERSIONS:
            for row, cell in asked(release, one).items():
                made.setdefault(row, {})[release] = cell
        sys.stderr.write(f"{one.name}\n")
    FILE.write_text(written({**made}), encoding="utf-8")
    PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
