"""The report of `podrace synthesize`: each cluster that was found with its counterexample, and how far the search went."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from .document import Finding
from .text.findings import INDENT, print_heading, print_wrapped
from .text.lanes import print_lanes
from .text.table import VERDICT_STYLES, seconds


def print_example(console: Console, finding: Finding, cluster: Sequence[str]) -> None:
    """Print a cluster that breaks a property, as a scenario writes it, and the run that does so."""
    print_heading(console, finding)
    console.print()
    for line in cluster:
        console.print(Text(INDENT + line, "cyan"), soft_wrap=True)
    console.print()
    print_lanes(console, finding.story)
    console.print()
    print_wrapped(console, Text(finding.words, "bold"), INDENT)
    console.print()


def print_coverage(console: Console, finding: Finding) -> None:
    """Print what is known where no (further) cluster was found."""
    heading = Text(f"{finding.label}: {finding.property} ", "bold")
    print_wrapped(console, heading.append(finding.verdict, VERDICT_STYLES[finding.verdict]))
    print_wrapped(console, Text(f"{finding.words} ({seconds(finding.seconds)})"), INDENT)
    for note in finding.notes:
        print_wrapped(console, Text(f"note: {note}", "dim"), INDENT)
