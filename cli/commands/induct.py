"""The options of `podrace induct`."""

from __future__ import annotations

from typing import Annotated

import typer

from ...analysis.options import parse_timeout
from ..app import app
from ..arguments import NoColor, Release, Timeout, WithFix, WithoutFix


@app.command(
    help="Prove a safety property of a scenario by induction, for runs of any length.\n\n"
    "By k-induction: k steps in a row that keep the property are followed by none that breaks it. "
    "With --unknown, CPU requests, capacities and priorities may be anything. It is for small scenarios: "
    "docs/symbolic.md says how small.\n\n"
    "Exit codes: 0 proved, 1 violated, 2 wrong usage or input, 3 inconclusive."
)
def induct(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", show_default=False, help="The scenario.")],
    property_: Annotated[
        str | None, typer.Option("--property", metavar="ID", help="One of `podrace properties`, of kind S-.")
    ] = None,
    k: Annotated[
        int, typer.Option("-k", metavar="K", min=1, max=100, help="Try k = 1, 2, ... up to K.")
    ] = 10,
    unknown: Annotated[
        bool, typer.Option("--unknown", help="Whatever the CPU requests, capacities and priorities are.")
    ] = False,
    release: Release = None,
    with_fix: WithFix = None,
    without_fix: WithoutFix = None,
    timeout: Timeout = None,
    no_color: NoColor = False,
) -> None:
    seconds = parse_timeout(timeout) if timeout is not None else None
    from ...analysis.plan import Selection
    from ..induct import induct as run_induct

    properties = (property_,) if property_ is not None else ()
    selection = Selection((name,), release, with_fix or (), without_fix or (), properties)
    raise typer.Exit(run_induct(selection, k, unknown, seconds, no_color))
