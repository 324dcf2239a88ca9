"""`podrace simulate`: random walks, their report, and the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..analysis.options import UsageProblem
from ..analysis.plan import Run, Selection, plan, refuse_all_ignored
from .check import INCONCLUSIVE, VIOLATED, Output, draw, report, save_traces
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay, short

if TYPE_CHECKING:
    from ..checker.simulate import Walks
    from ..reports.walks import Walked


WALKABLE = ("invariant", "stuck")
"""The kinds of properties that a run of finitely many steps violates."""


def simulate(selection: Selection, walks: Walks, output: Output) -> int:
    """Carry out a whole `podrace simulate`; gives the exit code."""
    output.refuse_unusable()
    planned = plan(selection)
    refuse_all_ignored(planned)
    runs, left_out = _walkable(planned, selection)
    found = [*_walk_all(runs, left_out, walks, output)]
    with tolerant_of_closed_pipes():
        _report(found, output)
    if output.graph is not None:
        draw([walked.finding() for walked in found], output.graph, output.no_color)
    if output.save_trace is not None:
        save_traces(runs, [walked.finding() for walked in found], output.save_trace, output.no_color)
    return VIOLATED if any(walked.verdict == "VIOLATED" for walked in found) else INCONCLUSIVE


def _walkable(runs: Sequence[Run], selection: Selection) -> tuple[list[Run], dict[str, list[str]]]:
    """The runs that walks can do something for, and those that are ignored; of each scenario, also what it asks beside
    these by itself.
    """
    left_out: dict[str, list[str]] = {}
    for run in runs:
        if run.prop.kind in WALKABLE or run.ignored:
            continue
        if selection.properties or selection.own:
            raise UsageProblem(
                f"{run.property} is a {run.prop.kind}, and a walk that ends cannot violate it: use `podrace check`"
            )
        left_out.setdefault(run.scenario.name, []).append(run.property)
    chosen = [run for run in runs if run.prop.kind in WALKABLE or run.ignored]
    for name, properties in left_out.items():
        if not any(run.scenario.name == name and not run.ignored for run in chosen):
            raise UsageProblem(
                f"{name} asks for {', '.join(properties)}, which no walk that ends can violate: "
                "name a safety property (S-...) with --property, or use `podrace check`"
            )
    return chosen, left_out


def _walk_all(
    runs: Sequence[Run], left_out: dict[str, list[str]], walks: Walks, output: Output
) -> Sequence[Walked]:
    from ..analysis.random_walks import ignored, walk

    found = []
    with ProgressDisplay(message_console(output.no_color)) as display:
        for number, run in enumerate(runs, 1):
            if run.ignored:
                found.append(ignored(run, walks))
                continue
            count = f"[{number}/{len(runs)}] " if len(runs) > 1 else ""
            display.start(f"{count}{run.scenario.name} {run.composition.label} {run.property}")

            def watch(done: int, steps: int, seconds: float) -> None:
                speed = short(steps / seconds) if seconds > 0 else "0"
                display.say(f"{done:,} walks  {steps:,} steps  {speed} steps/s  {seconds:.0f} s")

            others = left_out.get(run.scenario.name, [])
            notes = (
                (f"left to `podrace check`, since no walk that ends violates it: {', '.join(others)}",)
                if others
                else ()
            )
            found.append(walk(run, walks, notes, watch))
    return found


def _report(found: Sequence[Walked], output: Output) -> None:
    from ..reports.walks import print_walks, walks_to_json

    if output.form == "json":
        sys.stdout.write(walks_to_json(found if output.timings else [walked.untimed() for walked in found]))
    elif output.form != "text":
        report([walked.finding() for walked in found], output)
    else:
        print_walks(result_console(output.no_color), found)
