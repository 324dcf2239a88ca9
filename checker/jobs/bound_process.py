"""Processes that end as soon as the process that waits for them is gone, however that ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from threading import Thread
from typing import NamedTuple

_PROGRAM = f"from {__name__} import end_with_the_reader; end_with_the_reader(); "


class Answer(NamedTuple):
    """How a process ended (a negative code: by that signal), and what it wrote."""

    code: int
    out: str
    err: str


def answer_of(program: str, arguments: Sequence[str], columns: int = 80) -> Answer:
    """Run a Python program, given as text, with these arguments, and wait. It has no input, and lines of so many columns on every machine."""
    command = [sys.executable, "-c", _PROGRAM + program, *arguments]
    # Its input is a pipe that nobody writes to: when this process ends, by whatever signal, the pipe ends.
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": str(columns)},
    ) as process:
        output, errors = process.stdout, process.stderr
        assert output is not None
        assert errors is not None
        told: list[str] = []
        reader = Thread(target=lambda stream: told.append(stream.read()), args=(errors,))
        reader.start()
        out = output.read()
        reader.join()
        code = process.wait()
    return Answer(code, out, told[0])


def end_with_the_reader() -> None:
    """Have this process end when its input does, and let nobody else read from that."""
    watched = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    Thread(target=_end_after, args=(watched,), daemon=True).start()


def _end_after(watched: int) -> None:
    os.read(watched, 1)
    os._exit(1)
