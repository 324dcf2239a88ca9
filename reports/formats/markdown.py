"""The report in Markdown, for a pull request or the summary of a CI step: a table, then each counterexample with its
drawing, or without one its sequence diagram, and its numbered steps, folded.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from ..ci_outcome import USUAL, Style, issue_link, numbered, subject, vacuity
from ..document import ABOUT, Finding, about_of
from ..filtered import on_one_line, text_filtered
from ..scheduler_version import versions_of
from ..text.table import columns_of
from .mermaid import MOST_LETTERS, diagram

_REFERENCE = re.compile(
    r"(@|#|GH-)(?=\w)", re.IGNORECASE
)  # what GitHub makes of it does not heed backslashes

MARKS = {"passed": "✅", "failed": "❌", "undecided": "⚠️", "known": "📌", "ignored": "➖"}


@text_filtered
def to_markdown(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """The findings as GitHub's Markdown."""
    blocks = ["# podrace", _table(findings, style)]
    blocks += [f"> {plain(line)}" for line in vacuity(findings)]
    blocks += [f"> {plain(note)}" for note in dict.fromkeys(n for f in findings for n in f.notes)]
    blocks += [f"> scheduler {plain(version.words)}" for version in versions_of(f.version for f in findings)]
    if about := about_of(findings):
        blocks += [f"## {ABOUT}", bullets(about)]
    for number, finding in enumerate(findings):
        blocks += _section(finding, style, style.pictures.get(number, ""))
    return "\n\n".join(blocks) + "\n"


def _table(findings: Sequence[Finding], style: Style) -> str:
    columns = columns_of(findings)
    if all(finding.seconds is None for finding in findings):
        del columns["time"]
    marks = (_mark(finding, style) for finding in findings)
    rows = zip(marks, *columns.values(), strict=True)
    return table(["", *columns], ([mark, *map(plain, row)] for mark, *row in rows))


def _mark(finding: Finding, style: Style) -> str:
    """What is vacuous, or says less than was asked, is no success, even where it is no failure."""
    outcome = style.outcome(finding)
    return MARKS["undecided" if finding.qualified and outcome == "passed" else outcome]


def _section(finding: Finding, style: Style, picture: str) -> list[str]:
    blocks = [f"## {_mark(finding, style)} {plain(subject(finding))} {finding.marked}"]
    blocks += [f"*{plain(finding.title)}*"] if finding.title else []
    blocks += [f"**{plain(finding.property)}**: {plain(finding.sentence)}"] if finding.sentence else []
    blocks += [plain(finding.for_users)] if finding.for_users else []
    links = [f"[kubernetes/kubernetes#{n}]({issue_link(n)})" for n in finding.issues]
    blocks += [f"See {', '.join(links)}."] if links else []
    blocks += [plain(finding.words)] if finding.words else []
    return blocks if finding.trace is None else [*blocks, *counterexample(finding, picture)]


def counterexample(finding: Finding, picture: str = "") -> list[str]:
    """The drawing, if there is a file of it, else the sequence diagram; and the steps."""
    blocks = []
    drawn = "" if picture else diagram(finding)
    if picture:
        blocks.append(f"![{plain(subject(finding))}](<{quote(picture)}>)")
    elif len(drawn) <= MOST_LETTERS:
        blocks.append(f"```mermaid\n{drawn}```")
    else:
        blocks.append(f"The sequence diagram of {len(finding.story)} steps is more than Mermaid draws.")
    steps = "\n".join(numbered(finding)) or "violated in the initial state"
    fence = "```"
    while fence in steps:  # as words of the user's own may be
        fence += "`"
    blocks.append(f"<details><summary>The steps</summary>\n\n{fence}text\n{steps}\n{fence}\n\n</details>")
    return blocks


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, of cells that are Markdown already."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))


def bullets(lines: Iterable[str]) -> str:
    """A list of plain lines."""
    return "\n".join(f"- {plain(line)}" for line in lines)


def plain(text: str) -> str:
    """Words that Markdown takes as they are, on one line and in one cell. They mention nobody, refer to nothing and link nowhere."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]<>|~&" else letter for letter in on_one_line(text))
    escaped = escaped.replace("://", "\\://").replace("::", ":\\:").replace("www.", "www\\.")
    return _REFERENCE.sub(r"\1<!-- -->", escaped)
