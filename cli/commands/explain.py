"""`podrace explain`: a stored trace in any form."""

from __future__ import annotations

import typer

from ..configuration.app import app
from ..configuration.arguments import Graph, NoColor, Own, Patches, ReportForm, ReportOption, TraceFile

SHOWN, GONE = 0, 1


@app.command(
    help="Show a stored counterexample in any form, after executing it again.\n\n"
    "Exit codes: 0 shown, 1 the run is no longer possible or violates the property no longer, 2 the trace cannot be read."
)
def explain(
    trace: TraceFile,
    output: ReportOption = ReportForm.text,
    graph: Graph = None,
    own: Own = None,
    patch: Patches = None,
    no_color: NoColor = False,
) -> None:
    from ...analysis.asked.own_properties import own_properties
    from ...analysis.asked.patches import patches_of
    from ...analysis.stored.replayed import read_trace, replayed
    from ..terminal.console import tolerant_of_closed_pipes
    from ..terminal.output import Output, draw, report, say

    out = Output(output.value, graph, no_color)
    out.refuse_unusable()
    patches = patches_of(patch or ())
    found = replayed(read_trace(trace), own_properties(own or ()), str(trace), patches)
    for remark in found.caveats(trace):
        say(remark, no_color)
    if not found.violated:
        say(f"podrace: {trace}: {found.why_not}", no_color)
        raise typer.Exit(GONE)
    finding = found.finding()
    with tolerant_of_closed_pipes():
        report([finding], out)
    if graph is not None:
        draw([finding], graph, no_color)
    raise typer.Exit(SHOWN)
