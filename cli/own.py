"""Properties of the user's own: classes in a Python file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import get_args

from ..properties import PROPERTIES, Property
from ..properties.property import Kind
from ..scenarios import known_names, one_line
from .options import UsageProblem

_METHOD = {"liveness": "cases"}
"""What a property of each kind must define; `holds` unless named."""


def own_properties(options: Sequence[str]) -> dict[str, type[Property]]:
    """The properties that `--properties FILE[:CLASS]` names, by identifier. Raises UsageProblem."""
    found: dict[str, type[Property]] = {}
    for option in options:
        path, name = _split(option)
        for cls in _classes(path, name):
            if cls.id in PROPERTIES:
                raise _problem(
                    path, f"{cls.__name__}: `{cls.id}` is a property of podrace: choose another `id`"
                )
            if found.get(cls.id, cls) is not cls:
                raise _problem(path, f"{cls.__name__}: two properties have the id `{cls.id}`")
            found[cls.id] = cls
    return found


def _split(option: str) -> tuple[Path, str]:
    file, colon, name = option.rpartition(":")
    return (Path(file), name) if colon and name.isidentifier() else (Path(option), "")


def _problem(path: Path, what: str) -> UsageProblem:
    return UsageProblem(f"--properties: {' '.join(str(path).split())}: {what}")


def _classes(path: Path, name: str) -> list[type[Property]]:
    module = _load(path)
    found = {
        n: c
        for n, c in vars(module).items()
        if isinstance(c, type)
        and issubclass(c, Property)
        and c.__module__ == module.__name__
        and not n.startswith("_")
    }
    if not found:
        raise _problem(path, "there is no property in it: write a subclass of podrace.properties.Property")
    if name and name not in found:
        raise _problem(path, f"there is no property class `{name}` in it; {known_names(name, list(found))}")
    chosen = [found[name]] if name else list(found.values())
    for cls in chosen:
        _check(path, cls)
    return chosen


def _check(path: Path, cls: type[Property]) -> None:
    identifier = getattr(cls, "id", None)
    if not isinstance(identifier, str) or not identifier:
        raise _problem(path, f'{cls.__name__} has no identifier: write `id = "MY-RULE"` in the class')
    if not cls.__doc__:
        raise _problem(path, f"{cls.__name__} has no docstring: say in one sentence what must hold")
    if cls.kind not in get_args(Kind):
        kinds = ", ".join(get_args(Kind))
        raise _problem(
            path, f"{cls.__name__}: `{one_line(str(cls.kind))}` is no kind of property: use one of {kinds}"
        )
    method = _METHOD.get(cls.kind, "holds")
    if getattr(cls, method) is getattr(Property, method):
        raise _problem(path, f"{cls.__name__} is of kind `{cls.kind}` and has no method `{method}`")


def _load(path: Path) -> ModuleType:
    if not path.is_file():
        raise _problem(path, "there is no such file")
    name = f"podrace_own_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _problem(path, "this is no Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise _problem(path, f"line {error.lineno}: {error.msg}") from error
    except Exception as error:
        line = _line_in(path, error)
        where = f"line {line}: " if line else ""
        raise _problem(path, f"{where}{type(error).__name__}: {one_line(str(error))}") from error
    return module


def _line_in(path: Path, error: BaseException) -> int | None:
    """The last line of the file that took part in an error."""
    found, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == str(path):
            found = at.tb_lineno
        at = at.tb_next
    return found
