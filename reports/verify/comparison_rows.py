"""The table of a comparison for people, each row printed when it is decided."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from rich.console import Console
from rich.text import Text

from ..document import Finding
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
VERDICT = len("INCONCLUSIVE")
OUTCOME = max(map(len, ORDER))
_STATES = len("10,000,000 / 10,000,000")


Row = TypeVar("Row")


class StreamedRows(Generic[Row]):
    """Prints rows one by one; what names them, and so the widths, are known before."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._asked = self._decided = 0
        self._widths: dict[str, int] = {}

    def widths(self, asked: Sequence[tuple[str, ...]]) -> dict[str, int]:
        """The columns, and how wide they are."""
        raise NotImplementedError

    def cells(self, row: Row) -> dict[str, tuple[str, str]]:
        """What stands in each column, and its colour."""
        raise NotImplementedError

    def begin(self, before: str, after: str, asked: Sequence[tuple[str, ...]]) -> None:
        """Print what is compared, and the heads of the columns."""
        self._asked = len(asked)
        print_wrapped(self._console, Text(f"before: {before}   after: {after}", "bold"))
        if not asked:
            return
        widths = {"row": max(len("row"), 2 * len(str(self._asked)) + 1), **self.widths(asked)}
        self._widths = fitting(self._console, widths, ("states",))
        self._console.print()
        print_row(self._console, {name: (name, "dim") for name in self._widths}, self._widths)

    def decided(self, row: Row) -> None:
        """Print one row."""
        self._decided += 1
        cells = {"row": (f"{self._decided}/{self._asked}", ""), **self.cells(row)}
        print_row(self._console, {name: cells[name] for name in self._widths}, self._widths)


def width_of(head: str, cells: Iterable[str]) -> int:
    """How wide a column is."""
    return max([len(head), *map(len, cells)])


class Rows(StreamedRows[Pair]):
    """A row for each property of each scenario."""

    def widths(self, asked: Sequence[tuple[str, ...]]) -> dict[str, int]:
        """`asked` has each property and scenario."""
        return {
            "property": width_of("property", (name for name, _ in asked)),
            "scenario": width_of("scenario", (scenario for _, scenario in asked)),
            "before": VERDICT,
            "after": VERDICT,
            "states": _STATES,
            "outcome": OUTCOME,
        }

    def cells(self, row: Pair) -> dict[str, tuple[str, str]]:
        """The verdicts before and after."""
        cells = {name: (cell, "") for name, cell in zip(COLUMNS, cells_of(row), strict=True)}
        return cells | {"outcome": (cells["outcome"][0], STYLES[row.outcome])}


COLUMNS = ("property", "scenario", "before", "after", "outcome", "states")


def cells_of(pair: Pair) -> tuple[str, ...]:
    """What a table has of one property in one scenario, in these columns."""
    outcome = pair.outcome + aside(pair.before, pair.after, pair.same)
    states = f"{pair.before.states:,} / {pair.after.states:,}"
    return pair.property, pair.scenario, pair.before.verdict, pair.after.verdict, outcome, states


def aside(before: Finding, after: Finding, same: bool = False) -> str:
    """What weakens an outcome: the change has no part in it, nothing tested the property, or a violation needs a delay."""
    needed, needs = (found.with_scales.mark if found.with_scales else "" for found in (before, after))
    told = [
        "no difference" if same else "",
        "vacuous" if after.vacuous else "",
        needs,
        f"before: {needed}" if needed and needed != needs else "",
    ]
    return f" ({', '.join(filter(None, told))})" if any(told) else ""
