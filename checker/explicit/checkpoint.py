"""A search that outlives its process: written down beside its states now and then, and taken up again.

A directory holds `states` and `origins`, arrays that only grow, and `checkpoint.json`, which says how much
of them counts and what else the search knows. It is replaced as a whole, after what it speaks of has
reached the disk. So whenever a search ends, also by kill -9 or a power failure, the directory holds a
search that can go on. The table is not kept: it is filled again from the states.

A search that goes on ends in a verdict. So the checkpoint is signed (`core.signing`), together with digests of the arrays, which grow with
them: what was edited, or written for another user, is refused.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.files import is_draft, write_whole
from ..codegen.program import Program
from ..core.exploration import CheckpointProblem, OutOfBudget
from ..core.installed import version_of_package
from ..core.signing import LEAST, VARIABLE, is_signed, key_file, signature
from .states.arrays import is_full
from .states.bfs_kernel import COUNT, DEPTH, HEAD, LEVEL_END
from .states.budget import SearchBudget
from .states.hash_table import STRIDE
from .states.search_state import SearchState
from .states.store import Store
from .states.workers import Workers

try:
    import fcntl
except ImportError:  # Windows: two searches in one directory go unnoticed there
    fcntl = None  # type: ignore[assignment]

SECONDS = 2.0
"""How often a search is written down, at least; less often where writing takes more than a twentieth of the time."""

_NAME = "checkpoint.json"
_FORMAT = 2
_USE = "checkpoint"


@dataclass(frozen=True)
class SavedSearch:
    """Where a search stands, as `SearchState` has it. `arrays` are the digests of the states and of their origins, which are not part of it."""

    identity: str
    control: list[int]
    fired: list[int]
    hits: list[int]
    seen: list[int]
    first: list[tuple[int, int]]
    seconds: float
    arrays: list[str]


class Directory:
    """The directory of one search, for this process alone until `close`."""

    def __init__(self, path: Path, program: Program, resume: bool) -> None:
        self.path, self.identity = path, identity_of(program)
        self._due, self._lock = 0.0, -1
        self._signed({})  # rather now than after the search
        try:
            path.mkdir(parents=True, exist_ok=True)
            for inner in sorted(path.iterdir()):
                if inner.is_symlink():  # it would lead to a file that nobody named
                    raise CheckpointProblem(f"`{inner.name}` in it is a link: remove it, or name another")
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._lock = os.open(path / "lock", flags, 0o666)
        except OSError as error:
            raise CheckpointProblem(f"cannot be used: {error.strerror}") from error
        try:
            if fcntl is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise CheckpointProblem("another search is using it: wait for it, or name another") from error
        try:
            self.last = self._read()
            if self.last is not None and not resume:
                raise CheckpointProblem(
                    "holds a search already: add --resume to go on with it, or name another"
                )
            if self.last is None:
                for name in ("states", "origins"):  # of a search that ended before it was ever written down
                    (path / name).unlink(missing_ok=True)
            for inner in path.iterdir():
                if is_draft(inner.name):  # as a kill leaves it
                    inner.unlink()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes use the directory."""
        os.close(self._lock)

    @property
    def due(self) -> bool:
        """Whether it is time to write the search down again."""
        return time.monotonic() >= self._due

    def write(self, snapshot: SavedSearch, began: float) -> None:
        """Replace the checkpoint, once and for all. `began` is when the writing of what it speaks of began."""
        found = asdict(snapshot)
        text = json.dumps({"format": _FORMAT, "signature": self._signed(found).hex(), **found})
        write_whole(self.path / _NAME, text.encode())
        handle = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        now = time.monotonic()
        self._due = now + max(SECONDS, 20 * (now - began))

    def _read(self) -> SavedSearch | None:
        try:
            text = (self.path / _NAME).read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise damaged() from error
        try:
            found = json.loads(text)
            if found.pop("format") != _FORMAT:
                raise CheckpointProblem("was written by another version of podrace: name another")
            claimed = bytes.fromhex(found.pop("signature"))
            if not is_signed(claimed, _USE, _canonical(found)):
                raise ValueError("not as it was written")
            snapshot = SavedSearch(**found)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged() from error
        if snapshot.identity != self.identity:
            raise CheckpointProblem(
                "holds the search of another system (scenario, release, fixes or property), or of another "
                "version of podrace: name another"
            )
        return snapshot

    def _signed(self, found: Mapping[str, Any]) -> bytes:
        made = signature(_USE, _canonical(found))
        if made is None:
            raise CheckpointProblem(
                f"cannot be signed, since `{key_file()}` cannot be written or is another user's: set {VARIABLE} to a secret of at least "
                f"{LEAST} characters"
            )
        return made


def _canonical(found: Mapping[str, Any]) -> bytes:
    return json.dumps(found, sort_keys=True).encode()


def damaged() -> CheckpointProblem:
    """What to say of a checkpoint that cannot be right, or that is not known to be."""
    return CheckpointProblem(
        "its checkpoint is damaged, or was not written by podrace for you: remove the directory and begin again"
    )


def identity_of(program: Program) -> str:
    """What tells the searches of different systems apart: code, layout, initial state, all names, the version."""
    system = program.system
    fields = [(v.name, f.word, f.shift, f.bits, f.lo) for v, f in program.layout.fields.items()]
    steps = [(t.part, t.step, [(n, str(v)) for n, v in t.args], t.fair) for t in system.transitions]
    names = [
        list(system.invariants),
        list(system.witnesses),
        list(system.resettabilities),
        list(system.constraints),
    ]
    initial = program.layout.pack(system.initial)
    parts = [version_of_package("podrace"), system.name, initial, fields, steps, names, program.ir]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Checkpoint:
    """Keeps the search of a program in a directory. Closed when the search ends."""

    def __init__(self, path: Path, program: Program, resume: bool) -> None:
        """Raises CheckpointProblem if the directory cannot be used."""
        self.directory = Directory(path, program, resume)
        self.program = program
        self.earlier = 0.0
        self._digests = Growing(), Growing()
        self._store: Store | None = None

    def open_store(
        self, budget: SearchBudget, fixed_bytes: int, workers: Workers, state: SearchState
    ) -> Store:
        """The store whose states are in the directory: empty, or restored, and the state of the search with it."""
        last = self.directory.last
        path = self.directory.path
        try:
            self._store = store = Store(self.program.layout.words, budget, fixed_bytes, workers, path)
        except OSError as error:
            raise CheckpointProblem(f"cannot be used: {error.strerror}") from error
        initial = self.program.layout.pack(self.program.system.initial)
        if last is None:
            store.add_first(initial)
            self.write(state, 0.0)
            return store
        self._restore(last, state)
        count = state.states
        if count > store.capacity or self._arrays(count) != last.arrays or store.state(0) != initial:
            raise damaged()
        store.restore(count)
        return store

    def _restore(self, last: SavedSearch, state: SearchState) -> None:
        self.earlier = last.seconds
        for row, values in (
            (state.control, last.control),
            (state.fired, last.fired),
            (state.hits, last.hits),
            (state.seen, last.seen),
        ):
            if len(row) != len(values):
                raise damaged()
            row[:] = np.array(values, row.dtype)
        state.first = dict(last.first)
        head, count, level_end, depth = (int(state.control[i]) for i in (HEAD, COUNT, LEVEL_END, DEPTH))
        if not (0 <= head <= level_end <= count and count > 0 and depth >= -1):
            raise damaged()

    @property
    def due(self) -> bool:
        """Whether it is time to write the search down again."""
        return self.directory.due

    def write(self, state: SearchState, seconds: float) -> None:
        """Write the search down. Raises OutOfBudget if there is no room for that; what was written is kept."""
        assert self._store is not None
        began = time.monotonic()
        try:
            self._store.flush(state.states)
            snapshot = SavedSearch(
                identity=self.directory.identity,
                control=_plain(state.control),
                fired=_plain(state.fired),
                hits=_plain(state.hits),
                seen=_plain(state.seen),
                first=list(state.first.items()),
                seconds=self.earlier + seconds,
                arrays=self._arrays(state.states),
            )
            self.directory.write(snapshot, began)
        except OSError as error:
            if is_full(error):
                raise OutOfBudget("disk") from error
            raise

    def write_before(self, state: SearchState, which: np.ndarray, seconds: float) -> None:
        """Write the search down as it was before the batch in which the states ran out."""
        before = copy.deepcopy(state)
        before.rewind(which)
        self.write(before, seconds)

    def _arrays(self, count: int) -> list[str]:
        """The digests of the first `count` states, and of the origins that they have."""
        assert self._store is not None
        states, origins = self._digests
        return [
            states.of(self._store.states[: count * self._store.words]),
            origins.of(self._store.origins[: -(-count // STRIDE)]),
        ]

    def close(self) -> None:
        """Give the files back, and let other processes use the directory."""
        if self._store is not None:
            self._store.close()
        self.directory.close()


class Growing:
    """The digest of an array that grows, and whose elements stay as they are: each is read once."""

    def __init__(self) -> None:
        self._made, self._length = hashlib.sha256(), 0

    def of(self, array: NDArray[Any]) -> str:
        """The digest of the array, in hexadecimal; it begins with what it was when it was asked for last."""
        self._made.update(array[self._length :].data)
        self._length = len(array)
        return self._made.hexdigest()


def _plain(row: np.ndarray) -> list[int]:
    return [int(n) for n in row]
