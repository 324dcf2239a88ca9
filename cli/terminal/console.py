"""Consoles for the two streams: results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ...reports.filtered import to_json
from .pipes import complaint as complaint
from .pipes import print_form as print_form
from .pipes import print_json as print_json
from .pipes import tolerant_of_closed_pipes as tolerant_of_closed_pipes

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 120

Answer = TypeVar("Answer")

JSON: Mapping[str, Callable[[Any], str]] = {"json": to_json}
"""The forms of an answer that is a text or a document."""


def print_answer(
    answer: Answer,
    form: str,
    no_color: bool,
    tell: Callable[[Console, Answer], object],
    forms: Mapping[str, Callable[[Answer], str]] = JSON,
) -> None:
    """The answer of a command on stdout: in one of the forms for programs, or as `tell` prints it for people."""
    with tolerant_of_closed_pipes():
        if form in forms:
            print_form(forms[form](answer))
        else:
            tell(result_console(no_color), answer)


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
