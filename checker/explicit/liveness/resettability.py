"""Resettabilities: can fair transitions alone still lead from every state to one that satisfies the predicate?

Asked when the whole graph is known. Its fair edges are stored once, forwards. Backward reachability from the states
that satisfy the predicate then passes over them until nothing changes, against the order of the states, because
most edges lead to a later state. Eight resettabilities share a pass, one bit of a byte each. What is left has
no way back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codegen.program import Program
from ...core.exploration import OutOfBudget
from ...kernel_compiler.intrinsics import call, prefetch
from ...kernel_compiler.jit import jit
from ...llvm.machine_code import MachineCode
from ..states.arrays import Block
from ..states.budget import SearchBudget
from ..states.hash_table import ONE, Numbers, Stored, Unsigned, Words, hash_of, home_of, lookup
from ..states.store import Store
from ..states.successors import BATCH, Batch, Integers, Successors, expand

_SLICE = 1 << 18
"""States between two looks at the clock."""
_CHUNK = 1 << 12


class _FairEdges(NamedTuple):
    """The fair edges of state s lead to targets[starts[s]:starts[s + 1]]."""

    starts: Integers
    targets: Numbers


class Resettability:
    """The search for states with no way back among the states of a completely explored system."""

    def __init__(
        self,
        program: Program,
        code: MachineCode,
        batch: Batch,
        store: Store,
        budget: SearchBudget,
        states: int,
    ) -> None:
        self.program, self.code, self.batch, self.store, self.budget = program, code, batch, store, budget
        self.states = states
        self.memory = store.bytes

    def no_way_back(self, fair_edges: int, look: Callable[[int], None]) -> dict[str, int]:
        """Of each resettability that can be lost: the lowest state from which it is out of reach.

        `fair_edges` is how often fair transitions were enabled. `look` is called now and then with the memory in use, and may raise. Raises OutOfBudget.
        """
        edges = _FairEdges(self._block(np.int64, self.states + 1), self._block(np.uint32, fair_edges))
        can = self._block(np.uint8, self.states)
        self._store(edges, look)
        found = {}
        names = list(self.program.system.resettabilities)
        for group in range(0, len(names), 8):
            together = names[group : group + 8]
            self._holding(can, group)
            self._reach_backward(can, edges, np.uint8((1 << len(together)) - 1), look)
            for bit, name in enumerate(together):
                state = _first_without(can, np.uint8(1 << bit))
                if state >= 0:
                    found[name] = state
        return found

    def _store(self, edges: _FairEdges, look: Callable[[int], None]) -> None:
        fair = np.array([t.fair for t in self.program.system.transitions], np.bool_)
        for first, last in self._slices():
            _store_edges(self.store.arrays, first, last, self.batch.arrays, fair, edges)
            look(self.memory)

    def _block(self, dtype: type, length: int) -> np.ndarray:
        self.memory += length * np.dtype(dtype).itemsize
        self.budget.require(self.memory)
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
            _recovered(self.store.arrays, first, count, bits, self.code.recovered)
            can[first : first + count] = bits[word : count * words : words] >> np.uint64(shift) & np.uint64(
                255
            )

    def _reach_backward(
        self, can: np.ndarray, edges: _FairEdges, everything: np.uint8, look: Callable[[int], None]
    ) -> None:
        """Let every state do what a state one fair edge away can, until that changes nothing."""
        changed = True
        while changed:
            changed = False
            for first, last in reversed(list(self._slices())):
                changed |= bool(_pass_backward(can, edges, first, last, everything))
                look(self.memory)


@jit
def _store_edges(
    stored: Stored, first: int, last: int, batch: Successors, fair: NDArray[np.bool_], edges: _FairEdges
) -> None:
    """Store the states that fair transitions of the states first .. last - 1 lead to.

    starts[first] must be there already.
    """
    starts, targets = edges.starts, edges.targets
    size = np.uint64(len(stored.shape))
    low = (ONE << stored.bits) - ONE
    edge = starts[first]
    while first < last:
        number: int = min(BATCH, last - first)
        expand(stored, first, number, batch, 0)
        total = np.uint64(batch.ends[number - 1])
        for j in range(total):
            prefetch(stored.table, home_of(stored, hash_of(stored.shape, batch.states, j * size)))
        k: Unsigned = np.uint64(0)
        for i in range(number):
            end = np.uint64(batch.ends[i])
            while k < end:
                if fair[batch.which[k]]:
                    mixed = hash_of(stored.shape, batch.states, k * size)
                    _, entry = lookup(stored, batch.states, k * size, mixed)
                    targets[edge] = (entry & low) - ONE
                    edge += 1
                k += ONE
            starts[first + i + 1] = edge
        first += number


@jit
def _recovered(stored: Stored, first: int, count: int, bits: Words, function: int) -> None:
    """Write the resettabilities that hold in `count` states from `first` on."""
    start = stored.states.ctypes.data + first * len(stored.shape) * 8
    call(function, (start, count, bits.ctypes.data))


@jit
def _pass_backward(can: NDArray[np.uint8], edges: _FairEdges, first: int, last: int, everything: Any) -> bool:
    """Add to what each state can, from the last to the first, what its targets can; whether any gained."""
    starts, targets = edges.starts, edges.targets
    changed = False
    for s in range(last - 1, first - 1, -1):
        own = can[s]
        if own != everything:
            for edge in range(starts[s], starts[s + 1]):
                own |= can[targets[edge]]
            if own != can[s]:
                can[s] = own
                changed = True
    return changed


@jit
def _first_without(can: NDArray[np.uint8], bit: Any) -> int:
    """The first state that lacks the bit, or -1."""
    for s in range(len(can)):
        if can[s] & bit == 0:
            return s
    return -1
