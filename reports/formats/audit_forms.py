"""The forms of what a log says, by the name that `-o` knows. `text` is fitted to the terminal, and no part of these.

JUnit has a case for each property: what is hit has failed, what is not excluded is an error, never a skipped case. SARIF has a result for each
violation, of kind `fail`, and one of kind `open` for what is not excluded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree as xml

from ..audit_report import Answer, AuditReport, Hit, account_lines, deciding, gravest_first
from ..filtered import text_filtered, to_json
from ..html.audit_page import to_html
from .junit import clean
from .markdown import MARKS, plain
from .sarif import SCHEMA


def _told(answer: Answer) -> list[str]:
    return [line for hit in answer.hits for line in (f"{hit.time}: {hit.words}", *hit.explained)]


@text_filtered
def to_junit(report: AuditReport) -> str:
    """A suite with a case for each property."""
    words = [answer.verdict for answer in report.answers]
    figures = {
        "tests": str(len(words)),
        "failures": str(words.count("HIT")),
        "errors": str(words.count("NOT EXCLUDED")),
    }
    root = xml.Element("testsuites", {"name": "podrace", **figures})
    suite = xml.SubElement(root, "testsuite", {"name": "audit", **figures})
    for answer in report.answers:
        case = xml.SubElement(suite, "testcase", {"name": answer.property, "classname": "audit"})
        if answer.verdict == "EXCLUDED":
            xml.SubElement(case, "system-out").text = f"EXCLUDED: {answer.sentence}"
            continue
        kind = "failure" if answer.verdict == "HIT" else "error"
        told = xml.SubElement(
            case, kind, {"type": answer.verdict, "message": f"{answer.headline}: {answer.words}"}
        )
        told.text = "\n".join([answer.sentence, *_told(answer), *answer.reasons])
    out = xml.SubElement(suite, "system-out")
    out.text = "\n".join([*account_lines(report), *report.signs])
    xml.indent(root)
    return clean(
        xml.tostring(root, encoding="unicode", xml_declaration=False),
        '<?xml version="1.0" encoding="UTF-8"?>',
    )


def to_sarif(report: AuditReport) -> str:
    """A SARIF log with one run."""
    from importlib.metadata import version

    rules = [
        {"id": a.property, "shortDescription": {"text": a.sentence}, "fullDescription": {"text": a.sentence}}
        for a in report.answers
    ]
    notes = [{"level": "note", "message": {"text": _text(sign)}} for sign in report.signs]
    run = {
        "tool": {"driver": {"name": "podrace", "version": version("podrace"), "rules": rules}},
        "invocations": [
            {
                "executionSuccessful": all(a.verdict != "NOT EXCLUDED" for a in report.answers),
                "toolExecutionNotifications": notes,
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [r for number, answer in enumerate(report.answers) for r in _results(answer, number)],
    }
    return to_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


OUTCOMES = {"HIT": "failed", "NOT EXCLUDED": "undecided", "EXCLUDED": "passed"}
MOST_TOLD = 20
"""So many violations of a property are told in Markdown."""


@text_filtered
def to_markdown(report: AuditReport) -> str:
    """As GitHub's Markdown: a table, then what was hit and what is not excluded."""
    rows = [["", "property", "answer", ""], ["---"] * 4]
    answers = gravest_first(report)
    rows += [[MARKS[OUTCOMES[a.verdict]], a.property, a.headline, plain(a.sentence)] for a in answers]
    blocks = ["# podrace audit", "\n".join(f"| {' | '.join(row)} |" for row in rows)]
    for answer in answers:
        told = [*_told(answer)[:MOST_TOLD], *answer.reasons]
        if len(answer.hits) > MOST_TOLD:
            told.append(f"{len(answer.hits):,} violations in all")
        if told:
            blocks += [f"## {MARKS[OUTCOMES[answer.verdict]]} {answer.property} {answer.headline}"]
            blocks += ["\n".join(f"- {plain(line)}" for line in told)]
    if remedies := deciding(report):
        table = [["what would decide the open answers", "of"], ["---"] * 2]
        table += [[plain(remedy), ", ".join(properties)] for remedy, properties in remedies.items()]
        blocks += ["\n".join(f"| {' | '.join(row)} |" for row in table)]
    if report.signs:
        blocks += [
            "## Signs, which decide nothing",
            "\n".join(f"- {plain(s)}" for s in report.signs[:MOST_TOLD]),
        ]
    blocks += ["\n".join(f"> {plain(line)}" for line in account_lines(report))]
    return "\n\n".join(blocks) + "\n"


def _results(answer: Answer, rule: int) -> list[dict[str, Any]]:
    base = {"ruleId": answer.property, "ruleIndex": rule}
    if answer.verdict == "NOT EXCLUDED":
        text = f"{answer.headline.lower()}: {'; '.join(answer.reasons)}"
        return [{**base, "kind": "open", "level": "none", "message": {"text": _text(text)}}]
    return [
        {
            **base,
            "kind": "fail",
            "level": "error",
            "message": {"text": _text(f"{hit.time}: {hit.words}")},
            "partialFingerprints": {"hit/v1": _fingerprint(answer, hit)},
            "properties": {
                "time": hit.time,
                "pods": list(hit.pods),
                "node": hit.node,
                "explained": list(hit.explained),
            },
        }
        for hit in answer.hits
    ]


def _fingerprint(answer: Answer, hit: Hit) -> str:
    return sha256("\n".join([answer.property, hit.time, hit.node, *hit.pods]).encode()).hexdigest()


def _text(text: str) -> str:
    """A message in plain text, in which `[words](address)` would be a link."""
    return text.replace("](", "] (")


FORMS: Mapping[str, Callable[[AuditReport], str]] = {
    "json": to_json,
    "html": to_html,
    "junit": to_junit,
    "sarif": to_sarif,
    "markdown": to_markdown,
}
"""Every form but `text`."""
