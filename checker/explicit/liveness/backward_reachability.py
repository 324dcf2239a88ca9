"""The inner loops of the search for states with no way back, in native code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import call, prefetch
from ...kernel_compiler.jit import jit
from ..states.bfs_kernel import BATCH, Integers
from ..states.hash_table import ONE, Numbers, Shape, Unsigned, Words, hash_of, home_of, lookup

Bits = NDArray[np.uint8]


@jit
def edges(
    shape: Shape,
    states: Words,
    table: Numbers,
    bits: Unsigned,
    first: int,
    last: int,
    buffer: Words,
    which: NDArray[np.int32],
    ends: Integers,
    hits: Words,
    fair: NDArray[np.bool_],
    starts: Integers,
    targets: Numbers,
    expand: int,
) -> None:
    """Store the states that fair transitions of the states first .. last - 1 lead to.

    Those of state s go to targets[starts[s]:starts[s + 1]]; starts[first] must be there already. States that
    a reduced search did not visit are left out. With an empty `targets` they are only counted.
    """
    size = np.uint64(len(shape))
    low = (ONE << bits) - ONE
    edge = starts[first]
    while first < last:
        number: int = min(BATCH, last - first)
        start = states.ctypes.data + first * len(shape) * 8
        call(
            expand,
            (start, number, buffer.ctypes.data, which.ctypes.data, ends.ctypes.data, hits.ctypes.data, 0),
        )
        total = np.uint64(ends[number - 1])
        for j in range(total):
            prefetch(table, home_of(hash_of(shape, buffer, j * size), table))
        k: Unsigned = np.uint64(0)
        for i in range(number):
            end = np.uint64(ends[i])
            while k < end:
                if fair[which[k]]:
                    mixed = hash_of(shape, buffer, k * size)
                    _, entry = lookup(shape, buffer, k * size, mixed, states, table, bits)
                    if entry != 0:
                        if len(targets) > 0:
                            targets[edge] = (entry & low) - ONE
                        edge += 1
                k += ONE
            starts[first + i + 1] = edge
        first += number


@jit
def recovered(shape: Shape, states: Words, first: int, count: int, bits: Words, function: int) -> None:
    """Write the resettabilities that hold in `count` states from `first` on."""
    start = states.ctypes.data + first * len(shape) * 8
    call(function, (start, count, bits.ctypes.data))


@jit
def sweep(can: Bits, starts: Integers, targets: Numbers, first: int, last: int, everything: Any) -> bool:
    """Add to what each state can, from the last to the first, what its targets can; whether any gained."""
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
def first_without(can: Bits, bit: Any) -> int:
    """The first state that lacks the bit, or -1."""
    for s in range(len(can)):
        if can[s] & bit == 0:
            return s
    return -1
