"""A search and its directory: begun, written down now and then, and taken up again."""

from __future__ import annotations

import copy
import time
from pathlib import Path

import numpy as np

from .account import Account
from .checkpoint import Checkpoint, Directory, damaged
from .codegen import Program
from .crew import Crew
from .disk import is_full
from .jit import jit
from .kernels import COUNT, DEPTH, HEAD, LEVEL_END
from .store import Store
from .table import ONE, Shape, Unsigned, Words, hash_of
from .watch import OutOfBudget, Watch


class Diary:
    """Keeps the search of a program in a directory. Closed when the search ends."""

    def __init__(self, path: Path, program: Program, resume: bool) -> None:
        """Raises CheckpointProblem if the directory cannot be used."""
        self.directory = Directory(path, program, resume)
        self.program = program
        self.earlier = 0.0
        self._sum = self._summed = 0
        self._store: Store | None = None

    def open_store(self, watch: Watch, fixed_bytes: int, crew: Crew, account: Account) -> Store:
        """The store whose states are in the directory: empty, or restored, and the account with it."""
        last = self.directory.last
        path = self.directory.path
        self._store = store = Store(self.program.layout.words, watch, fixed_bytes, crew, path)
        initial = self.program.layout.pack(self.program.system.initial)
        if last is None:
            store.add_first(initial)
            self.write(account, 0.0)
            return store
        self._restore(last, account)
        count = account.states
        if count > store.capacity or self._checksum(count) != last.checksum or store.state(0) != initial:
            raise damaged()
        store.restore(count)
        return store

    def _restore(self, last: Checkpoint, account: Account) -> None:
        self.earlier = last.seconds
        for row, values in (
            (account.control, last.control),
            (account.fired, last.fired),
            (account.hits, last.hits),
            (account.seen, last.seen),
        ):
            if len(row) != len(values):
                raise damaged()
            row[:] = np.array(values, row.dtype)
        account.first = dict(last.first)
        head, count, level_end, depth = (int(account.control[i]) for i in (HEAD, COUNT, LEVEL_END, DEPTH))
        if not (0 <= head <= level_end <= count and count > 0 and depth >= -1):
            raise damaged()

    def write(self, account: Account, seconds: float) -> None:
        """Write the search down. Raises OutOfBudget if there is no room for that; what was written is kept."""
        assert self._store is not None
        began = time.monotonic()
        try:
            self._store.flush(account.states)
            checkpoint = Checkpoint(
                identity=self.directory.identity,
                control=_plain(account.control),
                fired=_plain(account.fired),
                hits=_plain(account.hits),
                seen=_plain(account.seen),
                first=list(account.first.items()),
                seconds=self.earlier + seconds,
                checksum=self._checksum(account.states),
            )
            self.directory.write(checkpoint, began)
        except OSError as error:
            if is_full(error):
                raise OutOfBudget("disk") from error
            raise

    def write_before(self, account: Account, which: np.ndarray, seconds: float) -> None:
        """Write the search down as it was before the batch in which the states ran out."""
        before = copy.deepcopy(account)
        before.rewind(which)
        self.write(before, seconds)

    def _checksum(self, count: int) -> int:
        """A sum over the first `count` states; it grows with them."""
        assert self._store is not None
        if count > self._summed:
            states, before = self._store.states, np.uint64(self._sum)
            self._sum = int(_summed(self._store.shape, states, self._summed, count, before))
            self._summed = count
        return self._sum

    def close(self) -> None:
        """Give the files back, and let other processes use the directory."""
        if self._store is not None:
            self._store.close()
        self.directory.close()


@jit
def _summed(shape: Shape, states: Words, first: int, last: int, total: Unsigned) -> Unsigned:
    size = np.uint64(len(shape))
    for s in range(np.uint64(first), np.uint64(last)):
        total += hash_of(shape, states, s * size) * (s + s + ONE)
    return total


def _plain(row: np.ndarray) -> list[int]:
    return [int(n) for n in row]
