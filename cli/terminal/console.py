"""Consoles for the two streams: results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .pipes import complaint as complaint
from .pipes import print_form as print_form
from .pipes import print_json as print_json
from .pipes import tolerant_of_closed_pipes as tolerant_of_closed_pipes

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 120


def result_console(no_color: bool = False) -> Console:
    """The console for results: as wide as the terminal; a fixed width where there is none."""
    from ...reports.text.filtered_console import ResultConsole  # rich takes a while to import

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    return ResultConsole(sys.stdout, width, _plain(no_color))


def message_console(no_color: bool = False) -> Console:
    """The console for progress and messages."""
    from ...reports.text.filtered_console import FilteredConsole

    return FilteredConsole(sys.stderr, no_color=_plain(no_color))


def _plain(no_color: bool) -> bool | None:
    return True if no_color else None  # None: rich looks at NO_COLOR
