"""`podrace replay`: a stored trace, executed again."""

from __future__ import annotations

import typer

from ..configuration.app import app
from ..configuration.arguments import NoColor, Own, Patches, TraceFile

VIOLATES, GONE = 0, 1


@app.command(
    help="Execute a stored counterexample again, step by step, in the reference interpreter.\n\n"
    "Exit codes: 0 the run is possible and violates the property, 1 it is no longer possible or violates it no longer, "
    "2 the trace cannot be read."
)
def replay(trace: TraceFile, own: Own = None, patch: Patches = None, no_color: NoColor = False) -> None:
    from rich.text import Text

    from ...analysis.asked.own_properties import own_properties
    from ...analysis.asked.patches import patches_of
    from ...analysis.stored.replayed import read_trace, replayed
    from ...reports.text.findings_text import print_wrapped
    from ...reports.text.lanes_text import print_lanes
    from ..terminal.console import result_console, tolerant_of_closed_pipes
    from ..terminal.output import say

    patches = patches_of(patch or ())
    found = replayed(read_trace(trace), own_properties(own or ()), str(trace), patches)
    for remark in found.caveats(trace):
        say(remark, no_color)
    with tolerant_of_closed_pipes():
        console = result_console(no_color)
        run = found.run
        print_wrapped(console, Text(f"{run.scenario.name}, {run.composition.label}: {run.property}", "bold"))
        if found.steps:
            console.print()
            print_lanes(console, found.steps, found.remarks)
            console.print()
        if found.violated:
            print_wrapped(console, Text(found.result.words, "bold"))
        else:
            print_wrapped(console, Text(f"GONE: {found.why_not}", "bold red"))
    raise typer.Exit(VIOLATES if found.violated else GONE)
