"""The states found so far as kernels see them, and the hash table that finds a state again, in native code.

The table is open addressing with linear probing over fewer than 2^bits entries of 32 bits. An entry holds
the number of a state plus one in its low `bits` bits and part of the state's hash above, so that two
different states rarely look alike before they are compared; 0 is free. The comparison that follows is
exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import exchange, prefetch
from ...kernel_compiler.jit import inline, jit

Shape = tuple[int, ...]
Words = NDArray[np.uint64]
Numbers = NDArray[np.uint32]
Unsigned = Any
"""An unsigned 64-bit number; one never meets a signed number."""

STRIDE = 64
"""Of every so many states, the number of the parent is kept: see `store.path_to`."""


class Stored(NamedTuple):
    """States by their numbers, and their table.

    State s is the words s*W .. s*W + W - 1 of `states`. W is known to the compiler as the length of the tuple
    `shape`, so that loops over words unroll. `origins` has the parent of every STRIDE-th state.
    """

    shape: Shape
    states: Words
    origins: Numbers
    table: Numbers
    bits: Unsigned


ONE = np.uint64(1)
THIRTY_TWO = np.uint64(32)
_MIX1 = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xD6E8FEB86659FD93)
_LOW32 = np.uint64(0xFFFFFFFF)


@inline
def hash_of(shape: Shape, words: Words, at: Unsigned) -> Unsigned:
    """A hash whose every bit depends on every bit of the state at words[at]."""
    mixed = np.uint64(0)
    for w in range(len(shape)):
        mixed = (mixed ^ words[at + np.uint64(w)]) * _MIX1
        mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX2
    return mixed ^ (mixed >> np.uint64(29))


@inline
def same(shape: Shape, words: Words, at: Unsigned, others: Words, other_at: Unsigned) -> bool:
    """Whether two states are equal."""
    for w in range(len(shape)):  # noqa: SIM110 (kernels have no all)
        if words[at + np.uint64(w)] != others[other_at + np.uint64(w)]:
            return False
    return True


@inline
def home_of(mixed: Unsigned, table: Numbers) -> Unsigned:
    """Where a state with this hash is looked for first. Its upper half decides, whatever the table's length."""
    return ((mixed >> THIRTY_TWO) * np.uint64(len(table))) >> THIRTY_TWO


@inline
def next_place(place: Unsigned, table: Numbers) -> Unsigned:
    """The place after this one; the first comes after the last."""
    place += ONE
    return np.uint64(0) if place == np.uint64(len(table)) else place


@inline
def tag_of(mixed: Unsigned, bits: Unsigned) -> Unsigned:
    """The part of an entry above its low `bits` bits."""
    return (mixed << bits) & _LOW32


@inline
def lookup(stored: Stored, words: Words, at: Unsigned, mixed: Unsigned) -> tuple[Unsigned, Unsigned]:
    """Where the state at words[at] is in the table, or the free place where it belongs: the place, and its entry.

    `mixed` is its hash.
    """
    table, bits = stored.table, stored.bits
    place = home_of(mixed, table)
    last = (ONE << bits) - ONE
    tag = tag_of(mixed, bits)
    while True:
        entry = np.uint64(table[place])
        if entry == 0:
            return place, entry
        if (entry ^ tag) >> bits == 0:
            number = (entry & last) - ONE
            if same(stored.shape, words, at, stored.states, number * np.uint64(len(stored.shape))):
                return place, entry
        place = next_place(place, table)


@jit
def fill(stored: Stored, first: int, last: int) -> None:
    """Enter the states first .. last - 1, which differ; other threads may enter others at the same time."""
    shape, states, table = stored.shape, stored.states, stored.table
    size = np.uint64(len(shape))
    ahead = np.uint64(24)
    for s in range(np.uint64(first), np.uint64(last)):
        if s + ahead < np.uint64(last):
            prefetch(table, home_of(hash_of(shape, states, (s + ahead) * size), table))
        mixed = hash_of(shape, states, s * size)
        place = home_of(mixed, table)
        entry = tag_of(mixed, stored.bits) | (s + ONE)
        while table[place] != 0 or exchange(table, place, np.uint32(0), entry) != 0:
            place = next_place(place, table)
