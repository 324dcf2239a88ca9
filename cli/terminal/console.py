"""Consoles for the two streams: results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import os
import sys

from rich.console import Console

from ...reports.text.filtered_console import FilteredConsole
from .pipes import complaint as complaint
from .pipes import print_form as print_form
from .pipes import print_json as print_json
from .pipes import tolerant_of_closed_pipes as tolerant_of_closed_pipes

PIPED_WIDTH = 120


class ResultConsole(FilteredConsole):
    """A console that leaves a closed pipe to `tolerant_of_closed_pipes`."""

    def on_broken_pipe(self) -> None:
        """Called where rich would end the process with code 1, which means something else here."""
        raise BrokenPipeError


def result_console(no_color: bool = False) -> Console:
    """The console for results: as wide as the terminal; a fixed width where there is none."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return ResultConsole(sys.stdout, width, _plain(no_color))


def message_console(no_color: bool = False) -> Console:
    """The console for progress and messages."""
    return FilteredConsole(sys.stderr, no_color=_plain(no_color))


def _plain(no_color: bool) -> bool | None:
    return True if no_color else None  # None: rich looks at NO_COLOR
