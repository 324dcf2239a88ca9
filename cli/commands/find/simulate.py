"""`podrace simulate`: random walks, their report, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from ....analysis.request.method import threads_of
from ....analysis.request.options import parse_seed, parse_steps, parse_timeout, parse_walks
from ...configuration.app import app
from ...configuration.arguments import (
    Gates,
    Graph,
    Lanes,
    NoColor,
    Own,
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
    from ....reports.answers.walks_report import Walked
    from ....reports.document import Finding
    from ....reports.text.findings_text import Extent
    from ...terminal.output import Output


class By(Enum):
    """What has the same chance when a random walk goes on."""

    step = "step"
    transition = "transition"


@app.command(
    help="Look for violations by random walks.\n\nFor clusters that are too large for a complete search. A walk takes random steps until it violates the property, comes to rest, or reaches --steps. podrace shortens a violation and executes it again. Without a violation the verdict is INCONCLUSIVE, because walks prove nothing. The same seed gives the same walks.\n\n"
    "Exit codes: 1 violated, 2 wrong usage or input, 3 inconclusive."
)
def simulate(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|FILE", show_default=False, help="Where to walk.")
    ],
    release: Release = None,
    with_fix: WithFix = None,
    without_fix: WithoutFix = None,
    gate: Gates = None,
    property_: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="Look for violations of this (repeatable)."),
    ] = None,
    own: Own = None,
    walks: Annotated[
        str | None,
        typer.Option(metavar="N", help="Number of walks (default: 10,000; with --timeout: unlimited)."),
    ] = None,
    steps: Annotated[str, typer.Option(metavar="K", help="Most steps of one walk.")] = "1000",
    seed: Annotated[str, typer.Option(metavar="S", help="The seed of the random walks.")] = "0",
    by: Annotated[
        By,
        typer.Option(
            help="What has the same probability: each possible step with any arguments, or each transition."
        ),
    ] = By.step,
    timeout: Timeout = None,
    jobs: Annotated[
        str | None,
        typer.Option("-j", "--jobs", metavar="N", help="Walk with N threads (default: all cores)."),
    ] = None,
    output: ReportOption = ReportForm.text,
    graph: Graph = None,
    save_trace: SaveTrace = None,
    timings: Timings = False,
    verbose: Lanes = False,
    no_color: NoColor = False,
) -> None:
    seconds = parse_timeout(timeout) if timeout is not None else None
    count = parse_walks(walks) if walks is not None else None if seconds is not None else 10_000
    threads = threads_of(jobs)
    longest, start = parse_steps(steps), parse_seed(seed)
    from ....analysis.random_walks import Walks, walk_all, walkable
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.plan import Selection, plan, refuse_all_ignored
    from ...terminal.console import tolerant_of_closed_pipes
    from ...terminal.output import INCONCLUSIVE, VIOLATED, Output, draw, save_traces
    from ...terminal.progress_display import progress_display

    chosen = own_properties(own or (), property_ or ())
    selection = Selection(
        names, release, with_fix or (), without_fix or (), property_ or (), chosen, gates=gate or ()
    )
    asked = Walks(count, longest, start, by.value, seconds, threads)
    extent: Extent = "whole" if verbose else "usual"
    out = Output(output.value, graph, no_color, timings=timings, save_trace=save_trace, extent=extent)
    out.refuse_unusable()
    planned = plan(selection)
    refuse_all_ignored(planned)
    runs = walkable(planned, selection)
    with progress_display(no_color) as display:
        found = walk_all(runs, planned, asked, display)
    findings = [walked.finding() for walked in found]
    with tolerant_of_closed_pipes():
        _report(found, findings, out)
    if graph is not None:
        draw(findings, graph, no_color)
    if save_trace is not None:
        save_traces(runs, findings, save_trace, no_color)
    raise typer.Exit(VIOLATED if any(walked.verdict == "VIOLATED" for walked in found) else INCONCLUSIVE)


def _report(found: Sequence[Walked], findings: Sequence[Finding], output: Output) -> None:
    from ....reports.answers.walks_report import print_walks
    from ....reports.filtered import to_json
    from ...terminal.console import print_form, result_console
    from ...terminal.output import report

    if output.form == "json":
        print_form(to_json(found if output.timings else [walked.untimed() for walked in found]))
    elif output.form != "text":
        report(findings, output)
    else:
        print_walks(result_console(output.no_color), found, output.extent == "whole")
