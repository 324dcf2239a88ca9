"""The options of `podrace new-patch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...analysis.options import UsageProblem, parse_release
from ..app import app
from ..arguments import Form, FormOption, NoColor, Release


@app.command(
    "new-patch",
    help="Begin a patch: write NAME.py with a class that overrides one method, as a release has it.\n\n"
    "With --list, print instead what can be overridden. Exit codes: 0 done, 2 wrong usage or input.",
)
def new_patch(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", show_default=False, help="Of the class.")
    ] = None,
    component: Annotated[
        str | None, typer.Option(metavar="PART", help="The part of the scheduler, such as Scheduler.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="METHOD", help="The method to override, such as after_choice.")
    ] = None,
    release: Release = None,
    list_: Annotated[bool, typer.Option("--list", help="Print what can be overridden.")] = False,
    directory: Annotated[Path, typer.Option("--directory", metavar="DIR", help="Where to write.")] = Path(),
    output: FormOption = Form.text,
    no_color: NoColor = False,
) -> None:
    from ...model.history import RELEASES

    chosen = parse_release(release, RELEASES) if release is not None else RELEASES[-1]
    from ..console import message_console, result_console, tolerant_of_closed_pipes
    from ..new_patch import list_methods, listed
    from ..new_patch import new_patch as write_patch

    if list_:
        if name is not None or method is not None:
            raise UsageProblem("--list only lists: leave out NAME and --method")
        with tolerant_of_closed_pipes():
            if output is Form.json:
                import json

                typer.echo(json.dumps(listed(component, chosen), indent=2, ensure_ascii=False))
            else:
                list_methods(result_console(no_color), component, chosen)
        return
    if name is None:
        raise UsageProblem("name the patch, such as `podrace new-patch MyPatch`, or see --list")
    path = write_patch(name, component or "Scheduler", method or "after_choice", chosen, directory)
    message_console(no_color).print(f"wrote {path}", soft_wrap=True)
