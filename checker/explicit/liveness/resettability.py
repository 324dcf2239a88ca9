"""Resettabilities: can fair transitions alone still lead from every state to one that satisfies the predicate?

Asked when the whole graph is known. Its fair edges are stored once, forwards. Backward reachability from the states
that satisfy the predicate then passes over them until nothing changes, against the order of the states, because
most edges lead to a later state. Eight resettabilities share a pass, one bit of a byte each. What is left has
no way back.

All workers take part, each in the next states that nobody has taken. What a state can only grows, and each is written by one worker, so
the fixpoint is the same whoever comes first; how many passes it takes is not.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codegen.program import Program
from ...core.exploration import OutOfBudget
from ...kernel_compiler.intrinsics import add, call, prefetch, read, write
from ...kernel_compiler.jit import inline, jit
from ...llvm.machine_code import MachineCode
from ..states.arrays import Block
from ..states.budget import SearchBudget
from ..states.hash_table import ONE, Numbers, Stored, Unsigned, Words, hash_of, home_of, lookup
from ..states.store import Store
from ..states.successors import BATCH, Batch, Integers, Successors, expand
from ..states.workers import Workers

_SLICE = 1 << 18
"""States between two looks at the clock."""
_CHUNK = 1 << 12
"""States that a worker takes at a time, when it passes backwards."""
_NEXT, _FREE = 0, 8
"""Where `turn` has the next state that nobody has taken, and the next edge that nobody has written: not in one cache line."""


class _FairEdges(NamedTuple):
    """The fair edges of state s lead to targets[starts[r]:starts[r + 1]], where r is `_row(s)`.

    The edges of a batch of states follow each other; batches come as workers wrote them.
    """

    starts: Integers
    targets: Numbers


class Resettability:
    """The search for states with no way back among the states of a completely explored system."""

    def __init__(
        self,
        program: Program,
        code: MachineCode,
        batches: Sequence[Batch],
        store: Store,
        budget: SearchBudget,
        states: int,
        workers: Workers,
    ) -> None:
        """As many workers take part as there are batches: one, or all of them."""
        self.program, self.code, self.batches, self.store, self.budget = program, code, batches, store, budget
        self.states, self.workers = states, workers
        self.memory = store.bytes
        self._turn = np.zeros(16, np.int64)

    def no_way_back(self, fair_edges: int, look: Callable[[int], None]) -> dict[str, int]:
        """Of each resettability that can be lost: the lowest state from which it is out of reach.

        `fair_edges` is how often fair transitions were enabled. `look` is called now and then with the memory in use, and may raise. Raises OutOfBudget.
        """
        rows = self.states + self.states // BATCH + 2
        edges = _FairEdges(self._block(np.int64, rows), self._block(np.uint32, fair_edges))
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

        def work(last: int, me: int) -> None:
            _store_edges(self.store.arrays, last, self.batches[me].arrays, fair, edges, self._turn)

        for first, last in self._slices():
            self._turn[_NEXT] = first
            self._together(partial(work, last))
            look(self.memory)

    def _together(self, task: Callable[[int], Any]) -> None:
        if len(self.batches) > 1:
            self.workers.run(task)
        else:
            task(0)

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

        def part(start: int, end: int) -> None:
            bits = np.empty(_CHUNK * words, np.uint64)
            for first in range(start, end, _CHUNK):
                count = min(_CHUNK, end - first)
                _recovered(self.store.arrays, first, count, bits, self.code.recovered)
                mine = bits[word : count * words : words] >> np.uint64(shift)
                can[first : first + count] = mine & np.uint64(255)

        if len(self.batches) > 1:
            self.workers.share_out(self.states, part)
        else:
            part(0, self.states)

    def _reach_backward(
        self, can: np.ndarray, edges: _FairEdges, everything: np.uint8, look: Callable[[int], None]
    ) -> None:
        """Let every state do what a state one fair edge away can, until that changes nothing."""
        changed = [True]

        def work(first: int, me: int) -> None:
            if _pass_backward(can, edges, first, everything, self._turn):
                changed.append(True)

        while changed:
            changed.clear()
            for first, last in reversed(list(self._slices())):
                self._turn[_NEXT] = last
                self._together(partial(work, first))
                look(self.memory)


@inline
def _row(state: int) -> int:
    """Where the edges of a state begin: each batch has one more, where its last ones end."""
    return state + state // BATCH


@jit
def _store_edges(
    stored: Stored, last: int, batch: Successors, fair: NDArray[np.bool_], edges: _FairEdges, turn: Integers
) -> None:
    """Store the states that fair transitions lead to, of all states before `last` that nobody has taken yet, batch by batch."""
    starts, targets = edges.starts, edges.targets
    size = np.uint64(len(stored.shape))
    low = (ONE << stored.bits) - ONE
    first = add(turn, _NEXT, BATCH)
    while first < last:
        number: int = min(BATCH, last - first)
        expand(stored, first, number, batch, 0)
        total = np.uint64(batch.ends[number - 1])
        some = 0
        for j in range(total):
            if fair[batch.which[j]]:
                prefetch(stored.table, home_of(stored, hash_of(stored.shape, batch.states, j * size)))
                some += 1
        edge = add(turn, _FREE, some)
        starts[_row(first)] = edge
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
            starts[_row(first + i) + 1] = edge
        first = add(turn, _NEXT, BATCH)


@jit
def _recovered(stored: Stored, first: int, count: int, bits: Words, function: int) -> None:
    """Write the resettabilities that hold in `count` states from `first` on."""
    start = stored.states.ctypes.data + first * len(stored.shape) * 8
    call(function, (start, count, bits.ctypes.data))


@jit
def _pass_backward(
    can: NDArray[np.uint8], edges: _FairEdges, first: int, everything: Any, turn: Integers
) -> bool:
    """Add to what each state can, from the last that nobody has taken down to `first`, what its targets can; whether any gained."""
    starts, targets = edges.starts, edges.targets
    changed = False
    end = add(turn, _NEXT, -_CHUNK)
    while end > first:
        for s in range(end - 1, max(first, end - _CHUNK) - 1, -1):
            own = can[s]
            if own != everything:
                row = _row(s)
                for edge in range(starts[row], starts[row + 1]):
                    own |= read(can, targets[edge])
                if own != can[s]:
                    write(can, s, own)
                    changed = True
        end = add(turn, _NEXT, -_CHUNK)
    return changed


@jit
def _first_without(can: NDArray[np.uint8], bit: Any) -> int:
    """The first state that lacks the bit, or -1."""
    for s in range(len(can)):
        if can[s] & bit == 0:
            return s
    return -1
