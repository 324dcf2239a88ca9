"""`podrace conform`: upstream's unit-test tables, run on the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analysis.options import parse_release
from ..conformance.cases import read_table
from ..conformance.registry import run_table
from ..model.history import RELEASES
from .console import result_console

DEFAULT_RELEASE = "1.22"
STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def conform(files: Sequence[Path], release: str | None, no_color: bool) -> int:
    """Run the cases of all files; 1 if any fails. Every file is read before the first case runs."""
    chosen = parse_release(release, RELEASES) if release is not None else DEFAULT_RELEASE
    tables = [read_table(path) for path in files]
    console = result_console(no_color)
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for table in tables:
        for name, outcome in run_table(table, chosen):
            counts[outcome.status] += 1
            line = f"{outcome.status}  {name}" + (f": {outcome.reason}" if outcome.reason else "")
            console.print(line, style=STYLES[outcome.status], markup=False, highlight=False, soft_wrap=True)
    console.print(
        f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped", highlight=False
    )
    return 1 if counts["FAIL"] else 0
