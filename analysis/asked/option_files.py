"""Files that options name: found unusable before a long search, written after it, or loaded as Python modules."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from zlib import crc32

from ...scenarios import one_line
from .options import UsageProblem


def refuse_unwritable(option: str, path: Path) -> None:
    """Find out before a long search that a file could not be written. Raises UsageProblem."""
    target = path if path.exists() else path.parent
    if path.is_dir():
        raise UsageProblem(f"{option}: cannot write `{path}`: it is a directory")
    if not path.exists() and not target.is_dir():
        raise UsageProblem(f"{option}: cannot write `{path}`: there is no directory `{target}`")
    if not os.access(target, os.W_OK):
        raise UsageProblem(f"{option}: cannot write `{path}`: permission denied")


def write_text(option: str, path: Path, text: str) -> None:
    """Write a file in UTF-8. Raises UsageProblem."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageProblem(f"{option}: cannot write `{path}`: {error.strerror}") from None


def beside(path: Path, number: int) -> Path:
    """Where the file of one of several counterexamples goes: the first as it is named, others with a number."""
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")


Problem = Callable[[Path, str], Exception]
"""Makes the error from the file and from what is wrong with it."""


def load_module(path: Path, problem: Problem) -> ModuleType:
    """Execute a file and give its module. Raises what `problem` makes."""
    if not path.is_file():
        raise problem(path, "there is no such file")
    name = f"podrace_own_{path.stem}_{crc32(str(path.resolve()).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise problem(path, "this is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise problem(path, f"line {error.lineno}: {error.msg}") from error
    except Exception as error:
        what = f"{at_line(path, error)}{type(error).__name__}: {one_line(str(error))}"
        raise problem(path, what + _where_to_import_from(error)) from error
    return module


def _where_to_import_from(error: Exception) -> str:
    """A remedy for what the file imports of podrace and podrace does not have there."""
    if not isinstance(error, ImportError) or not (error.name or "").startswith("podrace."):
        return ""
    return (
        "; the parts of the scheduler and their words are in podrace.model.scheduler, pods and nodes in "
        "podrace.model.environment.objects, the expressions in podrace.model.language"
    )


def split_option(option: str) -> tuple[Path, str]:
    """The file and the class that `FILE[:CLASS]` names; the class is empty if it names none."""
    file, colon, name = option.rpartition(":")
    return (Path(file), name) if colon and name.isidentifier() else (Path(option), "")


def at_line(path: Path, error: BaseException) -> str:
    """For example `line 7: `, for the last line of the file that took part in an error; empty if none did."""
    found, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == str(path):
            found = at.tb_lineno
        at = at.tb_next
    return "" if found is None else f"line {found}: "
