"""`podrace replay`: a stored trace, executed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.text import Text

from ..analysis.execute import steps_of
from ..analysis.stored.replayed import Replayed, read_trace, replayed
from ..model.history import Patch
from ..properties import Property
from ..reports.text.findings import print_wrapped
from ..reports.text.lanes import print_lanes
from .console import message_console, result_console

VIOLATES, GONE = 0, 1


def replay(
    path: Path, own: Mapping[str, type[Property]], no_color: bool, patches: Sequence[Patch] = ()
) -> int:
    """Print the steps that could be executed, and what they show; gives the exit code. Raises TraceProblem."""
    found = replayed(read_trace(path), own, str(path), patches)
    warn_of_change(found, path, no_color)
    console = result_console(no_color)
    run = found.run
    print_wrapped(console, Text(f"{run.scenario.name}, {run.composition.label}: {run.property}", "bold"))
    steps = steps_of(found.system, found.trace)
    if steps:
        console.print()
        print_lanes(console, steps, found.remarks)
        console.print()
    if not found.violated:
        print_wrapped(console, Text(f"GONE: {found.obstacle}", "bold red"))
        return GONE
    print_wrapped(console, Text(found.words, "bold"))
    return VIOLATES


def warn_of_change(found: Replayed, path: Path, no_color: bool) -> None:
    """Say it if the model is another one than the trace was found in."""
    if found.changed:
        text = f"{path}: the model has changed since this was stored (another fingerprint); the steps below are today's"
        message_console(no_color).print(text, soft_wrap=True)
