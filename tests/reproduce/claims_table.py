"""The table of docs/reproduce.md for scenarios with claims of devices."""

from __future__ import annotations

import re

from tests.reproduce.real_table import Table

VERSIONS = ("1.34.4", "1.35.4", "1.36.3")

ROWS = (
    ("bound-unreserved", "S-RESV"),
    ("flight-ended-by-another", "S-INFLIGHT"),
    ("flight-ended-unheard", "L-CLAIM"),
    ("deleted-unheard", "L-CLAIM"),
    ("deleted-by-its-user", "L-CLAIM"),
    ("taken-for-replaced", "S-RESV"),
    ("device-given-away", "S-DEV"),
)
"""Scenarios of scenarios/claims, and the property that is asked of each."""

_BLOCK = re.compile(r"(<!-- claims -->\n)(.*?)(<!-- /claims -->)", re.DOTALL)


def read(text: str) -> Table:
    """The table of a page."""
    found = _BLOCK.search(text)
    assert found is not None
    table: Table = {}
    for line in found[2].splitlines():
        cells = [part.strip() for part in line.strip("|").split("|")]
        if line.startswith("| `"):
            table[cells[0].strip("`"), cells[1]] = {
                v: c for v, c in zip(VERSIONS, cells[2:], strict=True) if c
            }
    return table


def put(text: str, table: Table) -> str:
    """A page with this table."""
    lines = [f"| Scenario | Property | {' | '.join(VERSIONS)} |", f"|---|---|{'---|' * len(VERSIONS)}"]
    lines += [
        f"| `{name}` | {identifier} | {' | '.join(cells.get(v, '') for v in VERSIONS)} |"
        for (name, identifier), cells in table.items()
    ]
    return _BLOCK.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[3], text)
