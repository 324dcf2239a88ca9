"""`podrace conform`: upstream's unit-test tables, run on the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...configuration.app import app
from ...configuration.arguments import Form, FormOption, NoColor, release_names

DEFAULT_RELEASE = "1.22"
STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


@app.command(
    help="Run upstream's unit-test tables, restated as facts in JSON, on the model.\n\n"
    "Exit codes: 0 no case failed, 1 a case failed, 2 wrong usage or input."
)
def conform(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", show_default=False, help="Tables of cases.")],
    release: Annotated[
        str | None,
        typer.Option(
            metavar="X.Y",
            help="The scheduler's release (1.22 unless told otherwise).",
            autocompletion=release_names,
        ),
    ] = None,
    output: FormOption = Form.text,
    no_color: NoColor = False,
) -> None:
    from ....analysis.asked.plan import release_of
    from ....base.text import one_line
    from ....conformance.cases.cases import read_table
    from ....conformance.registry import run_table
    from ....reports.filtered import escaped_json
    from ...terminal.console import print_form, result_console, tolerant_of_closed_pipes

    chosen = release_of(release, DEFAULT_RELEASE)
    tables = [read_table(path) for path in files]  # every file is read before the first case runs
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    if output is Form.json:
        rows = []
        for path, table in zip(files, tables, strict=True):
            for name, outcome in run_table(table, chosen):
                counts[outcome.status] += 1
                rows.append(
                    {"file": str(path), "case": name, "status": outcome.status, "reason": outcome.reason}
                )
        with tolerant_of_closed_pipes():
            print_form(escaped_json(json.dumps(rows, indent=2, ensure_ascii=False)) + "\n")
        raise typer.Exit(1 if counts["FAIL"] else 0)
    with tolerant_of_closed_pipes():
        console = result_console(no_color)
        for table in tables:
            for name, outcome in run_table(table, chosen):
                counts[outcome.status] += 1
                line = f"{outcome.status}  {one_line(name, 200)}" + (
                    f": {outcome.reason}" if outcome.reason else ""
                )
                console.print(line, style=STYLES[outcome.status], soft_wrap=True)
        console.print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    raise typer.Exit(1 if counts["FAIL"] else 0)
