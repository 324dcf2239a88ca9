"""`podrace config`, and its options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..app import app
from ..arguments import Form, FormOption
from ..configured import Applied


@app.command(
    help="Show the settings in force, and where they come from.\n\n"
    "Settings are in the nearest .podrace.yaml, or [tool.podrace] of the nearest pyproject.toml, upwards from the working "
    "directory; -c names another file. Every option of every command can be set below the command's name, and below "
    "`defaults` for all commands. The command line wins."
)
def config(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", show_default=False, help="Only of these commands."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also what could be set, with the value that it has unless set.")
    ] = False,
    output: FormOption = Form.text,
    *,
    config: Any = None,
) -> None:
    from ..config import show_config
    from ..console import tolerant_of_closed_pipes

    applied: Applied = config
    with tolerant_of_closed_pipes():
        show_config(app.options(), names or (), applied.path, every, output.value)
