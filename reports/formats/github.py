"""Workflow commands of GitHub Actions: an annotation at the scenario for every finding that is not as it should be.

GitHub shows the title and the message beside the file in a pull request. The picture goes into the step summary, which
is the Markdown report.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ci_outcome import USUAL, Style, message, numbered, subject
from ..document import Finding
from ..filtered import text_filtered


@text_filtered
def to_annotations(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """One workflow command per line: an error, a warning, or a notice of what passed but is worth a look."""
    told = [
        f
        for f in findings
        if style.outcome(f) != "passed" or f.verdict == "VIOLATED" or f.vacuous or f.silenced
    ]
    return "".join(f"{_command(finding, style)}\n" for finding in told) + _total(findings, style)


def _command(finding: Finding, style: Style) -> str:
    outcome = style.outcome(finding)
    level = {"failed": "error", "undecided": "warning", "passed": "notice", "ignored": "notice"}[outcome]
    where = {"file": finding.spot[0], "line": str(finding.spot[1])} if finding.spot else {}
    properties = {**where, "title": f"{subject(finding)} {finding.headline}"}
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    lines = [message(finding, style), *([finding.sentence] if finding.sentence else []), *numbered(finding)]
    text = lines[0] if outcome in ("passed", "ignored") else "\n".join(lines)
    return f"::{level} {shown}::{_data(text)}"


def _total(findings: Sequence[Finding], style: Style) -> str:
    outcomes = [style.outcome(finding) for finding in findings]
    words = ("passed", "failed", "undecided", *(("ignored",) if "ignored" in outcomes else ()))
    counts = ", ".join(f"{outcomes.count(word)} {word}" for word in words)
    return f"podrace: {counts}\n"


def _data(text: str) -> str:
    """A message as the runner reads it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The value of a property as the runner reads it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
