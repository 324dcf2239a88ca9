"""Records of free runs, as the driver writes them: one run of a real scheduler a line, turn after turn.

In a turn one thing was let happen: an actor went on from where it was held, the watch delivered an event, a user acted, time passed. Then
everybody stood still, and the real state was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from podrace.base.problems import UsageProblem
from podrace.reports.step import Value


class Point(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where an actor came to: `actor` is its role, `of` the pod whose goroutine it is, `number` which handler of its informer.

    It is before a call, or `after` it; `pod` and `node` are what the call is about. `beyond`: it is about an event that the model does not have.
    """

    actor: str
    call: str
    of: str = ""
    number: int = 0
    after: bool = False
    pod: str = ""
    node: str = ""
    beyond: bool = False

    def __str__(self) -> str:
        who = self.actor + (f" {self.number}" if self.number else "") + (f" of {self.of}" if self.of else "")
        where = "after" if self.after else "before"
        return f"{who} {where} {self.call}({', '.join(filter(None, (self.pod, self.node)))})"


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was let happen: `do` is "start", "go", "deliver", "wait" or a step of the model; then the points that actors came to, in their order.

    `origin` is where the actor stood that was let go, `standing` where all stand after the turn. `seen` are the visible variables that
    have another value than before.
    """

    do: str
    args: dict[str, Value] = {}
    origin: Point | None = None
    passed: list[Point] = []
    standing: list[Point] = []
    seen: dict[str, Value] = {}
    lost: list[str] = []


class Record(msgspec.Struct, frozen=True):
    """A free run. `stopped` says why it ended, if not because all turns were taken."""

    id: str
    release: str
    seed: int
    turns: list[Turn]
    stopped: str = ""
    format: Literal["podrace-record"] = "podrace-record"
    version: Literal[1] = 1


def read_records(file: Path) -> Iterator[Record]:
    """The records of a file. Raises UsageProblem for one that cannot be read."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise UsageProblem(f"{file}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        try:
            yield msgspec.json.decode(line, type=Record)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise UsageProblem(f"{file}:{number}: not a record: {error}") from error
