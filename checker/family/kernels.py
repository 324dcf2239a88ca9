"""The inner loops of the search for all choices at once, in native code.

An item is a state and a set of choices that have reached it. Items are expanded in batches: each state is given the parameters of its set's
example (`compose`), the row of what was asked is numbered (`number_rows`), the set is cut down to those that answer as the example
does (`cut`), and the successors are entered for these (`enter`). What operations on sets give is
remembered in a table; where it is not, a kernel says what it needs, and is called again.
"""

from typing import Any, NamedTuple

import numpy as np

from ..explicit.liveness.components import Edges
from ..explicit.states.hash_table import (
    ONE,
    Numbers,
    Stored,
    Unsigned,
    Words,
    hash_of,
    home_of,
    lookup,
    tag_of,
)
from ..explicit.states.successors import Integers
from ..kernel_compiler.intrinsics import prefetch
from ..kernel_compiler.jit import inline, jit

FREE = 0
ANSWERING, WITHOUT, JOINED = np.uint64(1), np.uint64(2), np.uint64(3)
"""Operations, as in `region_sets`."""

# Where `control` keeps what kernels and their caller tell each other.
COUNT, LENGTH, WAITING, OPERATION, ONE_SET, OTHER, EDGES, ITEM, SUCCESSOR = range(9)
CONTROL_SIZE = 9

_AHEAD = np.uint64(24)

Signed = Any
"""A signed 64-bit number that was an unsigned one."""


class Memory(NamedTuple):
    """What operations on sets give: open addressing, the result plus one by key."""

    keys: Words
    results: Numbers


class Reached(NamedTuple):
    """Of each state the set that has reached it, and the set that reached it in this level for the first time; and the states of which that is some.

    `waiting` holds WAITING numbers of states.
    """

    sets: Numbers
    fresh: Numbers
    waiting: Numbers


class Items(NamedTuple):
    """States, and the sets that they are expanded for; LENGTH of them."""

    states: Numbers
    sets: Numbers


class Nodes(NamedTuple):
    """The nodes of the graph of fair runs: the set of each, and of each state the first of its nodes, which are next to each other."""

    sets: Numbers
    first: Integers


@inline
def signed(number: Unsigned) -> Signed:
    """The same number."""
    return np.int64(number)


@inline
def place_in(key: Unsigned, length: Unsigned) -> Unsigned:
    """Where a key is looked for first."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(32)) & (length - ONE)


def place_of(key: np.uint64, length: int) -> int:
    """The same in Python. `length` is a power of two."""
    return (int(key) * 0x9E3779B97F4A7C15 % 2**64 >> 32) & (length - 1)


@inline
def recalled(
    memory: Memory, control: Integers, operation: Unsigned, one: Unsigned, other: Unsigned
) -> Unsigned:
    """The result of an operation plus one; 0 if it has to be worked out first: then `control` says which."""
    key = (operation << np.uint64(62)) | (one << np.uint64(31)) | other
    place = place_in(key, np.uint64(len(memory.keys)))
    while memory.keys[place] != np.uint64(0):
        if memory.keys[place] == key:
            return np.uint64(memory.results[place])
        place = (place + ONE) & (np.uint64(len(memory.keys)) - ONE)
    control[OPERATION], control[ONE_SET], control[OTHER] = operation, one, other
    return np.uint64(0)


@jit
def compose(
    stored: Stored, items: Items, first: int, number: int, patterns: Words, extra: int, width: int, out: Words
) -> None:
    """Write states with the parameters of their sets' examples: rows of `width` words.

    The words of a state come first, then `extra` words of its set's pattern, then zeros.
    """
    size, more, every = np.uint64(len(stored.shape)), np.uint64(extra), np.uint64(width)
    for i in range(np.uint64(number)):
        state, which = (
            np.uint64(items.states[np.uint64(first) + i]),
            np.uint64(items.sets[np.uint64(first) + i]),
        )
        for w in range(np.uint64(len(stored.shape))):
            out[i * every + w] = stored.states[state * size + w]
        for w in range(more):
            out[i * every + size + w] = patterns[which * more + w]
        for w in range(size + more, every):
            out[i * every + w] = np.uint64(0)


@jit
def gather_rows(asked: Words, ends: Integers, number: int, width: int, row_words: int, rows: Words) -> None:
    """Put together what each part of the answers about a state says; a row is at the end of each. Those of state i end at `ends[i]`."""
    every, size = np.uint64(width), np.uint64(row_words)
    part = np.uint64(0)
    for i in range(np.uint64(number)):
        for w in range(size):
            rows[i * size + w] = np.uint64(0)
        while part < np.uint64(ends[i]):
            for w in range(size):
                rows[i * size + w] |= asked[part * every + every - size + w]
            part += ONE


@jit
def number_rows(known: Stored, count: int, rows: Words, number: int, numbers: Numbers) -> int:
    """Number rows; new ones are added to the `count` that are known. Gives how many there are then."""
    size = np.uint64(len(known.shape))
    many = np.uint64(count)
    for i in range(np.uint64(number)):
        mixed = hash_of(known.shape, rows, i * size)
        place, entry = lookup(known, rows, i * size, mixed)
        if entry == 0:
            for w in range(size):
                known.states[many * size + w] = rows[i * size + w]
            many += ONE
            known.table[place] = tag_of(mixed, known.bits) | many
            numbers[i] = many - ONE
        else:
            numbers[i] = (entry & ((ONE << known.bits) - ONE)) - ONE
    result: Signed = np.int64(many)
    return result


@jit
def cut(
    items: Items, memory: Memory, control: Integers, first: int, number: int, rows: Numbers, cuts: Numbers
) -> bool:
    """Cut the sets of items from number ITEM on down to the members that answer as their row says; the others are added as items.

    Gives whether all are done; if not, something has to be remembered first, and ITEM is the number of the item.
    """
    for i in range(np.uint64(control[ITEM]), np.uint64(number)):
        whole = np.uint64(items.sets[np.uint64(first) + i])
        same = recalled(memory, control, ANSWERING, whole, np.uint64(rows[i]))
        if same == 0:
            control[ITEM] = i
            return False
        others = recalled(memory, control, WITHOUT, whole, same - ONE)
        if others == 0:
            control[ITEM] = i
            return False
        cuts[i] = same - ONE
        if others != ONE:
            items.states[control[LENGTH]] = items.states[np.uint64(first) + i]
            items.sets[control[LENGTH]] = others - ONE
            control[LENGTH] += 1
    return True


@inline
def ask_for_entry(stored: Stored, out: Words, every: Unsigned, k: Unsigned, hashes: Words) -> None:
    """Hash successor k, and ask for the place of the table where it is looked for first."""
    mixed = hash_of(stored.shape, out, k * every)
    hashes[k] = mixed
    prefetch(stored.table, home_of(stored, mixed))


@inline
def ask_for_state(stored: Stored, reached: Reached, count: Unsigned, k: Unsigned, hashes: Words) -> None:
    """Ask for the state that successor k will be compared with, and for its set."""
    mixed, bits = hashes[k], stored.bits
    entry = np.uint64(stored.table[home_of(stored, mixed)])
    if entry != 0 and (entry ^ tag_of(mixed, bits)) >> bits == 0:
        number = (entry & ((ONE << bits) - ONE)) - ONE
        if number < count:
            prefetch(stored.states, number * np.uint64(len(stored.shape)))
            prefetch(reached.sets, number)


@jit
def enter(
    stored: Stored,
    reached: Reached,
    memory: Memory,
    control: Integers,
    out: Words,
    ends: Integers,
    cuts: Numbers,
    hashes: Words,
    width: int,
    number: int,
) -> bool:
    """Enter the successors of a batch, from number SUCCESSOR, of item ITEM, on; each for the set of its item.

    Gives whether all are entered; if not, something has to be remembered first, and ITEM and SUCCESSOR say where.
    """
    size, every = np.uint64(len(stored.shape)), np.uint64(width)
    total = np.uint64(ends[number - 1])
    k: Unsigned = np.uint64(control[SUCCESSOR])
    for j in range(k, min(k + _AHEAD + _AHEAD, total)):
        ask_for_entry(stored, out, every, j, hashes)
    for i in range(control[ITEM], number):
        end = np.uint64(ends[i])
        mine = np.uint64(cuts[i])
        while k < end:
            count = np.uint64(control[COUNT])
            if k + _AHEAD + _AHEAD < total:
                ask_for_entry(stored, out, every, k + _AHEAD + _AHEAD, hashes)
            if k + _AHEAD < total:
                ask_for_state(stored, reached, count, k + _AHEAD, hashes)
            mixed = hashes[k]
            place, entry = lookup(stored, out, k * every, mixed)
            if entry == 0:
                for w in range(size):
                    stored.states[count * size + w] = out[k * every + w]
                stored.table[place] = tag_of(mixed, stored.bits) | (count + ONE)
                reached.sets[count] = mine
                reached.fresh[count] = mine
                reached.waiting[control[WAITING]] = count
                control[WAITING] += 1
                control[COUNT] += 1
            else:
                state = (entry & ((ONE << stored.bits) - ONE)) - ONE
                before = np.uint64(reached.sets[state])
                if before != mine:
                    news = recalled(memory, control, WITHOUT, mine, before)
                    if news == 0:
                        control[ITEM], control[SUCCESSOR] = i, k
                        return False
                    if news != ONE:
                        together = recalled(memory, control, JOINED, before, mine)
                        if together == 0:
                            control[ITEM], control[SUCCESSOR] = i, k
                            return False
                        fresh = np.uint64(reached.fresh[state])
                        more = news
                        if fresh != 0:
                            more = recalled(memory, control, JOINED, fresh, news - ONE)
                            if more == 0:
                                control[ITEM], control[SUCCESSOR] = i, k
                                return False
                        else:
                            reached.waiting[control[WAITING]] = state
                            control[WAITING] += 1
                        reached.sets[state] = together - ONE
                        reached.fresh[state] = more - ONE
            k += ONE
    return True


@jit
def next_level(reached: Reached, items: Items, control: Integers) -> None:
    """Make items of the states that wait, in the order in which they were reached, and let none wait."""
    for i in range(np.uint64(control[WAITING])):
        state = np.uint64(reached.waiting[i])
        items.states[i] = state
        items.sets[i] = reached.fresh[state]
        reached.fresh[state] = np.uint32(0)
    control[LENGTH] = control[WAITING]
    control[WAITING] = 0


@jit
def link(
    stored: Stored,
    nodes: Nodes,
    memory: Memory,
    control: Integers,
    out: Words,
    which: Integers,
    ends: Integers,
    width: int,
    base: int,
    item: int,
    number: int,
    begin: int,
    edges: Edges,
) -> tuple[int, int]:
    """Store the edges of the nodes from `base` on, of which a batch has the successors: to each node of a successor that shares a member with it.

    Begins with successor `begin`, of item `item`, and gives the item and the successor where something has to be remembered first, or the number of items.
    There must be room.
    """
    every = np.uint64(width)
    k: Unsigned = np.uint64(begin)
    edge = np.uint64(control[EDGES])
    for i in range(item, number):
        end = np.uint64(ends[i])
        mine = np.uint64(nodes.sets[base + i])
        while k < end:
            mixed = hash_of(stored.shape, out, k * every)
            _, entry = lookup(stored, out, k * every, mixed)
            before = edge
            # Successors of sets that have left the search are not all there.
            if entry != 0:
                state = (entry & ((ONE << stored.bits) - ONE)) - ONE
                for n in range(nodes.first[state], nodes.first[state + ONE]):
                    left = recalled(memory, control, WITHOUT, mine, np.uint64(nodes.sets[n]))
                    if left == 0:
                        control[EDGES] = before
                        return i, signed(k)
                    if left - ONE != mine:
                        edges.targets[edge] = n
                        edges.labels[edge] = which[k]
                        edge += ONE
            k += ONE
        edges.starts[base + i + 1] = edge
    control[EDGES] = edge
    return number, signed(k)
