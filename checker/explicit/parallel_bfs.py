"""Breadth-first search by several workers, in native code: the same states, by the same numbers, as one finds.

A level is worked through in rounds. In each, every worker takes one stretch of parents, the lower workers the
earlier ones:

1. It expands them and looks every successor up. One that is not known goes to its list of finds, and its
   place in the table is claimed for it by an atomic exchange. In a table of numbers, the entry holds a number beyond those of all
   states, by which finds are ordered as one worker alone would find them; in one of keys, the worker. Where two workers find the
   same state, the earlier find gets the place, and the other is struck off its worker's list.
2. When all have done so, it gives the finds that are left their final numbers.

What comes out depends on the order of the finds only, so neither on time nor on the number of workers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..codegen.program import Program
from ..kernel_compiler.intrinsics import add, call, exchange, meet, prefetch, read, yield_address
from ..kernel_compiler.jit import inline, jit
from ..llvm.machine_code import MachineCode
from .states.arrays import Block
from .states.bfs_kernel import (
    ANSWERED,
    CHECKED,
    COUNT,
    DEPTH,
    HEAD,
    LEVEL_END,
    MAX_STATES,
    ROOM,
    TRANSITIONS,
    KernelCounts,
    begin,
    count_taken,
    look_ahead,
)
from .states.hash_table import (
    ONE,
    STRIDE,
    THIRTY_TWO,
    Numbers,
    Shape,
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
from .states.search_state import SearchState
from .states.sleep_sets import (
    Asleep,
    SleepSets,
    expand_awake,
    know_more,
    note_known,
    note_row,
    row_of,
    seen_by,
)
from .states.store import Store
from .states.successors import ALL, BATCH, Batch, Integers, Successors, expand
from .states.workers import Workers

MANY = 100_000
"""From so many states on, other workers take part: before that, a search is over before they have begun."""

WIDE = 2048
"""How many states a level must have to be worth sharing."""

LARGEST_SHARE = 4096
"""How many parents one worker expands before it meets the others."""

_MOST_BYTES = 16 << 20
"""What a worker's list of finds may take: most of it is never touched."""

STRUCK = -1
"""In the place of a find that another worker found before."""

SEEN, LISTED, FLAWED = range(3)
"""Where a worker's row of `tallies` holds its successors, its finds, and whether a check stopped."""

KNOWN, NEW, MET = range(3)
"""What a successor is to the worker that has claimed a place for it: found in an earlier round, a find, or somebody's find of this round."""

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


@jit
def advance(
    team: Team,
    stored: Stored,
    asleep: Asleep,
    shared: KernelCounts,
    own: KernelCounts,
    batch: Successors,
    finds: Finds,
    check: int,
    quantum: int,
) -> None:
    """One worker of a team searches on until about `quantum` more transitions were seen.

    Also ends before a level that is not wide, or when there may not be room for what the next round finds, which must
    fit into ROOM and MAX_STATES. Of the `shared` counts, the predicates seen are read, and `control` changes at the
    end; what fires and which constraints are hit is counted in the worker's `own`. All states are checked as well,
    up to CHECKED.
    """
    control, tallies, me = shared.control, team.tallies, team.me
    head, count, level_end, depth = control[HEAD], control[COUNT], control[LEVEL_END], control[DEPTH]
    transitions, checked = control[TRANSITIONS], control[CHECKED]
    limit = transitions + quantum
    most = len(finds.all_places)
    turn = 0
    while transitions < limit and checked == count:
        if head == level_end:
            if count - level_end < team.wide or control[ANSWERED]:
                break
            level_end = count
            depth += 1
        if count + most > min(control[ROOM], control[MAX_STATES]):
            break
        number = min(team.workers * team.share, level_end - head)
        first = head + number * me // team.workers
        last = head + number * (me + 1) // team.workers
        tallies[me, SEEN], tallies[me, LISTED] = gather(
            team, stored, asleep, (first, last, count, turn), own, batch, finds
        )
        meet(team.barrier, team.workers, team.yield_)
        start, total, kept = count, count, 0
        for worker in range(team.workers):
            left = tallies[worker, LISTED] - team.struck[8 * worker + turn]
            if worker < me:
                start += left
            if worker == me:
                kept = left
            total += left
            transitions += tallies[worker, SEEN]
        # Nobody counts there before all have met again, and all have read what is counted now.
        turn = 1 - turn
        team.struck[8 * me + turn] = 0
        found = tallies[me, LISTED]
        settle(stored, asleep, me, (start, total), found, finds)
        fine: int = kept
        if len(shared.seen) > 0 and kept > 0:
            address = stored.states.ctypes.data + start * len(stored.shape) * 8
            # What it finds is found again by one thread; `found` is only room for it to write to.
            fine = call(check, (address, kept, shared.seen.ctypes.data, own.found.ctypes.data))
        tallies[me, FLAWED] = ALL if fine == kept else start + fine
        meet(team.barrier, team.workers, team.yield_)
        head += number
        count = total
        checked = total
        for worker in range(team.workers):
            checked = min(checked, tallies[worker, FLAWED])
    meet(team.barrier, team.workers, team.yield_)
    if me == 0:
        control[HEAD], control[COUNT], control[LEVEL_END], control[DEPTH] = head, count, level_end, depth
        control[TRANSITIONS], control[CHECKED] = transitions, checked


@inline
def gather(
    team: Team,
    stored: Stored,
    asleep: Asleep,
    round_: tuple[int, int, int, int],
    own: KernelCounts,
    batch: Successors,
    finds: Finds,
) -> tuple[int, int]:
    """Expand a stretch of parents and list what may be new; how many successors, and how many finds.

    `round_` is the first of the parents, the one after the last, the number of states, and whose turn it is in `struck`.
    """
    size = np.uint64(len(stored.shape))
    first, last, count, turn = round_
    transitions, found = 0, 0
    while first < last:
        number: int = min(BATCH, last - first)
        batch.hits[:] = 0
        if asleep.on != 0:
            total: int = expand_awake(stored, asleep, count, first, number, batch)
            seen: int = seen_by(batch)
            batch.tally[0] += seen
            batch.tally[1] += seen - total
        else:
            total = expand(stored, first, number, batch, ALL)
            seen = total
        for w in range(len(own.hits)):
            own.hits[w] |= batch.hits[w]
        count_taken(own, batch)
        known, every = np.uint64(count), np.uint64(total)
        begin(stored, known, batch, every)
        k: Unsigned = np.uint64(0)
        for i in range(number):
            end = np.uint64(batch.ends[i])
            before = found
            if asleep.on != 0:
                batch.known[:] = 0
            while k < end:
                look_ahead(stored, known, batch, k, every)
                finds.parents[found] = first + i
                if len(stored.keyed) > 0:
                    claimed = claim_key(team, stored, finds, (found, turn), batch.states, k, batch.hashes[k])
                else:
                    numbers = (count, found, turn)
                    claimed = claim(team, stored, finds, numbers, batch.states, k * size, batch.hashes[k])
                if claimed == NEW:
                    batch.news[found - before] = np.int64(k)
                    found += 1
                elif asleep.on != 0 and claimed == KNOWN:
                    note_known(batch, np.uint64(batch.which[k]))
                k += ONE
            if asleep.on != 0 and before < found:
                know_more(asleep, batch, np.uint64(i))
                for f in range(before, found):
                    transition = np.uint64(batch.which[batch.news[f - before]])
                    row = np.uint64(f) * asleep.words
                    note_row(asleep, batch, np.uint64(i), transition, finds.rows, row)
        transitions += seen
        first += number
    return transitions, found


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
    number of states are those of finds.
    """
    shape, table, bits = stored.shape, stored.table, stored.bits
    states, found, turn = numbers
    size = np.uint64(len(shape))
    count = np.uint64(states)
    each = len(finds.all_places) // team.workers
    number = np.uint64(states + each * team.me + found)
    last = (ONE << bits) - ONE
    tag = tag_of(mixed, bits)
    mine = np.uint32(tag | (number + ONE))
    place = mixed >> THIRTY_TWO
    while True:
        place = likely_place(table, place, tag, last)
        entry = read(table, place)
        if entry == 0:
            # All of it before others can see the entry.
            enlist(shape, finds, found, words, at, place)
            entry = exchange(table, place, entry, mine)
            if entry == 0:
                return NEW
        if (np.uint64(entry) ^ tag) >> bits == 0:
            other = (np.uint64(entry) & last) - ONE
            if other < count:
                if same(shape, words, at, stored.states, other * size):
                    return KNOWN
            elif same(shape, words, at, finds.all_words, (other - count) * size):
                enlist(shape, finds, found, words, at, place)
                while other > number:
                    # A later find of the same state: it gives way, to this one or to an even earlier one.
                    before = exchange(table, place, entry, mine)
                    if before == entry:
                        finds.all_places[other - count] = STRUCK
                        add(team.struck, 8 * (np.int64(other - count) // each) + turn, 1)
                        return NEW
                    entry = before
                    other = (np.uint64(entry) & last) - ONE
                return MET
        place = next_place(place, table)


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
            enlist(stored.shape, finds, found, words, at, place)
            entry = exchange(table, place, entry, mine)
            if entry == 0:
                return NEW
        if key_of(stored, entry) == key:
            enlist(stored.shape, finds, found, words, at, place)
            owner = owner_of(stored, entry)
            while me < owner and owner < settled(stored):
                before = exchange(table, place, entry, mine)
                if before == entry:
                    add(team.struck, 8 * (np.int64(owner) - 1) + turn, 1)
                    return NEW
                entry = before
                owner = owner_of(stored, entry)
            return KNOWN if owner == settled(stored) else MET
        place = next_place(place, table)


@inline
def enlist(shape: Shape, finds: Finds, found: int, words: Words, at: Unsigned, place: Unsigned) -> None:
    """Write the next find of the list, for the state at words[at]."""
    for w in range(len(shape)):
        finds.words[np.uint64(found) * np.uint64(len(shape)) + np.uint64(w)] = words[at + np.uint64(w)]
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
            if final % np.uint64(STRIDE) == 0:
                stored.origins[final // np.uint64(STRIDE)] = finds.parents[i]
            # A place of the ring belongs to the last of those that share it, whoever comes last.
            if asleep.on != 0 and np.int64(final) >= unread:
                row = row_of(asleep, final)
                for w in range(asleep.words):
                    asleep.rows[row + w] = finds.rows[i * asleep.words + w]
            if len(stored.keyed) > 0:
                stored.table[place] = stored.table[place] | settled(stored)
            else:
                stored.table[place] = (np.uint64(stored.table[place]) & ~last) | (final + ONE)
            final += ONE


class ParallelBfs:
    """Wide levels, searched by all workers. The answer is that of one."""

    def __init__(
        self, program: Program, code: MachineCode, workers: Workers, store: Store, sleep_sets: SleepSets
    ) -> None:
        """Raises OutOfBudget if there is no memory for the buffers."""
        self.code, self.workers, self.store, self.sleep_sets = code, workers, store, sleep_sets
        self.batches = [Batch(program, code) for _ in range(workers.size)]
        words, transitions = program.layout.words, max(1, len(program.system.transitions))
        per_parent = transitions * ((words + sleep_sets.words) * 8 + 12)
        self.share = max(1, min(LARGEST_SHARE, _MOST_BYTES // per_parent))
        self.each = self.share * transitions
        self.most = self.each * workers.size
        self.own = [SearchState(program, None) for _ in range(workers.size)]
        self._tallies = np.zeros((workers.size, 8), np.int64)
        self._struck = np.zeros(workers.size * 8, np.int64)
        self._barrier = np.zeros(16, np.int64)
        self._finds = Block(np.uint64, self.most * words)
        self._places, self._parents = Block(np.int64, self.most), Block(np.uint32, self.most)
        self._rows = Block(np.uint64, self.most * sleep_sets.words)
        finds = sum(b.bytes for b in (self._finds, self._places, self._parents, self._rows))
        store.reserve(finds + sum(batch.bytes for batch in self.batches))

    def worthwhile(self, control: Integers) -> bool:
        """Whether the level is wide enough, and the limit of states far enough."""
        head, count, level_end = (int(control[i]) for i in (HEAD, COUNT, LEVEL_END))
        left = level_end - head if head < level_end else count - level_end
        return left >= WIDE and count + self.most <= int(control[MAX_STATES])

    def advance(self, state: SearchState, quantum: int) -> None:
        """Search on, as the kernel `advance` says, and count what was seen."""
        size, yield_ = self.workers.size, yield_address()
        self._struck[:] = 0

        def work(me: int) -> None:
            # The arrays of the store are not kept: who refers to them keeps them from growing.
            team = Team(me, size, self.share, WIDE, self._tallies, self._struck, self._barrier, yield_)
            batch, own = self.batches[me].arrays, self.own[me].counts
            stored, check = self.store.arrays, self.code.check
            asleep, finds = self.sleep_sets.arrays, self._finds_of(me)
            advance(team, stored, asleep, state.counts, own, batch, finds, check, quantum)

        self.workers.run(work)
        for own in self.own:
            state.fired += own.fired
            state.hits |= own.hits
            own.fired[:] = 0

    def _finds_of(self, me: int) -> Finds:
        mine = slice(me * self.each, (me + 1) * self.each)
        words = slice(mine.start * self.store.words, mine.stop * self.store.words)
        rows = slice(mine.start * self.sleep_sets.words, mine.stop * self.sleep_sets.words)
        everyone, places = self._finds.array, self._places.array
        own = everyone[words], places[mine], self._parents.array[mine], self._rows.array[rows]
        return Finds(*own, everyone, places)
