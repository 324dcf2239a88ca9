"""Results on stdout without a console: pipes that close early, and documents for programs."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...base.problems import UsageProblem
from ...reports.filtered import shown, to_json, without_commands


@contextmanager
def tolerant_of_closed_pipes() -> Iterator[None]:
    """Whoever reads the result may stop early (`| head`): that is no error and changes no exit code.

    Raises UsageProblem if the result cannot be written for another reason.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        line = given_up(error)
        if not isinstance(error, BrokenPipeError):
            raise UsageProblem(line) from None


def given_up(error: OSError) -> str:
    """Why nothing more is written on stdout. What is left in its buffer must go somewhere, or the interpreter complains when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"cannot write the result: {error.strerror}: write it elsewhere"


def complaint(line: str) -> str:
    """A message for stderr, in one line."""
    return without_commands(shown(" ".join(line.splitlines())))


def print_form(text: str) -> None:
    """A report in a form that is filtered, on stdout, where a CI service may look for commands; for one that is none of its own."""
    sys.stdout.write(without_commands(text))


def print_json(document: Any) -> None:
    """A document for programs, on stdout."""
    print_form(to_json(document))
