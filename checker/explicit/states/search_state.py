"""What a search knows beside its states: where it stands, what it has counted, what it has found first."""

import numpy as np

from ...codegen.program import Program
from .bfs_kernel import (
    ANSWERED,
    CONTROL_SIZE,
    COUNT,
    DEPTH,
    HEAD,
    LEVEL_END,
    MAX_STATES,
    STOPPED,
    TRANSITIONS,
    KernelCounts,
)
from .successors import ALL


class SearchState:
    """The numbers of one search. Predicates are numbered: invariants first, then witnesses.

    `control`, `fired`, `hits`, `seen` and `found` are what the kernels read and write (`Counts`); `first` maps a
    predicate to the first state to break the invariant, or to reach the witness.
    """

    def __init__(self, program: Program, max_states: int | None) -> None:
        system = program.system
        self.names = [*system.invariants, *system.witnesses]
        self.invariants, self.resettabilities = len(system.invariants), len(system.resettabilities)
        self.fired = np.zeros(max(1, len(system.transitions)), np.int64)
        self.hits = np.zeros(program.constraint_words, np.uint64)
        self.seen, self.found = np.zeros((2, program.predicate_words), np.uint64)
        self.first: dict[int, int] = {}
        self.control = np.zeros(CONTROL_SIZE, np.int64)
        self.control[COUNT] = 1
        self.control[DEPTH] = -1
        self.control[MAX_STATES] = ALL if max_states is None else max(1, max_states)
        self.control[STOPPED] = -1

    @property
    def counts(self) -> KernelCounts:
        """What the kernels read and write."""
        return KernelCounts(self.control, self.fired, self.hits, self.seen, self.found)

    @property
    def states(self) -> int:
        """How many states were found."""
        return int(self.control[COUNT])

    @property
    def transitions(self) -> int:
        """How many transitions were seen."""
        return int(self.control[TRANSITIONS])

    @property
    def depth(self) -> int:
        """The last level in which a state was found: beyond the one that is being expanded, if any was."""
        return max(0, int(self.control[DEPTH] + (self.control[COUNT] > self.control[LEVEL_END])))

    @property
    def frontier(self) -> int:
        """How many states of the level are yet to be expanded."""
        return int(self.control[LEVEL_END] - self.control[HEAD])

    def note(self, state: int) -> None:
        """The predicates of `found` hold in this state; those not `seen` before show here first."""
        for bit in bits_of(self.found & ~self.seen):
            self.first[bit] = state
        self.seen |= self.found
        broken = sum(bit < self.invariants for bit in self.first)
        self.control[ANSWERED] = 0 < self.invariants == broken and not self.resettabilities


def bits_of(words: np.ndarray) -> list[int]:
    """The numbers of the bits that are set in a row of 64-bit words."""
    return [64 * w + b for w, word in enumerate(map(int, words)) for b in range(64) if word >> b & 1]
