"""The inner loop of the breadth-first search, in native code.

A batch of parents is expanded into a buffer first. Then its successors are inserted, in the order in which a search
without batches would. Some places ahead of the one that is inserted, a successor is hashed, and its entry of the table asked for; in a
table of numbers, half as far ahead, that entry is looked at, and the state that it names is asked for.
"""

from typing import NamedTuple

import numpy as np

from ...kernel_compiler.intrinsics import call, prefetch
from ...kernel_compiler.jit import inline, jit
from .hash_table import (
    ONE,
    STRIDE,
    Stored,
    Unsigned,
    Words,
    enter,
    find,
    from_place,
    hash_of,
    home_of,
    likely_place,
    same,
    tag_of,
)
from .sleep_sets import Asleep, expand_awake, know_more, note_known, note_row, row_of, seen_by
from .successors import ALL, BATCH, Integers, Successors, expand

# Where `control` keeps the numbers that a search carries from call to call.
(
    HEAD, COUNT, LEVEL_END, DEPTH, TRANSITIONS, CHECKED, ANSWERED,
    MAX_STATES, NEEDED, ROOM, STOPPED, STOP_AT, STOP_COUNT, STOP_SEEN,
) = range(14)  # fmt: skip
CONTROL_SIZE = 14

TO_STATE, TO_ENTRY = np.uint64(32), np.uint64(64)
"""How many successors ahead a state, and before that its entry in the table, is asked for."""

# What `advance` returns.
PAUSED, COMPLETE, FOUND, FULL, TOO_MANY, DONE = range(6)


class KernelCounts(NamedTuple):
    """What a search knows beside its states.

    `control` as above; how often each transition fired; the constraints hit; the predicates seen, and those of one state.
    """

    control: Integers
    fired: Integers
    hits: Words
    seen: Words
    found: Words


@jit
def advance(
    stored: Stored, asleep: Asleep, counts: KernelCounts, batch: Successors, check: int, quantum: int
) -> int:
    """Search on until about `quantum` more transitions were seen, or something needs attention.

    PAUSED: call again. COMPLETE: nothing is left. FOUND: state CHECKED has predicate bits `found` that
    `seen` lacks: note them and call again. FULL: the next batch has NEEDED successors, and there may be no
    more than ROOM states: let them grow and call again. DONE: every question is ANSWERED and the level finished.
    TOO_MANY: there are more than MAX_STATES; STOPPED is the parent whose transition STOP_AT led there,
    and the hits of `batch` are not part of those of `counts`. Before this batch there were STOP_COUNT states, and
    STOP_SEEN transitions less. Every state was checked, unless the return is FOUND.
    """
    control, hits, seen, found = counts.control, counts.hits, counts.seen, counts.found
    limit = control[TRANSITIONS] + quantum
    while True:
        if control[CHECKED] < control[COUNT]:
            if len(seen) > 0:
                start = stored.states.ctypes.data + control[CHECKED] * len(stored.shape) * 8
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
        if control[TRANSITIONS] >= limit:
            return PAUSED

        first = control[HEAD]
        number: int = min(BATCH, control[LEVEL_END] - first)
        batch.hits[:] = 0
        # Where states may run out, it is to be said after which transition: then none sleeps.
        within = control[COUNT] + number * len(batch.taken) <= control[MAX_STATES]
        sleeping: bool = asleep.on != 0 and within
        if sleeping:
            total: int = expand_awake(stored, asleep, control[COUNT], first, number, batch)
        else:
            total = expand(stored, first, number, batch, ALL)
        if control[COUNT] + total > control[ROOM]:
            control[NEEDED] = total
            return FULL
        insert(stored, asleep, counts, batch, number, total, sleeping)
        if asleep.on != 0 and not within:
            asleep.since[0] = control[COUNT]
        if control[STOPPED] < 0:
            control[HEAD] = first + number
            for w in range(len(hits)):
                hits[w] |= batch.hits[w]


@inline
def begin(stored: Stored, count: Unsigned, batch: Successors, total: Unsigned) -> None:
    """Look ahead at the first successors of a batch, before `look_ahead` is called for each in turn."""
    for j in range(min(TO_ENTRY, total)):
        ask_for_entry(stored, batch, j)
    if len(stored.keyed) == 0:
        for j in range(min(TO_STATE, total)):
            ask_for_state(stored, count, batch, j)


@inline
def look_ahead(stored: Stored, count: Unsigned, batch: Successors, k: Unsigned, total: Unsigned) -> None:
    """Hash a successor that comes later than k, and ask for what looking up later ones among `count` states will need."""
    if k + TO_ENTRY < total:
        ask_for_entry(stored, batch, k + TO_ENTRY)
    if len(stored.keyed) == 0 and k + TO_STATE < total:
        ask_for_state(stored, count, batch, k + TO_STATE)


@inline
def ask_for_entry(stored: Stored, batch: Successors, k: Unsigned) -> None:
    """Hash successor k, and ask for the place of the table where it is looked for first."""
    mixed = hash_of(stored.shape, batch.states, k * np.uint64(len(stored.shape)))
    batch.hashes[k] = mixed
    prefetch(stored.table, home_of(stored, mixed))


@inline
def ask_for_state(stored: Stored, count: Unsigned, batch: Successors, k: Unsigned) -> None:
    """Note where `find` is to begin for successor k, and ask for the state that it will be compared with, if it is one of the `count`."""
    table, bits, mixed = stored.table, stored.bits, batch.hashes[k]
    last = (ONE << bits) - ONE
    place = likely_place(table, home_of(stored, mixed), tag_of(mixed, bits), last)
    batch.hashes[k] = from_place(place, mixed)
    number = (np.uint64(table[place]) & last) - ONE
    if number < count:
        prefetch(stored.states, number * np.uint64(len(stored.shape)))


@inline
def insert(
    stored: Stored,
    asleep: Asleep,
    counts: KernelCounts,
    batch: Successors,
    number: int,
    total: int,
    sleeping: bool,
) -> None:
    """Add the successors of a batch that are new to the states, in order; they get rows if some are `sleeping`."""
    control, states, buffer = counts.control, stored.states, batch.states
    size = np.uint64(len(stored.shape))
    count = np.uint64(control[COUNT])
    most = np.uint64(control[MAX_STATES])
    every = np.uint64(total)
    begin(stored, count, batch, every)
    k: Unsigned = np.uint64(0)
    for i in range(number):
        end = np.uint64(batch.ends[i])
        parent = control[HEAD] + i
        before = count
        if sleeping:
            batch.known[:] = 0
        while k < end:
            look_ahead(stored, count, batch, k, every)
            mixed = batch.hashes[k]
            place, known = find(stored, buffer, k * size, mixed)
            if not known:
                if count == most:
                    control[STOPPED], control[STOP_AT] = parent, batch.which[k]
                    control[STOP_COUNT], control[STOP_SEEN] = control[COUNT], np.int64(k) + 1
                    control[TRANSITIONS] += control[STOP_SEEN]
                    control[COUNT] = count
                    for j in range(k + ONE):
                        counts.fired[batch.which[j]] += 1
                    return
                for w in range(len(stored.shape)):
                    states[count * size + np.uint64(w)] = buffer[k * size + np.uint64(w)]
                if count % np.uint64(STRIDE) == 0:
                    stored.origins[count // np.uint64(STRIDE)] = parent
                if sleeping:
                    batch.news[np.int64(count - before)] = np.int64(k)
                enter(stored, place, buffer, k * size, mixed, count)
                count += ONE
            elif sleeping and not among(stored, buffer, k * size, before, count):
                note_known(batch, np.uint64(batch.which[k]))
            k += ONE
        if sleeping and before < count:
            know_more(asleep, batch, np.uint64(i))
            for n in range(before, count):
                transition = np.uint64(batch.which[batch.news[np.int64(n - before)]])
                note_row(asleep, batch, np.uint64(i), transition, asleep.rows, row_of(asleep, n))
    control[COUNT] = count
    seen: int = total
    if sleeping:
        seen = seen_by(batch)
        batch.tally[0] += seen
        batch.tally[1] += seen - total
    control[TRANSITIONS] += seen
    count_taken(counts, batch)


@inline
def among(stored: Stored, words: Words, at: Unsigned, first: Unsigned, last: Unsigned) -> bool:
    """Whether the state at words[at] is one of the states first .. last - 1."""
    size = np.uint64(len(stored.shape))
    for n in range(first, last):  # noqa: SIM110 (kernels have no any)
        if same(stored.shape, words, at, stored.states, n * size):
            return True
    return False


@inline
def count_taken(counts: KernelCounts, batch: Successors) -> None:
    """Count the transitions of all successors of a batch."""
    for t in range(len(batch.taken)):
        counts.fired[t] += batch.taken[t]
