"""Findings that are kept whole, so that an unchanged question is answered without even building its system.

A finding is found by a hash of all that it is made of: the run field by field, how it is searched, and every file of podrace from
which a finding comes. It is signed with a key that only its user has (`checker.core.kept`).
Runs that a hash cannot identify are not kept: properties and patches of the user's own, whatever is asked in a process in which a file of
the user's was executed, and scenarios that leave numbers open.
Those have `checker.verdict_cache`, whose key is the system itself.
"""

import hashlib
import sys
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..checker.core import in_memory
from ..checker.core.exploration import Budget
from ..checker.core.kept import KeptTexts
from ..checker.core.own_files import Seen, digest, is_in_one_place, look, older_bytecode
from ..checker.verdict_cache import libraries
from ..model.language import Entity
from ..reports.document import FROM_CACHE, Finding
from .findings import question_of
from .request.method import Method
from .request.plan import Run

FOLDERS = (
    "analysis",
    "base",
    "checker",
    "manifests",
    "model",
    "patching",
    "properties",
    "reports",
    "scenarios",
)
"""All that a finding is made by."""

USE = "finding"
_PACKAGE = __name__.partition(".")[0]
_ROOT = Path(__file__).parents[1]
BEGUN = time.time_ns() - 5_000_000_000
"""When this process began to read podrace's files, at the latest: what was changed since then it may have read before."""


class KeptFinding:
    """The place of one finding; it has none if `key` is empty. A finding without its counterexample (`bare`) has another place."""

    def __init__(self, run: Run, budget: Budget, method: Method, bare: bool = False) -> None:
        self._run = run
        self._files: dict[str, Seen] = {}
        self.key = ""
        is_theirs = in_memory.is_watched() or not is_in_one_place(FOLDERS)
        if method.whole_findings and method.cache is not None and not is_theirs:
            self._kept = KeptTexts(method.cache, USE)
            read = sources()
            self._files = read.files
            self.key = _key(run, budget, method, read.digest, bare)

    def get(self) -> Finding | None:
        """The finding of an earlier run, with the note that it is one."""
        text = self._kept.get(self.key) if self.key else None
        if text is None:
            return None
        try:
            found = msgspec.json.decode(text, type=Finding)
        except (msgspec.MsgspecError, RecursionError):
            return None
        # Names of files are told as seen from the working directory, which may be another one.
        asked = question_of(self._run)
        return msgspec.structs.replace(found, **asked, notes=(*found.notes, FROM_CACHE))

    def put(self, found: Finding) -> None:
        """Keep a complete verdict, unless podrace itself was changed while this process ran: it may have run the older text.

        The files are not read again: each is the one that was read, and nobody can have changed it since this process began.
        """
        if not self.key or found.verdict not in ("HOLDS", "VIOLATED"):
            return
        now = _files()
        if now != self._files or any(max(file.written, file.changed) >= BEGUN for file in now.values()):
            sources.cache_clear()
            return
        notes = tuple(note for note in found.notes if note != FROM_CACHE)
        kept = msgspec.structs.replace(found, notes=notes)
        self._kept.put(self.key, msgspec.json.encode(kept).decode())


def _key(run: Run, budget: Budget, method: Method, source: str, bare: bool) -> str:
    if run.own is not None or run.composition.patches or run.scenario.open:
        return ""
    try:
        known = {
            "run": told(run),
            "engine": method.engine,
            "max_states": budget.max_states,
            "walks": budget.walks,
            "bare": bare,
            "source": source,
            "libraries": libraries(),
        }
    except TypeError:
        return ""
    return hashlib.sha256(msgspec.json.encode(known, order="deterministic")).hexdigest()


def told(value: object) -> Any:
    """A value as JSON that no other value has: with its type, all its fields, and in its order. TypeError for what has no such form."""
    if value is None or isinstance(value, bool):
        return value
    kind = type(value)
    if kind in (int, float, str):
        return [kind.__name__, repr(value)]
    if kind in (list, tuple):
        return [kind.__name__, [told(one) for one in value]]  # type: ignore[attr-defined]
    if isinstance(value, frozenset | set):
        return ["set", sorted(([told(one) for one in value]), key=repr)]
    if isinstance(value, Mapping):
        return ["map", [[told(name), told(one)] for name, one in value.items()]]
    if isinstance(value, Enum):
        return ["member", told(kind), value.name]
    if isinstance(value, type):
        return ["class", _named(value)]
    if isinstance(value, Entity):
        return [_named(kind), told(vars(value))]
    if is_dataclass(value):
        return [_named(kind), [[f.name, told(getattr(value, f.name))] for f in fields(value)]]
    raise TypeError(f"{kind.__qualname__} has no form of its own")


def _named(cls: type) -> str:
    """The name by which a class of podrace is found. TypeError if another one is found by it, or none."""
    found: object = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not cls or cls.__module__.partition(".")[0] != _PACKAGE:
        raise TypeError(f"{cls.__qualname__} is no class of podrace's")
    return f"{cls.__module__}:{cls.__qualname__}"


class Sources(NamedTuple):
    """Every file of FOLDERS, and bytecode that is older than its text: SHA-256 over what they hold, and how they were seen before they were read.

    What a process finds that runs bytecode of an earlier text must not be taken for what the present text gives.
    """

    digest: str
    files: dict[str, Seen]


@cache
def sources() -> Sources:
    """podrace's files as they are read now."""
    files = _files()
    told = "".join(f"{path} {digest(path, seen)}\n" for path, seen in files.items())
    return Sources(hashlib.sha256(told.encode()).hexdigest(), files)


def _files() -> dict[str, Seen]:
    files = look(str(_ROOT / folder) for folder in FOLDERS)
    return {**files, **older_bytecode(files)}
