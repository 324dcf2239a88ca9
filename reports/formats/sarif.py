"""SARIF 2.1.0 (OASIS standard, 2020), for code scanning: the properties are the rules, a counterexample is a code flow.

A violation is a result of kind `fail`. What is undecided is of kind `open`, the standard's word for "too little is known to
decide", and is also named as a problem of the run, which then counts as unsuccessful. A property that holds gives no result:
code scanning services would show one as an alert.

The interleaving is one thread flow in the order of execution, each step naming its actor: services show every thread flow
by itself, and actors by themselves tell no race.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import msgspec

from ..ci_outcome import USUAL, Style, issue_link, message, subject
from ..document import ABOUT, Finding, ShownStep, about_of
from ..filtered import to_json
from ..scheduler_version import in_part
from .markdown import plain

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"


def to_sarif(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """The findings as a SARIF log with one run."""
    rules = {finding.property: finding for finding in findings}
    numbers = {identifier: number for number, identifier in enumerate(rules)}
    shown = [f for f in findings if style.outcome(f) != "passed" or f.verdict == "VIOLATED"]
    run = {
        "tool": {
            "driver": {
                "name": "podrace",
                "version": style.version,
                "rules": [_rule(finding) for finding in rules.values()],
            }
        },
        "invocations": [_invocation(findings, style, numbers)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The directory that podrace ran in."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, style, numbers[finding.property]) for finding in shown],
    }
    return to_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(finding: Finding) -> dict[str, Any]:
    sentence = _text(finding.sentence or finding.property)
    links = [issue_link(number) for number in finding.issues]
    more = f"`podrace properties {finding.property}` says more."
    rule: dict[str, Any] = {
        "id": finding.property,
        "shortDescription": {"text": sentence},
        "fullDescription": {"text": sentence},
        "help": {
            "text": "\n".join([sentence, *(f"See {link}" for link in links), more]),
            "markdown": "\n\n".join([plain(sentence), *(f"See <{link}>." for link in links), more]),
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["concurrency", "kube-scheduler"]},
    }
    return {**rule, "helpUri": links[0]} if links else rule


def _invocation(findings: Sequence[Finding], style: Style, numbers: dict[str, int]) -> dict[str, Any]:
    undecided = [finding for finding in findings if style.outcome(finding) == "undecided"]
    weakened = [f for f in findings if (f.silenced or f.never_acted) and f not in undecided]
    about = [f"{ABOUT}: {line}" for line in about_of(findings)]
    about += [f"scheduler {line}" for line in in_part(f.version for f in findings)]

    def notified(finding: Finding, level: str) -> dict[str, Any]:
        return {
            "level": level,
            "message": {"text": _text(f"{subject(finding)}: {message(finding, style)}")},
            "associatedRule": {"id": finding.property, "index": numbers[finding.property]},
        }

    notifications = [
        *(notified(finding, "error") for finding in undecided),
        *(notified(finding, "note") for finding in weakened),
        *({"level": "note", "message": {"text": _text(line)}} for line in about),
    ]
    return {"executionSuccessful": not undecided, "toolExecutionNotifications": notifications}


def _result(finding: Finding, style: Style, rule: int) -> dict[str, Any]:
    outcome = style.outcome(finding)
    kind = {"undecided": "open", "ignored": "notApplicable"}.get(outcome, "fail")
    level = {"failed": "error", "passed": "note", "known": "note"}.get(outcome, "none")
    result: dict[str, Any] = {
        "ruleId": finding.property,
        "ruleIndex": rule,
        "kind": kind,
        "level": level,
        "message": {"text": _text(f"{subject(finding)}: {message(finding, style)}")},
        "partialFingerprints": {"finding/v1": sha256(subject(finding).encode()).hexdigest()},
        "properties": {"scenario": finding.scenario, "release": finding.label, "verdict": finding.verdict},
    }
    if finding.version is not msgspec.UNSET:
        result["properties"]["version"] = msgspec.to_builtins(finding.version)
    if outcome == "ignored":
        result["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": finding.words}]
    if finding.known:
        result["suppressions"] = [
            {"kind": "external", "status": "accepted", "justification": finding.known.reason}
        ]
    if finding.spot is not None:
        result["locations"] = [_location(finding.spot)]
    if finding.story:
        steps = [_step(finding, step) for step in finding.story]
        said: dict[str, Any] = {"message": {"text": _text(finding.words)}} if finding.words else {}
        result["codeFlows"] = [{**said, "threadFlows": [{"locations": steps}]}]
    return result


def _step(finding: Finding, step: ShownStep) -> dict[str, Any]:
    remark = finding.remarks.get(step.number)
    text = f"{f'({remark}) ' if remark else ''}{step.sentence}"
    location = _location(finding.place.spot(step.args.values())) if finding.place else {}
    return {
        "location": {**location, "message": {"text": _text(text)}},
        "executionOrder": step.number,
        "kinds": ["call"],
        "importance": "essential",
        "state": {change.variable: {"text": json.dumps(change.after)} for change in step.changes},
    }


def _text(text: str) -> str:
    """A message in plain text, in which `[words](address)` would be a link (section 3.11.6)."""
    return text.replace("](", "] (")


def _location(spot: tuple[str, int]) -> dict[str, Any]:
    file, line = spot
    return {"physicalLocation": {"artifactLocation": _artifact(file), "region": {"startLine": line}}}


def _artifact(file: str) -> dict[str, str]:
    """A file below the working directory by its relative name; any other by an absolute link."""
    if PurePosixPath(file).is_absolute():
        return {"uri": f"file://{quote(file)}"}
    return {"uri": quote(file), "uriBaseId": ROOT}
