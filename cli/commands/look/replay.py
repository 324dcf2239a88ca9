"""`podrace replay`: a stored trace, executed again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ...configuration import arguments as arg
from ...configuration.app import app
from ...terminal.console import print_answer
from ...terminal.output import say

if TYPE_CHECKING:
    from rich.console import Console

    from ....analysis.stored.replayed import Replayed

VIOLATES, GONE = 0, 1


@app.command(
    help="Execute a stored counterexample again, step by step, in the reference interpreter.\n\n"
    "Exit codes: 0 the run is possible and violates the property, 1 it is no longer possible or no longer violates the property, "
    "2 the trace cannot be read."
)
def replay(
    trace: Path,
    own: list[str] | None = None,
    patch: list[str] | None = None,
    output: arg.Form = "text",
    verbose: bool = False,
    no_color: bool = False,
) -> None:
    from ....analysis.request.own_properties import own_properties
    from ....analysis.request.patches import patches_of
    from ....analysis.stored.replayed import read_trace, replayed

    patches = patches_of(patch or ())
    found = replayed(read_trace(trace), own_properties(own or ()), str(trace), patches)
    for remark in found.caveats(trace):
        say(remark, no_color)
    forms = {"json": partial(_json, trace=trace)}
    print_answer(found, output, no_color, partial(_print, whole=verbose), forms)
    raise typer.Exit(VIOLATES if found.violated else GONE)


def _print(console: Console, found: Replayed, whole: bool) -> None:
    from rich.text import Text

    from ....reports.text.findings_text import print_heading, print_wrapped
    from ....reports.text.lanes_text import print_lanes
    from ....reports.text.story_text import print_counterexample, print_sentences

    if found.violated:
        finding = found.finding()
        print_heading(console, finding)
        print_counterexample(console, finding, whole)
        return
    run = found.run
    print_wrapped(console, Text(f"{run.scenario.name}, {run.composition.label}: {run.property}", "bold"))
    if found.steps:
        console.print()
        if whole:
            print_lanes(console, found.steps, found.remarks)
        else:
            print_sentences(console, found.steps, found.remarks)
        console.print()
    print_wrapped(console, Text(f"GONE: {found.why_not}", "bold red"))


def _json(found: Replayed, trace: Path) -> str:
    from ....analysis.findings import fixes_of
    from ....reports.answers.replay_report import ReplayAnswer
    from ....reports.filtered import to_json

    finding = found.finding() if found.violated else None
    return to_json(
        ReplayAnswer(
            trace=str(trace),
            scenario=found.run.scenario.name,
            release=found.release,
            fixes=fixes_of(found.run.composition),
            property=found.run.property,
            verdict="VIOLATED" if found.violated else "GONE",
            words=found.why_not if finding is None else finding.words,
            changed=found.changed,
            steps=found.steps,
            finding=finding,
        )
    )
