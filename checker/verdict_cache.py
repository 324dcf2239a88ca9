"""Verdicts that are kept, so that an unchanged system is not explored again.

An entry is found by a hash of all that decides a verdict: the system, the property, how it is searched, podrace's own source and
the libraries that run it. Only complete verdicts are kept, signed with a key that only their user has (`core.signing`). A
counterexample is executed again by the reference interpreter whenever it is used. An entry that cannot be read, that was not
written for this user, that is about something else, or whose counterexample is none, counts as absent.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ..base.structs import Data
from ..model.language import TransitionSystem
from .core.exploration import Lasso
from .core.installed import version_of_package
from .core.kept import FORMAT, KeptTexts
from .core.own_files import digest, is_in_one_place, look
from .core.result import Counts, Coverage, Kind, Result, Verdict
from .core.trace import LassoTrace, Trace
from .reduction.questions import kind_of, witnesses_of
from .trace.execution import ReplayError, confirm, confirm_no_way_back
from .trace.fingerprint import fingerprint
from .trace.lasso import confirm_lasso

_LIBRARIES = ("podrace", "llvmlite", "numpy", "z3-solver")
_SOURCES = ("base", "model", "checker", "properties")
_USE = "verdict"


class _Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A counterexample: the transitions, and of a liveness how many of them happen once, and its case."""

    path: tuple[int, ...]
    turn: int | None = None
    case: str = ""


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Result, with its trace as transition numbers."""

    system: str
    property: str
    kind: Kind
    verdict: str
    counts: Counts
    coverage: Coverage
    run: _Run | None
    stopped: str | None
    engine: str


class VerdictCache(Data):
    """Verdicts in a directory, a file each."""

    folder: Path

    def key(self, system: TransitionSystem, name: str, method: Mapping[str, Any]) -> str:
        """The hash by which the verdict on a property is found; `method` is what else decides it."""
        known = {
            "format": FORMAT,
            "system": fingerprint(system),
            "property": name,
            "method": sorted((key, repr(value)) for key, value in method.items()),
            "source": source_hash(),
            "libraries": libraries(),
        }
        return hashlib.sha256(msgspec.json.encode(known, order="deterministic")).hexdigest()

    def get(self, key: str, system: TransitionSystem, name: str) -> Result | None:
        """The verdict that was kept under this key, its counterexample executed again; None if there is none to be trusted."""
        text = self._kept.get(key) if _is_as_written() else None
        if text is None:
            return None
        try:
            return _restored(msgspec.json.decode(text, type=_Entry), system, name)
        except (msgspec.MsgspecError, RecursionError, ReplayError, ValueError, IndexError):
            return None

    def put(self, key: str, result: Result) -> bool:
        """Keep a complete verdict; says whether it was kept."""
        if result.verdict is Verdict.INCONCLUSIVE or result.counts.walks or not _is_as_written():
            return False
        return self._kept.put(key, msgspec.json.encode(_entry(result)).decode())

    @property
    def _kept(self) -> KeptTexts:
        return KeptTexts(self.folder, _USE)


def _entry(result: Result) -> _Entry:
    trace = result.trace
    run = None
    if trace is not None:
        run = _Run(trace.path, trace.turn, trace.case) if isinstance(trace, LassoTrace) else _Run(trace.path)
    return _Entry(
        system=result.system,
        property=result.property_id,
        kind=result.kind,
        verdict=result.verdict.name,
        counts=result.counts,
        coverage=result.coverage,
        run=run,
        stopped=result.stopped,
        engine=result.engine,
    )


def _restored(entry: _Entry, system: TransitionSystem, name: str) -> Result:
    """The result of an entry. ReplayError or ValueError if it is not about this property, or shows no violation."""
    verdict = Verdict[entry.verdict] if entry.verdict in Verdict.__members__ else Verdict.INCONCLUSIVE
    told = (entry.system, entry.property, entry.kind)
    witnesses = {*entry.coverage.witnesses_reached, *entry.coverage.witnesses_missed}
    if told != (system.name, name, kind_of(system, name)) or witnesses != set(witnesses_of(system, name)):
        raise ValueError("an entry about something else")
    holds, ended = verdict is Verdict.HOLDS, (None,) if entry.run is None else (None, "answered")
    if verdict is Verdict.INCONCLUSIVE or (entry.run is None) != holds or entry.stopped not in ended:
        raise ValueError("an entry that contradicts itself")
    trace = None if entry.run is None else _executed(entry.run, system, name, entry.kind)
    return Result(
        system=entry.system,
        property_id=entry.property,
        kind=entry.kind,
        verdict=verdict,
        counts=entry.counts,
        coverage=entry.coverage,
        trace=trace,
        stopped=entry.stopped,
        engine=entry.engine,
    )


def _executed(run: _Run, system: TransitionSystem, name: str, kind: Kind) -> Trace:
    if kind == "invariant":
        return confirm(system, run.path, name)
    if kind == "resettability":
        return confirm_no_way_back(system, run.path, name)
    if run.turn is None or not 0 <= run.turn <= len(run.path):
        raise ValueError("a liveness without a turn")
    return confirm_lasso(system, Lasso(run.path[: run.turn], run.path[run.turn :], run.case), name)


def _is_as_written() -> bool:
    """Whether all of podrace comes from the place whose files the keys are made of."""
    return is_in_one_place(_SOURCES)


@cache
def source_hash() -> str:
    """SHA-256 over the source of the model, the checker and the properties."""
    root = str(Path(__file__).parents[1])
    files = look(os.path.join(root, folder) for folder in _SOURCES)
    named = [(path.removeprefix(root), seen) for path, seen in files.items() if path.endswith(".py")]
    told = "".join(f"{name} {digest(root + name, seen)}\n" for name, seen in named)
    return hashlib.sha256(told.encode()).hexdigest()


def libraries() -> list[str]:
    """The versions of Python and of the libraries that a verdict rests on."""
    return [sys.version.partition(" ")[0], *(_version(library) for library in _LIBRARIES)]


def _version(library: str) -> str:
    found = version_of_package(library)
    return library if found is None else f"{library} {found}"
