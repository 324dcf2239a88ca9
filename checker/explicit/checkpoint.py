"""A search that outlives its process: written down beside its states now and then, and taken up again.

A directory holds `states` and `origins`, arrays that only grow, and `checkpoint.json`, which says how much
of them counts and what else the search knows. It is replaced as a whole, after what it speaks of has
reached the disk. So whenever a search ends, also by kill -9 or a power failure, the directory holds a
search that can go on. The table is not kept: it is filled again from the states.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ..codegen.program import Program
from ..core.exploration import CheckpointProblem, OutOfBudget
from ..core.installed import version_of_package
from ..kernel_compiler.jit import jit
from .states.arrays import is_full
from .states.bfs_kernel import COUNT, DEPTH, HEAD, LEVEL_END
from .states.budget import SearchBudget
from .states.hash_table import ONE, Stored, Unsigned, hash_of
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
_FORMAT = 1


@dataclass(frozen=True)
class SavedSearch:
    """Where a search stands, as `SearchState` has it. `checksum` is that of the states, which are not part of it."""

    identity: str
    control: list[int]
    fired: list[int]
    hits: list[int]
    seen: list[int]
    first: list[tuple[int, int]]
    seconds: float
    checksum: int


class Directory:
    """The directory of one search, for this process alone until `close`."""

    def __init__(self, path: Path, program: Program, resume: bool) -> None:
        self.path, self.identity = path, identity_of(program)
        self._due, self._lock = 0.0, -1
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
        draft = self.path / f"{_NAME}.new"
        with suppress(FileNotFoundError):
            draft.unlink()
        with open(draft, "x", encoding="ascii") as file:
            json.dump({"format": _FORMAT, **asdict(snapshot)}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path / _NAME)
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
            snapshot = SavedSearch(**found)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged() from error
        if snapshot.identity != self.identity:
            raise CheckpointProblem(
                "holds the search of another system (scenario, release, fixes or property), or of another "
                "version of podrace: name another"
            )
        return snapshot


def damaged() -> CheckpointProblem:
    """What to say of a checkpoint that cannot be right."""
    return CheckpointProblem("its checkpoint is damaged: remove the directory and begin again")


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
        self._sum = self._summed = 0
        self._store: Store | None = None

    def open_store(
        self, budget: SearchBudget, fixed_bytes: int, workers: Workers, state: SearchState
    ) -> Store:
        """The store whose states are in the directory: empty, or restored, and the state of the search with it."""
        last = self.directory.last
        path = self.directory.path
        self._store = store = Store(self.program.layout.words, budget, fixed_bytes, workers, path)
        initial = self.program.layout.pack(self.program.system.initial)
        if last is None:
            store.add_first(initial)
            self.write(state, 0.0)
            return store
        self._restore(last, state)
        count = state.states
        if count > store.capacity or self._checksum(count) != last.checksum or store.state(0) != initial:
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
                checksum=self._checksum(state.states),
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

    def _checksum(self, count: int) -> int:
        """A sum over the first `count` states; it grows with them."""
        assert self._store is not None
        if count > self._summed:
            before = np.uint64(self._sum)
            self._sum = int(_summed(self._store.arrays, self._summed, count, before))
            self._summed = count
        return self._sum

    def close(self) -> None:
        """Give the files back, and let other processes use the directory."""
        if self._store is not None:
            self._store.close()
        self.directory.close()


@jit
def _summed(stored: Stored, first: int, last: int, total: Unsigned) -> Unsigned:
    size = np.uint64(len(stored.shape))
    for s in range(np.uint64(first), np.uint64(last)):
        total += hash_of(stored.shape, stored.states, s * size) * (s + s + ONE)
    return total


def _plain(row: np.ndarray) -> list[int]:
    return [int(n) for n in row]
