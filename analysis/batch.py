"""`podrace batch`: many command lines as jobs of one batch, in any process or on any machine.

So what has no way of its own to use many machines has one: a survey is a list of checks, a campaign a list of seeds. A line depends on nothing but itself and
the files that it names; a worker that dies had one line in hand, which is run again.
"""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec

from ..base.problems import UsageProblem
from ..checker.jobs import Job, Journal, JournalProblem, LostWorker, run_jobs
from ..checker.jobs.bound_process import answer_of
from ..checker.verdict_cache import source_hash
from .job_pools import pool_for
from .request.method import NOBODY, Watcher

_MAIN = "from podrace.cli.main import leave, run; leave(run())"

_COLUMNS = 120
"""Characters in a line of what commands print."""

_MOST_LOSSES = 3
"""How often in a row a command may be killed by a signal."""

_WORST = (2, 1, 3)
"""Exit codes, the one that matters most first."""


class Ran(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of a command line: its exit code, seconds by the clock, and what it wrote."""

    code: int
    seconds: float
    out: str
    err: str


@dataclass(frozen=True)
class Line:
    """A command line of the file, without the word `podrace`."""

    number: int
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The line as a shell would read it."""
        return shlex.join(self.words)

    @property
    def name(self) -> str:
        """A name that no other line of the file has."""
        return f"{self.number}: {self.text}"


@dataclass(frozen=True)
class BatchRequest:
    """What the command line asks for."""

    file: Path
    jobs: int = 1
    ray: str | None = None
    journal: Path | None = None


def lines_of(path: Path, commands: Collection[str]) -> list[Line]:
    """The command lines of a file; empty ones, and what follows `#`, are left out. Raises UsageProblem."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageProblem(f"{path}: cannot be read: {why}") from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageProblem(f"{path}:{number}: is no command line: {error}") from None
        if words[:1] == ["podrace"]:
            del words[0]
        if not words:
            continue
        if words[0] not in commands or words[0] == "batch":
            raise UsageProblem(
                f"{path}:{number}: begin the line with a command such as `check`, not with `{words[0]}`"
            )
        found.append(Line(number, tuple(words)))
    if not found:
        raise UsageProblem(f"{path}: has no command line: write one a line, such as `check 72124 --jobs 1`")
    return found


def run_line(words: Sequence[str]) -> Ran:
    """Run a command line in a process of its own; once more where that was killed. Raises LostWorker."""
    signal = 0
    for _ in range(_MOST_LOSSES):
        began = time.monotonic()
        answer = answer_of(_MAIN, words, _COLUMNS)
        if answer.code >= 0:
            return Ran(answer.code, round(time.monotonic() - began, 3), answer.out, answer.err)
        signal = -answer.code
    raise LostWorker(
        f"`{shlex.join(words)}` was killed by signal {signal}, {_MOST_LOSSES} times in a row: see what killed it, or use fewer --jobs"
    )


def run_batch(
    request: BatchRequest, commands: Collection[str], watcher: Watcher = NOBODY
) -> Iterator[tuple[Line, Ran]]:
    """What came of each line, in the order in which they were done; those that the journal has come first. Raises UsageProblem."""
    lines = lines_of(request.file, commands)
    journal = None
    try:
        if request.journal is not None:
            journal = Journal(request.journal, _about(lines), Ran)
        jobs = [Job(line.name, line.words) for line in lines]
        named = {line.name: line for line in lines}
        pool = pool_for(request.ray, request.jobs, len(jobs))
        watcher.start("batch")
        for done, (job, ran) in enumerate(run_jobs(run_line, jobs, pool, journal), 1):
            watcher.say(f"{done:,} of {len(jobs):,} command lines")
            yield named[job.name], ran
    except (JournalProblem, LostWorker) as error:
        raise UsageProblem(f"cannot go on: {error}") from None
    finally:
        if journal is not None:
            journal.close()


def _about(lines: Sequence[Line]) -> dict[str, object]:
    """What results in a journal are results of: the lines, the files that they name, and this podrace."""
    files = {name: _digest(Path(name)) for line in lines for word in line.words for name in _files_in(word)}
    return {
        "podrace": version("podrace"),
        "source": source_hash(),
        "lines": [line.name for line in lines],
        "files": files,
    }


def _files_in(word: str) -> Iterator[str]:
    """The files that a word of a command line may name: by itself, as the value of an option, or with a class after a colon."""
    for name in (word, word.partition("=")[2], word[2:]):
        for path in (name, name.rpartition(":")[0]):
            if path and Path(path).is_file():
                yield path


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageProblem(f"{path}: cannot be read: {error.strerror}") from None


def code_of(codes: Collection[int]) -> int:
    """The exit code of a batch whose lines had these: the one that matters most."""
    return next((code for code in _WORST if code in codes), max(codes, default=0))
