"""The inner loop of a search by several threads, in native code: the same states, by the same numbers.

A level is worked through in rounds. In each, every member of the crew takes one stretch of parents, the
lower members the earlier ones:

1. It expands them and looks every successor up. One that is not known goes to its list of finds, and its
   place in the table is claimed for it by an atomic exchange. The entry holds a number beyond those of all
   states, by which finds are ordered as one thread alone would find them; where two members find the
   same state, the lower number keeps the place.
2. When all have done so, it counts which of its finds kept their places,
3. and when all have counted, it gives these their final numbers.

What comes out depends on the order of the finds only, so neither on time nor on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernel_compiler.atomics import exchange, meet, read
from ..kernel_compiler.intrinsics import call
from ..kernel_compiler.jit import inline, jit
from .states.bfs_kernel import (
    ALL,
    ANSWERED,
    BATCH,
    CHECKED,
    COUNT,
    DEPTH,
    HEAD,
    LEVEL_END,
    MAX_STATES,
    ROOM,
    STRIDE,
    TRANSITIONS,
    Integers,
    look_ahead,
    successors,
)
from .states.hash_table import ONE, Numbers, Shape, Unsigned, Words, home_of, next_place, same, tag_of

KNOWN = -1
"""What `claim` returns for a state that has been found before."""

SEEN, KEPT, FLAWED = range(3)
"""Where a member's row of `tallies` holds its successors, its finds that count, and whether a check stopped."""


@jit
def advance(
    me: int,
    members: int,
    share: int,
    wide: int,
    shape: Shape,
    control: Integers,
    states: Words,
    origins: Numbers,
    table: Numbers,
    bits: Unsigned,
    buffers: Any,
    finds: Any,
    all_finds: Words,
    tallies: Any,
    barrier: Integers,
    seen: Words,
    expand: int,
    check: int,
    yield_: int,
    quantum: int,
) -> None:
    """Member `me` of `members` searches on until about `quantum` more transitions were seen.

    Also ends before a level of fewer than `wide` states, or when there may not be room for what the next
    round finds: at most `share` parents are expanded by each member, and what they find must fit
    into ROOM and MAX_STATES. `buffers` are the member's own: successors, their transitions, ends, hashes,
    hits, hits of one batch, and how often each transition fired. `finds` are its own, too: words (a part
    of `all_finds`), places, parents. `control` is as in `kernels`, and changes only at the end. All
    states are checked as well, up to CHECKED.
    """
    head, count, level_end, depth = control[HEAD], control[COUNT], control[LEVEL_END], control[DEPTH]
    transitions, checked = control[TRANSITIONS], control[CHECKED]
    limit = transitions + quantum
    most = len(all_finds) // len(shape)
    words, places, parents = finds
    while transitions < limit and checked == count:
        if head == level_end:
            if count - level_end < wide or control[ANSWERED]:
                break
            level_end = count
            depth += 1
        if count + most > min(control[ROOM], control[MAX_STATES]):
            break
        number = min(members * share, level_end - head)
        first = head + number * me // members
        last = head + number * (me + 1) // members
        own = (count, most // members * me)
        tallies[me, SEEN], found = gather(
            shape, states, first, last, own, table, bits, buffers, finds, all_finds, expand
        )
        meet(barrier, members, yield_)
        kept = winners(count + own[1], found, table, bits, places)
        tallies[me, KEPT] = kept
        meet(barrier, members, yield_)
        start, total = count, count
        for member in range(members):
            if member < me:
                start += tallies[member, KEPT]
            total += tallies[member, KEPT]
            transitions += tallies[member, SEEN]
        settle(shape, start, found, states, origins, table, bits, words, places, parents)
        fine: int = kept
        if len(seen) > 0 and kept > 0:
            address = states.ctypes.data + start * len(shape) * 8
            # What it finds is found again by one thread; hits is only room for it to write to.
            fine = call(check, (address, kept, seen.ctypes.data, buffers[7].ctypes.data))
        tallies[me, FLAWED] = ALL if fine == kept else start + fine
        meet(barrier, members, yield_)
        head += number
        count = total
        checked = total
        for member in range(members):
            checked = min(checked, tallies[member, FLAWED])
    meet(barrier, members, yield_)
    if me == 0:
        control[HEAD], control[COUNT], control[LEVEL_END], control[DEPTH] = head, count, level_end, depth
        control[TRANSITIONS], control[CHECKED] = transitions, checked


@inline
def gather(
    shape: Shape,
    states: Words,
    first: int,
    last: int,
    own: tuple[int, int],
    table: Numbers,
    bits: Unsigned,
    buffers: Any,
    finds: Any,
    all_finds: Words,
    expand: int,
) -> tuple[int, int]:
    """Expand the parents first .. last - 1 and list what may be new; how many successors, and how many finds."""
    buffer, which, ends, hashes, hits, batch_hits, fired, _ = buffers
    words, places, parents = finds
    size = np.uint64(len(shape))
    count = own[0]
    transitions, found = 0, 0
    while first < last:
        number: int = min(BATCH, last - first)
        batch_hits[:] = 0
        total: int = successors(shape, states, first, number, buffer, which, ends, batch_hits, expand)
        for w in range(len(hits)):
            hits[w] |= batch_hits[w]
        look_ahead(shape, states, np.uint64(count), table, bits, buffer, hashes, total)
        k: Unsigned = np.uint64(0)
        for i in range(number):
            end = np.uint64(ends[i])
            while k < end:
                fired[which[k]] += 1
                at = np.uint64(found) * size
                for w in range(np.uint64(len(shape))):
                    words[at + w] = buffer[k * size + w]
                place = claim(shape, words, at, hashes[k], states, all_finds, own, found, table, bits)
                if place != KNOWN:
                    places[found] = place
                    parents[found] = first + i
                    found += 1
                k += ONE
        transitions += total
        first += number
    return transitions, found


@inline
def claim(
    shape: Shape,
    words: Words,
    at: Unsigned,
    mixed: Unsigned,
    states: Words,
    all_finds: Words,
    own: tuple[int, int],
    found: int,
    table: Numbers,
    bits: Unsigned,
) -> int:
    """The place that the state at words[at] now holds in the table, or KNOWN."""
    size = np.uint64(len(shape))
    count = np.uint64(own[0])
    number = np.uint64(own[0] + own[1] + found)
    last = (ONE << bits) - ONE
    tag = tag_of(mixed, bits)
    mine = np.uint32(tag | (number + ONE))
    place = home_of(mixed, table)
    while True:
        entry = read(table, place)
        if entry == 0:
            entry = exchange(table, place, entry, mine)
            if entry == 0:
                return int(place)
        if (np.uint64(entry) ^ tag) >> bits == 0:
            other = (np.uint64(entry) & last) - ONE
            if other < count:
                if same(shape, words, at, states, other * size):
                    return KNOWN
            elif same(shape, words, at, all_finds, (other - count) * size):
                while other > number:
                    # A later find of the same state: it gives way, to this one or to an even earlier one.
                    before = exchange(table, place, entry, mine)
                    if before == entry:
                        return int(place)
                    entry = before
                    other = (np.uint64(entry) & last) - ONE
                return KNOWN
        place = next_place(place, table)


@inline
def winners(first: int, found: int, table: Numbers, bits: Unsigned, places: NDArray[np.int64]) -> int:
    """How many finds kept their places; the others' places become KNOWN. The first has the number `first`."""
    last = (ONE << bits) - ONE
    kept = 0
    for i in range(np.uint64(found)):
        if np.uint64(table[places[i]]) & last == np.uint64(first) + i + ONE:
            kept += 1
        else:
            places[i] = KNOWN
    return kept


@inline
def settle(
    shape: Shape,
    number: int,
    found: int,
    states: Words,
    origins: Numbers,
    table: Numbers,
    bits: Unsigned,
    words: Words,
    places: NDArray[np.int64],
    parents: Numbers,
) -> None:
    """Give the finds that kept their places the numbers from `number` on, in order."""
    size = np.uint64(len(shape))
    last = (ONE << bits) - ONE
    final = np.uint64(number)
    for i in range(np.uint64(found)):
        place = places[i]
        if place != KNOWN:
            for w in range(np.uint64(len(shape))):
                states[final * size + w] = words[i * size + w]
            if final % np.uint64(STRIDE) == 0:
                origins[final // np.uint64(STRIDE)] = parents[i]
            table[place] = (np.uint64(table[place]) & ~last) | (final + ONE)
            final += ONE
