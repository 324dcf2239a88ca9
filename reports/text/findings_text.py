"""The report for people: the counterexamples and what each HOLDS rests on, then the table and the conclusion."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from rich.console import Console
from rich.text import Text

from ...base.text import counted
from ..ci_outcome import Style, message, outcome_sums, subject, vacuity
from ..document import FROM_CACHE, NOT_MODELLED, Finding, Value, show
from ..scheduler_version import ReadVersion, versions_of
from ..verdict_words import time_words
from .story_text import print_counterexample, print_gist
from .table import VACUOUS_STYLE, VERDICT_STYLES, print_table
from .wrapping import INDENT as INDENT
from .wrapping import print_headed as print_headed
from .wrapping import print_lines as print_lines
from .wrapping import print_wrapped as print_wrapped

Extent = Literal["brief", "usual", "whole"]
"""How much is told: the gist of what is violated; every finding, with counterexamples in prose; or also who knows more than that:
lanes, functions, steps that never ran, what was kept from an earlier search.
"""

NOTHING_CLOSES: Mapping[int, Sequence[str]] = {}


def print_report(
    console: Console,
    findings: Sequence[Finding],
    extent: Extent = "usual",
    closings: Mapping[int, Sequence[str]] = NOTHING_CLOSES,
) -> None:
    """Print what there is to say about these findings; the table and the conclusion come last.

    `closings` has, by the number of a finding, what closes its race.
    """
    if extent == "brief":
        for finding in _first_of_each(findings):
            _print_in_brief(console, finding)
        _print_sums(console, findings, extent)
        return
    scope = None
    for number, finding in enumerate(findings):
        print_heading(console, finding)
        if finding.trace is not None:
            print_counterexample(console, finding, extent == "whole", _closing(finding, closings.get(number)))
        else:
            _print_rest(console, finding, extent, finding.scope == scope)
            scope = finding.scope
        console.print()
    _print_sums(console, findings, extent)


def _closing(finding: Finding, told: Sequence[str] | None) -> Sequence[str]:
    return told or (() if finding.closing is msgspec.UNSET else finding.closing)


def _first_of_each(findings: Sequence[Finding]) -> list[Finding]:
    """Of each scenario the first counterexample: what an overview tells of it."""
    found: dict[str, Finding] = {}
    for finding in findings:
        if finding.trace is not None:
            found.setdefault(finding.scenario, finding)
    return list(found.values())


def _print_sums(console: Console, findings: Sequence[Finding], extent: Extent) -> None:
    if extent != "brief":
        print_versions(console, (finding.version for finding in findings))
    hidden = () if extent == "whole" else (FROM_CACHE,)
    told = _first_of_each(findings) if extent == "brief" else findings
    notes = [f"note: {f.scenario}, {f.label}: {n}" for f in told for n in f.notes if n not in hidden]
    print_lines(console, dict.fromkeys(notes), style="dim")
    timed = findings if extent == "whole" else [_without_kept_time(finding) for finding in findings]
    print_table(console, timed)
    print_lines(console, vacuity(findings), style=VACUOUS_STYLE)
    print_wrapped(console, Text(f"{conclusion(findings, extent)}.", "bold"))


def _without_kept_time(finding: Finding) -> Finding:
    """The finding without the time of a search that another command waited for."""
    return msgspec.structs.replace(finding, seconds=None) if FROM_CACHE in finding.notes else finding


def conclusion(findings: Sequence[Finding], extent: Extent = "usual") -> str:
    """What came out, in one sentence."""
    if findings and all(finding.expected for finding in findings):
        wrong = sum(not finding.as_expected for finding in findings)
        if wrong:
            return f"{wrong} of {counted(len(findings), 'verdict')} NOT as expected"
        said = f"All {len(findings)} verdicts are as expected"
        return f"{said}: each race is there before its fix, not after" if extent == "brief" else said
    words = [finding.marked for finding in findings]
    sums = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    return f"{counted(len(findings), 'verdict')}: {sums}"


def print_versions(
    console: Console, found: Iterable[ReadVersion | msgspec.UnsetType], indent: str = ""
) -> None:
    """Print which versions verdicts are about, and how their sources were read: a line for each."""
    for version in versions_of(found):
        print_wrapped(console, Text(f"scheduler {version.line}", "dim"), indent)


def _print_in_brief(console: Console, finding: Finding) -> None:
    """Print a counterexample in a few lines."""
    _print_first_line(console, finding)
    links = f" ({', '.join(f'#{number}' for number in finding.issues)})" if finding.issues else ""
    if finding.title or links:
        print_wrapped(console, Text(f"{finding.title}{links}", "italic"), INDENT)
    print_gist(console, finding)
    console.print()


def _print_first_line(console: Console, finding: Finding) -> None:
    style = VACUOUS_STYLE if finding.qualified else VERDICT_STYLES[finding.verdict]
    print_headed(console, subject(finding), finding.marked, style)


def _links(finding: Finding) -> str:
    return ", ".join(f"kubernetes/kubernetes#{number}" for number in finding.issues)


def print_heading(console: Console, finding: Finding) -> None:
    """Print what a finding is about, and its verdict."""
    _print_first_line(console, finding)
    if finding.title:
        print_wrapped(console, Text(finding.title, "italic"), INDENT)
    if finding.sentence:
        print_wrapped(console, f"Property {finding.property}: {finding.sentence}", INDENT)
    if finding.for_users:
        print_wrapped(console, finding.for_users, INDENT)
    if finding.issues:
        print_wrapped(console, Text(f"see {_links(finding)}", "dim"), INDENT)


def _print_rest(console: Console, finding: Finding, extent: Extent, again: bool) -> None:
    print_wrapped(console, finding.words, INDENT)
    if finding.verdict == "IGNORED":
        return
    if finding.verdict == "INCONCLUSIVE" and NOT_MODELLED not in finding.scope:
        advice = "To go on, raise --max-states, --max-memory or --timeout, or make the scenario smaller."
        print_wrapped(console, advice, INDENT)
    if finding.scope:
        scope = "the same as above" if again else scope_words(finding.scope)
        print_wrapped(console, f"Scope: {scope}.", INDENT)
    _print_coverage(console, finding, extent)


def _print_coverage(console: Console, finding: Finding, extent: Extent) -> None:
    if finding.witnesses_reached:
        reached = (f"{witness} (after {steps} steps)" for witness, steps in finding.witnesses_reached.items())
        prefix = "Not vacuous" if finding.verdict == "HOLDS" and not finding.vacuous else "Reached on the way"
        print_wrapped(console, f"{prefix}: {'; '.join(reached)}.", INDENT)
    if finding.steps_never_fired and extent == "whole":
        total = len(finding.steps_never_fired) + len(finding.steps_fired)
        never = f"{len(finding.steps_never_fired)} of {total}"
        print_wrapped(
            console, f"Steps that never ran ({never}): {', '.join(finding.steps_never_fired)}.", INDENT
        )


def scope_words(scope: dict[str, Value]) -> str:
    """The bounds that matter: counts that are not 0, and what is switched on or off."""
    shown = []
    for name, value in scope.items():
        words = name.replace("_", " ")
        if name == "time":
            shown.append(time_words(str(scope.get("slow", ""))))
        elif name == "slow":
            continue
        elif isinstance(value, bool):
            shown.append(words if value else f"no {words}")
        elif value:
            shown.append(f"{words} {show(value)}")
    return ", ".join(shown)


def _said_notes(finding: Finding) -> list[str]:
    """What is to be known of a verdict: why nothing tested it, and what was left out; not that it was kept."""
    return [note for note in finding.notes if note != FROM_CACHE]


def _where(finding: Finding) -> str:
    """The line of the file that asks for a verdict."""
    return "" if finding.place is None else f"line {finding.place.line}: "


def print_expectations(
    console: Console, files: Sequence[str], findings: Sequence[Finding], style: Style
) -> None:
    """A line for each verdict below the name of its file, then what is not as expected, then the sums."""
    marks = {
        "passed": ("ok", "green"),
        "failed": ("FAIL", "bold red"),
        "undecided": ("??", "bold yellow"),
        "known": ("known", "yellow"),
    }
    last = ""
    for file, finding in zip(files, findings, strict=True):
        if file != last:
            last = file
            console.print(Text(file, "bold"), soft_wrap=True)
        mark, color = marks.get(style.outcome(finding), ("--", "dim"))
        where = _where(finding) if style.outcome(finding) != "passed" else ""
        label = f"{where}{finding.label}: {finding.property}  "
        line = Text(f"{mark:<4} ", color).append(label, "not bold default")
        print_wrapped(console, line.append(message(finding, style), "not bold default"), "  ")
        for note in _said_notes(finding):
            print_wrapped(console, Text(f"note: {note}", "dim"), "       ")
    wrong = [finding for finding in findings if style.outcome(finding) in ("failed", "undecided")]
    for finding in wrong:
        console.print()
        if finding.trace is not None:
            print_report(console, [finding])
        else:
            print_heading(console, finding)
    console.print()
    print_versions(console, (finding.version for finding in findings))
    print_lines(console, vacuity(findings), style=VACUOUS_STYLE)
    checked = counted(len(set(files)), "file")
    console.print(Text(f"{checked}: {outcome_sums(findings, style)}", "bold"), soft_wrap=True)
