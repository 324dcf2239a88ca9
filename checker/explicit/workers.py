"""What a search by several threads needs beside the store: a crew, and for each member its own buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codegen.machine_code import Functions
from ..codegen.program import Program
from ..kernel_compiler.atomics import yield_address
from . import parallel_bfs as rounds
from .states.batch import Batch
from .states.bfs_kernel import COUNT, HEAD, LEVEL_END, MAX_STATES, Integers
from .states.blocks import Block
from .states.search_state import Account
from .states.store import Store
from .states.threads import Crew

MANY = 100_000
"""From so many states on, other threads take part: before that, a search is over before they have begun."""

WIDE = 2048
"""How many states a level must have to be worth sharing."""

LARGEST_SHARE = 4096
"""How many parents one thread expands before it meets the others."""

_MOST_BYTES = 16 << 20
"""What a member's list of finds may take: most of it is never touched."""


class Together:
    """Wide levels, searched by all members of a crew. The answer is that of one thread."""

    def __init__(self, program: Program, code: Functions, crew: Crew, store: Store) -> None:
        """Raises OutOfBudget if there is no memory for the buffers."""
        self.code, self.crew = code, crew
        self.members = [Batch(program, code) for _ in range(crew.size)]
        words, transitions = program.layout.words, max(1, len(program.system.transitions))
        per_parent = transitions * (words * 8 + 12)
        self.share = max(1, min(LARGEST_SHARE, _MOST_BYTES // per_parent))
        self.each = self.share * transitions
        self.most = self.each * crew.size
        self.hits = np.zeros((crew.size, program.limit_words), np.uint64)
        self.fired = np.zeros((crew.size, transitions), np.int64)
        self._found = np.zeros((crew.size, max(1, program.predicate_words)), np.uint64)
        self._tallies = np.zeros((crew.size, 8), np.int64)
        self._barrier = np.zeros(16, np.int64)
        self._yield = yield_address()
        self._finds = Block(np.uint64, self.most * words)
        self._places, self._parents = Block(np.int64, self.most), Block(np.uint32, self.most)
        finds = sum(b.bytes for b in (self._finds, self._places, self._parents))
        store.reserve(finds + sum(batch.bytes for batch in self.members))

    def worthwhile(self, control: Integers) -> bool:
        """Whether the level is wide enough, and the limit of states far enough."""
        head, count, level_end = (int(control[i]) for i in (HEAD, COUNT, LEVEL_END))
        left = level_end - head if head < level_end else count - level_end
        return left >= WIDE and count + self.most <= int(control[MAX_STATES])

    def advance(self, store: Store, account: Account, quantum: int) -> None:
        """Search on, as `rounds.advance` says, and account for it."""
        bits, size = np.uint64(store.bits), self.crew.size

        def work(me: int) -> None:
            arrays = (
                store.states,
                store.origins,
                store.table,
            )  # not kept: who refers to them keeps them from growing
            batch, mine = self.members[me], slice(me * self.each, (me + 1) * self.each)
            words = slice(mine.start * store.words, mine.stop * store.words)
            buffers = (
                batch.states, batch.which, batch.ends, batch.hashes,
                self.hits[me], batch.hits, self.fired[me], self._found[me],
            )  # fmt: skip
            finds: Any = self._finds.array[words], self._places.array[mine], self._parents.array[mine]
            rounds.advance(
                me, size, self.share, WIDE, store.shape, account.control, *arrays, bits, buffers, finds, self._finds.array,
                self._tallies, self._barrier, account.seen, self.code.expand, self.code.check, self._yield, quantum,
            )  # fmt: skip

        self.crew.run(work)
        account.fired += self.fired.sum(axis=0)
        account.hits |= np.bitwise_or.reduce(self.hits, axis=0)
        self.fired[:] = 0
