"""The `podrace` command: runs a command line, and turns a user's mistake into one line and an exit code."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED, TERMINATED, HUNG_UP = 130, 143, 129

_OBJECTS = 400_000
"""How many new objects the garbage collector lets pass: expressions are many and never garbage, and it would look at all
of them again and again, for a third of the time to the first answer."""


_WAITED_FOR = frozenset({"coverage", "multiprocessing"})
"""Modules that have something to do when the interpreter ends."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """The console script: runs the command line and exits with its code."""
    open_closed_streams()
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    from ..base import problems  # noqa: F401 - what a signal raises is there before the first one may come

    for number in _ENDS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _ENDING)
    sys.unraisablehook = _interrupt_again
    leave(run(arguments))


_ENDS = {
    signal.SIGTERM: ("terminated", TERMINATED),
    signal.SIGHUP: ("hung up: the terminal was closed", HUNG_UP),
    signal.SIGINT: ("interrupted", INTERRUPTED),
}
"""The signals that end podrace: how that is called where nothing was decided, and the exit code."""


class _Ending:
    """What happens on SIGTERM, SIGHUP and Ctrl-C: what is in hand is interrupted, and what was decided is told. On a second one, nothing any more.

    `timeout` sends two at once, one to the process and one to its group. `began`: when the first came.
    """

    def __init__(self) -> None:
        self.began: float | None = None
        self.number = int(signal.SIGINT)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.began is not None:
            if now - self.began > 1:
                os._exit(self.said[1])
        elif _is_amid(_CONVERTS, frame):
            _send_again(number)
        else:
            self.began, self.number = now, number
            from ..base.problems import Terminated

            raise Terminated

    @property
    def said(self) -> tuple[str, int]:
        """How that is called where nothing was decided, and the exit code."""
        return _ENDS[signal.Signals(self.number)]


_ENDING = _Ending()

_CONVERTS = "from_param"
"""The method with which ctypes has an argument converted, as Z3's calls do: of what is raised there it makes an error of its own."""

AGAIN = 0.1
"""After so many seconds a signal that was lost is sent again."""


def _is_amid(method: str, frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_name != method:
        frame = frame.f_back
    return frame is not None


def _send_again(number: int) -> None:
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
    signal.setitimer(signal.ITIMER_REAL, AGAIN)


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """A signal that comes amid a callback of the garbage collector, of a weak reference or of C is ignored by Python: it is sent again."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    _ENDING.began = None
    _send_again(_ENDING.number)


def open_closed_streams() -> None:
    """Let what is written to a stderr that the shell has closed (`2>&-`) go nowhere: the exit code is an answer, too. A closed stdout refuses what is written.

    With PYTHONUNBUFFERED Python takes no heed of how much of a text was written, as on a full disk: stdout gets a buffer, which writes on or fails.
    """
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115 (as long as the process)
    elif isinstance(sys.stdout.buffer, io.RawIOBase):
        old = sys.stdout
        sys.stdout = open(  # noqa: SIM115
            old.fileno(), "w", buffering=1, encoding=old.encoding, errors=old.errors, closefd=False
        )
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def leave(code: int) -> NoReturn:
    """End the process with this code, at once if nobody minds: to take all expressions apart first, as the interpreter does,
    is a tenth of a small check.
    """
    watched = sys.gettrace() is not None or sys.getprofile() is not None
    if not watched and threading.active_count() == 1 and _WAITED_FOR.isdisjoint(sys.modules):
        with suppress(OSError, ValueError):  # left to the interpreter, which says so
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; gives the exit code. Problems of the user become one line on stderr."""
    try:
        return _run(_as_commands(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:  # wherever it came: also while modules are loaded
        word, code = _ENDING.said
        print(f"podrace: {word}", file=sys.stderr)
        return code


def _as_commands(arguments: list[str]) -> list[str]:
    """The same command line where it begins with a habit of other programs: `--version`, `help`, `help check`."""
    match arguments:
        case ["--version", *rest]:
            return ["version", *rest]
        case ["help", *rest]:
            return [*rest, "--help"]
    return arguments


def _run(arguments: list[str]) -> int:
    # Not before `main` has told the garbage collector to wait: they make many objects.
    import typer

    from ..base.problems import Problem, UsageProblem
    from .commands import app_for
    from .terminal.pipes import tolerant_of_closed_pipes

    own_code = f"{__name__.partition('.')[0]}.analysis.request.own_code"
    if own_code in sys.modules:  # in a process that ran another command
        sys.modules[own_code].forget()
    try:
        code = app_for(arguments)(arguments, prog_name="podrace", standalone_mode=False)
        with tolerant_of_closed_pipes():  # what was printed without
            pass
        if code == INTERRUPTED:  # typer's way to say so
            raise KeyboardInterrupt
        if own_code in sys.modules and (changed := sys.modules[own_code].what_it_changed()):
            raise UsageProblem(f"a file of yours: {changed}; what was printed is not to be trusted")
    except typer.Abort:
        raise KeyboardInterrupt from None
    except MemoryError:
        return _complain("out of memory before the search ended: limit it with --max-memory", 3)
    except Problem as problem:
        return _complain(str(problem), 2)
    except BaseException as error:
        if type(error).__name__ == "Ended":  # code of the user's that a signal called
            return _complain(f"a file of yours: {error}", 2)
        if not isinstance(error, Exception):
            raise
        if _ENDING.began is not None:
            raise KeyboardInterrupt from None
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
            print(str(error), file=sys.stderr)
            return 2
        line = _line_of(error, arguments)
        if line is None:
            raise
        return _complain(line, 2)
    return code if isinstance(code, int) else 0


def _complain(line: str, code: int) -> int:
    from .terminal.console import complaint

    print(complaint(f"podrace: {line}"), file=sys.stderr)
    return code


_OF_NAMES = (errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES)
"""Of what the operating system says when it is asked whether a file is there: what the name that a user gave is to blame for."""

_OF_WRITING = (errno.ENOSPC, errno.EFBIG, errno.EBADF, errno.EDQUOT, errno.EIO)


def _line_of(error: Exception, arguments: list[str]) -> str | None:
    """The line for a problem of the user; None for anything else, which is a bug and shows where."""
    from ..base.text import one_line
    from ..model.language.expressions.errors import ModelError
    from ..reports.graphs.render import RenderError

    if isinstance(error, RenderError):
        return f"--graph: {error}"
    if isinstance(error, ModelError):
        return f"the model of this scenario cannot be built: {error}"
    if type(error).__name__ == "EngineDisagreement":  # not imported: the checker may not be loaded
        return f"internal error, no verdict can be trusted: {error}; please report it"
    if isinstance(error, OSError) and error.errno in _OF_NAMES and error.filename:
        return f"{one_line(str(error.filename))}: {error.strerror}: name a file that can be there"
    if isinstance(error, OSError) and error.errno in _OF_WRITING and not error.filename:  # typer's own help
        from .terminal.pipes import given_up

        return given_up(error)
    formatted = getattr(error, "format_message", None)  # typer's own usage errors
    if formatted is not None:
        from .configuration.command_groups import MODULES

        command = f" {arguments[0]}" if arguments and arguments[0] in MODULES else ""
        return f"{' '.join(formatted().replace('Value error, ', '').split())} (see `podrace{command} --help`)"
    return None
