"""`podrace export`: a scenario's transition system for another checker."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from ...configuration.app import app, examples
from ...configuration.arguments import (
    Gates,
    Release,
    Sizes,
    WithFix,
    WithoutFix,
    WriteFile,
)


class Language(Enum):
    """Languages of other checkers."""

    promela = "promela"
    tlaplus = "tlaplus"


@app.command(
    help="Write a transition system for another checker: Promela for SPIN, TLA+ for TLC.\n\n"
    "NAME or FILE is a scenario; FILE.py:CLASS is a system of your own. "
    "What is written is the slice that `podrace check` explores for the property, with the property as an "
    "invariant; with --whole, everything. Without --property, the scenario's own.\n\n"
    "Exit codes: 0 written, 2 wrong usage or input.",
    epilog=examples("podrace export 53647 --property S-ERR --to promela --write race.pml"),
)
def export(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", show_default=False, help="What to write.")],
    to: Annotated[Language, typer.Option("--to", show_default=False, help="The language.")],
    property_: Annotated[
        str | None, typer.Option("--property", metavar="ID", help="One of `podrace properties`.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Leave nothing out.")] = False,
    release: Release = None,
    with_fix: WithFix = None,
    without_fix: WithoutFix = None,
    gate: Gates = None,
    size: Sizes = None,
    write: WriteFile = None,
) -> None:
    from ....analysis.other_checkers import exported
    from ....analysis.request.plan import Selection
    from ..find.own_system import write_files

    if ".py" in name:
        from ....analysis.own_systems import names_own_system
        from ..find.own_system import write_own_system

        if names_own_system(name):
            write_own_system(name, size or [], to.value, whole, property_, write)
            return
    properties = (property_,) if property_ is not None else ()
    selection = Selection((name,), release, with_fix or (), without_fix or (), properties, gates=gate or ())
    write_files(exported(selection, to.value, whole, write))
