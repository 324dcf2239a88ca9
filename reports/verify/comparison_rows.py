"""The table of a comparison for people, each row printed when it is decided."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..text.findings_text import print_wrapped
from ..text.table import fitting, print_row
from .comparison import ORDER, Pair

STYLES = {
    "REGRESSED": "bold red",
    "still violated": "red",
    "inconclusive": "bold yellow",
    "fixed": "bold green",
    "holds both": "green",
    "holds after": "green",
}
_VERDICT = len("INCONCLUSIVE")
_STATES = len("10,000,000 / 10,000,000")


class Rows:
    """Prints a row for each property of each scenario; the names, and so the widths, are known before."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._asked = self._decided = 0
        self._widths: dict[str, int] = {}

    def begin(self, before: str, after: str, asked: Sequence[tuple[str, str]]) -> None:
        """Print what is compared, and the heads of the columns. `asked` has each property and scenario."""
        self._asked = len(asked)
        print_wrapped(self._console, Text(f"before: {before}   after: {after}", "bold"))
        if not asked:
            return
        widths = {
            "row": 2 * len(str(self._asked)) + 1,
            "property": max(len("property"), *(len(name) for name, _ in asked)),
            "scenario": max(len("scenario"), *(len(scenario) for _, scenario in asked)),
            "before": _VERDICT,
            "after": _VERDICT,
            "states": _STATES,
            "outcome": max(map(len, ORDER)),
        }
        self._widths = fitting(self._console, widths, ("states",))
        self._console.print()
        print_row(self._console, {name: (name, "dim") for name in self._widths}, self._widths)

    def decided(self, pair: Pair) -> None:
        """Print one row."""
        self._decided += 1
        cells = {
            "row": f"{self._decided}/{self._asked}",
            "property": pair.property,
            "scenario": pair.scenario,
            "before": pair.before.verdict,
            "after": pair.after.verdict,
            "states": f"{pair.before.states:,} / {pair.after.states:,}",
            "outcome": pair.outcome + aside(pair),
        }
        styled = {
            name: (cells[name], STYLES[pair.outcome] if name == "outcome" else "") for name in self._widths
        }
        print_row(self._console, styled, self._widths)


def aside(pair: Pair) -> str:
    """What weakens an outcome: the change has no part in it, or nothing tested the property."""
    asides = (["no difference"] if pair.same else []) + (["vacuous"] if pair.after.vacuous else [])
    return f" ({', '.join(asides)})" if asides else ""
