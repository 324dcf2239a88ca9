"""Filling an empty table with states that are known to be different, by one thread or several."""

from __future__ import annotations

import numpy as np

from .atomics import exchange
from .intrinsics import prefetch
from .jit import jit
from .table import ONE, Numbers, Shape, Unsigned, Words, hash_of, home_of, next_place, tag_of


@jit
def fill(shape: Shape, states: Words, first: int, last: int, table: Numbers, bits: Unsigned) -> None:
    """Enter the states first .. last - 1; other threads may enter others at the same time."""
    size = np.uint64(len(shape))
    ahead = np.uint64(24)
    for s in range(np.uint64(first), np.uint64(last)):
        if s + ahead < np.uint64(last):
            prefetch(table, home_of(hash_of(shape, states, (s + ahead) * size), table))
        mixed = hash_of(shape, states, s * size)
        place = home_of(mixed, table)
        entry = tag_of(mixed, bits) | (s + ONE)
        while table[place] != 0 or exchange(table, place, np.uint32(0), entry) != 0:
            place = next_place(place, table)
