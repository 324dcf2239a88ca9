"""What several workers find at the same time: claims of places in the table, and the numbers that finds get in the end, in native code.

A state that is not known goes to the list of finds of the worker that met it, and its place in the table is claimed for it by an atomic exchange.
In a table of numbers, the entry holds a number beyond those of all states, by which finds are ordered as one worker alone would find
them; in one of keys, the worker. Where two workers find the same state, the earlier find gets the place, and the other is struck off its worker's
list. When all have expanded their parents, the finds that are left get their final numbers.

In a table of numbers, the lowest worker's finds need neither the list nor a second look at the table: nobody finds a state earlier, so their numbers are
final at once, and their words go where those of states are. So that worker has hardly more to do than one alone.
"""

from typing import NamedTuple

import numpy as np

from ..kernel_compiler.intrinsics import add, exchange, prefetch, read
from ..kernel_compiler.jit import inline
from .states.hash_table import (
    ONE,
    STRIDE,
    THIRTY_TWO,
    Numbers,
    Stored,
    Unsigned,
    Words,
    entry_of,
    home_of,
    key_of,
    likely_place,
    next_place,
    owner_of,
    same,
    settled,
    tag_of,
)
from .states.sleep_sets import Asleep, row_of
from .states.successors import Integers

STRUCK = -1
"""In the place of a find that another worker found before."""

KNOWN, NEW, MET = range(3)
"""What a successor is to the worker that has claimed a place for it: found in an earlier round, a find, or somebody's find of this round."""

_SOON = np.uint64(32)
"""How many states ahead the room for the lowest worker's finds is asked for: an atomic exchange waits until what was written before it is there."""

_AHEAD = 16
"""How many finds ahead the entry of the table is asked for that gets a final number."""


class Team(NamedTuple):
    """How worker `me` of `workers` goes with the others: at most `share` parents each, through levels of `wide` states.

    Each has a row of `tallies` for the others to read, and elements 8 me and 8 me + 1 of `struck` for the others to count
    in, by turns, which of its finds they strike off. They meet at `barrier`, with what `yield_address` gives.
    """

    me: int
    workers: int
    share: int
    wide: int
    tallies: Integers
    struck: Integers
    barrier: Integers
    yield_: int


class Finds(NamedTuple):
    """What one worker finds in a round: words, places in the table, parents, and rows of what sleeps; and words and places of all workers' finds."""

    words: Words
    places: Integers
    parents: Numbers
    rows: Words
    all_words: Words
    all_places: Integers


@inline
def claim(
    team: Team,
    stored: Stored,
    finds: Finds,
    numbers: tuple[int, int, int],
    words: Words,
    at: Unsigned,
    mixed: Unsigned,
) -> int:
    """What the state at words[at], of this hash (`from_place`), is; a find is on the list then, and holds a place in the table.

    `numbers` are that of states, that of the worker's finds so far, and whose turn it is in `struck`. Entries beyond the
    number of states are those of finds: first the lowest worker's, whose words are among those of states.
    """
    shape, table, bits = stored.shape, stored.table, stored.bits
    states, found, turn = numbers
    size = np.uint64(len(shape))
    count = np.uint64(states)
    each = len(finds.places)
    final = np.uint64(states + each)
    number = np.uint64(states + each * team.me + found)
    last = (ONE << bits) - ONE
    tag = tag_of(mixed, bits)
    mine = np.uint32(tag | (number + ONE))
    place = mixed >> THIRTY_TWO
    while True:
        entry = read(table, place)
        if entry == 0:
            # All of it before others can see the entry.
            put(team, stored, finds, (number, found), words, at, place)
            entry = exchange(table, place, entry, mine)
            if entry == 0:
                return NEW
        if (np.uint64(entry) ^ tag) >> bits == 0:
            other = (np.uint64(entry) & last) - ONE
            if other < final:
                if same(shape, words, at, stored.states, other * size):
                    return KNOWN if other < count else MET
            elif same(shape, words, at, finds.all_words, (other - count) * size):
                while other > number:
                    # A later find of the same state: it gives way, to this one or to an even earlier one.
                    put(team, stored, finds, (number, found), words, at, place)
                    before = exchange(table, place, entry, mine)
                    if before == entry:
                        finds.all_places[other - count] = STRUCK
                        add(team.struck, 8 * (np.int64(other - count) // each) + turn, 1)
                        return NEW
                    entry = before
                    other = (np.uint64(entry) & last) - ONE
                return MET
        place = likely_place(table, next_place(place, table), tag, last)


@inline
def claim_key(
    team: Team,
    stored: Stored,
    finds: Finds,
    numbers: tuple[int, int],
    words: Words,
    at: Unsigned,
    mixed: Unsigned,
) -> int:
    """The same in a table of keys: there the lower of two workers that find a state gets its place, whose finds are the earlier ones.

    `numbers` are that of the worker's finds so far, and whose turn it is in `struck`.
    """
    table, key = stored.table, words[at]
    found, turn = numbers
    me = np.uint64(team.me) + ONE
    mine = entry_of(stored, key, me)
    place = home_of(stored, mixed)
    while True:
        place = likely_place(table, place, mine, settled(stored))
        entry = read(table, place)
        if entry == 0:
            enlist(stored, finds, found, words, at, place)
            entry = exchange(table, place, entry, mine)
            if entry == 0:
                return NEW
        if key_of(stored, entry) == key:
            owner = owner_of(stored, entry)
            while me < owner and owner < settled(stored):
                enlist(stored, finds, found, words, at, place)
                before = exchange(table, place, entry, mine)
                if before == entry:
                    add(team.struck, 8 * (np.int64(owner) - 1) + turn, 1)
                    return NEW
                entry = before
                owner = owner_of(stored, entry)
            return KNOWN if owner == settled(stored) else MET
        place = next_place(place, table)


@inline
def put(
    team: Team,
    stored: Stored,
    finds: Finds,
    numbers: tuple[Unsigned, int],
    words: Words,
    at: Unsigned,
    place: Unsigned,
) -> None:
    """Write the state at words[at], of this number, where a find of a table of numbers is looked for; it is the worker's find of the second number."""
    number, found = numbers
    size = np.uint64(len(stored.shape))
    if team.me == 0:
        prefetch(stored.states, (number + _SOON) * size)
        for w in range(len(stored.shape)):
            stored.states[number * size + np.uint64(w)] = words[at + np.uint64(w)]
    else:
        enlist(stored, finds, found, words, at, place)


@inline
def enlist(stored: Stored, finds: Finds, found: int, words: Words, at: Unsigned, place: Unsigned) -> None:
    """Write the next find of the list, for the state at words[at]."""
    size = np.uint64(len(stored.shape))
    for w in range(len(stored.shape)):
        finds.words[np.uint64(found) * size + np.uint64(w)] = words[at + np.uint64(w)]
    finds.places[found] = np.int64(place)


@inline
def settle(
    stored: Stored, asleep: Asleep, me: int, numbers: tuple[int, int], found: int, finds: Finds
) -> None:
    """Give the finds of worker `me` that were not struck off their numbers, in order.

    `numbers` are the first of these, and how many states there are now, with all workers' finds.
    """
    number, total = numbers
    unread = total - len(asleep.rows) // np.int64(asleep.words)
    if me == 0 and len(stored.keyed) == 0:
        for i in range(np.uint64(found)):
            note(stored, asleep, finds, i, np.uint64(number) + i, unread)
        return
    size = np.uint64(len(stored.shape))
    last = (ONE << stored.bits) - ONE
    final = np.uint64(number)
    for i in range(np.uint64(found)):
        if i + np.uint64(_AHEAD) < np.uint64(found):
            prefetch(stored.table, finds.places[i + np.uint64(_AHEAD)])
        place = finds.places[i]
        if len(stored.keyed) > 0:
            kept = owner_of(stored, stored.table[place]) == np.uint64(me) + ONE
        else:
            kept = place != STRUCK
        if kept:
            for w in range(np.uint64(len(stored.shape))):
                stored.states[final * size + w] = finds.words[i * size + w]
            note(stored, asleep, finds, i, final, unread)
            if len(stored.keyed) > 0:
                stored.table[place] = stored.table[place] | settled(stored)
            else:
                stored.table[place] = (np.uint64(stored.table[place]) & ~last) | (final + ONE)
            final += ONE


@inline
def note(stored: Stored, asleep: Asleep, finds: Finds, i: Unsigned, final: Unsigned, unread: int) -> None:
    """Note where find i comes from that has this final number, and what sleeps in it, if it is one of the states from number `unread` on."""
    if final % np.uint64(STRIDE) == 0:
        stored.origins[final // np.uint64(STRIDE)] = finds.parents[i]
    # A place of the ring belongs to the last of those that share it, whoever comes last.
    if asleep.on != 0 and np.int64(final) >= unread:
        row = row_of(asleep, final)
        for w in range(asleep.words):
            asleep.rows[row + w] = finds.rows[i * asleep.words + w]
