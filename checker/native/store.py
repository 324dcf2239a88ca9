"""The states found so far: their words, the state each was found from, and a table to find them again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .storage import Block
from .table import rebuild
from .watch import OutOfBudget, Watch

MOST_STATES = 2**32 - 2
"""The table's entries have 32 bits, and 0 says that a place is free."""


class Store:
    """Numbered states and their table, within the memory budget that `watch` knows.

    The table is kept at most half full while memory lasts. When doubling it would break the budget it
    is filled further, up to seven eighths. `fixed_bytes` is what the search keeps beside the store.
    """

    def __init__(self, words: int, watch: Watch, fixed_bytes: int) -> None:
        self.words, self.watch, self.fixed_bytes = words, watch, fixed_bytes
        self.shape = (0,) * words
        self.bits = 13
        self._states = Block(np.uint64, words << 12)
        self._parents = Block(np.uint32, 1 << 12)
        self._table = Block(np.uint32, 1 << self.bits)
        self._crowded = False
        watch.require(self.bytes)

    @property
    def states(self) -> NDArray[Any]:
        """The words of all states. This and the other arrays are valid until the next growth."""
        return self._states.array

    @property
    def parents(self) -> NDArray[Any]:
        """The number of the state that each state was found from."""
        return self._parents.array

    @property
    def table(self) -> NDArray[Any]:
        """The hash table, as `table` describes it."""
        return self._table.array

    @property
    def bytes(self) -> int:
        """What the arrays take, with what the search keeps beside them."""
        return self.fixed_bytes + sum(b.bytes for b in (self._states, self._parents, self._table))

    @property
    def room(self) -> int:
        """How many states there may be before something has to grow."""
        entries = self._table.length
        return min(self._parents.length, entries * 7 // 8 if self._crowded else entries // 2, MOST_STATES)

    def state(self, number: int) -> tuple[int, ...]:
        """The words of one state."""
        start = number * self.words
        return tuple(map(int, self.states[start : start + self.words]))

    def add_first(self, words: tuple[int, ...]) -> None:
        """Make these words state 0 of an empty store."""
        self.states[: self.words] = words
        rebuild(self.shape, self.states, 1, self.table, np.uint64(self.bits))

    def make_room(self, count: int, needed: int) -> None:
        """Make room for `needed` states beside the `count` that there are.

        Raises OutOfBudget if there is no memory for that; the states and parents stay as they were.
        """
        wanted = count + needed
        if wanted > MOST_STATES:
            raise OverflowError(f"more than {MOST_STATES} states: the native engine cannot number them")
        try:
            if wanted > self._parents.length:
                self._grow_states(wanted)
            if wanted > self.room:
                self._grow_table(count, wanted)
        except MemoryError as error:
            raise OutOfBudget("memory") from error

    def _grow_states(self, wanted: int) -> None:
        # By a half; by less when that is all there is.
        for length in (max(wanted, self._parents.length * 3 // 2), wanted + wanted // 16, wanted):
            states, parents = self._states, self._parents
            total = self.bytes - states.bytes - parents.bytes
            first = total + states.peak_of_growth(length * self.words) + parents.bytes
            then = total + states.bytes_for(length * self.words) + parents.peak_of_growth(length)
            if self.watch.affords(max(first, then)):
                states.grow(length * self.words)
                parents.grow(length)
                return
        raise OutOfBudget("memory")

    def _grow_table(self, count: int, wanted: int) -> None:
        bits = self.bits
        while (1 << bits) // 2 < wanted and bits < 32:
            bits += 1
        others = self.bytes - self._table.bytes
        if bits > self.bits and self.watch.affords(others + self._table.bytes_for(1 << bits)):
            self.bits = bits
            self._table.replace(1 << bits)
            rebuild(self.shape, self.states, count, self.table, np.uint64(bits))
        else:
            self._crowded = True
            if wanted > self.room:
                raise OutOfBudget("memory")
