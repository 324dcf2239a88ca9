"""The table of findings: one row per scenario, release and property."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ..document import Finding
from ..verdict_words import STOPPED

VERDICT_STYLES = {
    "HOLDS": "bold green",
    "VIOLATED": "bold red",
    "INCONCLUSIVE": "bold yellow",
    "IGNORED": "dim",
}

VACUOUS_STYLE = "bold yellow"
"""Of a verdict that nothing tested, or that says less than was asked."""

# Columns that go first when the terminal is too narrow for all.
_EXPENDABLE = ("transitions", "depth", "states", "time", "bounds")
_RIGHT = frozenset({"states", "transitions", "depth", "time", "walks", "steps", "longest", "steps/s"})
_GAP = "  "


def columns_of(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """The cells, column by column."""
    columns: dict[str, list[str]] = {
        "scenario": [f.scenario for f in findings],
        "release": [f.label for f in findings],
        "property": [f.property for f in findings],
        "verdict": [f.marked for f in findings],
        "states": [f"{f.states:,}" for f in findings],
        "transitions": [f"{f.transitions:,}" for f in findings],
        "depth": [str(f.depth) for f in findings],
        "time": [seconds(f.seconds) for f in findings],
    }
    bounds = [bound_of(f) for f in findings]
    if any(bounds):
        columns["bounds"] = bounds
    if any(f.expected for f in findings):
        columns["the race is"] = [_outcome(f) for f in findings]
    return columns


def bound_of(finding: Finding) -> str:
    """How many bounds of the scenario a complete search was stopped by, or which limit ended one that is undecided; nothing otherwise."""
    if finding.verdict == "HOLDS" and finding.constraints_hit:
        return f"{len(finding.constraints_hit)} hit"
    if finding.verdict == "INCONCLUSIVE" and finding.words.startswith(STOPPED):
        stopped = finding.words.removeprefix(STOPPED).partition(" after ")[0]
        return stopped.partition(":")[0].removeprefix("the ")
    return ""


def seconds(value: float | None) -> str:
    """A duration, short; nothing where it was not measured."""
    if value is None:
        return ""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def _outcome(finding: Finding) -> str:
    if finding.expected is None:
        return ""
    if finding.verdict == "INCONCLUSIVE":
        return "undecided"
    if finding.verdict == "IGNORED":
        return "ignored"
    found = "there" if finding.verdict == "VIOLATED" else "gone"
    return f"{found}, as expected" if finding.as_expected else f"{found}, NOT EXPECTED"


def print_table(console: Console, findings: Sequence[Finding]) -> None:
    """Print the table, without the least important columns where the width does not allow them.

    Where it is too wide even so, the scenarios stand above their rows; and then it is left to the text below that a violation needs a delay.
    """
    styles = [
        {
            "verdict": VACUOUS_STYLE if finding.qualified else VERDICT_STYLES[finding.verdict],
            "the race is": "" if finding.as_expected else "bold red",
        }
        for finding in findings
    ]
    columns = columns_of(findings)
    if not any(columns["time"]):
        del columns["time"]
    above: Sequence[str] = ()
    if _width(_widths(console, columns, _EXPENDABLE)) > console.width:
        above = columns.pop("scenario")
        if _width(_widths(console, columns, _EXPENDABLE)) > console.width:
            columns["verdict"] = [f.verdict if f.with_scales else f.marked for f in findings]
    print_columns(console, columns, styles, _EXPENDABLE, above)


def print_columns(
    console: Console,
    columns: Mapping[str, Sequence[str]],
    styles: Sequence[Mapping[str, str]],
    expendable: Sequence[str] = (),
    above: Sequence[str] = (),
) -> None:
    """Print columns of cells below their names; `styles` are those of each row, by column. What is `above` rows stands over the first of those that have the same."""
    widths = _widths(console, columns, expendable)
    print_row(console, {name: (name, "dim") for name in widths}, widths)
    for i, row in enumerate(styles):
        if above and (i == 0 or above[i] != above[i - 1]):
            console.print(Text(above[i], "bold"), soft_wrap=True)
        print_row(console, {name: (columns[name][i], row.get(name, "")) for name in widths}, widths)


def _widths(
    console: Console, columns: Mapping[str, Sequence[str]], expendable: Sequence[str]
) -> dict[str, int]:
    """The columns that are shown, and how wide they are."""
    widths = {name: max(len(name), *(len(c) for c in cells)) for name, cells in columns.items()}
    return fitting(console, widths, expendable)


def fitting(console: Console, widths: Mapping[str, int], expendable: Sequence[str]) -> dict[str, int]:
    """The columns that the width allows: of the expendable ones, the first go first."""
    kept = dict(widths)
    for name in expendable:
        if _width(kept) > console.width:
            kept.pop(name, None)
    return kept


def _width(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def print_row(console: Console, cells: dict[str, tuple[str, str]], widths: dict[str, int]) -> None:
    """Print cells with their styles below each other; a cell that is too long moves what is behind it."""
    row = Text()
    for name, (text, style) in cells.items():
        width = widths[name]
        padded = text.rjust(width) if name in _RIGHT else text.ljust(width)
        row.append(padded, style).append(_GAP)
    row.rstrip()
    console.print(row, soft_wrap=True)
