"""Livenesses: is there a fair run that is, from some point on, as a case of the property says?

Asked when the whole graph is known. Only the states in which a case persists count; the edges among them are made
once more and stored with their transitions. Then each case has its strongly connected components judged.

Memory beside the states: 4 bytes a state; of those that count, 39 bytes and a row of masks each, and 6 bytes an edge.
"""

from collections.abc import Callable

import numpy as np

from ...codegen.program import Program
from ...core.exploration import Lasso, OutOfBudget, Path
from ...llvm.machine_code import MachineCode
from ..states.arrays import Block
from ..states.budget import SearchBudget
from ..states.store import Store
from ..states.successors import BATCH, Batch
from . import components
from .fair_cycles import obligations_of
from .fair_graph import FairGraph, as_words

_SLICE = 1 << 18
"""States between two looks at the clock."""
_CHUNK = 1 << 10


class FairCycles:
    """The search for fair cycles among the states of a completely explored system."""

    def __init__(
        self, program: Program, code: MachineCode, batch: Batch, store: Store, budget: SearchBudget, states: int,
        look: Callable[[int], None],
    ) -> None:  # fmt: skip
        self.program, self.code, self.batch, self.store, self.budget = program, code, batch, store, budget
        self.states, self.look = states, look
        self.memory = store.bytes
        self._blocks: list[Block] = []
        # The bit of each condition that persists in a case.
        self.cases = [(name, c) for name, cases in program.system.livenesses.items() for c in cases]
        sizes = [len(case.predicates) for _, case in self.cases]
        self.bits = [sum(sizes[:i]) for i in range(len(sizes))]

    def lassos(self, path_to: Callable[[int], Path]) -> dict[str, Lasso]:
        """A lasso of each violated liveness, by its first case that has one. Raises OutOfBudget."""
        if not self.cases:  # and then, perhaps, no condition and no fair set to observe
            return {}
        graph, original = self._graph()
        found: dict[str, Lasso] = {}
        queries = [
            (bit, ((1 << len(case.recurrent)) - 1) << bit + 1)
            for bit, (_, case) in zip(self.bits, self.cases, strict=True)
        ]
        for (name, case), cycle in zip(self.cases, graph.fair_cycles(queries), strict=True):
            if cycle is not None and name not in found:
                found[name] = Lasso(path_to(int(original[cycle[0]])), cycle[1], case.name)
            self.look(self.memory)
        return found

    def _graph(self) -> tuple[FairGraph, np.ndarray]:
        """The graph of the states in which some case persists, and the numbers that these states have."""
        number = self._block(np.uint32, self.states)
        original, observed = self._members(number)
        count = len(observed)
        starts, targets, labels = self.edges(number, original, count)
        fair = obligations_of(self.program.system)
        graph = FairGraph(
            starts, targets, labels, observed, self.program.case_words, fair, lambda t, n: self._block(t, n)
        )
        return graph, original

    def _members(self, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        width = self.program.case_words + self.program.set_words
        persistent = as_words(sum(1 << bit for bit in self.bits), self.program.case_words)
        room = np.empty(_CHUNK * width, np.uint64)
        observer = components.Observer(self.code.observed, width, room, persistent)
        original, observed = Block(np.uint32, 0), Block(np.uint64, 0)
        count = 0
        for first in range(0, self.states, _SLICE):
            last = min(first + _SLICE, self.states)
            if count + last - first > original.length:
                length = max(count + last - first, original.length * 3 // 2)
                self._grow((original, length), (observed, length * width))
            count = components.members(
                self.store.arrays, first, last, observer,
                components.Members(number, original.array), observed.array, count,
            )  # fmt: skip
            self.look(self.memory + original.bytes + observed.bytes)
        self._keep(original, observed)
        return original.array, observed.array[: count * width].reshape(count, width)

    def edges(
        self, number: np.ndarray, original: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges among the members: where those of each begin, their targets, and their transitions."""
        transitions = len(self.program.system.transitions)
        if transitions > 1 << 16:
            raise ValueError(f"{self.program.system.name} has more than {1 << 16} transitions: no liveness")
        starts = self._block(np.int64, count + 1)
        most = BATCH * transitions  # what a batch may need at once
        targets, labels = Block(np.uint32, most), Block(np.uint16, most)
        parents = np.empty(BATCH * self.program.layout.words, np.uint64)
        members = components.Members(number, original)
        first = 0
        while first < count:
            done = components.edges(
                self.store.arrays, members, first, min(first + _SLICE, count), parents, self.batch.arrays,
                components.Edges(starts, targets.array, labels.array),
            )  # fmt: skip
            stored = int(starts[done])
            if done < count and stored + most > targets.length:
                length = max(stored + most, targets.length * 3 // 2)
                self._grow((targets, length), (labels, length))
            first = done
            self.look(self.memory + targets.bytes + labels.bytes)
        self._keep(targets, labels)
        return starts, targets.array, labels.array

    def _grow(self, *blocks: tuple[Block, int]) -> None:
        self.budget.require(self.memory + sum(block.peak_of_growth(length) for block, length in blocks))
        for block, length in blocks:
            try:
                block.grow(length)
            except MemoryError as error:
                raise OutOfBudget("memory") from error

    def _keep(self, *blocks: Block) -> None:
        self._blocks += blocks
        self.memory += sum(block.bytes for block in blocks)

    def _block(self, dtype: type, length: int) -> np.ndarray:
        self.budget.require(self.memory + length * np.dtype(dtype).itemsize)
        try:
            self._keep(Block(dtype, length))
        except MemoryError as error:
            raise OutOfBudget("memory") from error
        return self._blocks[-1].array
