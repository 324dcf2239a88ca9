"""`podrace lockstep` for people: how many runs, what differs, by cause, and which steps were taken how often."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..lockstep import Lockstep
from .findings_text import INDENT, print_headed, print_lines, print_wrapped
from .reproduction_text import stand_ins
from .tours_text import STYLES

RAREST = 8
"""How many of the rarest steps are named."""


def print_lockstep(console: Console, found: Sequence[Lockstep]) -> None:
    """Print what came of the runs on each version."""
    for one in found:
        print_headed(console, f"{one.scheduler}: {one.runs:,} runs", one.verdict, STYLES[one.verdict])
        words = f"{one.steps:,} steps compared in {one.clusters:,} clusters, seed {one.seed}, {one.seconds:,.0f} s."
        if one.causes:
            words += f" {one.differing:,} runs differ:"
        print_wrapped(console, words, INDENT)
        if one.own:
            print_wrapped(console, one.own, INDENT)
        for cause in one.causes:
            print_wrapped(console, f"{cause.runs:,} {cause.name}", INDENT)
            stored = f", {cause.trace}" if cause.trace else ""
            stopped = ", not shrunk to the end: time was up" if cause.stopped else ""
            example = f"{cause.words} ({cause.steps} steps{stored}{stopped})"
            print_wrapped(console, Text(example, "dim"), 2 * INDENT)
        rare = sorted(one.taken.items(), key=lambda item: (item[1], item[0]))[:RAREST]
        told = ", ".join(f"{name} {count:,}" for name, count in rare)
        print_wrapped(console, Text(f"Rarest steps: {told}", "dim"), INDENT)
        print_lines(console, stand_ins(one.instead), INDENT, style="dim")
        if one.never:
            print_wrapped(console, Text(f"Never taken: {', '.join(one.never)}", "dim"), INDENT)
