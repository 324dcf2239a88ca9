"""`podrace audit --follow`: the answers to logs that are being written.

Whenever a file has grown, all of them are read again from the start: each answer is the one that the command would give at that moment, and none depends on
when it was asked. So that reading does not become all that happens, there is a pause after each of ten times as long as it took.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ..base.problems import Problem
from ..base.text import one_line
from ..reports.audit_report import AuditReport, Hit
from .audit import Asked, audit_logs

PAUSE = 1.0
"""Seconds between two looks at the files, at least."""


def followed(asked: Asked, wait: Callable[[float], bool]) -> Iterator[AuditReport]:
    """A report now, and one whenever a file has grown. `wait` pauses for so many seconds, and says whether to go on.

    Raises Problem for what cannot be read, and for what cannot be followed.
    """
    for name in asked.files:
        if name == "-":
            raise Problem("--follow: the standard input cannot be read again: name a file")
    known: list[int] | None = None
    pause = PAUSE
    while True:
        sizes = [_size(name) for name in asked.files]
        if sizes != known:
            known, begun = sizes, time.monotonic()
            yield audit_logs(replace(asked, growing=True))
            pause = max(PAUSE, 10 * (time.monotonic() - begun))
        if not wait(pause):
            return


def news(report: AuditReport, told: set[tuple[str, str, str]]) -> Iterator[tuple[str, Hit]]:
    """The violations that are not among those that were told, which they join."""
    for answer in report.answers:
        for hit in answer.hits:
            key = (answer.property, hit.time, hit.words)
            if key not in told:
                told.add(key)
                yield answer.property, hit


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except OSError as problem:
        raise Problem(f"{one_line(name)}: {(problem.strerror or str(problem)).lower()}") from None
