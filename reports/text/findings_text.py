"""The report for people: the table, then the counterexamples, then what each HOLDS rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from ...checker.core.result import counted
from ..ci_outcome import Style, message, vacuity
from ..document import Finding, Value, show
from ..scheduler_version import ReadVersion, versions_of
from .lanes_text import print_lanes
from .table import VACUOUS_STYLE, VERDICT_STYLES, print_table

INDENT = "  "


def print_report(console: Console, findings: Sequence[Finding]) -> None:
    """Print everything that there is to say about these findings."""
    print_table(console, findings)
    for line in vacuity(findings):
        print_wrapped(console, Text(line, VACUOUS_STYLE))
    print_versions(console, (finding.version for finding in findings))
    notes = [f"note: {f.scenario}, {f.label}: {note}" for f in findings for note in f.notes]
    for line in dict.fromkeys(notes):
        print_wrapped(console, Text(line, "dim"))
    for finding in findings:
        console.print()
        print_heading(console, finding)
        if finding.verdict == "VIOLATED":
            _print_violation(console, finding)
        else:
            _print_rest(console, finding)


def print_versions(
    console: Console, found: Iterable[ReadVersion | msgspec.UnsetType], indent: str = ""
) -> None:
    """Print which versions verdicts are about, and how their sources were read: a line for each."""
    for version in versions_of(found):
        print_wrapped(console, Text(f"scheduler {version.line}", "dim"), indent)


def print_wrapped(console: Console, text: Text, indent: str = "") -> None:
    """Print a paragraph, fitted to the console's width."""
    for line in text.wrap(console, max(console.width - len(indent), 20)):
        line.rstrip()
        console.print(Text(indent).append_text(line), soft_wrap=True)


def print_heading(console: Console, finding: Finding) -> None:
    """Print what a finding is about, and its verdict."""
    heading = Text(f"{finding.scenario}, {finding.label}: {finding.property} ", "bold")
    style = VACUOUS_STYLE if finding.vacuous else VERDICT_STYLES[finding.verdict]
    print_wrapped(console, heading.append(finding.marked, style))
    if finding.title:
        print_wrapped(console, Text(finding.title, "italic"), INDENT)
    if finding.sentence:
        print_wrapped(console, Text(f"{finding.property}: {finding.sentence}"), INDENT)
    if finding.issues:
        links = ", ".join(f"kubernetes/kubernetes#{number}" for number in finding.issues)
        print_wrapped(console, Text(f"see {links}", "dim"), INDENT)


def _print_violation(console: Console, finding: Finding) -> None:
    console.print()
    if finding.story:
        print_lanes(console, finding.story, finding.remarks)
        console.print()
    print_wrapped(console, Text(finding.words, "bold"), INDENT)
    if finding.lasso is not None:
        if finding.lasso.acts:
            print_wrapped(console, Text(f"In every round act: {', '.join(finding.lasso.acts)}."), INDENT)
        if finding.lasso.rests:
            rest = f"Not always with something to do: {', '.join(finding.lasso.rests)}."
            print_wrapped(console, Text(rest), INDENT)


def _print_rest(console: Console, finding: Finding) -> None:
    print_wrapped(console, Text(finding.words), INDENT)
    if finding.verdict == "IGNORED":
        return
    if finding.verdict == "INCONCLUSIVE":
        advice = "To go on, raise --max-states, --max-memory or --timeout, or make the scenario smaller."
        print_wrapped(console, Text(advice), INDENT)
    _print_scope(console, finding)
    _print_coverage(console, finding)


def _print_scope(console: Console, finding: Finding) -> None:
    if finding.scope:
        print_wrapped(console, Text(f"Scope: {scope_words(finding.scope)}."), INDENT)


def _print_coverage(console: Console, finding: Finding) -> None:
    if finding.witnesses_reached:
        reached = (f"{witness} (after {steps} steps)" for witness, steps in finding.witnesses_reached.items())
        prefix = "Not vacuous" if finding.verdict == "HOLDS" and not finding.vacuous else "Reached on the way"
        print_wrapped(console, Text(f"{prefix}: {'; '.join(reached)}."), INDENT)
    if finding.steps_never_fired:
        total = len(finding.steps_never_fired) + len(finding.steps_fired)
        never = f"{len(finding.steps_never_fired)} of {total}"
        print_wrapped(
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


def print_expectations(
    console: Console, files: Sequence[str], findings: Sequence[Finding], style: Style
) -> None:
    """A line for each verdict below the name of its file, then what is not as expected, then the sums."""
    marks = {"passed": ("ok", "green"), "failed": ("FAIL", "bold red"), "undecided": ("??", "bold yellow")}
    last = ""
    for file, finding in zip(files, findings, strict=True):
        if file != last:
            last = file
            console.print(Text(file, "bold"), soft_wrap=True)
        mark, color = marks.get(style.outcome(finding), ("--", "dim"))
        line = Text(f"{mark:<5}", color).append(f"{finding.label}: {finding.property}  ", "not bold default")
        print_wrapped(console, line.append(message(finding), "not bold default"), "  ")
    wrong = [finding for finding in findings if style.outcome(finding) in ("failed", "undecided")]
    for finding in wrong:
        console.print()
        if finding.trace is not None:
            print_report(console, [finding])
        else:
            print_heading(console, finding)
    outcomes = [style.outcome(finding) for finding in findings]
    words = ("passed", "failed", "undecided", *(("ignored",) if "ignored" in outcomes else ()))
    sums = ", ".join(f"{outcomes.count(word)} {word}" for word in words)
    console.print()
    print_versions(console, (finding.version for finding in findings))
    checked = counted(len(set(files)), "file")
    console.print(Text(f"{checked}: {sums}", "bold"), soft_wrap=True)
