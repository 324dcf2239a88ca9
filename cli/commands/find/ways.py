"""`podrace ways`: the essentially different ways in which a property can be violated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ....analysis.request.method import budget_of
from ...configuration.app import app
from ...configuration.arguments import (
    Gates,
    Graph,
    GraphKind,
    GraphKindOption,
    Jobs,
    Lanes,
    MaxMemory,
    MaxStates,
    NoColor,
    Own,
    Patches,
    PropertyIds,
    Release,
    ReportForm,
    ReportOption,
    SaveTrace,
    Timeout,
    Timings,
    WithFix,
    WithoutFix,
)

if TYPE_CHECKING:
    from ....reports.answers.ways_report import WaysFound
    from ...terminal.output import Output

CODES = {"VIOLATED": 1, "INCONCLUSIVE": 3, "HOLDS": 0}
"""The exit code of each verdict; of several, the first decides."""


@app.command(
    help="Find the essentially different ways in which a safety property can be violated.\n\n"
    "Two ways are different if each has a kind of step that the other does not have: a step with its outcome, for any pods and nodes. If the search is complete, every violation has all kinds of steps of one of the ways.\n\n"
    "Exit codes: 0 no way, 1 at least one, 2 wrong usage or input, 3 none so far (a budget ran out)."
)
def ways(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|FILE", show_default=False, help="What to look at.")
    ],
    release: Release = None,
    with_fix: WithFix = None,
    without_fix: WithoutFix = None,
    gate: Gates = None,
    property_: PropertyIds = None,
    own: Own = None,
    patch: Patches = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Most ways to look for.")] = 8,
    output: ReportOption = ReportForm.text,
    graph: Graph = None,
    graph_kind: GraphKindOption = GraphKind.lanes,
    save_trace: SaveTrace = None,
    timings: Timings = False,
    max_states: MaxStates = None,
    max_memory: MaxMemory = None,
    timeout: Timeout = None,
    jobs: Jobs = None,
    verbose: Lanes = False,
    no_color: NoColor = False,
) -> None:
    budget = budget_of(max_states, max_memory, timeout, jobs)
    from ....analysis.different_ways import find_all_ways, finite_runs
    from ....analysis.request.method import Method
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.patches import patches_of
    from ....analysis.request.plan import Selection, plan
    from ...terminal.console import tolerant_of_closed_pipes
    from ...terminal.output import Output, draw, save_traces, say
    from ...terminal.progress_display import progress_display

    selection = Selection(
        names, release, with_fix or (), without_fix or (), property_ or (), own_properties(own or (), property_ or ()),
        patches=patches_of(patch or ()), gates=gate or (),
    )  # fmt: skip
    out = Output(
        output.value, graph, no_color, graph_kind=graph_kind.value, timings=timings, save_trace=save_trace,
        extent="whole" if verbose else "usual",
    )  # fmt: skip
    out.refuse_unusable()
    runs = finite_runs(plan(selection), selection, lambda line: say(line, no_color))
    with progress_display(no_color) as display:
        found = find_all_ways(runs, most, budget, Method(), display)
    with tolerant_of_closed_pipes():
        _report(found, out)
    pairs = [(run, finding) for run, one in zip(runs, found, strict=True) for finding in one.findings()]
    findings = [finding for _, finding in pairs]
    if graph is not None:
        draw(findings, graph, no_color, out.graph_kind)
    if save_trace is not None:
        save_traces([run for run, _ in pairs], findings, save_trace, no_color)
    verdicts = {one.verdict for one in found}
    raise typer.Exit(next(code for verdict, code in CODES.items() if verdict in verdicts))


def _report(found: Sequence[WaysFound], output: Output) -> None:
    from ....reports.filtered import to_json
    from ...terminal.console import print_form, result_console
    from ...terminal.output import report

    if output.form == "json":
        print_form(to_json(found if output.timings else [one.untimed() for one in found]))
    elif output.form != "text":
        report([finding for one in found for finding in one.findings()], output)
    else:
        console = result_console(output.no_color)
        for number, one in enumerate(found):
            if number:
                console.print()
            one.print(console, output.extent == "whole")
