"""The options of `podrace test`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ..app import app
from ..arguments import Cache, Jobs, MaxMemory, MaxStates, NoCache, NoColor, Own, Report, Timeout, Timings
from ..budgets import budget_of


class VerdictForm(Enum):
    """Forms of the result of tests."""

    text = "text"
    json = "json"
    junit = "junit"
    tap = "tap"
    github = "github"
    markdown = "markdown"


@app.command(
    "test",
    help="Check scenario files, and compare what comes out with what they expect.\n\n"
    "Of a directory, all YAML files with a section `expect` are checked, in all directories below; docs/scenarios.md describes the "
    "section. `podrace init` writes a file to begin with.\n\n"
    "Exit codes: 0 all is as expected, 1 something is not, 2 wrong usage or input, 3 inconclusive (a budget ran out).",
)
def check_expectations(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR|FILE", show_default=False, help="What to check: the working directory."),
    ] = None,
    own: Own = None,
    output: Annotated[
        VerdictForm, typer.Option("-o", "--output", help="Form of the result on stdout.")
    ] = VerdictForm.text,
    report: Report = None,
    timings: Timings = False,
    max_states: MaxStates = None,
    max_memory: MaxMemory = None,
    timeout: Timeout = None,
    jobs: Jobs = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    no_color: NoColor = False,
) -> None:
    budget = budget_of(max_states, max_memory, timeout, jobs)
    from ...analysis.caches import cache_folder
    from ...analysis.execute import Method
    from ...analysis.own.own_properties import own_properties
    from ..check import Output
    from ..testing import run_tests

    method = Method(cache=cache_folder(cache, no_cache))
    out = Output(output.value, no_color=no_color, timings=timings, report=report)
    raise typer.Exit(run_tests(paths or [Path()], budget, method, out, own_properties(own or ())))
