"""The options of `podrace explain`."""

from __future__ import annotations

import typer

from ..app import app
from ..arguments import Graph, NoColor, Own, Patches, ReportForm, ReportOption, TraceFile


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
    from ...analysis.own.own_properties import own_properties
    from ...analysis.own.patches import patches_of
    from ..check import Output
    from ..console import tolerant_of_closed_pipes
    from ..explain import explain as run_explain

    out = Output(output.value, graph, no_color)
    out.refuse_unusable()
    patches = patches_of(patch or ())
    chosen = own_properties(own or ())
    with tolerant_of_closed_pipes():
        code = run_explain(trace, chosen, out, patches)
    raise typer.Exit(code)
