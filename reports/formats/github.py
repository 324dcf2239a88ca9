"""Workflow commands of GitHub Actions: an annotation at the scenario for every finding that is not as it should be.

GitHub shows the title and the message beside the file in a pull request. The picture goes into the step summary, which
is the Markdown report.
"""

from collections.abc import Sequence

from ..ci_outcome import USUAL, Style, message, numbered, outcome_sums, subject, where_told
from ..document import ABOUT, FROM_CACHE, Finding, about_of
from ..filtered import text_filtered, without_brackets
from ..scheduler_version import in_part


@text_filtered
def to_annotations(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """One workflow command per line: an error, a warning, or a notice of what passed but is worth a look."""
    told = [
        f
        for f in findings
        if style.outcome(f) != "passed" or f.verdict == "VIOLATED" or f.qualified or f.silenced
    ]
    commands = "".join(f"{_command(finding, style)}\n" for finding in told)
    return commands + _account(findings) + _total(findings, style)


def _command(finding: Finding, style: Style) -> str:
    outcome = style.outcome(finding)
    level = {"failed": "error", "undecided": "warning"}.get(outcome, "notice")
    spot = where_told(finding)
    where = {"file": spot[0], "line": str(spot[1])} if spot else {}
    properties = {**where, "title": f"{subject(finding)} {finding.marked}"}
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    notes = [f"note: {note}" for note in finding.notes if note != FROM_CACHE]
    if finding.vacuous:
        missed = f": never reached: {'; '.join(finding.witnesses_missed)}" if finding.witnesses_missed else ""
        notes.insert(0, f"vacuous{missed}")
    lines = [message(finding, style)]
    if outcome in ("failed", "undecided"):
        lines += [*([finding.sentence] if finding.sentence else []), *numbered(finding)]
    text = "\n".join([*lines, *notes])
    return f"::{level} {shown}::{_data(text)}"


def _account(findings: Sequence[Finding]) -> str:
    """What of Kubernetes objects was kept, left out and abstracted, as one notice; another one if the model has a version in part."""
    told = {ABOUT: about_of(findings), "scheduler": in_part(f.version for f in findings)}
    return "".join(
        f"::notice title={_property(title)}::{_data(chr(10).join(lines))}\n"
        for title, lines in told.items()
        if lines
    )


def _total(findings: Sequence[Finding], style: Style) -> str:
    return f"podrace: {outcome_sums(findings, style)}\n"


def _data(text: str) -> str:
    """A message as the runner reads it."""
    return without_brackets(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The value of a property as the runner reads it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
