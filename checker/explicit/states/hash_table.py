"""The states found so far as kernels see them, and the hash table that finds a state again, in native code.

The table is open addressing with linear probing. It is one of two kinds; 0 is free in both:

- of *numbers*: fewer than 2^bits entries of 32 bits. An entry holds the number of a state plus one in its low `bits` bits and part
  of the state's hash above, so that two different states rarely look alike before they are compared. The comparison that
  follows is exact.
- of *keys*, for short states: entries of 64 bits. An entry holds the state itself, and below it who has found it in this round: the
  number of a worker plus one, or ones only, once the state has its number. Looking a state up touches no other memory.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import LINE_BYTES, exchange, first_alike, prefetch
from ...kernel_compiler.jit import inline, jit

Shape = tuple[int, ...]
Words = NDArray[np.uint64]
Numbers = NDArray[np.uint32]
Table = NDArray[np.uint32] | NDArray[np.uint64]
Unsigned = Any
"""An unsigned 64-bit number; one never meets a signed number."""

STRIDE = 64
"""Of every so many states, the number of the parent is kept: see `store.path_to`."""


class Stored(NamedTuple):
    """States by their numbers, and their table.

    State s is the words s*W .. s*W + W - 1 of `states`. W is known to the compiler as the length of the tuple
    `shape`, so that loops over words unroll. `origins` has the parent of every STRIDE-th state. The table is one of keys
    where the tuple `keyed` is not empty; its length is that of the lower part of an entry, in bits, and known to the compiler as well.
    """

    shape: Shape
    states: Words
    origins: Numbers
    table: Table
    bits: Unsigned
    keyed: Shape


MOST_OWNER_BITS = 8


def owner_bits(state_bits: int, workers: int) -> int:
    """How many bits of an entry say who has found the state, where the rest holds all bits of a state; 0 if they do not fit."""
    bits = min(MOST_OWNER_BITS, 64 - state_bits)
    return bits if bits > 0 and (workers == 1 or workers <= (1 << bits) - 2) else 0


ONE = np.uint64(1)
FREE = np.uint64(0)
THIRTY_TWO = np.uint64(32)
_MIX1 = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xD6E8FEB86659FD93)
_LOW32 = np.uint64(0xFFFFFFFF)


@inline
def hash_of(shape: Shape, words: Words, at: Unsigned) -> Unsigned:
    """A hash of the state at words[at]: each bit of its upper half depends on every bit of the state.

    A product carries bits upwards alone. So its upper half is put on its lower one before the next word is added: words that differ in their upper
    bits only would otherwise meet there, in fewer bits than tell them apart.
    """
    mixed = np.uint64(0)
    for w in range(len(shape)):
        mixed ^= mixed >> THIRTY_TWO
        mixed = (mixed + words[at + np.uint64(w)]) * _MIX1
    return _stirred(mixed)


@inline
def hash_of_key(key: Unsigned) -> Unsigned:
    """The same of a state of one word."""
    return _stirred(key * _MIX1)


@inline
def _stirred(mixed: Unsigned) -> Unsigned:
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
def home_of(stored: Stored, mixed: Unsigned) -> Unsigned:
    """Where a state with this hash is looked for first. Its upper half decides, whatever the table's length.

    In a table of keys it is the beginning of a cache line, all of which is looked at at once. In one of numbers it is not: the more entries are
    looked at, the more look alike that are not.
    """
    place = ((mixed >> THIRTY_TWO) * np.uint64(len(stored.table))) >> THIRTY_TWO
    if len(stored.keyed) > 0:
        place = place & ~np.uint64(LINE_BYTES // 8 - 1)
    return place


@inline
def next_place(place: Unsigned, table: Table) -> Unsigned:
    """The place after this one; the first comes after the last."""
    place += ONE
    return np.uint64(0) if place == np.uint64(len(table)) else place


@inline
def likely_place(table: Table, place: Unsigned, wanted: Unsigned, low: Unsigned) -> Unsigned:
    """From this place on, the first of the line that is free or whose entry is `wanted` but for its `low` bits; the next line if there is none."""
    place = first_alike(table, place, wanted, ~low)
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
    return lookup_from(stored, words, at, home_of(stored, mixed), mixed)


@inline
def lookup_from(
    stored: Stored, words: Words, at: Unsigned, place: Unsigned, mixed: Unsigned
) -> tuple[Unsigned, Unsigned]:
    """The same if it is known that the state is at none of the places before this one."""
    table, bits = stored.table, stored.bits
    last = (ONE << bits) - ONE
    tag = tag_of(mixed, bits)
    # Mostly this very place is the one: then its line need not be searched again.
    entry = np.uint64(table[place])
    if entry == 0:
        return place, entry
    if (entry ^ tag) >> bits == 0:
        number = (entry & last) - ONE
        if same(stored.shape, words, at, stored.states, number * np.uint64(len(stored.shape))):
            return place, entry
        place = next_place(place, table)
    while True:
        place = likely_place(table, place, tag, last)
        entry = np.uint64(table[place])
        if entry == 0:
            return place, entry
        if (entry ^ tag) >> bits == 0:
            number = (entry & last) - ONE
            if same(stored.shape, words, at, stored.states, number * np.uint64(len(stored.shape))):
                return place, entry
        place = next_place(place, table)


@inline
def owner_of(stored: Stored, entry: Unsigned) -> Unsigned:
    """The lower part of an entry of keys."""
    return entry & settled(stored)


@inline
def settled(stored: Stored) -> Unsigned:
    """The lower part of the entry of a state that has its number."""
    return (ONE << np.uint64(len(stored.keyed))) - ONE


@inline
def key_of(stored: Stored, entry: Unsigned) -> Unsigned:
    """The state in an entry of keys."""
    return entry >> np.uint64(len(stored.keyed))


@inline
def entry_of(stored: Stored, key: Unsigned, owner: Unsigned) -> Unsigned:
    """An entry of keys."""
    return key << np.uint64(len(stored.keyed)) | owner


@inline
def find_key(stored: Stored, key: Unsigned, mixed: Unsigned) -> tuple[Unsigned, bool]:
    """Where this key, of this hash, is in a table of keys, or the free place where it belongs; and whether it is there."""
    table = stored.table
    wanted = entry_of(stored, key, settled(stored))
    place = home_of(stored, mixed)
    while True:
        place = likely_place(table, place, wanted, np.uint64(0))
        entry = np.uint64(table[place])
        if entry == 0:
            return place, False
        if entry == wanted:
            return place, True
        place = next_place(place, table)


@inline
def from_place(place: Unsigned, mixed: Unsigned) -> Unsigned:
    """A hash with a place of the table in its upper half: where `find` begins in a table of numbers."""
    return place << THIRTY_TWO | (mixed & _LOW32)


@inline
def find(stored: Stored, words: Words, at: Unsigned, mixed: Unsigned) -> tuple[Unsigned, bool]:
    """Where the state at words[at] is in the table, or the free place where it belongs; and whether it is there.

    `mixed` is its hash; in a table of numbers, `from_place`.
    """
    if len(stored.keyed) > 0:
        place, known = find_key(stored, words[at], mixed)
    else:
        place, entry = lookup_from(stored, words, at, mixed >> THIRTY_TWO, mixed)
        known = entry != 0
    return place, known


@inline
def enter(
    stored: Stored, place: Unsigned, words: Words, at: Unsigned, mixed: Unsigned, number: Unsigned
) -> None:
    """Write the state at words[at], of this hash (its lower half) and this number, to a free place of the table."""
    if len(stored.keyed) > 0:
        stored.table[place] = entry_of(stored, words[at], settled(stored))
    else:
        stored.table[place] = tag_of(mixed, stored.bits) | (number + ONE)


@jit
def fill(stored: Stored, first: int, last: int) -> None:
    """Enter the states first .. last - 1, which differ; other threads may enter others at the same time."""
    shape, states, table = stored.shape, stored.states, stored.table
    size = np.uint64(len(shape))
    ahead = np.uint64(24)
    for s in range(np.uint64(first), np.uint64(last)):
        if s + ahead < np.uint64(last):
            prefetch(table, home_of(stored, hash_of(shape, states, (s + ahead) * size)))
        mixed = hash_of(shape, states, s * size)
        place = home_of(stored, mixed)
        entry = tag_of(mixed, stored.bits) | (s + ONE)
        if len(stored.keyed) > 0:
            entry = entry_of(stored, states[s * size], settled(stored))
        while table[place] != 0 or exchange(table, place, FREE, entry) != 0:
            place = next_place(place, table)


@jit
def move_keys(stored: Stored, old: Words, first: int, last: int) -> None:
    """Enter what the entries first .. last - 1 of another table of keys hold; other threads may enter others at the same time.

    Both tables are in the order of the hashes, but for what had to give way: so each is gone through from its beginning to its end.
    """
    table = stored.table
    for i in range(np.uint64(first), np.uint64(last)):
        entry = old[i]
        if entry != 0:
            key = key_of(stored, entry)
            place = home_of(stored, hash_of_key(key))
            while table[place] != 0 or exchange(table, place, FREE, entry) != 0:
                place = next_place(place, table)
