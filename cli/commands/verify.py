"""The options of `podrace verify` and `podrace diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from ...analysis.options import UsageProblem, parse_size
from ..app import app
from ..arguments import (
    ComparisonForm,
    ComparisonOption,
    Jobs,
    MaxStates,
    NoColor,
    Own,
    PropertyIds,
    Release,
    Scenarios,
    Timeout,
    WithFix,
)
from ..budgets import budget_of


@app.command(
    help="Compare a release with the same release and a change: which properties it fixes, and which it breaks.\n\n"
    "CHANGE is a Python file with subclasses of parts of the scheduler (FILE.py:CLASS for one of them; see "
    "`podrace new-patch`), or the number of an upstream change. Without --release: the newest, or the last without the "
    "upstream change. Without --scenario: the catalogue.\n\n"
    "Exit codes: 0 nothing regressed, 1 a property regressed or something can no longer come about (with --strict also: a "
    "property is still violated), 2 wrong usage or input, 3 inconclusive (a budget ran out)."
)
def verify(
    changes: Annotated[
        list[str], typer.Argument(metavar="CHANGE...", show_default=False, help="What to put in, together.")
    ],
    release: Release = None,
    against: Annotated[
        str | None, typer.Option(metavar="X.Y", help="Compare with this release instead of the same one.")
    ] = None,
    with_fix: WithFix = None,
    scenario: Scenarios = None,
    property_: PropertyIds = None,
    own: Own = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 also if a property is still violated.")
    ] = False,
    minimal: Annotated[
        bool,
        typer.Option(
            "--minimal",
            help="Say which of the changes are needed: every set with which all properties hold, and with no smaller one. "
            "Exit codes: 0 there is one, 1 there is none, 3 inconclusive.",
        ),
    ] = False,
    pods: Annotated[
        str | None,
        typer.Option("--pods", metavar="P", help="Over all clusters up to so many pods (with --nodes)."),
    ] = None,
    nodes: Annotated[
        str | None, typer.Option("--nodes", metavar="N", help="Over all clusters up to so many nodes.")
    ] = None,
    output: ComparisonOption = ComparisonForm.text,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    jobs: Jobs = None,
    no_color: NoColor = False,
) -> None:
    if pods is not None or nodes is not None:
        if pods is None or nodes is None:
            raise UsageProblem("--pods and --nodes belong together: give both")
        if minimal or against is not None or scenario or timeout is not None:
            raise UsageProblem(
                "--pods and --nodes ask about all clusters: leave out --scenario, --against, --minimal and --timeout"
            )
        sizes = parse_size("--pods", pods), parse_size("--nodes", nodes)
        budget = budget_of(max_states, None, None, jobs)
        from ..prove import Proof
        from ..verify_clusters import Sides, verify_clusters

        proof = Proof(
            pods=sizes[0],
            nodes=sizes[1],
            release=release,
            with_fixes=with_fix or (),
            properties=property_ or (),
            own=own or (),
            max_states=budget.max_states,
            jobs=budget.jobs,
            no_color=no_color,
        )
        raise typer.Exit(verify_clusters(Sides(proof, changes, strict, output.value)))
    if minimal and (against is not None or strict):
        raise UsageProblem("--minimal compares sets of changes: leave out --against and --strict")
    budget = budget_of(max_states, None, timeout, jobs)
    from ...analysis.execute import Method
    from ...analysis.own.own_properties import own_properties
    from ..minimal import minimal as run_minimal
    from ..verify import Inquiry
    from ..verify import verify as run_verify

    inquiry = Inquiry(
        scenario or (), property_ or (), own_properties(own or ()), strict, output.value, no_color
    )
    if minimal:
        raise typer.Exit(run_minimal(changes, release, with_fix or (), inquiry, budget, Method()))
    raise typer.Exit(run_verify(changes, release, against, with_fix or (), inquiry, budget, Method()))


@app.command(
    help="Compare two releases: which properties hold on one and not on the other.\n\n"
    "Exit codes: 0 all verdicts are the same, 1 one differs, 2 wrong usage or input, 3 inconclusive (a budget ran out)."
)
def diff(
    before: Annotated[str, typer.Option("--before", metavar="X.Y", show_default=False, help="One release.")],
    after: Annotated[str, typer.Option("--after", metavar="X.Y", show_default=False, help="The other.")],
    scenario: Scenarios = None,
    property_: PropertyIds = None,
    own: Own = None,
    output: ComparisonOption = ComparisonForm.text,
    max_states: MaxStates = None,
    timeout: Timeout = None,
    jobs: Jobs = None,
    no_color: NoColor = False,
) -> None:
    budget = budget_of(max_states, None, timeout, jobs)
    from ...analysis.execute import Method
    from ...analysis.own.own_properties import own_properties
    from ..verify import Inquiry
    from ..verify import diff as run_diff

    inquiry = Inquiry(
        scenario or (), property_ or (), own_properties(own or ()), False, output.value, no_color
    )
    raise typer.Exit(run_diff(before, after, inquiry, budget, Method()))
