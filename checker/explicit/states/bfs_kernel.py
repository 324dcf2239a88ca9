"""The inner loop of the search, in native code.

A batch of parents is expanded into a buffer first. While one pass hashes the successors, it asks for
their table entries; while the next looks at these, it asks for the states that they name; the last
inserts, in the order in which a search without batches would.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import call, prefetch
from ...kernel_compiler.jit import inline, jit
from ..pruning import Rules, begin_level, thin
from .hash_table import ONE, Numbers, Shape, Unsigned, Words, hash_of, home_of, lookup, tag_of

BATCH = 32
"""Parents expanded at a time: enough that memory has answered when the answers are needed."""

# Where `control` keeps the numbers that a search carries from call to call.
(
    HEAD, COUNT, LEVEL_END, DEPTH, TRANSITIONS, CHECKED, ANSWERED,
    MAX_STATES, NEEDED, ROOM, STOPPED, STOP_AT, STOP_COUNT, STOP_SEEN,
) = range(14)  # fmt: skip
CONTROL_SIZE = 14

# What `advance` returns.
PAUSED, COMPLETE, FOUND, FULL, TOO_MANY, DONE = range(6)


ALL = 1 << 62
"""More than there ever are."""

STRIDE = 64
"""Of every so many states, the parent of one is noted: see `paths`."""

Integers = NDArray[np.int64]


@jit
def advance(
    shape: Shape,
    control: Integers,
    states: Words,
    origins: Numbers,
    table: Numbers,
    bits: Unsigned,
    buffer: Words,
    which: NDArray[np.int32],
    ends: Integers,
    hashes: Words,
    batch_hits: Words,
    hits: Words,
    fired: Integers,
    seen: Words,
    found: Words,
    expand: int,
    check: int,
    quantum: int,
    rules: Rules | tuple[()],
) -> int:
    """Search on until about `quantum` more transitions were seen, or something needs attention.

    PAUSED: call again. COMPLETE: nothing is left. FOUND: state CHECKED has predicate bits `found` that
    `seen` lacks: note them and call again. FULL: the next batch has NEEDED successors, and there may be no
    more than ROOM states: let them grow and call again. DONE: every question is ANSWERED and the level finished.
    TOO_MANY: there are more than MAX_STATES; STOPPED is the parent whose transition STOP_AT led there,
    and `batch_hits` is not part of `hits`. Before this batch there were STOP_COUNT states, and STOP_SEEN
    transitions less. Every state was checked, unless the return is FOUND.
    """
    size = len(shape)
    limit = control[TRANSITIONS] + quantum
    while True:
        if control[CHECKED] < control[COUNT]:
            if len(seen) > 0:
                start = states.ctypes.data + control[CHECKED] * size * 8
                unchecked = control[COUNT] - control[CHECKED]
                control[CHECKED] += call(check, (start, unchecked, seen.ctypes.data, found.ctypes.data))
                if control[CHECKED] < control[COUNT]:
                    return FOUND
            control[CHECKED] = control[COUNT]
        if control[STOPPED] >= 0:
            return TOO_MANY
        if control[HEAD] == control[LEVEL_END]:
            if control[COUNT] == control[LEVEL_END]:
                return COMPLETE
            if control[ANSWERED]:
                return DONE
            control[LEVEL_END] = control[COUNT]
            control[DEPTH] += 1
            if len(rules) > 0:
                begin_level(rules, seen, hits)
        if control[TRANSITIONS] >= limit:
            return PAUSED

        first = control[HEAD]
        number: int = min(BATCH, control[LEVEL_END] - first)
        batch_hits[:] = 0
        total: int = successors(shape, states, first, number, buffer, which, ends, batch_hits, expand)
        if len(rules) > 0:
            start = states.ctypes.data + first * size * 8
            total = thin(
                shape, rules, control[LEVEL_END], states, start, table, bits, buffer, which, ends, number
            )
        if control[COUNT] + total > control[ROOM]:
            control[NEEDED] = total
            return FULL
        insert(
            shape, control, states, origins, table, bits, buffer, which, ends, hashes, fired, number, total
        )
        if control[STOPPED] < 0:
            control[HEAD] = first + number
            for w in range(len(hits)):
                hits[w] |= batch_hits[w]


@inline
def successors(
    shape: Shape,
    states: Words,
    first: int,
    number: int,
    buffer: Words,
    which: NDArray[np.int32],
    ends: Integers,
    hits: Words,
    expand: int,
) -> int:
    """Write what `number` states from `first` on lead to, as `codegen` says; gives how many there are."""
    start = states.ctypes.data + first * len(shape) * 8
    arrays = (buffer.ctypes.data, which.ctypes.data, ends.ctypes.data, hits.ctypes.data)
    return call(expand, (start, number, *arrays, ALL))


@inline
def look_ahead(
    shape: Shape,
    states: Words,
    count: Unsigned,
    table: Numbers,
    bits: Unsigned,
    buffer: Words,
    hashes: Words,
    total: int,
) -> None:
    """Hash the successors of a batch, and ask for what looking them up will need."""
    size = np.uint64(len(shape))
    last = (ONE << bits) - ONE
    for j in range(np.uint64(total)):
        mixed = hash_of(shape, buffer, j * size)
        hashes[j] = mixed
        prefetch(table, home_of(mixed, table))
    for j in range(np.uint64(total)):
        mixed = hashes[j]
        entry = np.uint64(table[home_of(mixed, table)])
        if entry != 0 and (entry ^ tag_of(mixed, bits)) >> bits == 0:
            number = (entry & last) - ONE
            if number < count:
                prefetch(states, number * size)


@inline
def insert(
    shape: Shape,
    control: Integers,
    states: Words,
    origins: Numbers,
    table: Numbers,
    bits: Unsigned,
    buffer: Words,
    which: NDArray[np.int32],
    ends: Integers,
    hashes: Words,
    fired: Integers,
    number: int,
    total: int,
) -> None:
    """Add the successors of a batch that are new to the states, in order."""
    size = np.uint64(len(shape))
    count = np.uint64(control[COUNT])
    look_ahead(shape, states, count, table, bits, buffer, hashes, total)
    most = np.uint64(control[MAX_STATES])
    k: Unsigned = np.uint64(0)
    for i in range(number):
        end = np.uint64(ends[i])
        parent = control[HEAD] + i
        while k < end:
            fired[which[k]] += 1
            mixed = hashes[k]
            place, entry = lookup(shape, buffer, k * size, mixed, states, table, bits)
            if entry == 0:
                if count == most:
                    control[STOPPED], control[STOP_AT] = parent, which[k]
                    control[STOP_COUNT], control[STOP_SEEN] = control[COUNT], np.int64(k) + 1
                    control[TRANSITIONS] += control[STOP_SEEN]
                    control[COUNT] = count
                    return
                for w in range(len(shape)):
                    states[count * size + np.uint64(w)] = buffer[k * size + np.uint64(w)]
                if count % np.uint64(STRIDE) == 0:
                    origins[count // np.uint64(STRIDE)] = parent
                count += ONE
                table[place] = tag_of(mixed, bits) | count
            k += ONE
    control[COUNT] = count
    control[TRANSITIONS] += total
