"""podrace as it is in memory: whether a user's code has changed it, or what it rests on.

A file of the user's is executed in the same process, and Python lets it replace anything. What it replaced would decide verdicts. So what is
loaded is recorded before the first of these files is executed, and what is loaded later as soon as it is; and is compared with that afterwards. A change
is undone and told; where it cannot be told, as in a program of the user's, nothing is kept.

Code that a file loads in another language, and what a start-up file of Python's did before, is not seen.
"""

import sys
from builtins import (  # whatever becomes of them
    all,
    callable,
    delattr,
    getattr,
    hasattr,
    id,
    len,
    set,
    setattr,
    type,
    vars,
)  # fmt: skip
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from .as_written import unlike_files

_PACKAGE = __name__.partition(".")[0]
_ROOT = str(Path(__file__).parents[2])
_RESTS_ON = frozenset([
    "builtins", "_io", "io", "os", "posix", "posixpath", "random", "hashlib", "hmac", "_hashlib", "_sha2", "json",
    "functools", "operator", "itertools", "collections", "dataclasses", "enum", "math", "struct", "ctypes", "mmap",
    "copy", "pickle", "tempfile", "pathlib", "threading", "concurrent", "numpy", "llvmlite", "z3", "msgspec",
])  # fmt: skip
"""What a verdict rests on besides podrace. Of these, what was there must not be replaced."""

_OF_PYTHON = frozenset([
    "__abstractmethods__", "_abc_impl", "__annotations__", "__annotate__", "__annotations_cache__",
    "__annotate_func__", "__doc__", "__weakref__", "__dict__", "__builtins__", "__spec__", "__loader__",
    "__cached__", "__path__", "__warningregistry__", "__match_args__", "__msgspec_cache__", "__static_attributes__",
])  # fmt: skip
"""What Python itself, or a library, writes into a module or a class after it was made."""

_ABSENT = object()


class Change(NamedTuple):
    """Something that is not as it was: its name, whether it is podrace's, and how to make it as it was."""

    name: str
    own: bool
    undo: Callable[[], object]


class _Held(NamedTuple):
    """What a module, a class or an object was made of."""

    name: str
    holder: Any
    had: dict[str, Any]
    own: bool


class _Record:
    """Modules, their classes, their functions and their tables, as they were."""

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self.held: list[_Held] = []
        self.functions: list[tuple[str, FunctionType, tuple[Any, ...], bool]] = []
        self.tables: list[tuple[str, Any, Any]] = []
        self._seen: set[int] = set()

    def module(self, module: ModuleType) -> None:
        """Record a module as it is now."""
        name = module.__name__
        if name in self.modules:
            return
        self.modules[name] = module
        own = is_own(name)
        had = dict(vars(module))
        self.held.append(_Held(name, module, had, own))
        for at, value in had.items():
            self._value(f"{name}.{at}", value, name, own)

    @cached_property
    def unlike_files(self) -> str:
        """The first of podrace's functions that is not what its file says, as a program may have it before anything was recorded; empty if there is none."""
        own = [module for name, module in self.modules.items() if is_own(name)]
        return unlike_files(
            own, [(name, f, made_of[0]) for name, f, made_of, is_owns in self.functions if is_owns]
        )

    def _value(self, name: str, value: Any, module: str, own: bool) -> None:
        if id(value) in self._seen:
            return
        is_private = name.rpartition(".")[2].startswith(
            "_"
        )  # tables and objects of such names are what functions remember
        if isinstance(value, type):
            if value.__module__ == module:
                self._seen.add(id(value))
                self._class(name, value, module, own)
        elif isinstance(value, FunctionType):
            self._seen.add(id(value))
            self.functions.append((name, value, _made_of(value), own))
        elif isinstance(value, property):
            for function in (value.fget, value.fset, value.fdel):
                self._value(name, function, module, own)
        elif isinstance(value, (staticmethod, classmethod)):
            self._value(name, value.__func__, module, own)
        elif own and isinstance(value, (dict, list, set)):
            if not is_private:
                self._seen.add(id(value))
                self.tables.append((name, value, _copied(value)))
        elif own and is_own(type(value).__module__) and hasattr(value, "__dict__") and not is_private:
            self._seen.add(id(value))
            self.held.append(
                _Held(name, value, dict(vars(value)), own)
            )  # of which _names are what it remembers
        wrapped = getattr(value, "__wrapped__", None) if own else None
        if isinstance(wrapped, FunctionType):
            self._value(name, wrapped, module, own)

    def _class(self, name: str, cls: type, module: str, own: bool) -> None:
        had = dict(vars(cls))
        self.held.append(_Held(name, cls, {**had, "__bases__": cls.__bases__}, own))
        for at, value in had.items():
            if at not in _OF_PYTHON:
                self._value(f"{name}.{at}", value, module, own)

    def changes(self) -> Iterator[Change]:
        """What is not as it was recorded."""
        for name, module in self.modules.items():
            found = sys.modules.get(name)
            if found is not None and found is not module:
                yield Change(name, is_own(name), partial(sys.modules.__setitem__, name, module))
        known = set(map(id, self.modules.values()))
        for name, module in list(sys.modules.items()):
            if is_own(name) and isinstance(module, ModuleType) and id(module) not in known:
                yield Change(name, True, partial(sys.modules.pop, name))
        for held in self.held:
            yield from _changes_of(held)
        for name, function, made_of, own in self.functions:
            if _made_of(function) != made_of:
                yield Change(name, own, partial(_make_of, function, made_of))
        for name, table, had in self.tables:
            if not _same(table, had):
                yield Change(name, True, partial(_refill, table, had))


def _changes_of(held: _Held) -> Iterator[Change]:
    holder, had = held.holder, held.had
    now = vars(holder)
    if now.keys() == had.keys() and all(now[name] is value for name, value in had.items()):
        return
    is_module = isinstance(holder, ModuleType)
    names = [*had, *(name for name in now if name not in had)] if held.own else list(had)
    for name in names:
        before = had.get(name, _ABSENT)
        after = (
            holder.__bases__ if name == "__bases__" and isinstance(holder, type) else now.get(name, _ABSENT)
        )
        if before is after or name in _OF_PYTHON or (name == "__bases__" and before == after):
            continue
        if not isinstance(holder, (ModuleType, type)) and name.startswith("_") and not name.startswith("__"):
            continue
        if is_module and (
            _is_inner(held.name, name, after) or (name.startswith("_") and not callable(before))
        ):
            continue
        if not held.own and not callable(before):
            continue
        if (
            before is _ABSENT and name.startswith("__") and not (callable(after) or hasattr(after, "__get__"))
        ):  # as `copy` notes the names of slots
            continue
        if type(before).__name__ == "_Later" and name == "__init__" and _is_written_init(after):
            continue
        yield Change(f"{held.name}.{name}", held.own, partial(_put_back, holder, name, before))


def _is_inner(module: str, name: str, value: object) -> bool:
    return isinstance(value, ModuleType) and sys.modules.get(f"{module}.{name}") is value


def _is_written_init(value: object) -> bool:
    """What `base.structs` puts there later."""
    return isinstance(value, FunctionType) and value.__code__.co_filename.startswith("<the __init__ of ")


def _put_back(holder: Any, name: str, before: Any) -> None:
    with suppress(AttributeError, TypeError):
        if before is _ABSENT:
            delattr(holder, name)
        else:
            setattr(holder, name, before)


def _made_of(function: FunctionType) -> tuple[Any, ...]:
    return function.__code__, function.__defaults__, function.__kwdefaults__


def _make_of(function: FunctionType, made_of: tuple[Any, ...]) -> None:
    function.__code__, function.__defaults__, function.__kwdefaults__ = made_of


def _copied(table: Any) -> Any:
    return dict(table) if isinstance(table, dict) else list(table) if isinstance(table, list) else set(table)


def _same(table: Any, had: Any) -> bool:
    """Whether all that was in a table is in it; what podrace itself adds, as it loads more of itself, counts as nothing."""
    if isinstance(table, dict):
        return all(table.get(key, _ABSENT) is value for key, value in had.items()) and all(
            key in had or _is_podraces(value) for key, value in table.items()
        )
    if isinstance(table, set):
        return had <= table and all(map(_is_podraces, table - had))
    return (
        len(table) >= len(had)
        and all(a is b for a, b in zip(table, had, strict=False))
        and all(map(_is_podraces, table[len(had) :]))
    )


def _is_podraces(value: object) -> bool:
    kind = value if isinstance(value, (type, FunctionType)) else type(value)
    return is_own(kind.__module__)


def _refill(table: Any, had: Any) -> None:
    table.clear()
    table.extend(had) if isinstance(table, list) else table.update(had)


def is_own(module: str) -> bool:
    """Whether a module of this name is podrace's."""
    return module.partition(".")[0] == _PACKAGE


class _Recorder:
    """Finds what others find, and records each module of podrace and of what it rests on as soon as it is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As importlib asks."""
        top = fullname.partition(".")[0]
        if top != _PACKAGE and top not in _RESTS_ON:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    if spec.loader is not None and (top != _PACKAGE or is_in_place(spec)):
                        spec.loader = _RecordingLoader(spec.loader)  # type: ignore[assignment]
                    return spec
        return None


class _RecordingLoader:
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does."""
        spec.loader = self._loader
        made = self._loader.create_module(spec)
        spec.loader = self  # type: ignore[assignment]
        return made

    def exec_module(self, module: ModuleType) -> None:
        """As the loader does; then the module is recorded."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        if _record is not None:
            _record.module(module)


def is_in_place(spec: ModuleSpec) -> bool:
    """Whether a module of podrace's comes from where this one does."""
    return spec.origin is None or spec.origin.startswith(_ROOT)


_RECORDER = _Recorder()
_record: _Record | None = None
_is_late = False
_files: dict[str, str] = {}


def watch(is_late: bool = False) -> None:
    """Record what is loaded, unless that was done; and from now on what is loaded later. Where it `is_late`, a program may have changed it before."""
    global _record, _is_late
    if _record is not None:
        return
    _is_late = is_late
    _record = _Record()
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if (
            isinstance(module, ModuleType)
            and (top in _RESTS_ON or top == _PACKAGE)
            and module.__name__ == name
        ):
            _record.module(module)
    sys.meta_path.insert(0, _RECORDER)


def forget() -> None:
    """What comes next is another command, in the same process."""
    global _record
    _record = None
    _files.clear()
    if _RECORDER in sys.meta_path:
        sys.meta_path.remove(_RECORDER)


def is_watched() -> bool:
    """Whether a user's code may have changed something."""
    return _record is not None


def note(name: str, digest: str) -> None:
    """A file of the user's was executed."""
    _files[name] = digest


def files() -> list[tuple[str, str]]:
    """The files of the user's that were executed, in order, and the digests of what they held."""
    return sorted(_files.items())


def may_keep() -> bool:
    """Whether what is found here may be kept for later runs: podrace is as its files say, as far as can be told."""
    return _record is None or not (changes() or (_is_late and _record.unlike_files))


def changes() -> list[Change]:
    """What a user's code has changed."""
    return [] if _record is None else list(_record.changes())


def undone() -> list[Change]:
    """The same; it is as it was afterwards."""
    found = changes()
    for change in found:
        change.undo()
    return found
