"""What states lead to: the arrays that compiled code fills with the successors of a batch, and ways to have it do so."""

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codegen.program import Program
from ...codegen.room import ALIGNMENT, CHUNK
from ...kernel_compiler.intrinsics import call
from ...kernel_compiler.jit import inline
from ...llvm.machine_code import MachineCode
from .hash_table import Stored, Words

BATCH = 256
"""Parents expanded at a time: enough that memory has answered when the answers are needed."""

ALL = 1 << 62
"""More than there ever are."""

Integers = NDArray[np.int64]


class Successors(NamedTuple):
    """The successors of some states, as `codegen.program` describes what `expand` writes.

    Their words, their transitions, where those of each parent end, and the constraints hit; how many there are of each
    transition; room for their hashes; and the address of `expand` and of the room that it needs.

    The others are for `sleep_sets`: the addresses of `enabled` and `moved`; what these have in their room, a bit for each state that has a transition and how many
    each state has; how many states have each transition; the rows of the states, with what is enabled and with what sleeps; how many successors there were, and
    how many of these slept; which successors of one state were new; and a row with those that were known long before.
    """

    states: Words
    which: NDArray[np.int32]
    ends: Integers
    hits: Words
    taken: Integers
    hashes: Words
    expand: int
    room: int
    enabled: int
    moved: int
    masks: Words
    counts: NDArray[np.uint32]
    seen: Integers
    rows: Words
    asleep: Words
    tally: Integers
    news: Integers
    known: Words


@inline
def expand(stored: Stored, first: int, number: int, batch: Successors, last: int) -> int:
    """Write what `number` states from `first` on lead to; gives how many there are.

    Constraints hit count if they stop a transition before number `last`.
    """
    start = stored.states.ctypes.data + first * len(stored.shape) * 8
    arrays = (
        batch.states.ctypes.data,
        batch.which.ctypes.data,
        batch.ends.ctypes.data,
        batch.hits.ctypes.data,
    )
    return call(batch.expand, (start, number, *arrays, last, batch.room))


class Batch:
    """Room for the successors of up to `parents` states of one program, for one thread."""

    def __init__(self, program: Program, code: MachineCode, parents: int = BATCH) -> None:
        self.words, self.code = program.layout.words, code
        most = max(1, parents * len(program.system.transitions))
        self.states = np.empty(most * self.words, np.uint64)
        self.which = np.empty(most, np.int32)
        self.ends = np.empty(parents, np.int64)
        self.hashes = np.empty(most, np.uint64)
        self.hits = np.zeros(program.constraint_words, np.uint64)
        transitions = len(program.system.transitions)
        # Zeros: of transitions that there are not, up to a multiple of 64, nobody writes masks.
        self._room = np.zeros(program.room.bytes, np.uint8)
        squares = CHUNK * -(-max(1, transitions) // 64)
        self.taken = self._in_room(program.room.taken, 8 * transitions).view(np.int64)
        self.masks = self._in_room(program.room.masks, 8 * squares).view(np.uint64)
        self.counts = self._in_room(program.room.counts, 4 * CHUNK).view(np.uint32)
        self.seen, self.tally = np.zeros(transitions, np.int64), np.zeros(2, np.int64)
        self.rows, self.asleep = np.zeros((2, squares), np.uint64)
        self.news, self.known = np.zeros(max(1, transitions), np.int64), np.zeros(squares // CHUNK, np.uint64)
        self._expand = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)(code.expand)

    @property
    def arrays(self) -> Successors:
        """The buffers as kernels take them, with the best code that there is by now."""
        return Successors(
            states=self.states,
            which=self.which,
            ends=self.ends,
            hits=self.hits,
            taken=self.taken,
            hashes=self.hashes,
            expand=self.code.expand,
            room=self.room,
            enabled=self.code.enabled,
            moved=self.code.moved,
            masks=self.masks,
            counts=self.counts,
            seen=self.seen,
            rows=self.rows,
            asleep=self.asleep,
            tally=self.tally,
            news=self.news,
            known=self.known,
        )

    def _in_room(self, offset: int, size: int) -> NDArray[np.uint8]:
        """Some bytes of the room, counted from a place as `ALIGNMENT` asks."""
        start = -self.room % ALIGNMENT + offset
        return self._room[start : start + size]

    @property
    def room(self) -> int:
        """The address of the room that `expand` needs."""
        return self._room.ctypes.data

    @property
    def bytes(self) -> int:
        """What the buffers take."""
        arrays = (
            self.states,
            self.which,
            self.ends,
            self.hashes,
            self.hits,
            self._room,
            self.rows,
            self.asleep,
        )
        return sum(a.nbytes for a in arrays)

    def successors(self, state: Sequence[int], last: int = ALL) -> list[tuple[int, tuple[int, ...]]]:
        """Each enabled transition of a packed state, with the packed state that it leads to.

        `hits` holds the constraints that stopped a transition before number `last`.
        """
        parent = np.array(state, np.uint64)
        self.hits[:] = 0
        arrays = (parent, self.states, self.which, self.ends, self.hits)
        pointers = [a.ctypes.data for a in arrays]
        count = self._expand(pointers[0], 1, *pointers[1:], last, self.room)
        found = self.states[: count * self.words].reshape(count, self.words)
        return [(int(t), tuple(map(int, s))) for t, s in zip(self.which[:count], found, strict=True)]
