"""podrace's own files: what they hold, and what tells whether one of them was changed meanwhile.

Some hundreds are looked at in every check, so this asks the system as little as it can.
"""

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import cache_from_source, find_spec
from typing import NamedTuple

_BYTECODE = "__pycache__"
_PACKAGE = __name__.partition(".")[0]
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


class Seen(NamedTuple):
    """A file as the system describes it, times in nanoseconds. Nobody can set `changed` back, which moves with every change."""

    device: int
    number: int
    size: int
    written: int
    changed: int


def is_in_one_place(folders: Iterable[str]) -> bool:
    """Whether these folders of podrace come from where this file does: another podrace on Python's path may have some of them, too, and come first."""
    for folder in folders:
        name = f"{_PACKAGE}.{folder}"
        module = sys.modules.get(name)
        spec = find_spec(name) if module is None else module.__spec__
        if spec is None or spec.origin != os.path.join(_ROOT, folder, "__init__.py"):
            return False
    return True


def look(folders: Iterable[str]) -> dict[str, Seen]:
    """Every file below these folders by its path, in order, bytecode left out."""
    found: dict[str, Seen] = {}
    for folder in folders:
        _look(folder, found)
    return found


def _look(folder: str, found: dict[str, Seen]) -> None:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != _BYTECODE:
                _look(entry.path, found)
        elif entry.is_file():
            found[entry.path] = _seen(entry.stat())


def older_bytecode(files: Mapping[str, Seen]) -> dict[str, Seen]:
    """Bytecode that is not younger than its text, which is among the files.

    Python takes bytecode of an earlier text for the present one where size and second are the same.
    """
    ending = os.path.basename(cache_from_source("one.py")).removeprefix("one")
    places: dict[str, str] = {}
    found = {}
    for path, text in files.items():
        if path.endswith(".py"):
            folder, _, name = path.rpartition(os.sep)
            place = places.get(folder)
            if place is None:
                place = places[folder] = os.path.dirname(cache_from_source(os.path.join(folder, "one.py")))
            bytecode = f"{place}{os.sep}{name[:-3]}{ending}"
            try:
                there = os.stat(bytecode)
            except FileNotFoundError:
                continue
            if there.st_mtime_ns <= text.changed:
                found[bytecode] = _seen(there)
    return found


@cache
def digest(path: str, seen: Seen) -> str:
    """SHA-256 of what a file holds, in hexadecimal; read once as long as it is seen unchanged."""
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        data = os.read(file, seen.size + 1)
    finally:
        os.close(file)
    if len(data) != seen.size:  # it was changed meanwhile, or more is read at once than the system gives
        with open(path, "rb") as whole:
            data = whole.read()
    return hashlib.sha256(data).hexdigest()


def _seen(there: os.stat_result) -> Seen:
    return Seen(there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns)
