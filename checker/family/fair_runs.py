"""Livenesses of all choices at once: for which choices there is a fair run that is, from some point on, as a case of the property says.

Asked when all states are known. A node is a state in which a case persists, with a set of choices that have reached it, observe the same there and
have the same successors; an edge leads to the nodes of a successor that share a choice with it. The nodes of one choice, and the
edges among them, are just the graph that a search for it alone judges. The nodes of several choices together have at least the edges and the
fair components of each: a part of them that offers some choice a fair component lies in a component that offers as much. So where they have no fair component,
none of the choices has one; where they have one, the choices are divided, down to single cells.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...model.language import TransitionSystem
from ..explicit.liveness.components import Edges
from ..explicit.liveness.fair_cycles import obligations_of
from ..explicit.liveness.fair_graph import ComponentSearch, FairGraph, as_words
from ..explicit.states.store import Store
from . import kernels
from .joint_program import BATCH, Code, JointCode
from .kernels import COUNT, EDGES, LENGTH, Items, Memory, Nodes, Reached
from .region_sets import NOTHING, RegionSets, numbers_in

SUCCESSORS, PREDICATES, OBSERVED = range(3)
"""What is asked for: the successors of states, which predicates hold in them, and what livenesses look at."""

_LOOK = 64
"""Batches between two looks at the clock."""


class Explored(Protocol):
    """A search of a family that has found all states: its arrays, and its ways to ask."""

    slice: TransitionSystem
    code: JointCode
    sets: RegionSets
    store: Store
    violated: int
    control: NDArray[np.int64]
    cuts: np.ndarray
    patterns: np.ndarray

    @property
    def reached(self) -> Reached:
        """Which sets have reached the states."""

    @property
    def items(self) -> Items:
        """States, and sets that have reached them."""

    @property
    def memory(self) -> Memory:
        """What is remembered of operations on sets."""

    def make_items(self, states: np.ndarray, sets: np.ndarray) -> None:
        """Let these be the items."""

    def ask(self, kind: int, at: int, number: int) -> None:
        """Cut the sets of some items down to members that answer alike; what is left of each is a new item."""

    def fit_patterns(self) -> None:
        """Have the examples of all sets at hand."""

    def compose(self, code: Code, at: int, number: int) -> None:
        """Write some items into the input of the code."""

    def remember(self, kind: int) -> None:
        """Work out what a kernel has asked for."""

    def grown(self, array: np.ndarray, wanted: int) -> np.ndarray:
        """The array, or a longer one with what is in it. Raises OutOfBudget."""

    def look(self) -> None:
        """See whether a budget runs out. Raises OutOfBudget."""


class FairRuns:
    """The fair runs of a family of which all states are known."""

    def __init__(self, search: Explored) -> None:
        self.search = search
        self.cases = [case for cases in search.slice.livenesses.values() for case in cases]
        sizes = [len(case.predicates) for case in self.cases]
        self.bits = [sum(sizes[:i]) for i in range(len(sizes))]
        system = search.code.system.program
        self.conditions, self.width = system.case_words, system.case_words + system.set_words
        self._persistent = as_words(sum(1 << bit for bit in self.bits), self.conditions)

    def violating(self) -> Iterator[int]:
        """The cells of which a member has a fair run that violates the property; those that have broken it at rest are left out. Raises OutOfBudget."""
        states, sets, observed = self._nodes()
        if not len(states):
            return
        graph = self._graph(states, sets, observed)
        search = ComponentSearch(graph)
        found = 0
        for bit, case in zip(self.bits, self.cases, strict=True):
            wanted = ((1 << len(case.recurrent)) - 1) << bit + 1
            everything = self.search.sets.bits(numbers_in(sets))
            for cell in self._cells(search, bit, wanted, sets, everything & ~found):
                found |= 1 << cell
                yield cell

    def _cells(
        self, search: ComponentSearch, bit: int, wanted: int, sets: np.ndarray, cells: int
    ) -> Iterator[int]:
        """Those of some cells, a bit each, that have a fair component."""
        family, waiting = self.search, [cells]
        while waiting:
            some = waiting.pop()
            if not some:
                continue
            among = family.sets.sharing(some)[sets]
            chosen = search.fair_component(bit, wanted, among)
            family.look()
            if chosen is None:
                continue
            if some & (some - 1) == 0:
                yield some.bit_length() - 1
                continue
            concerned = some & family.sets.bits(numbers_in(sets[chosen != 0]))
            half = _half(concerned)
            waiting += [some & ~concerned, concerned & ~half, half]

    def _nodes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States, sets, and what is observed there, in the order of the states."""
        count = int(self.search.control[COUNT])
        states = np.arange(count, dtype=np.uint32)
        sets = self.search.sets.each_without(self.search.reached.sets[:count], self.search.violated)
        states, sets, _ = self._persisting(OBSERVED, states[sets != NOTHING], sets[sets != NOTHING])
        states, sets, observed = self._persisting(SUCCESSORS, states, sets)
        order = np.argsort(states, kind="stable")
        return states[order], sets[order], observed[order]

    def _persisting(
        self, kind: int, states: np.ndarray, sets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Divide sets until their members answer alike; of the outcome, where a case persists, and what is observed there."""
        family, kept = self.search, []
        family.make_items(states, sets)
        at = batches = 0
        while at < family.control[LENGTH]:
            number = min(BATCH, int(family.control[LENGTH]) - at)
            family.ask(kind, at, number)
            family.items.sets[at : at + number] = family.cuts[:number]
            family.fit_patterns()
            system = family.code.system
            family.compose(system, at, number)
            rows = system.observe(number).reshape(number, self.width)
            inside = (rows[:, : self.conditions] & self._persistent).any(axis=1)
            if inside.any():
                some = [a[at : at + number][inside] for a in family.items]
                kept.append((*some, rows[inside]))
                family.store.reserve(sum(a.nbytes for a in kept[-1]))
            at += number
            batches += 1
            if batches % _LOOK == 0:
                family.look()
        none = np.zeros(0, np.uint32)
        kept.append((none, none, np.zeros((0, self.width), np.uint64)))
        found = tuple(np.concatenate(column) for column in zip(*kept, strict=True))
        return found[0], found[1], found[2]

    def _graph(self, states: np.ndarray, sets: np.ndarray, observed: np.ndarray) -> FairGraph:
        family = self.search
        transitions = len(family.slice.transitions)
        if transitions > 1 << 16:
            raise ValueError(f"{family.slice.name} has more than {1 << 16} transitions: no liveness")
        count = len(states)
        first = np.searchsorted(states, np.arange(int(family.control[COUNT]) + 1)).astype(np.int64)
        nodes = Nodes(sets, first)
        most = int(np.diff(first).max())
        starts = np.zeros(count + 1, np.int64)
        family.store.reserve(starts.nbytes + first.nbytes)
        targets, labels = np.zeros(0, np.uint32), np.zeros(0, np.uint16)
        family.control[EDGES] = 0
        family.fit_patterns()
        for at in range(0, count, BATCH):
            number = min(BATCH, count - at)
            system = family.code.system
            kernels.compose(
                family.store.arrays, Items(states, sets), at, number, family.patterns.reshape(-1),
                family.code.parameter_words, system.width, system.input,
            )  # fmt: skip
            total = system.expand(number)
            wanted = int(family.control[EDGES]) + total * most
            targets, labels = family.grown(targets, wanted), family.grown(labels, wanted)
            item = begin = 0
            while True:
                item, begin = kernels.link(
                    family.store.arrays, nodes, family.memory, family.control, system.batch.states, system.batch.which,
                    system.batch.ends, system.width, at, item, number, begin, Edges(starts, targets, labels),
                )  # fmt: skip
                if item == number:
                    break
                family.remember(SUCCESSORS)
            if at // BATCH % _LOOK == 0:
                family.look()
        return FairGraph(
            starts, targets, labels, observed, self.conditions, obligations_of(family.slice), self._new
        )

    def _new(self, dtype: type, length: int) -> np.ndarray:
        made: np.ndarray = np.zeros(length, dtype)
        self.search.store.reserve(made.nbytes)
        return made


def _half(bits: int) -> int:
    """The lower half of some bits."""
    members = [i for i in range(bits.bit_length()) if bits >> i & 1]
    return sum(1 << i for i in members[: len(members) // 2])
