"""Python files of the user's own, loaded as modules: every mistake in one is a line that names the place."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from zlib import crc32

from ...scenarios import one_line

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
        raise problem(
            path, f"{at_line(path, error)}{type(error).__name__}: {one_line(str(error))}"
        ) from error
    return module


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
