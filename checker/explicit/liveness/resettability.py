"""Resettabilities: can fair transitions alone still lead from every state to one that satisfies the predicate?

Asked when the whole graph is known. Its fair edges are stored once, forwards; then "can get there" is
swept back along them until nothing changes, against the order of the states, because most edges lead
to a later state. Eight resettabilities share a sweep, one bit of a byte each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...codegen.machine_code import Functions
from ...codegen.program import Program
from ..states.batch import Batch
from ..states.blocks import Block
from ..states.budget import OutOfBudget, Watch
from ..states.store import Store
from . import backward_reachability as sweeps

_SLICE = 1 << 18
"""States between two looks at the clock."""
_CHUNK = 1 << 12


class Resettability:
    """The search for states with no way back among the states of a completely explored system."""

    def __init__(
        self, program: Program, code: Functions, batch: Batch, store: Store, watch: Watch, states: int
    ) -> None:
        self.program, self.code, self.batch, self.store, self.watch = program, code, batch, store, watch
        self.states = states
        self.memory = store.bytes

    def no_way_back(self, fair_edges: int | None, look: Callable[[int], None]) -> dict[str, int]:
        """Of each resettability that can be lost: the lowest state from which it is out of reach.

        `fair_edges` is how often fair transitions were enabled, None after a reduced search, which does not know
        it. `look` is called now and then with the memory in use, and may raise. Raises OutOfBudget.
        """
        starts = self._block(np.int64, self.states + 1)
        if fair_edges is None:
            self._edges(starts, np.empty(0, np.uint32), look)
            fair_edges = int(starts[-1])
        targets = self._block(np.uint32, fair_edges)
        can = self._block(np.uint8, self.states)
        self._edges(starts, targets, look)
        found = {}
        names = list(self.program.system.resettabilities)
        for group in range(0, len(names), 8):
            members = names[group : group + 8]
            self._holding(can, group)
            self._spread(can, starts, targets, (1 << len(members)) - 1, look)
            for bit, name in enumerate(members):
                no_way_back = sweeps.first_without(can, np.uint8(1 << bit))
                if no_way_back >= 0:
                    found[name] = no_way_back
        return found

    def _edges(self, starts: np.ndarray, targets: np.ndarray, look: Callable[[int], None]) -> None:
        fair = np.array([t.fair for t in self.program.system.transitions], np.bool_)
        for first, last in self._slices():
            sweeps.edges(
                self.store.shape, self.store.states, self.store.table, np.uint64(self.store.bits), first, last,
                self.batch.states, self.batch.which, self.batch.ends, self.batch.hits,
                fair, starts, targets, self.code.expand,
            )  # fmt: skip
            look(self.memory)

    def _block(self, dtype: type, length: int) -> np.ndarray:
        self.memory += length * np.dtype(dtype).itemsize
        self.watch.require(self.memory)
        try:
            return Block(dtype, length).array
        except MemoryError as error:
            raise OutOfBudget("memory") from error

    def _slices(self) -> Iterator[tuple[int, int]]:
        return ((s, min(s + _SLICE, self.states)) for s in range(0, self.states, _SLICE))

    def _holding(self, can: np.ndarray, group: int) -> None:
        """Set the bits of `can` to where the resettabilities from number `group` on hold."""
        words = self.program.resettability_words
        word, shift = divmod(group, 64)
        bits = np.empty(_CHUNK * words, np.uint64)
        for first in range(0, self.states, _CHUNK):
            count = min(_CHUNK, self.states - first)
            sweeps.recovered(self.store.shape, self.store.states, first, count, bits, self.code.recovered)
            can[first : first + count] = bits[word : count * words : words] >> np.uint64(shift) & np.uint64(
                255
            )

    def _spread(
        self,
        can: np.ndarray,
        starts: np.ndarray,
        targets: np.ndarray,
        everything: int,
        look: Callable[[int], None],
    ) -> None:
        """Let every state do what a state one fair edge away can, until that changes nothing."""
        changed = True
        while changed:
            changed = False
            for first, last in reversed(list(self._slices())):
                changed |= bool(sweeps.sweep(can, starts, targets, first, last, np.uint8(everything)))
                look(self.memory)
