"""The tables of docs/notebook/coverage.md: what replays reach of the real scheduler, package by package, and the largest pieces that none reaches.

Figures are made anew, reasons are kept: they are written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.reproduce.coverage.measuring import SCHEDULER, Coverage
from tests.reproduce.coverage.profile import Reached

PAGE = Path(__file__).parents[3] / "docs" / "notebook" / "coverage.md"

LARGEST = 10

_BLOCKS = {
    name: re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)
    for name in ("packages", "unreached", "total")
}

Rows = dict[str, tuple[str, str]]
"""By package or function: its figures as the page says them, and the reason for what is left."""


def short(name: str) -> str:
    """A package or function without the path that all have in common."""
    return name.removeprefix(SCHEDULER).removeprefix("/") or "scheduler"


def figures(one: Reached) -> str:
    """What the page says of a package."""
    return f"{one.reached:,} of {one.statements:,} | {one.percent:.0f} %"


def rows(text: str, name: str) -> Rows:
    """The rows of a table on the page."""
    found = _BLOCKS[name].search(text)
    assert found is not None
    lines = [line for line in found[2].splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {cell[0].strip("`"): (" | ".join(cell[1:-1]), cell[-1]) for cell in cells}


def largest(coverage: Coverage) -> list[Reached]:
    """The functions of which nothing is reached, largest first; without generated ones."""
    never = [one for one in coverage.functions if not one.reached and "/zz_generated" not in one.name]
    return sorted(never, key=lambda one: (-one.statements, one.name))[:LARGEST]


def total(coverage: Coverage) -> Reached:
    """All packages in one."""
    found = coverage.packages
    return Reached("all", sum(p.statements for p in found), sum(p.reached for p in found))


def put(text: str, coverage: Coverage) -> str:
    """The page with these figures; reasons stay where they are."""
    packages = {short(one.name): figures(one) for one in coverage.packages if one.statements}
    never = {short(one.name): f"{one.statements}" for one in largest(coverage)}
    all_in_all = total(coverage)
    said = f"{coverage.version}, {coverage.cases:,} runs: {all_in_all.reached:,} of {all_in_all.statements:,} statements, {all_in_all.percent:.0f} %.\n"
    text = _put(text, "total", [said.rstrip("\n")])
    heads = (
        ["| Package | Statements reached | | What is not |", "|---|---|---|---|"],
        ["| Function | Statements | Why |", "|---|---|---|"],
    )
    for name, head, made in zip(("packages", "unreached"), heads, (packages, never), strict=True):
        known = rows(text, name)
        text = _put(text, name, [*head, *_lines(made, known)])
    return text


def _lines(made: Mapping[str, str], known: Rows) -> list[str]:
    return [f"| `{name}` | {said} | {known.get(name, ('', ''))[1]} |" for name, said in made.items()]


def _put(text: str, name: str, lines: Sequence[str]) -> str:
    return _BLOCKS[name].sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[3], text)
