"""`podrace synthesize`: the smallest cluster that violates a property, found with Z3."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ....analysis.request.options import parse_timeout
from ....base.problems import UsageProblem
from ...configuration.app import app
from ...configuration.arguments import (
    Gates,
    NoColor,
    Release,
    Timeout,
    WithFix,
    WithoutFix,
)


@app.command(
    help="Find the smallest cluster, and the shortest interleaving in it, that violate a property.\n\n"
    "Requests, capacities and priorities are unknown, and Z3 looks for some that make a run of at most K steps possible: with as "
    "few pods and nodes as possible, then in as few steps, then with the smallest numbers. Where there is none, the verdict "
    "is INCONCLUSIVE and says what was covered.\n\n"
    "Exit codes: 1 found, 2 wrong usage or input, 3 none found."
)
def synthesize(
    pods: Annotated[
        int, typer.Option(metavar="P", min=1, max=6, show_default=False, help="At most so many pods.")
    ],
    nodes: Annotated[
        int, typer.Option(metavar="N", min=1, max=4, show_default=False, help="At most so many nodes.")
    ],
    property_: Annotated[
        str, typer.Option("--property", metavar="ID", help="The property: one of kind S-.")
    ] = "S-NOMVIS",
    release: Release = None,
    with_fix: WithFix = None,
    without_fix: WithoutFix = None,
    gate: Gates = None,
    steps: Annotated[int, typer.Option(metavar="K", min=0, max=200, help="So many steps at most.")] = 15,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="All clusters of that size that differ in which pods fit where, or in their order."
        ),
    ] = False,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="A bound, as in a scenario, such as bind_failures=1 (repeatable)."
        ),
    ] = None,
    write_scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the cluster as a scenario for `podrace check`."),
    ] = None,
    timeout: Timeout = None,
    no_color: NoColor = False,
) -> None:
    seconds = parse_timeout(timeout) if timeout is not None else None
    from ....analysis.request.option_files import beside, refuse_links, write_text
    from ....analysis.symbolic.smallest_cluster import ClusterSearch, wanted
    from ....reports.answers.synthesis_report import print_coverage, print_example
    from ...terminal.console import result_console, tolerant_of_closed_pipes
    from ...terminal.output import INCONCLUSIVE, VIOLATED, say
    from ...terminal.progress_display import progress_display

    asked = wanted(
        pods, nodes, release, with_fix or (), without_fix or (), property_, steps, scope or (), gate or ()
    )
    asked = replace(asked, every=every, timeout=seconds)
    if write_scenario is not None:
        refuse_links("--write-scenario", write_scenario)
    if write_scenario is not None and (write_scenario.is_dir() or not write_scenario.parent.is_dir()):
        raise UsageProblem(
            f"--write-scenario: cannot write `{write_scenario}`: name a file in a directory that exists"
        )
    console = result_console(no_color)
    with tolerant_of_closed_pipes(), progress_display(no_color) as display:
        search = ClusterSearch(asked, display)
        for example in search:
            if write_scenario is not None:
                target = beside(write_scenario, search.found)
                write_text("--write-scenario", target, example.scenario)
                say(f"wrote {target}: `podrace check` runs it", no_color)
            print_example(console, example)
        if not search.found or every:
            print_coverage(console, search.coverage())
    raise typer.Exit(VIOLATED if search.found else INCONCLUSIVE)
