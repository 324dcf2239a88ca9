"""The changed lines of a change that are code, and which of them were executed, by profiles of Go's coverage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import PurePosixPath

from ...analysis.upstream.go_tokens import tokens_of
from ...base.structs import Data
from ...reports.verify.code_change import Lines
from ..modules import held
from ..modules.module import KUBERNETES
from .aside import errors_as_before, is_told_only
from .texts import FileChange

_BLOCK = re.compile(r"(\S+\.go):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$")
_SCHEDULER = "pkg/scheduler/"
_NO_CODE = frozenset("(){}[];,")

Place = tuple[int, int]
"""A line and a column, both from 1."""


class ChangedLine(Data):
    """A line that is new, or (`removed`) one of the unchanged file that is gone; `place` is where it begins in what is compiled. `aside`: it only logs, or returns the error of the changed condition before it as the other side does."""

    path: str
    number: int
    place: Place
    removed: bool = False
    aside: bool = field(default=False, compare=False)

    @property
    def shown(self) -> str:
        """For example `pkg/scheduler/schedule_one.go:1280`."""
        return f"{self.path}:{self.number}{' (removed)' if self.removed else ''}"


class Block(Data):
    """Statements that are executed together."""

    begin: Place
    end: Place
    executed: bool


def packages_of(files: Sequence[FileChange]) -> tuple[str, ...]:
    """The packages whose statements are counted: all of the scheduler's, so that the unchanged code is built once for every change."""
    others = {
        f"{KUBERNETES}/{PurePosixPath(one.path).parent}"
        for one in files
        if not one.path.startswith(_SCHEDULER)
    }
    return (f"{KUBERNETES}/{_SCHEDULER}...", *sorted(others))


def changed_lines(files: Sequence[FileChange]) -> list[ChangedLine]:
    """The changed lines that are code: those that are gone, and those that are new."""
    return [line for one in files for line in _of_file(one)]


def _of_file(one: FileChange) -> Iterator[ChangedLine]:
    texts = [(text or "").splitlines() for text in (one.before, one.after)]
    same = _same_lines(*texts)
    sides = [
        [number for number in range(len(here)) if number not in kept]
        for here, kept in zip(texts, (same.keys(), frozenset(same.values())), strict=True)
    ]
    errors = errors_as_before(*texts)
    for side, (text, here, changed) in enumerate(zip((one.before, one.after), texts, sides, strict=True)):
        there = _same_lines(here, as_compiled(one.path, text or "").splitlines())
        for number in changed:
            line = here[number]
            if number in there and _is_code(line):
                aside = is_told_only(line) or number in errors[side]
                yield ChangedLine(one.path, number + 1, (there[number] + 1, _column(line)), not side, aside)


def _is_code(line: str) -> bool:
    text = line.strip()
    return not text.startswith(("//", "/*", "*")) and any(token not in _NO_CODE for token in tokens_of(text))


def _column(line: str) -> int:
    """Where the code of a line begins: after a bracket that closes what was before, and at the condition after an `else`, which is a block of its own."""
    match = re.match(r"[\s})]*(?:else (?=if\b))?", line)
    assert match is not None
    return match.end() + 1


def _same_lines(one: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """The lines of one text that are kept in another. What is only there in one begins where it is indented least: a new function does not begin with the end of the one before."""
    matched = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    found = {block.a + i: block.b + i for block in matched for i in range(block.size)}
    for before, after in pairwise(matched):
        ends, begins = (before.a + before.size, before.b + before.size), (after.a, after.b)
        side = 0 if begins[1] == ends[1] else 1
        if begins == ends or begins[1 - side] != ends[1 - side]:  # what is there instead begins where it does
            continue
        text, start, end = (one, other)[side], ends[side], begins[side]
        ways = [0]
        while ways[-1] < after.size and text[start + ways[-1]] == text[end + ways[-1]]:
            ways.append(ways[-1] + 1)
        for n in range(min(reversed(ways), key=lambda way: _indented(text[start + way]))):
            here, there = (start + n, after.b + n) if side == 0 else (after.a + n, start + n)
            found.pop(after.a + n, None)
            found[here] = there
    return found


def _indented(line: str) -> int:
    """How far a line is indented that may be the first of what is new."""
    text = line.lstrip()
    return len(line) - len(text) if text.strip("})") else len(line) + 99


def as_compiled(path: str, text: str) -> str:
    """The text that the driver is built from: that of the queue can be held."""
    if path == f"{held.QUEUE}/scheduling_queue.go":
        return held.with_holds(text) or text
    if path in (held.CYCLE, held.ENTRIES):
        return held.with_order(text)
    return held.with_short_flush(text) if path == "pkg/scheduler/metrics/metric_recorder.go" else text


def read_blocks(profile: str) -> dict[str, list[Block]]:
    """The blocks of a profile by file, as the tree names it."""
    found: dict[str, list[Block]] = {}
    for line in profile.splitlines():
        if (match := _BLOCK.match(line)) is not None:
            begin, end = (int(match[2]), int(match[3])), (int(match[4]), int(match[5]))
            block = Block(begin, end, match[6] != "0")
            found.setdefault(match[1].removeprefix(f"{KUBERNETES}/"), []).append(block)
    return found


class Counted(Data):
    """Which changed lines are statements, and which of them a run executed."""

    statements: frozenset[ChangedLine]
    executed: frozenset[ChangedLine]

    def __or__(self, other: Counted) -> Counted:
        return Counted(self.statements | other.statements, self.executed | other.executed)


NOTHING = Counted(frozenset(), frozenset())


def counted(lines: Iterable[ChangedLine], blocks: Mapping[str, Sequence[Block]]) -> Counted:
    """Compare the lines of one side with a profile of it. A line that lies in no block is a declaration, and one that is `aside` counts where it is executed."""
    statements, executed = set(), set()
    for line in lines:
        block = _block_of(line.place, blocks.get(line.path, ()))
        if block is not None and (block.executed or not line.aside):
            statements.add(line)
            if block.executed:
                executed.add(line)
    return Counted(frozenset(statements), frozenset(executed))


def _block_of(place: Place, blocks: Sequence[Block]) -> Block | None:
    """The innermost block that has a place."""
    around = [block for block in blocks if block.begin <= place < block.end]
    return max(around, key=lambda block: block.begin, default=None)


def lines_of(found: Counted) -> Lines:
    """The document's part."""
    missed = sorted(
        found.statements - found.executed, key=lambda line: (line.path, not line.removed, line.number)
    )
    return Lines(len(found.statements), len(found.executed), tuple(line.shown for line in missed))
