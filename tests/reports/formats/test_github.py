"""Annotations of GitHub Actions: one line each, escaped as the runner reads it."""

from __future__ import annotations

import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from podrace.reports.ci_outcome import Style
from podrace.reports.document import Finding, Place
from podrace.reports.formats.github import to_annotations
from tests.reports.findings import findings
from tests.reports.samples import ALL, HOLDS, INCONCLUSIVE, VACUOUS, VIOLATED

FAILED = msgspec.structs.replace(VIOLATED, expected=None, place=Place("a,b.yaml", 4))
COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner reads it."""
    match = COMMAND.fullmatch(line)
    assert match is not None
    properties = dict(part.split("=", 1) for part in match[2].split(","))
    return match[1], {name: decoded(value) for name, value in properties.items()}, decoded(match[3])


def decoded(text: str) -> str:
    return re.sub("%(0A|0D|2C|3A|25)", lambda match: bytes.fromhex(match[1]).decode(), text)


def test_a_violation_is_an_error_at_its_place() -> None:
    command, total = to_annotations([FAILED]).splitlines()
    level, properties, text = read(command)
    assert level == "error"
    assert properties == {
        "file": "a,b.yaml",
        "line": "4",
        "title": "nominated-node-race, 1.13: S-NOM VIOLATED",
    }
    assert text.splitlines()[:3] == [
        "Violated after 4 steps, and no run is shorter.",
        "No pod is assumed at the nominated pod's expense.",
        "1. scheduler: pop(p) (NextPod: take the head of activeQ); queue: p leaves activeQ.",
    ]
    assert total == "podrace: 0 passed, 1 failed, 0 undecided"


def test_levels() -> None:
    lines = to_annotations([VIOLATED, HOLDS, VACUOUS, INCONCLUSIVE]).splitlines()
    assert [read(line)[0] for line in lines[:-1]] == ["notice", "notice", "warning"]
    assert lines[-1] == "podrace: 3 passed, 0 failed, 1 undecided"
    assert read(to_annotations([VACUOUS], Style(vacuous_fails=True)).splitlines()[0])[0] == "error"


@given(st.lists(findings(), max_size=4))
def test_every_command_can_be_read(found: list[Finding]) -> None:
    *commands, total = to_annotations(found).split("\n")[:-1]
    levels = [read(command)[0] for command in commands]
    outcomes = [Style().outcome(finding) for finding in found]
    assert levels.count("error") == outcomes.count("failed")
    assert levels.count("warning") == outcomes.count("undecided")
    assert total.startswith("podrace: ")


def test_all_samples_have_one_line_each() -> None:
    assert len(to_annotations(ALL).splitlines()) == 7  # all but the plain HOLDS, and the total
