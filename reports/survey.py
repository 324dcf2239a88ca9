"""What `podrace prove` says: the verdict on all clusters up to a size, and on what it rests."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .document import Finding, Value
from .text.findings import INDENT, print_wrapped, scope_words
from .text.lanes import print_lanes
from .text.table import VERDICT_STYLES

STYLES = {**VERDICT_STYLES, "HOLDS FOR ALL": VERDICT_STYLES["HOLDS"]}


class Row(msgspec.Struct, frozen=True):
    """The clusters of one template: how many can be told apart, up to proved renamings, and what came out."""

    pods: int
    nodes: int
    placement: str
    clusters: int
    explored: int
    states: int
    violated: int
    inconclusive: int


class Group(msgspec.Struct, frozen=True):
    """Clusters whose shortest counterexamples take the same steps; `example` is the simplest of them, in words.

    `finding` is its verdict by itself, as `podrace check` gives it for `scenario`, the text of a scenario file.
    """

    clusters: int
    example: str
    steps: int
    scenario: str
    finding: Finding | None = None


class Survey(msgspec.Struct, frozen=True):
    """The verdict on one property of all clusters up to a size."""

    property: str
    release: str
    verdict: str
    pods: int
    nodes: int
    clusters: int
    explored: int
    states: int
    transitions: int
    depth: int
    violated: int
    inconclusive: int
    seconds: float
    covers: str
    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    sentence: str = ""
    scope: dict[str, Value] = {}
    constraints_hit: tuple[str, ...] = ()
    witnesses_reached: tuple[str, ...] = ()
    witnesses_missed: tuple[str, ...] = ()
    steps_never_fired: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @builtins.property
    def vacuous(self) -> bool:
        """Whether it holds, but some witness was reached in no cluster."""
        return self.verdict == "HOLDS FOR ALL" and bool(self.witnesses_missed)


def to_json(surveys: Sequence[Survey]) -> str:
    """The surveys as JSON, indented, with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(list(surveys)), indent=2).decode() + "\n"


def print_survey(console: Console, survey: Survey, most: int = 3) -> None:
    """Print a survey; of the groups, the `most` simplest with their counterexamples."""
    heading = Text(f"{survey.property} on {survey.release}, up to {size(survey)}: ", "bold")
    print_wrapped(console, heading.append(survey.verdict, STYLES[survey.verdict]))
    if survey.sentence:
        print_wrapped(console, Text(survey.sentence), INDENT)
    print_wrapped(console, Text(verdict_words(survey)), INDENT)
    print_wrapped(console, Text(f"Covers {survey.covers}."), INDENT)
    print_wrapped(console, Text(f"Scope: {scope_words(survey.scope)}."), INDENT)
    if survey.constraints_hit:
        print_wrapped(console, Text(f"Bounds that were hit: {', '.join(survey.constraints_hit)}."), INDENT)
    if survey.witnesses_reached:
        prefix = "Not vacuous" if survey.verdict == "HOLDS FOR ALL" and not survey.vacuous else "Reached"
        print_wrapped(console, Text(f"{prefix}: {'; '.join(survey.witnesses_reached)}."), INDENT)
    if survey.witnesses_missed:
        print_wrapped(console, Text(f"Reached in no cluster: {'; '.join(survey.witnesses_missed)}."), INDENT)
    if survey.steps_never_fired:
        print_wrapped(console, Text(f"Steps that never ran: {', '.join(survey.steps_never_fired)}."), INDENT)
    for note in survey.notes:
        print_wrapped(console, Text(f"note: {note}", "dim"), INDENT)
    console.print()
    _print_rows(console, survey)
    for number, group in enumerate(survey.groups, 1):
        if number > most:
            left = len(survey.groups) - most
            print_wrapped(console, Text(f"{left} more {_plural(left, 'group')}: see -o json or --examples"))
            break
        console.print()
        _print_group(console, number, group)


def size(survey: Survey) -> str:
    """For example `3 pods and 2 nodes`."""
    return f"{survey.pods} {_plural(survey.pods, 'pod')} and {survey.nodes} {_plural(survey.nodes, 'node')}"


def verdict_words(survey: Survey) -> str:
    """What the verdict rests on, in a sentence or two."""
    told = f"{survey.clusters:,} {_plural(survey.clusters, 'cluster')} can be told apart"
    if survey.explored != survey.clusters:
        told += f", {survey.explored:,} up to renaming"
    searched = (
        f"{survey.states:,} states and {survey.transitions:,} transitions in all, {survey.depth} steps deep"
    )
    if survey.verdict == "HOLDS FOR ALL":
        return f"{told}; each was explored to the end: {searched}."
    violating = f"{survey.violated:,} of them {'is' if survey.violated == 1 else 'are'} violating"
    if survey.verdict == "VIOLATED":
        more = f"; {survey.inconclusive:,} could not be decided" if survey.inconclusive else ""
        return f"{told}; {violating}{more} ({searched})."
    return f"{told}; {survey.inconclusive:,} could not be decided within the budget, in the others it holds ({searched})."


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _print_rows(console: Console, survey: Survey) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("pods", "nodes"):
        table.add_column(name, justify="right")
    table.add_column("at the start")
    for name in ("clusters", "explored", "states", "violating", "undecided"):
        table.add_column(name, justify="right")
    for r in survey.rows:
        counts = (r.clusters, r.explored, r.states, r.violated, r.inconclusive)
        table.add_row(str(r.pods), str(r.nodes), r.placement, *(f"{n:,}" for n in counts))
    console.print(table)


def _print_group(console: Console, number: int, group: Group) -> None:
    what = f"{group.clusters:,} {_plural(group.clusters, 'cluster')}, {group.steps} steps"
    print_wrapped(console, Text(f"Group {number}: {what}; the simplest: {group.example}", "bold"))
    if group.finding is not None and group.finding.story:
        console.print()
        print_lanes(console, group.finding.story, group.finding.remarks)
