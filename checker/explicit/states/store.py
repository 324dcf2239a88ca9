"""The states found so far: their words, what their parents can be told from, and a table to find them again.

Of every STRIDE states, the parent of one is kept. States are numbered by the number of the parent that found them
first. So parents never decrease from one state to the next, and the parent of a state lies between two that are
known. It is the lowest number there that leads to the state: a lower one would have found it first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.exploration import OutOfBudget
from ...core.exploration import Path as Run
from ...kernel_compiler.intrinsics import LINE_BYTES
from ...kernel_compiler.jit import jit
from .arrays import Block
from .budget import SearchBudget
from .hash_table import STRIDE, Stored, fill, move_keys, same
from .successors import ALL, BATCH, Batch, Successors, expand
from .workers import Workers

MOST_STATES = 2**32 - 2
"""The table's entries have 32 bits, and 0 says that a place is free."""

LINE_ENTRIES = LINE_BYTES // 4
MOST_ENTRIES = 2**32 - LINE_ENTRIES
_SMALLEST_TABLE = 1 << 13
_LEAPS = ((8, 1 << 25), (4, 1 << 27))
"""A table of numbers grows by such a factor as long as it is no longer than that. To fill it again takes as long as finding a third of its
states, so it should not happen often; the memory that a long table takes, 128 and 512 MiB here, is cheaper."""

_LEAP_OF_KEYS = 1 << 19
"""A table of keys grows by 8 as long as it is no longer than that, which is 4 MiB."""

_KEY_BYTES = 16
"""What a table of keys takes for each state when it is full."""
_FIRST_STATES = 1 << 12


class Store:
    """Numbered states and their table, within the budget of a search.

    A table of numbers is kept at most half full while memory lasts: at three quarters, a search takes a quarter
    longer. While it is small it grows by more than twice. When doubling it would break the budget it grows by less,
    and is filled up to seven eighths. A table of keys, which there is if `owner_bits` are given, is kept at most half full; when
    doubling it would break the budget, one of numbers takes its place, whose entries are half as long. Who needs the numbers of states that are
    looked up must not ask for keys.
    `fixed_bytes` is what the search keeps beside the store.
    """

    def __init__(
        self, words: int, budget: SearchBudget, fixed_bytes: int, workers: Workers, owner_bits: int = 0
    ) -> None:
        self.words, self.budget, self.fixed_bytes, self.workers = words, budget, fixed_bytes, workers
        self.shape = (0,) * words
        self._states = Block(np.uint64, words * _FIRST_STATES)
        self._origins = Block(np.uint32, _origins_for(_FIRST_STATES))
        self._keyed = (0,) * owner_bits
        self._table = Block(np.uint64 if self._keyed else np.uint32, _SMALLEST_TABLE)
        self._crowded = False
        budget.require(self.bytes)

    @property
    def arrays(self) -> Stored:
        """All of it as kernels take it; valid until the next growth, which cannot be as long as someone keeps it."""
        bits = np.uint64(self.bits)
        return Stored(self.shape, self.states, self.origins, self.table, bits, self._keyed)

    @property
    def states(self) -> NDArray[Any]:
        """The words of all states. This and the other arrays are valid until the next growth."""
        return self._states.array

    @property
    def origins(self) -> NDArray[Any]:
        """The number of the state that every STRIDE-th state was found from."""
        return self._origins.array

    @property
    def table(self) -> NDArray[Any]:
        """The hash table, as `hash_table` describes it."""
        return self._table.array

    @property
    def bits(self) -> int:
        """How many bits of a table's entry hold a number: enough for all that it may hold, with as many as there can be in it."""
        return _held_by(self._table.length, crowded=True).bit_length()

    @property
    def bytes(self) -> int:
        """What the arrays take, with what the search keeps beside them."""
        return self.fixed_bytes + sum(b.bytes for b in (self._states, self._origins, self._table))

    @property
    def capacity(self) -> int:
        """How many states the arrays can hold, whatever the table's length."""
        return min(self._states.length // self.words, self._origins.length * STRIDE)

    @property
    def room(self) -> int:
        """How many states there may be before something has to grow."""
        return min(self._states.length // self.words, self._held, MOST_STATES)

    @property
    def _held(self) -> int:
        """How many states the table may hold."""
        length = self._table.length
        return _held_by(length, self._crowded)

    def reserve(self, size: int) -> None:
        """Count so many bytes more beside the store. Raises OutOfBudget."""
        self.budget.require(self.bytes + size)
        self.fixed_bytes += size

    def state(self, number: int) -> tuple[int, ...]:
        """The words of one state."""
        start = number * self.words
        return tuple(map(int, self.states[start : start + self.words]))

    def add_first(self, words: tuple[int, ...]) -> None:
        """Make these words state 0 of an empty store."""
        self.states[: self.words] = words
        self._fill(1)

    def make_room(self, count: int, needed: int) -> None:
        """Make room for `needed` states beside the `count` that there are.

        Raises OutOfBudget if there is no memory for that; the states and origins stay as they were.
        """
        wanted = count + needed
        if wanted > MOST_STATES:
            raise OverflowError(f"more than {MOST_STATES} states: the native engine cannot number them")
        try:
            if self._keyed and wanted > self._affordable(_KEY_BYTES):
                self._turn_to_numbers(count)
            if wanted * self.words > self._states.length:
                self._grow_states(wanted)
            if wanted > self.room:
                self._grow_table(count, wanted)
        except MemoryError as error:
            raise OutOfBudget("memory") from error

    def _grow_states(self, wanted: int) -> None:
        # By a half, but not beyond what the table will have memory for; by less when that is all there is.
        more = min(self._states.length // self.words * 3 // 2, self._affordable())
        for length in (max(wanted, more), wanted + wanted // 16, wanted):
            states, origins = self._states, self._origins
            total = self.bytes - states.bytes - origins.bytes
            first = total + states.peak_of_growth(length * self.words) + origins.bytes
            then = (
                total + states.bytes_for(length * self.words) + origins.peak_of_growth(_origins_for(length))
            )
            if self.budget.affords(max(first, then)):
                try:
                    origins.grow(_origins_for(length))
                    states.grow(length * self.words)
                except OutOfBudget:
                    if length == wanted:
                        raise
                else:
                    return
        raise OutOfBudget("memory")

    def _affordable(self, entry: float = 4 * 8 / 7) -> int:
        """How many states the budget can hold, with so many bytes for each in the table: as few as may be, unless told otherwise."""
        if self.budget.max_memory is None:
            return MOST_STATES
        own = 8 * self.words + 4 / STRIDE
        return int(max(0, self.budget.max_memory - self.fixed_bytes) / (own + entry))

    def _turn_to_numbers(self, count: int) -> None:
        # In no more memory than the keys had, so that there is a whole table at any time.
        useful = _least_for(self._affordable(), crowded=True)
        length = max(min(2 * self._table.length, useful), _least_for(count, crowded=True))
        self._keyed = ()
        self._crowded = length < _least_for(count, crowded=False)
        self._table.replace(length, np.uint32)
        self._fill(count)

    def _grow_table(self, count: int, wanted: int) -> None:
        # The old table is given back before there is a new one: the states are all that it takes to fill it.
        others = self.bytes - self._table.bytes
        if self._keyed:
            # A longer one would take memory that the states will need.
            useful = _least_for(self._affordable(_KEY_BYTES), crowded=False)
            length = _length_of_keys(self._table.length, wanted, useful)
            if length <= useful and self.budget.affords(others + self._table.bytes_for(length)):
                self._replace_keys(count, length)
                return
            self._turn_to_numbers(count)
            if wanted <= self.room:
                return
        useful = _least_for(self._affordable(), crowded=True)
        for length in _lengths(self._table.length, wanted, useful):
            if self.budget.affords(others + self._table.bytes_for(length)):
                self._crowded = length < _least_for(wanted, crowded=False)
                self._table.replace(length)
                self._fill(count)
                return
        self._crowded = True
        if wanted > self.room:
            raise OutOfBudget("memory")

    def _replace_keys(self, count: int, length: int) -> None:
        if not self.budget.affords(self.bytes + self._table.bytes_for(length)):
            self._table.replace(length)
            self._fill(count)
            return
        old, self._table = self._table, Block(np.uint64, length)
        self.workers.share_out(old.length, lambda first, last: move_keys(self.arrays, old.array, first, last))

    def _fill(self, count: int) -> None:
        self.workers.share_out(count, lambda first, last: fill(self.arrays, first, last))


def _origins_for(states: int) -> int:
    return states // STRIDE + 1


def _held_by(length: int, crowded: bool) -> int:
    """How many states a table of this length may hold."""
    return length // 8 * 7 if crowded else length // 2


def _least_for(states: int, crowded: bool) -> int:
    """The shortest table that may hold so many states."""
    return _in_lines(-(-states // 7) * 8 if crowded else states * 2)


def _in_lines(entries: int) -> int:
    """So many entries, or a few more: a table is made of whole cache lines."""
    return -(-entries // LINE_ENTRIES) * LINE_ENTRIES


def _length_of_keys(length: int, wanted: int, useful: int) -> int:
    """The length that a table of keys is to grow to: one that is `useful` if there is any."""
    doubled = max(2 * length, _least_for(wanted, crowded=False))
    leap = 8 * length
    return leap if doubled <= leap <= min(_LEAP_OF_KEYS, useful) else doubled


def _lengths(length: int, wanted: int, useful: int) -> list[int]:
    """Lengths that a table may grow to, the best first: so many entries that it need not grow again soon.

    A table longer than is `useful` would take memory that the states will need.
    """
    doubled = max(length * 2, _least_for(wanted, crowded=False))
    leaps = [length * factor for factor, most in _LEAPS if doubled <= length * factor <= most]
    choices = [
        *leaps,
        doubled,
        doubled * 3 // 4,
        doubled * 5 // 8,
        _least_for(wanted + wanted // 16, crowded=True),
    ]
    capped = [min(_in_lines(n), useful, MOST_ENTRIES) for n in choices]
    return [n for n in capped if length < n and _held_by(n, crowded=True) >= wanted]


_STEPS = 1 << 12
"""Steps of a run that are told at a time."""


def path_to(number: int, count: int, store: Store, batch: Batch) -> Run:
    """The transitions of the run by which state `number` of `count` was found; no run to it is shorter."""
    run: list[int] = []
    parents, by, some = np.empty(STRIDE, np.int64), np.empty(STRIDE, np.int32), np.empty(_STEPS, np.int32)
    while number != 0:
        number, taken = _walk_back(store.arrays, number, count, batch.arrays, parents, by, some)
        run += some[:taken].tolist()
    return tuple(reversed(run))


@jit
def _walk_back(
    stored: Stored,
    number: int,
    count: int,
    batch: Successors,
    parents: NDArray[np.int64],
    by: NDArray[np.int32],
    run: NDArray[np.int32],
) -> tuple[int, int]:
    """Write to `run` by which transitions state `number` was found, its parent, and so on, the last one first: to the initial state or as far as there is room.

    Gives the state that it came to, and how many steps back that is. The states of a stride are found anew together, in the order of their numbers, by
    expanding their parents: those of a narrow level may have a wide one before them, all of which is expanded for the last of them.
    """
    size = np.uint64(len(stored.shape))
    taken = 0
    while number != 0 and taken < len(run):
        mark = number // STRIDE
        lowest = max(mark * STRIDE, 1)
        next_: int = lowest
        first = int(np.int64(stored.origins[mark]))
        last = number
        if (mark + 1) * STRIDE < count:
            last = min(last, int(np.int64(stored.origins[mark + 1])) + 1)
        while next_ <= number:
            if first >= last:
                raise ValueError("a state that no state leads to: the numbers in `origins` are wrong")
            some: int = min(BATCH, last - first)
            total = expand(stored, first, some, batch, ALL)
            i = 0
            for k in range(np.uint64(total)):
                while np.int64(k) >= batch.ends[i]:
                    i += 1
                if next_ <= number and same(
                    stored.shape, batch.states, k * size, stored.states, np.uint64(next_) * size
                ):
                    parents[next_ - lowest] = first + i
                    by[next_ - lowest] = batch.which[k]
                    next_ += 1
            first += some
        while number >= lowest and taken < len(run):
            run[taken] = by[number - lowest]
            number = parents[number - lowest]
            taken += 1
    return number, taken
