"""The options of `podrace conform`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..app import app
from ..arguments import NoColor


@app.command(
    help="Run upstream's unit-test tables, restated as facts in JSON, on the model.\n\n"
    "Exit codes: 0 no case failed, 1 a case failed, 2 wrong usage or input."
)
def conform(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", show_default=False, help="Tables of cases.")],
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="The scheduler's release (1.22 unless told otherwise).")
    ] = None,
    no_color: NoColor = False,
) -> None:
    from ..conform import conform as run_conform
    from ..console import tolerant_of_closed_pipes

    with tolerant_of_closed_pipes():
        raise typer.Exit(run_conform(files, release, no_color))
