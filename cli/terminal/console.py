"""Consoles for the two streams: results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import os
import shutil
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
    return ResultConsole(sys.stdout, width or _instead_of_none(), _plain(no_color))


def message_console(no_color: bool = False) -> Console:
    """The console for progress and messages."""
    from ...reports.text.filtered_console import FilteredConsole

    return FilteredConsole(sys.stderr, _instead_of_none(), no_color=_plain(no_color))


def _instead_of_none() -> int | None:
    """The width where COLUMNS is 0, which says that nobody knows it; rich would print nothing at all."""
    unknown = os.environ.get("COLUMNS", "").strip("0") == "" and "COLUMNS" in os.environ
    return shutil.get_terminal_size((PIPED_WIDTH, 24)).columns if unknown else None


def _plain(no_color: bool) -> bool | None:
    return True if no_color else None  # None: rich looks at NO_COLOR
