"""The options of `podrace synthesize`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...analysis.options import parse_timeout
from ..app import app
from ..arguments import NoColor, Release, Timeout, WithFix, WithoutFix


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
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the cluster as a scenario for `podrace check`."
        ),
    ] = None,
    timeout: Timeout = None,
    no_color: NoColor = False,
) -> None:
    seconds = parse_timeout(timeout) if timeout is not None else None
    from ..synthesize import synthesize as run_synthesize
    from ..synthesize import wanted

    asked = wanted(pods, nodes, release, with_fix or (), without_fix or (), property_, steps, scope or ())
    code = run_synthesize(replace(asked, every=every, timeout=seconds), output, no_color)
    raise typer.Exit(code)
