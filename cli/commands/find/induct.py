"""`podrace induct`: proofs by induction, for runs of any length."""

from __future__ import annotations

from typing import Annotated

import typer

from ....analysis.request.options import parse_timeout
from ...configuration.app import app
from ...configuration.arguments import Gates, NoColor, Release, Timeout, WithFix, WithoutFix

CODES = {"PROVED": 0, "VIOLATED": 1, "INCONCLUSIVE": 3}


@app.command(
    help="Prove a safety property of a scenario by induction, for runs of any length.\n\n"
    "By k-induction: no run of k steps violates it, and no step leads from k states that hold to one that does not. "
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
    gate: Gates = None,
    timeout: Timeout = None,
    no_color: NoColor = False,
) -> None:
    seconds = parse_timeout(timeout) if timeout is not None else None
    from ....analysis.request.plan import Selection
    from ....analysis.symbolic.by_induction import prove_by_induction, run_to_prove
    from ....reports.answers.induction_report import print_induction
    from ...terminal.console import result_console, tolerant_of_closed_pipes
    from ...terminal.output import say
    from ...terminal.progress_display import progress_display

    properties = (property_,) if property_ is not None else ()
    selection = Selection((name,), release, with_fix or (), without_fix or (), properties, gates=gate or ())
    run, ignored = run_to_prove(selection)
    for line in ignored:
        say(line, no_color)
    with progress_display(no_color) as display:
        found = prove_by_induction(run, k, unknown, seconds, display)
    with tolerant_of_closed_pipes():
        print_induction(result_console(no_color), found)
    raise typer.Exit(CODES[found.verdict])
