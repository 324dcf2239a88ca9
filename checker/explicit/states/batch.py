"""Buffers for the successors of a batch of states, and a way to expand one state from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ...codegen.machine_code import Functions
from ...codegen.program import Program
from .bfs_kernel import ALL, BATCH


class Batch:
    """Room for what `expand` writes for up to BATCH states of one program."""

    def __init__(self, program: Program, code: Functions) -> None:
        self.words, self.code = program.layout.words, code
        most = max(1, BATCH * len(program.system.transitions))
        self.states = np.empty(most * self.words, np.uint64)
        self.which = np.empty(most, np.int32)
        self.ends = np.empty(BATCH, np.int64)
        self.hashes = np.empty(most, np.uint64)
        self.hits = np.zeros(program.limit_words, np.uint64)
        self._expand = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 7)(code.expand)

    @property
    def bytes(self) -> int:
        """What the buffers take."""
        return sum(a.nbytes for a in (self.states, self.which, self.ends, self.hashes, self.hits))

    def successors(self, state: Sequence[int], last: int = ALL) -> list[tuple[int, tuple[int, ...]]]:
        """Each enabled transition of a packed state, with the packed state that it leads to.

        `hits` holds the constraints that stopped a transition before number `last`.
        """
        parent = np.array(state, np.uint64)
        self.hits[:] = 0
        arrays = (parent, self.states, self.which, self.ends, self.hits)
        pointers = [a.ctypes.data for a in arrays]
        count = self._expand(pointers[0], 1, *pointers[1:], last)
        found = self.states[: count * self.words].reshape(count, self.words)
        return [(int(t), tuple(map(int, s))) for t, s in zip(self.which[:count], found, strict=True)]
