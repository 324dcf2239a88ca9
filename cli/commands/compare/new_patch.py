"""`podrace new-patch`: a file to begin a patch with, or what there is to override."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ....base.problems import UsageProblem
from ....reports.filtered import to_json
from ...configuration import arguments as arg
from ...configuration.app import app
from ...terminal.console import print_answer
from ...terminal.output import say

if TYPE_CHECKING:
    from rich.console import Console

    from ....analysis.request.patch_scaffold import Overridable


@app.command(
    "new-patch",
    help="Begin a patch: write a class that overrides one method.\n\nNAME.py contains the method as the release has it. "
    "With --list, print what can be overridden. Exit codes: 0 done, 2 wrong usage or input.",
)
def new_patch(
    name: str | None = None,
    component: str | None = None,
    method: str | None = None,
    release: str | None = None,
    list_: bool = False,
    grep: str = "",
    directory: Path = Path(),
    output: arg.Form = "text",
    no_color: bool = False,
) -> None:
    from ....analysis.request.patch_scaffold import new_patch as write_patch
    from ....analysis.request.patch_scaffold import overridables, rows_of
    from ....analysis.request.plan import release_of

    chosen = release_of(release)
    if grep and not list_:
        raise UsageProblem("--grep chooses from what can be overridden: add --list")
    if list_:
        if name is not None or method is not None:
            raise UsageProblem("--list only lists: leave out NAME and --method")
        parts = overridables(component, chosen, grep)
        print_answer(parts, output, no_color, _print, {"json": lambda parts: to_json(rows_of(parts))})
        return
    if name is None:
        raise UsageProblem("name the patch, such as `podrace new-patch MyPatch`, or see --list")
    path = write_patch(name, component or "Scheduler", method or "after_choice", chosen, directory)
    say(f"wrote {path}", no_color)


def _print(console: Console, parts: Sequence[Overridable]) -> None:
    from rich.text import Text

    for part in parts:
        console.print(Text(part.part, "bold").append(f"  {part.summary}", "not bold"), soft_wrap=True)
        for call, row in part.methods:
            told = Text(f"    {call}", "cyan").append("  step" if row["step"] else "", "magenta")
            console.print(told.append(f"  {row['summary']}", "default"), soft_wrap=True)
