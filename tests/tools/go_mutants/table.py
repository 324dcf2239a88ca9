"""The table of mutants: a row for each, and their sums by package for the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

NOTHING = "-"
BEGIN, END = "<!-- go mutants: made by `make go-mutants` -->", "<!-- end of go mutants -->"
COLUMNS = "| Package | Mutants | Tours | Unit tests | Both | Neither | CPU, tours | CPU, tests |"


@dataclass(frozen=True, slots=True)
class Row:
    """A mutant, and what noticed it first: a step of a tour, a test. The last two are seconds of the processor."""

    number: int
    package: str
    line: str
    kind: str
    code: str
    tours: str
    tests: str
    tours_cpu: int
    tests_cpu: int

    @property
    def noticed(self) -> tuple[bool, bool]:
        """By tours, and by unit tests."""
        return self.tours != NOTHING, self.tests != NOTHING


def read(file: Path) -> list[Row]:
    """The rows of a table; none of one that is not there."""
    if not file.exists():
        return []
    cells = [row.split("\t") for row in file.read_text(encoding="utf-8").splitlines()[1:]]
    return [
        Row(int(number), package, line, kind, code, tours, tests, int(first), int(second))
        for number, package, line, kind, code, tours, tests, first, second in cells
    ]


def write(file: Path, rows: Iterable[Row]) -> None:
    """Write the rows with a header."""
    names = "\t".join(field.name for field in fields(Row))
    lines = ["\t".join(" ".join(str(cell).split()) or NOTHING for cell in astuple(row)) for row in rows]
    file.write_text("\n".join([names, *lines, ""]), encoding="utf-8")


def sums(rows: Sequence[Row]) -> list[str]:
    """The lines of the page's table."""
    packages = sorted({row.package for row in rows})
    parts = [(f"`{package}`", [row for row in rows if row.package == package]) for package in packages]
    lines = [_summed(name, of) for name, of in [*parts, ("all", list(rows))]]
    return [COLUMNS, "|---" * (COLUMNS.count("|") - 1) + "|", *lines]


def put(page: str, rows: Sequence[Row]) -> str:
    """The page with the sums of these rows."""
    before, _, rest = page.partition(BEGIN)
    return "\n".join([before + BEGIN, *sums(rows), END + rest.partition(END)[2]])


def _summed(name: str, rows: Sequence[Row]) -> str:
    counts = [sum(row.noticed == found for row in rows) for found in ((True, True), (False, False))]
    tours, tests = (sum(row.noticed[side] for row in rows) for side in (0, 1))
    seconds = sum(row.tours_cpu for row in rows), sum(row.tests_cpu for row in rows)
    return f"| {name} | {len(rows)} | {tours} | {tests} | {counts[0]} | {counts[1]} | {seconds[0]:,} s | {seconds[1]:,} s |"
