"""The options of `podrace init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..app import app


@app.command(
    help="Write a scenario file to begin with, explained line by line; `podrace test` checks it.\n\n"
    "Exit codes: 0 written, 2 wrong usage, or the file is there already."
)
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write.")] = Path("podrace-test.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    from ..starter import write_starter

    write_starter(file, force)
