"""The forms of what a log says, by the name that `-o` knows. `text` is fitted to the terminal, and no part of these."""

from collections.abc import Callable, Mapping

from ..audit_report import Answer, AuditReport, account_lines, deciding, gravest_first
from ..filtered import text_filtered, to_json
from ..html.audit_page import to_html
from .markdown import MARKS, bullets, plain, table


def _told(answer: Answer) -> list[str]:
    return [line for hit in answer.hits for line in (f"{hit.time}: {hit.words}", *hit.explained)]


OUTCOMES = {"HIT": "failed", "NOT EXCLUDED": "undecided", "EXCLUDED": "passed"}
MOST_TOLD = 20
"""So many violations of a property are told in Markdown."""


@text_filtered
def to_markdown(report: AuditReport) -> str:
    """As GitHub's Markdown: a table, then what was hit and what is not excluded."""
    answers = gravest_first(report)
    rows = ([MARKS[OUTCOMES[a.verdict]], a.property, a.headline, plain(a.sentence)] for a in answers)
    blocks = ["# podrace audit", table(["", "property", "answer", ""], rows)]
    for answer in answers:
        told = [*_told(answer)[:MOST_TOLD], *answer.reasons]
        if len(answer.hits) > MOST_TOLD:
            told.append(f"{len(answer.hits):,} violations in all")
        if told:
            blocks += [f"## {MARKS[OUTCOMES[answer.verdict]]} {answer.property} {answer.headline}"]
            blocks += [bullets(told)]
    if remedies := deciding(report):
        deciders = ([plain(remedy), ", ".join(properties)] for remedy, properties in remedies.items())
        blocks += [table(["what would decide the open answers", "of"], deciders)]
    if report.signs:
        blocks += ["## Signs, which decide nothing", bullets(report.signs[:MOST_TOLD])]
    blocks += ["\n".join(f"> {plain(line)}" for line in account_lines(report))]
    return "\n\n".join(blocks) + "\n"


FORMS: Mapping[str, Callable[[AuditReport], str]] = {
    "json": to_json,
    "html": to_html,
    "markdown": to_markdown,
}
"""Every form but `text`."""
