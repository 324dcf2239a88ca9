"""The report for people: the table, then the counterexamples, then what each HOLDS rests on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from .document import Finding, Value, show
from .lanes import print_lanes
from .table import VERDICT_STYLES, print_table
from .vocabulary import PLAIN, Vocabulary

INDENT = "  "


def print_report(console: Console, findings: Sequence[Finding], vocabulary: Vocabulary = PLAIN) -> None:
    """Print everything that there is to say about these findings."""
    print_table(console, findings)
    for finding in findings:
        for note in finding.notes:
            _print(console, Text(f"note: {finding.scenario}, {finding.label}: {note}", "dim"))
    for finding in findings:
        console.print()
        _print_heading(console, finding)
        if finding.verdict == "VIOLATED":
            _print_violation(console, finding, vocabulary)
        elif finding.verdict == "HOLDS":
            _print_holds(console, finding)
        else:
            _print_inconclusive(console, finding)


def _print(console: Console, text: Text, indent: str = "") -> None:
    for line in text.wrap(console, max(console.width - len(indent), 20)):
        line.rstrip()
        console.print(Text(indent).append_text(line), soft_wrap=True)


def _print_heading(console: Console, finding: Finding) -> None:
    heading = Text(f"{finding.scenario}, {finding.label}: {finding.property} ", "bold")
    _print(console, heading.append(finding.verdict, VERDICT_STYLES[finding.verdict]))
    if finding.title:
        _print(console, Text(finding.title, "italic"), INDENT)
    if finding.sentence:
        _print(console, Text(f"{finding.property}: {finding.sentence}"), INDENT)
    if finding.issues:
        links = ", ".join(f"kubernetes/kubernetes#{number}" for number in finding.issues)
        _print(console, Text(f"see {links}", "dim"), INDENT)


def _print_violation(console: Console, finding: Finding, vocabulary: Vocabulary) -> None:
    steps = finding.trace or ()
    console.print()
    print_lanes(console, steps, vocabulary)
    console.print()
    if not steps:
        end = "The initial state already violates it"
    elif finding.trap is None:
        end = f"After step {len(steps)} the property is violated"
    else:
        reached = f"{'' if finding.trap.complete else 'more than '}{finding.trap.states:,}"
        end = (
            f"After step {len(steps)} there is no way out: whatever the order in which the fair actors go on, none of the "
            f"{reached} states that they can reach satisfies the property"
        )
    _print(console, Text(f"{end}. No shorter interleaving does this.", "bold"), INDENT)


def _print_holds(console: Console, finding: Finding) -> None:
    _print(
        console,
        Text(
            f"Every interleaving in this scope was explored: {finding.states:,} states, {finding.transitions:,} "
            f"transitions, depth {finding.depth}."
        ),
        INDENT,
    )
    _print_scope(console, finding)
    if finding.vacuous:
        _print(
            console,
            Text("Vacuous: no state in which the property says something was reached.", "bold yellow"),
            INDENT,
        )
    _print_coverage(console, finding)


def _print_inconclusive(console: Console, finding: Finding) -> None:
    _print(console, Text(finding.reason or "A budget ran out."), INDENT)
    _print(
        console,
        Text(
            f"Covered without a violation: {finding.states:,} states, {finding.transitions:,} transitions, down to depth "
            f"{finding.depth}. To go on, raise --max-states, --max-memory or --timeout, or make the scenario smaller."
        ),
        INDENT,
    )
    _print_scope(console, finding)
    _print_coverage(console, finding)


def _print_scope(console: Console, finding: Finding) -> None:
    if finding.scope:
        _print(console, Text(f"Scope: {scope_words(finding.scope)}."), INDENT)
    if finding.bounds_hit:
        _print(console, Text(f"Bounds hit, part of the scope: {'; '.join(finding.bounds_hit)}."), INDENT)


def _print_coverage(console: Console, finding: Finding) -> None:
    if finding.goals_reached:
        _print(console, Text(f"Reached on the way: {'; '.join(finding.goals_reached)}."), INDENT)
    if finding.goals_missed:
        _print(console, Text(f"Never reached: {'; '.join(finding.goals_missed)}.", "yellow"), INDENT)
    if finding.steps_never_fired:
        total = len(finding.steps_never_fired) + len(finding.steps_fired)
        never = f"{len(finding.steps_never_fired)} of {total}"
        _print(
            console, Text(f"Steps that never ran ({never}): {', '.join(finding.steps_never_fired)}."), INDENT
        )


def scope_words(scope: dict[str, Value]) -> str:
    """The bounds that matter: counts that are not 0, and what is switched on or off."""
    shown = []
    for name, value in scope.items():
        words = name.replace("_", " ")
        if isinstance(value, bool):
            shown.append(words if value else f"no {words}")
        elif value:
            shown.append(f"{words} {show(value)}")
    return ", ".join(shown)
