"""Whether functions are what the files say from which they were loaded."""

import sys
from collections.abc import Iterable
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType, ModuleType
from typing import Any


def unlike_files(
    modules: Iterable[ModuleType], functions: Iterable[tuple[str, FunctionType, CodeType]]
) -> str:
    """The name of the first function, of those found in these modules, that no file of theirs nor a library has; empty if there is none."""
    known: dict[str, set[Any]] = {}
    for module in modules:
        spec = module.__spec__
        if spec is not None and isinstance(
            spec.loader, SourceFileLoader
        ):  # pytest compiles some in its own way
            known[str(module.__file__)] = _codes(spec.loader.get_code(spec.name))
    for name, function, code in functions:
        told = known.get(code.co_filename)
        if _key_of(code) not in told if told is not None else not _is_library(function):
            return name
    return ""


def _codes(code: CodeType | None) -> set[Any]:
    """What tells the functions of a file from others."""
    found, open_ = set(), [code]
    while open_:
        one = open_.pop()
        if one is not None:
            found.add(_key_of(one))
            open_ += [const for const in one.co_consts if isinstance(const, CodeType)]
    return found


def _key_of(code: CodeType) -> Any:
    consts = [const for const in code.co_consts if not isinstance(const, (CodeType, frozenset))]
    return code.co_firstlineno, code.co_name, code.co_code, code.co_names, repr(consts)


def _is_library(function: FunctionType) -> bool:
    top = str(function.__module__).partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    if top in ("None", "builtins") or top.startswith(
        "namedtuple_"
    ):  # made from a text, as `__init__` of a data class is
        return function.__code__.co_filename.startswith("<")
    return top in sys.stdlib_module_names or "site-packages" in file or top == __name__.partition(".")[0]
