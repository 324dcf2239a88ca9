"""Logs that are being written: each report is that of the file so far, and each violation is told once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from podrace.audit.audit import Asked, audit_logs
from podrace.audit.checks.check import Window
from podrace.audit.following import followed, news
from podrace.base.problems import Problem
from tests.audit.test_answers import both, seen
from tests.audit.written_logs import Object, lines, listed, node, running

CLEAN = [seen("n", 0), *both("a", 1), running("a", "n", 1.5)]
WORSE = [*both("b", 2, "1500m")]


def asked(folder: Path, events: list[Object]) -> Asked:
    (folder / "audit.log").write_text(lines(events))
    (folder / "start.json").write_text(json.dumps(listed(node("n"))))
    return Asked([str(folder / "audit.log")], [str(folder / "start.json")], complete=True)


def test_each_report_is_that_of_the_file_so_far(tmp_path: Path) -> None:
    question = asked(tmp_path, CLEAN)
    log = Path(question.files[0])
    pauses: list[float] = []

    def wait(seconds: float) -> bool:
        pauses.append(seconds)
        if len(pauses) == 2:  # nothing has come in the first pause
            with log.open("a") as file:
                file.write(lines(WORSE))
        return len(pauses) < 4

    reports = list(followed(question, wait))
    assert [[a.verdict for a in r.answers if a.property == "S-CAP"] for r in reports] == [
        ["EXCLUDED"],
        ["HIT"],
    ]
    assert reports[-1] == audit_logs(question)
    assert len(pauses) == 4
    assert min(pauses) >= 1


def test_a_violation_is_told_once(tmp_path: Path) -> None:
    question = asked(tmp_path, [*CLEAN, *WORSE])
    (report,) = followed(question, lambda seconds: False)
    told: set[tuple[str, str, str]] = set()
    assert [(name, hit.node) for name, hit in news(report, told)] == [("S-CAP", "n")]
    assert list(news(report, told)) == []


def test_a_namespace_may_still_come(tmp_path: Path) -> None:
    """While a log grows, nothing is refused for it, and nothing is excluded."""
    question = replace(asked(tmp_path, CLEAN), window=Window(namespace="late"))
    (report,) = followed(question, lambda seconds: False)
    reason = "--namespace late: nothing is of it, neither in the log nor in --initial; known: default"
    assert {(a.verdict, a.reasons) for a in report.answers} == {("NOT EXCLUDED", (reason,))}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("-", "--follow: the standard input cannot be read again: name a file"),
        ("none.log", "none.log: no such file or directory"),
    ],
)
def test_what_cannot_be_followed(name: str, line: str) -> None:
    with pytest.raises(Problem, match=f"^{line}$"):
        next(followed(Asked([name]), lambda seconds: False))
