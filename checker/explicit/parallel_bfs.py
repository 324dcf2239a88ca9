"""Breadth-first search by several workers, in native code: the same states, by the same numbers, as one finds.

A level is worked through in rounds. In each, every worker takes one stretch of parents, the lower workers the
earlier ones:

1. It expands them, looks every successor up, and claims those that are not known as its finds (`claims`).
2. When all have done so, it gives its finds that are left their final numbers.

What comes out depends on the order of the finds only, so neither on time nor on the number of workers.
"""

import numpy as np

from ..codegen.program import Program
from ..kernel_compiler.intrinsics import call, meet, yield_address
from ..kernel_compiler.jit import inline, jit
from ..llvm.machine_code import MachineCode
from .claims import KNOWN, NEW, Finds, Team, claim, claim_key, settle
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
from .states.hash_table import ONE, Stored, Unsigned
from .states.search_state import SearchState
from .states.sleep_sets import Asleep, SleepSets, expand_awake, know_more, note_known, note_row, seen_by
from .states.store import Store
from .states.successors import ALL, BATCH, Batch, Integers, Successors, expand
from .states.workers import Workers

MANY = 400_000
"""From so many states on, other workers take part: to compile what they do takes as long as one needs for these."""

WIDE = 2048
"""How many states a level must have to be worth sharing."""

LARGEST_SHARE = 4096
"""How many parents one worker expands before it meets the others."""

_MOST_BYTES = 16 << 20
"""What a worker's list of finds may take: most of it is never touched."""

SEEN, LISTED, FLAWED = range(3)
"""Where a worker's row of `tallies` holds its successors, its finds, and whether a check stopped."""


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
        known, every = np.uint64(count + len(finds.places)), np.uint64(total)
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
