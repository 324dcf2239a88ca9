"""The options of `podrace drift`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..app import app
from ..arguments import Form, FormOption, NoColor


@app.command(
    help="Say which of the functions that the model stands for have changed in a kubernetes source tree.\n\n"
    "docs/functions.md names these functions; the tokens of each were hashed when the model was last held to them. "
    "Comments and layout do not count.\n\n"
    "Exit codes: 0 none changed, 1 some changed, moved or vanished, 2 this is no such tree."
)
def drift(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", show_default=False, help="The root of a kubernetes source tree.")
    ],
    update: Annotated[bool, typer.Option("--update", help="Write the hashes of this tree.")] = False,
    release: Annotated[
        str, typer.Option("--release", metavar="X.Y.Z", help="With --update: the release of this tree.")
    ] = "",
    hashes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare with this file instead of podrace's own.")
    ] = None,
    output: FormOption = Form.text,
    no_color: NoColor = False,
) -> None:
    from ...model.history.upstream import HASHES
    from ..drift import drift as run_drift

    raise typer.Exit(run_drift(directory, hashes or HASHES, update, release, output.value, no_color))
