"""Consoles for the two streams: results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from ...analysis.asked.options import UsageProblem

PIPED_WIDTH = 120


class ResultConsole(Console):
    """A console that leaves a closed pipe to `tolerant_of_closed_pipes`."""

    def on_broken_pipe(self) -> None:
        """Called where rich would end the process with code 1, which means something else here."""
        raise BrokenPipeError


@contextmanager
def tolerant_of_closed_pipes() -> Iterator[None]:
    """Whoever reads the result may stop early (`| head`): that is no error and changes no exit code.

    Raises UsageProblem if the result cannot be written for another reason.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer must go somewhere, or the interpreter complains when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise UsageProblem(f"cannot write the result: {error.strerror}: write it elsewhere") from None


def result_console(no_color: bool = False) -> Console:
    """The console for results: as wide as the terminal; a fixed width where there is none."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return ResultConsole(
        file=sys.stdout, width=width, highlight=False, markup=False, emoji=False, no_color=_plain(no_color)
    )


def message_console(no_color: bool = False) -> Console:
    """The console for progress and messages."""
    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False, no_color=_plain(no_color))


def _plain(no_color: bool) -> bool | None:
    return True if no_color else None  # None: rich looks at NO_COLOR


def print_json(document: Any) -> None:
    """A document for programs, on stdout."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
