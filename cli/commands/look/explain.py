"""`podrace explain`: a stored trace in any form."""

from pathlib import Path

import typer

from ...configuration import arguments as arg
from ...configuration.app import app, examples
from ...terminal.console import tolerant_of_closed_pipes
from ...terminal.output import Output, draw, report, say
from ...terminal.progress_display import progress_display

SHOWN, GONE = 0, 1


@app.command(
    help="Show a stored counterexample in any form.\n\npodrace first executes it again. "
    "Exit codes: 0 shown, 1 the run is no longer possible or no longer violates the property, 2 the trace cannot be read.",
    epilog=examples(
        "podrace check 72124 --save-trace race.json",
        "podrace explain race.json -o html > race.html",
        "podrace explain race.json -o markdown --graph race.svg > race.md",
    ),
)
def explain(
    trace: Path,
    output: arg.ReportForm = "text",
    graph: Path | None = None,
    graph_kind: arg.GraphKind = "lanes",
    own: list[str] | None = None,
    patch: list[str] | None = None,
    closing: str = "20s",
    verbose: bool = False,
    no_color: bool = False,
) -> None:
    from ....analysis.closing import Closings, closings
    from ....analysis.request.method import Method, budget_for, cache_folder
    from ....analysis.request.options import parse_closing
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.patches import patches_of
    from ....analysis.stored.replayed import read_trace, replayed

    out = Output(output, graph, no_color, graph_kind=graph_kind, extent="whole" if verbose else "usual")
    time = parse_closing(closing)
    out.refuse_unusable()
    patches = patches_of(patch or ())
    found = replayed(read_trace(trace), own_properties(own or ()), str(trace), patches)
    for remark in found.caveats(trace):
        say(remark, no_color)
    if not found.violated:
        say(f"podrace: {trace}: {found.why_not}", no_color)
        raise typer.Exit(GONE)
    finding = found.finding()
    if out.points_into_files:
        from ....analysis.subjects import with_subjects

        (finding,) = with_subjects([found.run], [finding])
    closed: Closings = {}
    if out.tells_closings and time:
        with progress_display(no_color) as display:
            method = Method(cache=cache_folder(None, False), whole_findings=True)
            closed = closings([found.run], [finding], budget_for(), method, time, display)
    with tolerant_of_closed_pipes():
        report([finding], out, closed)
    if graph is not None:
        draw([finding], graph, no_color, graph_kind, closed)
    raise typer.Exit(SHOWN)
