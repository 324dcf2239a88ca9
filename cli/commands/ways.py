"""The options of `podrace ways`."""

from __future__ import annotations

from typing import Annotated

import typer

from ..app import app
from ..arguments import (
    Graph,
    GraphKind,
    GraphKindOption,
    Jobs,
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
from ..budgets import budget_of


@app.command(
    help="Find the essentially different ways in which a safety property can be violated.\n\n"
    "Of two ways, each takes a kind of step that the other can do without: the step and how it turned out, whatever the pods and "
    "nodes. Steps are taken out of the scheduler until no run is left that violates the property; so when it ends by "
    "itself, every violation takes all kinds of steps of one of the ways.\n\n"
    "Exit codes: 0 no way, 1 at least one, 2 wrong usage or input, 3 none so far (a budget ran out)."
)
def ways(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|FILE", show_default=False, help="What to look at.")
    ],
    release: Release = None,
    with_fix: WithFix = None,
    without_fix: WithoutFix = None,
    property_: PropertyIds = None,
    own: Own = None,
    patch: Patches = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="At most so many ways.")] = 8,
    output: ReportOption = ReportForm.text,
    graph: Graph = None,
    graph_kind: GraphKindOption = GraphKind.lanes,
    save_trace: SaveTrace = None,
    timings: Timings = False,
    max_states: MaxStates = None,
    max_memory: MaxMemory = None,
    timeout: Timeout = None,
    jobs: Jobs = None,
    no_color: NoColor = False,
) -> None:
    budget = budget_of(max_states, max_memory, timeout, jobs)
    from ...analysis.execute import Method
    from ...analysis.own.own_properties import own_properties
    from ...analysis.own.patches import patches_of
    from ...analysis.plan import Selection
    from ..check import Output
    from ..ways import ways as run_ways

    selection = Selection(
        names, release, with_fix or (), without_fix or (), property_ or (), own_properties(own or ()),
        patches=patches_of(patch or ()),
    )  # fmt: skip
    out = Output(
        output.value, graph, no_color, graph_kind=graph_kind.value, timings=timings, save_trace=save_trace
    )
    raise typer.Exit(run_ways(selection, most, budget, Method(), out))
