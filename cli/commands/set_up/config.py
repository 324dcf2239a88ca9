"""`podrace config`: what is set, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from ....base.problems import UsageProblem
from ....base.text import nearest_names, one_line
from ...configuration.app import app
from ...configuration.arguments import Form, FormOption
from ...configuration.command_options import Commands
from ...configuration.configured import Applied
from ...configuration.in_force import settings_in_force
from ...terminal.console import complaint, print_json

DEFAULT = "default"


@app.command(
    help="Show the settings in force, and where they come from.\n\n"
    "Settings are in the nearest .podrace.yaml, upwards from the working "
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
    from ...terminal.console import tolerant_of_closed_pipes

    applied: Applied = config
    with tolerant_of_closed_pipes():
        show_config(app.options(), names or (), applied.path, every, output.value)


def show_config(commands: Commands, names: Sequence[str], named: Path | None, every: bool, form: str) -> None:
    """Print the settings of these commands (of all, if none is named). Raises UsageProblem."""
    for name in names:
        if name not in commands:
            raise UsageProblem(
                f"unknown command `{one_line(name)}`; {nearest_names(name, commands)}`podrace --help` lists all"
            )
    rows = list(_rows(commands, names or list(commands), named, every))
    if form == "json":
        print_json(rows)
        return
    if not rows:
        print("nothing is set")
    for row in rows:
        value = json.dumps(row["value"], ensure_ascii=False, default=str)
        print(complaint(f"{row['command']}.{row['option']} = {value}  ({row['from']})"))


def _rows(
    commands: Commands, names: Sequence[str], named: Path | None, every: bool
) -> Iterator[dict[str, Any]]:
    settings = settings_in_force(commands, named)
    for command in names:
        for name, option in commands[command].items():
            setting = settings[command].get(name)
            if setting is not None:
                yield {"command": command, "option": name, "value": setting.value, "from": setting.place}
            elif every and not option.hidden:
                default = option.default.value if isinstance(option.default, Enum) else option.default
                yield {"command": command, "option": name, "value": default, "from": DEFAULT}
