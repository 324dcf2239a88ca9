"""The options of `podrace simulate`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from ...analysis.options import parse_jobs, parse_seed, parse_steps, parse_timeout, parse_walks
from ..app import app
from ..arguments import (
    Graph,
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


class By(Enum):
    """What has the same chance when a random walk goes on."""

    step = "step"
    transition = "transition"


@app.command(
    help="Look for violations by random walks, in clusters that are too large to exhaust.\n\n"
    "A walk takes steps at random until it violates the property, comes to rest or is long enough. A violation is made "
    "shorter and executed again; without one, the verdict is INCONCLUSIVE, with what was covered: walks prove nothing. The "
    "same seed gives the same walks.\n\n"
    "Exit codes: 1 violated, 2 wrong usage or input, 3 inconclusive."
)
def simulate(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|FILE", show_default=False, help="Where to walk.")
    ],
    release: Release = None,
    with_fix: WithFix = None,
    without_fix: WithoutFix = None,
    property_: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="Look for violations of this (repeatable)."),
    ] = None,
    own: Own = None,
    walks: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="So many walks (10,000; with --timeout, as many as there is time for)."
        ),
    ] = None,
    steps: Annotated[str, typer.Option(metavar="K", help="So many steps on one walk at most.")] = "1000",
    seed: Annotated[str, typer.Option(metavar="S", help="Where the walks come from.")] = "0",
    by: Annotated[
        By,
        typer.Option(
            help="What has the same chance: the steps that are possible, whatever the arguments, or every transition."
        ),
    ] = By.step,
    timeout: Timeout = None,
    jobs: Annotated[
        str | None, typer.Option("-j", "--jobs", metavar="N", help="Walk with so many threads (all cores).")
    ] = None,
    output: ReportOption = ReportForm.text,
    graph: Graph = None,
    save_trace: SaveTrace = None,
    timings: Timings = False,
    no_color: NoColor = False,
) -> None:
    seconds = parse_timeout(timeout) if timeout is not None else None
    count = parse_walks(walks) if walks is not None else None if seconds is not None else 10_000
    threads = parse_jobs(jobs) if jobs is not None else None
    longest, start = parse_steps(steps), parse_seed(seed)
    from ...analysis.own.own_properties import own_properties
    from ...analysis.plan import Selection
    from ...checker.core.machine import cores
    from ...checker.simulate import Walks
    from ..check import Output
    from ..simulate import simulate as run_simulate

    chosen = own_properties(own or ())
    selection = Selection(names, release, with_fix or (), without_fix or (), property_ or (), chosen)
    plan = Walks(count, longest, start, by.value, seconds, threads or cores())
    out = Output(output.value, graph, no_color, timings=timings, save_trace=save_trace)
    raise typer.Exit(run_simulate(selection, plan, out))
