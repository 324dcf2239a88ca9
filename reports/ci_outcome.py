"""What a finding means where a yes or a no is needed: the words of the CI formats and of the exit code."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, get_args

from ..base.structs import Data
from ..base.text import counted
from .document import Finding

Outcome = Literal["passed", "failed", "undecided", "known", "ignored"]

_ALWAYS = ("passed", "failed", "undecided")
"""Outcomes that are counted even where there is none."""


class Style(Data):
    """What a report needs to know beside its findings: its words, the version of podrace, whether a property that
    holds only because nothing tested it counts as failed, and where the drawings of counterexamples are, by the number of the finding.
    """

    version: str = "0"
    vacuous_fails: bool = False
    pictures: Mapping[int, str] = field(default_factory=dict)

    def outcome(self, finding: Finding) -> Outcome:
        """Failed: violated, or not as expected where that is known. Undecided and ignored never count as passed, nor do violations that a baseline lists."""
        if finding.verdict == "IGNORED":
            return "ignored"
        if finding.verdict == "INCONCLUSIVE":
            return "undecided"
        if finding.known:
            return "known"
        if self.vacuous_fails and finding.qualified:
            return "failed"
        if finding.expected is None:
            return "failed" if finding.verdict == "VIOLATED" else "passed"
        return "passed" if finding.as_expected else "failed"


USUAL = Style()
"""No words, no demands."""


def subject(finding: Finding) -> str:
    """What a finding is about, for example `nominated-node-race, 1.13 + 72259: S-NOM`."""
    return f"{finding.scenario}, {finding.label}: {finding.property}"


def message(finding: Finding, style: Style = USUAL) -> str:
    """The verdict with what it rests on, and what was expected if that is not what came out, or is vacuous where that fails."""
    words = finding.words
    if not words.lower().startswith(finding.verdict.lower()):
        words = f"{finding.verdict}: {words}" if words else finding.verdict
    wanted = f"{finding.expected}"
    if finding.expected_steps is not None:
        wanted += f" after {counted(finding.expected_steps, 'step')}"
    expected = f" As expected: {wanted}." if finding.as_expected else f" Expected: {wanted}."
    if style.vacuous_fails and finding.qualified:
        tests = "something tests it" if finding.vacuous else "all that is asked for acts"
        expected = f" Expected: {wanted}, and that {tests}."
    return words if finding.expected is None else f"{words}{expected}"


def where_told(finding: Finding) -> tuple[str, int] | None:
    """File and line for a message to people: where something else was expected, that line, for there one of the two is wrong."""
    if finding.place is not None and finding.expected is not None:
        return finding.place.spot()
    return finding.spot


def vacuity(findings: Sequence[Finding]) -> list[str]:
    """How many of the verdicts say nothing, and how many less than was asked, a line each; none where all say what was asked."""
    what = counted(len(findings), "verdict")
    vacuous = sum(finding.vacuous for finding in findings)
    idle = sum(finding.qualified and not finding.vacuous for finding in findings)
    reason = "no run tested the property, so it is no evidence"
    less = "something that the scenario asks for never took a step"
    told = [f"vacuous: {vacuous} of {what}: {reason}"] if vacuous else []
    told += [f"never acted: {idle} of {what}: {less}"] if idle else []
    return [f"{line}; with --fail-on-vacuous, the exit code is 1" for line in told]


def outcome_sums(findings: Sequence[Finding], style: Style) -> str:
    """How many findings have each outcome."""
    outcomes = [style.outcome(finding) for finding in findings]
    told = [word for word in get_args(Outcome) if word in (*_ALWAYS, *outcomes)]
    return ", ".join(f"{outcomes.count(word)} {word}" for word in told)


def numbered(finding: Finding) -> list[str]:
    """The steps of the counterexample, a sentence and a line each, with the remarks between them."""
    lines = []
    remarks = finding.remarks
    for step in finding.story:
        if step.number in remarks:
            lines.append(remarks[step.number])
        lines.append(f"{step.number}. {step.sentence}")
    end = len(finding.story) + 1
    return [*lines, remarks[end]] if end in remarks else lines


def issue_link(number: int) -> str:
    """The page of an upstream issue."""
    return f"https://github.com/kubernetes/kubernetes/issues/{number}"


def grouped(findings: Sequence[Finding]) -> dict[tuple[str, str], list[Finding]]:
    """The findings by scenario and release with fixes, in the order of the first of each."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.scenario, finding.label), []).append(finding)
    return found
