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
from ...reports.filtered import escaped_json, shown, without_commands
from ...reports.text.filtered_console import FilteredConsole

PIPED_WIDTH = 120


class ResultConsole(FilteredConsole):
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
    return ResultConsole(sys.stdout, width, _plain(no_color))


def message_console(no_color: bool = False) -> Console:
    """The console for progress and messages."""
    return FilteredConsole(sys.stderr, no_color=_plain(no_color))


def complaint(line: str) -> str:
    """A message for stderr, in one line."""
    return without_commands(shown(" ".join(line.splitlines())))


def print_form(text: str) -> None:
    """A report in a form that is filtered, on stdout, where a CI service may look for commands; for one that is none of its own."""
    sys.stdout.write(without_commands(text))


def _plain(no_color: bool) -> bool | None:
    return True if no_color else None  # None: rich looks at NO_COLOR


def print_json(document: Any) -> None:
    """A document for programs, on stdout."""
    print_form(escaped_json(json.dumps(document, indent=2, ensure_ascii=False, default=str)) + "\n")
