"""While code of the user's runs in this process: what it prints, how it may end, and what it must not change.

A file that ends the process itself would end it with the code that says that everything holds, and without a word.
"""

import os
import posix
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, NoReturn

from ...checker.core import in_memory
from ...model.language.expressions.errors import none_hidden
from ...model.language.own_systems.hearing import hear_symbols

PREFIX = "podrace_own_"
"""How the names of modules begin that are files of the user's."""

_ENDINGS = ("_exit", "abort", "execv", "execve")
"""The functions of `os` that end the process, or what runs in it. Those of other names call these."""


class Ended(BaseException):
    """Code of the user's was to end the process."""


class _Running:
    depth = 0


@contextmanager
def theirs() -> Iterator[None]:
    """Code of the user's runs. What it prints is no part of a report: it goes to the standard error. It cannot end the process."""
    _guard()
    in_memory.watch()
    _Running.depth += 1
    try:
        with redirect_stdout(sys.stderr), none_hidden():
            yield
    finally:
        _Running.depth -= 1


def what_it_changed() -> str:
    """What code of the user's changed in podrace, or in what that rests on, with the remedy; empty if nothing. It is as it was, now."""
    changes = in_memory.undone()
    if sys.stdout.closed or (sys.__stdout__ is not None and sys.__stdout__.closed):
        return "it closes stdout, where the result goes: leave that out"
    if not changes:
        return ""
    own = next((change for change in changes if change.own), None)
    if own is not None:
        return (
            f"it changes {own.name} itself, and so every verdict, with a patch or without: derive a class, override it there, "
            "and give that with --patch"
        )
    return f"it changes {changes[0].name}, on which every verdict rests: leave that out"


def watch() -> None:
    """From now on, changes that a program makes to what is loaded are noticed, and keep verdicts from being kept."""
    _guard()  # podrace's own change, which is none of the program's
    in_memory.watch(is_late=True)


def remark() -> str:
    """What is to be said of verdicts in a program that changed podrace; empty if none was."""
    changes = in_memory.changes()
    if not changes:
        return ""
    return f"this program changed {changes[0].name}: the verdict is about podrace as it is with that, and was not kept"


def forget() -> None:
    """What comes next is another command, in the same process."""
    in_memory.forget()


def error_in_words(error: BaseException) -> str:
    """For example `ValueError: no such thing`, or what the code was to do that ends the process."""
    from ...base.problems import Problem
    from ...base.text import one_line

    return (
        str(error)
        if isinstance(error, (Ended, Problem))
        else f"{type(error).__name__}: {one_line(str(error))}"
    )


def _guard() -> None:
    """podrace's own changes for code of the user's, which come before what is loaded is recorded."""
    hear_symbols()
    for name in _ENDINGS:
        if not hasattr(getattr(os, name), "guarded"):
            guarded = _guarded(name, getattr(os, name))
            for module in (os, posix):
                setattr(module, name, guarded)


def _guarded(name: str, real: Callable[..., NoReturn]) -> Callable[..., NoReturn]:
    def ends(*arguments: Any, **named: Any) -> NoReturn:
        if _is_theirs():
            raise Ended(f"it ends podrace itself, by os.{name}: leave that out")
        real(*arguments, **named)

    ends.guarded = True  # type: ignore[attr-defined]
    return ends


def _is_theirs() -> bool:
    """Whether code of the user's is running here, which a thread of podrace's own is not."""
    if _Running.depth and threading.current_thread() is threading.main_thread():
        return True
    frame = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(PREFIX):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
