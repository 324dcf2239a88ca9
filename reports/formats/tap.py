"""TAP, version 14 (testanything.org): a test point per finding; what is undecided is `not ok`, never a skip,
and what the scenario ignores is a skip with its reason. What it ignores for single pods is said in a comment."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..document import Finding
from ..outcome import USUAL, Style, message, numbered, subject


def to_tap(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """The findings as a TAP stream; what did not pass carries its details as YAML."""
    lines = ["TAP version 14", f"1..{len(findings)}"]
    for number, finding in enumerate(findings, 1):
        if style.outcome(finding) == "ignored":
            lines.append(f"ok {number} - {_escaped(subject(finding))} # SKIP {_escaped(finding.words)}")
            continue
        passed = style.outcome(finding) == "passed"
        lines.append(f"{'ok' if passed else 'not ok'} {number} - {_escaped(subject(finding))}")
        if not passed:
            lines += _details(finding, style)
        elif finding.silenced:
            lines.append(f"# {_escaped(message(finding))}")
    return "".join(f"{line}\n" for line in lines)


def _details(finding: Finding, style: Style) -> list[str]:
    lines = ["---", f"message: {_quoted(message(finding))}", f"outcome: {style.outcome(finding)}"]
    if finding.place is not None:
        lines += ["at:", f"  file: {_quoted(finding.place.file)}", f"  line: {finding.place.line}"]
    steps = numbered(finding)
    if steps:
        lines += ["steps:", *(f"  - {_quoted(step)}" for step in steps)]
    return [f"  {line}" for line in (*lines, "...")]


def _escaped(text: str) -> str:
    """A description: `#` begins a directive, and a backslash escapes it."""
    return " ".join(text.replace("\\", "\\\\").replace("#", "\\#").split())


def _quoted(text: str) -> str:
    """A YAML scalar; JSON's strings are YAML's."""
    return json.dumps(text, ensure_ascii=False)
