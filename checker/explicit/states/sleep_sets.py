"""Sleep sets: successors that are known to have been found are not computed, and not looked up.

Two independent transitions lead to the same state in either order. Let state s be found first from p, by t. A transition u that is enabled in p, and
independent of t, is enabled in s; and what it leads to there is what t leads to in q, which is where u leads to from p. If q has a lower number
than s, then q is expanded before s, and the successor of s by u has been found by then. So u *sleeps* in s. That q has a lower number is known where u
comes before t in the order of transitions, where it slept in p, and where q was met when p was expanded, and had been found before.

So nothing that a search would find is left out, and nothing gets another number: the first way to a state never sleeps. What is counted is what is enabled,
whether it sleeps or not.

These are the sleep sets of P. Godefroid, Using Partial Orders to Improve Automatic Verification Methods (CAV 1990), for a breadth-first search:
there, a state that is met again needs no second look, for what sleeps in it was decided by the first way to it.

Of each state that waits to be expanded, a row of bits says which transitions sleep. The rows lie in a ring, by number. Where there is none any more, or
none yet, all are awake.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....model.language import TransitionSystem
from ...core.exploration import OutOfBudget
from ...kernel_compiler.intrinsics import call, cross, ones
from ...kernel_compiler.jit import inline
from ...reduction.independence import independent_transitions
from .arrays import Block
from .hash_table import FREE, ONE, Stored, Unsigned, Words
from .store import Store
from .successors import ALL, Batch, Integers, Successors

AFTER = 1 << 16
"""From so many transitions on, a search has sleep sets: one that is over before would not gain what it takes to find out what is independent."""

_JUDGED_AFTER = 1 << 19
_LEAST_SHARE = 0.05
"""A search goes on without them if after so many more transitions no larger share slept: the rows cost about as much as that saves."""

_SMALLEST_RING = 1 << 14
"""Rows of the ring at first; always a power of two."""

_SHARE_OF_MEMORY = 32
"""The ring takes no larger part of the memory that a search may use: it saves time, and states need room first."""

_TWO, _SIX, _SIXTY_THREE, _SIXTY_FOUR = np.uint64(2), np.uint64(6), np.uint64(63), np.uint64(64)
_SQUARE = np.uint64(256)
_LOWER_HALF = np.uint64(0xFFFFFFFF)
_EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)


class Asleep(NamedTuple):
    """What a search knows of what sleeps.

    The ring of `rows`, of `words` words each. For each transition such a row of those that sleep after it if they were enabled and come before it,
    and one of those that sleep after it if they slept before it. `since` has the number from which on states have rows. `on` is 0 where nothing sleeps.
    """

    rows: Words
    earlier: Words
    beside: Words
    words: Unsigned
    since: Integers
    on: int


@inline
def expand_awake(
    stored: Stored, asleep: Asleep, count: int, first: int, number: int, batch: Successors
) -> int:
    """`expand`, of so many of `count` states, without the successors by transitions that sleep; `taken` counts these as well."""
    start = stored.states.ctypes.data + first * len(stored.shape) * 8
    call(batch.enabled, (start, number, batch.hits.ctypes.data, ALL, batch.room))
    _note_enabled(asleep, batch, np.uint64(number))
    size = len(asleep.rows) // np.int64(asleep.words)
    if first >= asleep.since[0] and count - first <= size:
        _take_out(asleep, batch, np.uint64(first), np.uint64(number), np.uint64(size) - ONE)
    else:
        batch.asleep[:] = 0
    arrays = (batch.states.ctypes.data, batch.which.ctypes.data, batch.ends.ctypes.data)
    filled: int = call(batch.moved, (start, number, 0, *arrays, batch.room))
    for t in range(len(batch.taken)):
        batch.taken[t] = batch.seen[t]
    return filled


@inline
def seen_by(batch: Successors) -> int:
    """How many successors the states of a batch have, with those that sleep."""
    total = 0
    for t in range(len(batch.taken)):
        total += batch.taken[t]
    return total


@inline
def _note_enabled(asleep: Asleep, batch: Successors, number: Unsigned) -> None:
    """Count which transitions `number` states have, and turn the bits over, so that each state has a row."""
    masks, enabled = batch.masks, batch.rows
    transitions = np.uint64(len(batch.taken))
    valid = (_valid(number, 0), _valid(number, 1), _valid(number, 2), _valid(number, 3))
    for t in range(transitions):
        at = t << _TWO
        a, b = masks[at] & valid[0], masks[at + ONE] & valid[1]
        c, d = masks[at + _TWO] & valid[2], masks[at + _TWO + ONE] & valid[3]
        enabled[at], enabled[at + ONE] = a, b
        enabled[at + _TWO], enabled[at + _TWO + ONE] = c, d
        batch.seen[t] = np.int64(ones(a) + ones(b) + ones(c) + ones(d))
    for x in range(transitions << _TWO, asleep.words * _SQUARE):
        enabled[x] = 0
    for w in range(asleep.words):
        _turn(enabled, w * _SQUARE)


@inline
def _valid(number: Unsigned, block: int) -> Unsigned:
    """A bit for each of the 64 states of a block that is among the first `number`."""
    before = np.uint64(block) * _SIXTY_FOUR
    if number <= before:
        return FREE
    if number >= before + _SIXTY_FOUR:
        return _EVERY
    return (ONE << (number - before)) - ONE


@inline
def _take_out(asleep: Asleep, batch: Successors, first: Unsigned, number: Unsigned, last: Unsigned) -> None:
    """Of `number` states from `first` on, take out what sleeps; `last` is the last place of the ring."""
    words, sleeping, masks = asleep.words, batch.asleep, batch.masks
    for i in range(number):
        row = ((first + i) & last) * words
        place = _place_of(i)
        awake = FREE
        for w in range(words):
            found = asleep.rows[row + w]
            sleeping[w * _SQUARE + place] = found
            left = batch.rows[w * _SQUARE + place] & ~found
            masks[w * _SQUARE + place] = left
            awake += ones(left)
        batch.counts[i] = awake
    for w in range(words):
        _turn(masks, w * _SQUARE)


@inline
def _place_of(state: Unsigned) -> Unsigned:
    """Where, within a square of 256 words, that of a state of the batch lies after `_turn`."""
    return (state & _SIXTY_THREE) << _TWO | state >> _SIX


@inline
def _turn(square: Words, at: Unsigned) -> None:
    """Turn over four squares of 64 words of 64 bits, which lie word by word beside one another from square[at] on: bit b of word w becomes bit w of word b.

    H. S. Warren, Hacker's Delight, section 7-3.
    """
    shift, mask = np.uint64(32), _LOWER_HALF
    while shift > FREE:
        k: Unsigned = np.uint64(0)
        while k < _SIXTY_FOUR:
            cross(square, at + (k << _TWO), at + ((k | shift) << _TWO), shift, mask)
            k = ((k | shift) + ONE) & ~shift
        shift = shift >> ONE
        mask = mask ^ (mask << shift)


@inline
def note_known(batch: Successors, transition: Unsigned) -> None:
    """Note that what the transition leads to was found before the parent at hand was expanded."""
    word = transition >> _SIX
    batch.known[word] = batch.known[word] | ONE << (transition & _SIXTY_THREE)


@inline
def know_more(asleep: Asleep, batch: Successors, i: Unsigned) -> None:
    """All successors of state i of the batch are looked up: what was found before it was expanded sleeps after what is independent, whatever their order."""
    place = _place_of(i)
    for w in range(asleep.words):
        x = w * _SQUARE + place
        batch.asleep[x] = batch.asleep[x] | batch.known[w]


@inline
def note_row(
    asleep: Asleep, batch: Successors, i: Unsigned, transition: Unsigned, rows: Words, at: Unsigned
) -> None:
    """Write to rows[at] what sleeps in a state that is first found from state i of the batch, by this transition."""
    words, place, own = asleep.words, _place_of(i), transition * asleep.words
    for w in range(words):
        x = w * _SQUARE + place
        rows[at + w] = (batch.rows[x] & asleep.earlier[own + w]) | (batch.asleep[x] & asleep.beside[own + w])


@inline
def row_of(asleep: Asleep, number: Unsigned) -> Unsigned:
    """Where in the ring the row of a state begins."""
    size = np.uint64(len(asleep.rows)) // asleep.words
    return (number & (size - ONE)) * asleep.words


class SleepSets:
    """The sleep sets of one search: off, until `begin`, and after `judge` if they do not pay."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.words = -(-max(1, len(system.transitions)) // 64)
        self.on = self.settled = False
        self._rows = Block(np.uint64, self.words)
        self._earlier = self._beside = np.zeros(self.words, np.uint64)
        self._since = np.zeros(1, np.int64)
        self._reserved = 0

    @property
    def arrays(self) -> Asleep:
        """All of it as kernels take it; valid until `make_room`, which cannot be called as long as someone keeps it."""
        rows, words = self._rows.array, np.uint64(self.words)
        return Asleep(rows, self._earlier, self._beside, words, self._since, int(self.on))

    def begin(self, count: int, store: Store) -> None:
        """Have sleep sets for states from number `count` on, if any transitions are independent and there is memory for it."""
        self.settled = True
        beside = independent_transitions(self.system)
        if not any(beside):
            return
        earlier = [row & ((1 << t) - 1) for t, row in enumerate(beside)]
        try:
            self._allow(_SMALLEST_RING, store)
        except OutOfBudget:
            return
        self._make(_SMALLEST_RING)
        self._earlier, self._beside = (self._table(rows) for rows in (earlier, beside))
        self._since[0] = count
        self.on = True

    def make_room(self, head: int, count: int, store: Store) -> None:
        """Let the ring be longer if the states head .. count - 1, which wait, fill half of it. Raises OutOfBudget where the system has no more memory."""
        size = self._rows.length // self.words
        if not self.on or 2 * (count - head) <= size:
            return
        wanted = size
        while wanted < 2 * (count - head):
            wanted *= 2
        try:
            self._allow(wanted, store)
        except OutOfBudget:  # before anything is copied: this is asked again after every slice of work
            return
        numbers = np.arange(max(head, count - size), count)
        kept = self._rows.array.reshape(size, self.words)[numbers % size]
        self._make(wanted)
        self._rows.array.reshape(wanted, self.words)[numbers % wanted] = kept

    def judge(self, batches: Sequence[Batch]) -> None:
        """End them for good if few of the successors in these batches slept."""
        seen, slept = (sum(int(batch.tally[i]) for batch in batches) for i in range(2))
        if seen > _JUDGED_AFTER and slept < _LEAST_SHARE * seen:
            self.on = False

    def _allow(self, size: int, store: Store) -> None:
        """Count a ring of so many rows as memory of the search."""
        taken = size * self.words * 8
        if not store.budget.affords(taken * _SHARE_OF_MEMORY):
            raise OutOfBudget("memory")
        extra = taken - self._reserved
        store.reserve(extra)
        self._reserved += extra

    def _make(self, size: int) -> None:
        try:
            self._rows.replace(size * self.words)
        except MemoryError as error:  # there is no ring any more
            raise OutOfBudget("memory") from error

    def _table(self, rows: list[int]) -> np.ndarray:
        parts = [row >> 64 * w & 2**64 - 1 for row in rows for w in range(self.words)]
        return np.array(parts, np.uint64)
