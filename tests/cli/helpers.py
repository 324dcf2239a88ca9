"""Running the command line inside the test process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from podrace.analysis import chain
from podrace.analysis.request.method import Method
from podrace.analysis.request.plan import Run
from podrace.checker.core.exploration import Budget
from podrace.cli import main
from podrace.model.history.versions import exact
from podrace.reports.document import Finding, Fixes, Word

TINY = """\
name: tiny
title: One pod, one node
release: "1.19.0"
properties: [S-CAP]
nodes: {n: {cpu: 1}}
pods: {p: {cpu: 1}}
"""

MINE = '''\
from podrace.model.language import any_of
from podrace.properties import Property


class NobodyAssumed(Property):
    """No pod is ever assumed."""

    id = "MY-NONE"

    def holds(self):
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)
'''


@dataclass(frozen=True)
class Ran:
    """What one command line gave."""

    code: int
    out: str
    err: str


class Shell:
    """Runs command lines, with output captured."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        self.capsys.readouterr()
        code = main.run(list(arguments))
        captured = self.capsys.readouterr()
        return Ran(code, captured.out, captured.err)


def flat(text: str) -> str:
    """A text as one line, wherever it was broken."""
    return " ".join(text.split())


def finding(run: Run, verdict: Word) -> Finding:
    """A finding without details."""
    return Finding(
        scenario=run.scenario.name,
        release=exact(run.composition.release),
        fixes=Fixes(run.composition.added, run.composition.removed),
        property=run.property,
        verdict=verdict,
        states=1,
        transitions=2,
        depth=3,
        seconds=0.0,
        words=f"It {verdict}.",
        trace=() if verdict == "VIOLATED" else None,
        expected=run.expected,
        notes=(*run.composition.notes, run.remark) if run.remark else run.composition.notes,
    )


@dataclass
class Pretence:
    """Verdicts that are handed out instead of searching, by release label (and property), and what was asked for."""

    verdicts: dict[str, Word]
    otherwise: Word
    runs: list[Run]
    budgets: list[Budget]
    methods: list[Method]


@contextmanager
def pretending(
    monkeypatch: pytest.MonkeyPatch, otherwise: Word = "HOLDS", verdicts: dict[str, Word] | None = None
) -> Iterator[Pretence]:
    """No search takes place; every run gets the verdict that is told here."""
    pretence = Pretence(verdicts or {}, otherwise, [], [], [])

    def pretend(run: Run, budget: Budget, method: Method, *_: object) -> Finding:
        pretence.runs.append(run)
        pretence.budgets.append(budget)
        pretence.methods.append(method)
        label = run.composition.label
        by_label = pretence.verdicts.get(label, pretence.otherwise)
        return finding(run, pretence.verdicts.get(f"{label} {run.property}", by_label))

    with monkeypatch.context() as patch:
        patch.setattr(chain, "verdict_on", pretend)
        yield pretence
