"""The breadth-first search of a system for all choices of its parameters at once.

An item of a level is a state and the set of choices that have reached it in this level for the first time. It is expanded
with the parameters of one member, the example; what the state asks of the parameters says for which other members the same comes out.
The others are an item of their own. So a state is expanded once for all choices that it treats alike, and choices are
told apart only where a state that they reach asks. Livenesses are judged on the states when all are known (`fair_runs`).

For each choice, the levels are those of a search for it alone: it reaches each state at the same depth. Once it has
broken the invariant, its search ends with that level, as a search for it alone does.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ...model.language import Expr, negate
from ..core.exploration import Budget, OutOfBudget, Watcher
from ..core.machine import resident_memory
from ..explicit.states.arrays import Block
from ..explicit.states.budget import SearchBudget
from ..explicit.states.search_state import bits_of
from ..explicit.states.store import Store
from ..explicit.states.workers import Workers
from ..kernel_compiler.jit import Kernel
from ..parametric.parametric_system import ParametricSystem
from ..parametric.regions import Values, evaluate
from ..reduction.questions import explored_slice
from ..reduction.scales_of_time import asking_endless
from . import kernels
from .asking import predicates_ask, questionnaires
from .cells import Cells
from .fair_runs import PREDICATES, SUCCESSORS, FairRuns
from .joint_program import BATCH, WINDOW, Code, JointCode, TooNarrow, ranges_of
from .outcome import CellOutcome, FamilyOutcome, FirstReached
from .region_sets import EVERYTHING, NOTHING, RegionSets, numbers_in
from .rows import Rows

_LOOK = 16
"""Batches between two looks at the clock."""

_BESIDE = 200 << 20
"""The bytes that Python and the compilers may take beside a budget of memory."""

_OPERATIONS = 256
"""Operations on sets between two looks at the memory of the process: what tells clusters apart is in no array."""

Part = tuple[tuple[int, bool], ...]
"""Some of the choices: those that answer these questions so. Questions are numbered in the order in which a system asks them."""


class FamilySearch:
    """One search of the slice for one property, for the choices of a part; with `ahead`, a second thread works out successors. Parameters are compiled within `window` of the values nearest to 0, and wider once that is too little.

    Of a resettability it only finds the cells: their members reach the same states by the same steps, and it holds in the same ones of these.
    With scales of time it also asks whether a timer can wait indefinitely with a choice that does not violate the property, while work goes on.

    Raises ValueError where no choice meets the assumptions, what `questions` raises, and UndecidedRegions.
    """

    def __init__(
        self,
        parametric: ParametricSystem,
        property_id: str,
        window: int = WINDOW,
        part: Part = (),
        ahead: bool = False,
    ) -> None:
        self.parametric, self.ahead = parametric, ahead
        self.explored = explored_slice(parametric.system, property_id)
        self.slice = asking_endless(self.explored) or self.explored
        *self.asked, questions = questionnaires(self.slice)
        self.number = {question: i for i, question in enumerate(questions)}
        chosen = restricted(parametric, questions, part)
        self.assumed = chosen.assumptions
        self.sets = RegionSets(Cells(chosen, questions))
        self.predicates = [*self.slice.invariants, *self.slice.witnesses]
        self.witnesses: dict[str, FirstReached] = {}
        """Where each that was reached was reached first."""
        self._always_ask = predicates_ask(self.slice)
        self.violated = NOTHING
        self.violations: list[tuple[int, int]] = []
        """Depths, and the sets of choices that break the invariant there first."""
        self.lassos: set[int] = set()
        """The cells of which the members have a fair run for ever against the property."""
        self.endless = False
        self.levels: list[int] = []
        """Of each level the choices that reached a state in it for the first time."""
        self.transitions = np.zeros(1 << 10, np.int64)
        """How many transitions were taken for exactly this set."""
        self.fired = np.zeros(max(1, len(self.slice.transitions)), np.int64)
        self.expansions = 0
        self.control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        self._compile(window)
        self._reached = [Block(np.uint32, 1 << 12) for _ in kernels.Reached._fields]
        self._items = [Block(np.uint32, 1 << 12) for _ in kernels.Items._fields]
        self.row_numbers, self.cuts = np.zeros(BATCH, np.uint32), np.zeros(BATCH, np.uint32)
        self.hits = np.zeros(self.code.system.program.constraint_words, np.uint64)

    def has(self, values: Values) -> bool:
        """Whether a choice of the parameters is among those that are searched for."""
        return all(evaluate(condition, values) for condition in self.assumed)

    def run(self, budget: Budget, progress: Watcher | None = None) -> FamilyOutcome:
        """Search until all is explored or a budget runs out. `max_states` bounds the states that differ."""
        self.budget = SearchBudget(budget, progress)
        self._resident, self._remembered = resident_memory(), 0
        stopped: str | None = None
        with ThreadPoolExecutor(1) if self.ahead else nullcontext() as self.aside:
            try:
                self._begin()
                while self.control[kernels.WAITING]:
                    self._level()
                if self.explored.livenesses:
                    self.lassos = set(FairRuns(self).violating())
                elif self.slice.livenesses:
                    self.endless = any(True for _ in FairRuns(self).violating())
            except OutOfBudget as reason:
                stopped = reason.reason
        return self._outcome(stopped)

    def _compile(self, window: int) -> None:
        self.window = window
        self.code = JointCode(self.slice, self.asked, ranges_of(self.parametric.parameters, window))
        self.benches = [self.code, self.code.another()] if self.ahead else [self.code]
        self.hashes = np.zeros(len(self.code.system.batch.which), np.uint64)
        self.patterns = np.zeros((0, self.code.parameter_words), np.uint64)

    def _begin(self) -> None:
        code = self.code
        self.store = Store(code.state_words, self.budget, sum(b.bytes for b in self.benches), Workers(1))
        self.store.add_first(code.initial(self.slice))
        self.rows = [
            None if asked is None else Rows(asked, self.number, self.budget, kind, len(self.asked))
            for kind, asked in enumerate(self.asked)
        ]
        self.control[kernels.COUNT] = self.control[kernels.WAITING] = 1
        self.reached.sets[0] = self.reached.fresh[0] = EVERYTHING

    # The arrays as kernels take them, valid until they grow.

    @property
    def reached(self) -> kernels.Reached:
        """Which sets have reached the states."""
        return kernels.Reached(*(block.array for block in self._reached))

    @property
    def items(self) -> kernels.Items:
        """The items of the level."""
        return kernels.Items(*(block.array for block in self._items))

    @property
    def memory(self) -> kernels.Memory:
        """What is remembered of operations on sets."""
        return kernels.Memory(self.sets.keys, self.sets.results)

    def _make_room(self, more: int) -> None:
        """For so many states beside those that there are. Raises OutOfBudget."""
        count = int(self.control[kernels.COUNT])
        if count + more > self.store.room:
            self.store.make_room(count, more)
        self._grow(self._reached, count + more)

    def _grow(self, blocks: list[Block], wanted: int) -> None:
        """Let the blocks have so many elements. Raises OutOfBudget."""
        for block in blocks:
            if wanted > block.length:
                length = max(wanted, block.length * 3 // 2)
                self.budget.require(self.store.bytes + block.peak_of_growth(length) - block.bytes)
                self.store.reserve(block.bytes_for(length) - block.bytes)
                block.grow(length)

    def grown(self, array: np.ndarray, wanted: int) -> np.ndarray:
        """The array, or a longer one with what is in it. Raises OutOfBudget."""
        old = len(array)
        if wanted <= old:
            return array
        length = max(wanted, old * 3 // 2)
        self.store.reserve(array.itemsize * (length - old))
        return _longer(array, length)

    def make_items(self, states: np.ndarray, sets: np.ndarray) -> None:
        """Let these be the items."""
        self._grow(self._items, len(states))
        self.items.states[: len(states)] = states
        self.items.sets[: len(sets)] = sets
        self.control[kernels.LENGTH] = len(states)

    # A level

    def _level(self) -> None:
        self._grow(self._items, int(self.control[kernels.WAITING]))
        kernels.next_level(self.reached, self.items, self.control)
        length = int(self.control[kernels.LENGTH])
        self.levels.append(self.sets.union(numbers_in(self.items.sets[:length])))
        self._check(length)
        if self.violated != NOTHING:
            self._drop_violated(length)
        self._expand_all()
        self.look()

    def look(self) -> None:
        """See whether a budget runs out, and whether better code pays. Raises OutOfBudget."""
        self._look_at_memory()
        self.code.improve(int(self.transitions.sum()), self.budget.seconds)
        count, items = int(self.control[kernels.COUNT]), int(self.control[kernels.LENGTH])
        self.budget.look(count, self.expansions, len(self.levels) - 1, items, self.store.bytes)
        if self.budget.max_states is not None and count > self.budget.max_states:
            raise OutOfBudget("states")

    def _look_at_memory(self) -> None:
        now, most = resident_memory(), self.budget.max_memory
        if now is not None and self._resident is not None and most is not None:
            if now - self._resident > most + _BESIDE:
                raise OutOfBudget("memory")

    def _check(self, length: int) -> None:
        """See which items break the invariant, and which witnesses they reach. What is divided for that is whole again afterwards."""
        invariants, before, at = len(self.slice.invariants), self.violated, 0
        found = np.zeros(self.code.system.program.predicate_words, np.uint64)
        seen = np.zeros_like(found)
        for bit, name in enumerate(self.predicates):
            if name in self.witnesses:
                seen[bit // 64] |= np.uint64(1 << bit % 64)
        while (self.predicates or self._always_ask) and at < self.control[kernels.LENGTH]:
            number = min(BATCH, int(self.control[kernels.LENGTH]) - at)
            if self._always_ask or len(self.witnesses) < len(self.slice.witnesses):
                self.ask(PREDICATES, at, number)
            else:
                self.cuts[:number] = self.items.sets[at : at + number]
            system = self.code.system
            self.compose(system, at, number)
            i = system.check(0, number, seen, found)
            while i < number:
                for bit in bits_of(found & ~seen):
                    if bit < invariants:
                        self.violated = self.sets.union((self.violated, int(self.cuts[i])))
                    else:
                        example = self.sets.examples[int(self.cuts[i])]
                        self.witnesses[self.predicates[bit]] = FirstReached(len(self.levels) - 1, example)
                        seen[bit // 64] |= np.uint64(1 << bit % 64)
                i = system.check(i + 1, number, seen, found)
            at += number
        self.control[kernels.LENGTH] = length
        if self.violated != before:
            self.violations.append((len(self.levels) - 1, self.sets.without(self.violated, before)))

    def _drop_violated(self, length: int) -> None:
        """Take the choices that have broken the invariant out of the items of the level."""
        items = self.items
        left = self.sets.each_without(items.sets[:length], self.violated)
        stay = np.flatnonzero(left != NOTHING)
        items.states[: len(stay)] = items.states[:length][stay]
        items.sets[: len(stay)] = left[stay]
        self.control[kernels.LENGTH] = len(stay)

    def _expand_all(self) -> None:
        """Expand the items of the level, those that are added meanwhile, too.

        What a batch asks, and its successors, are worked out aside while those of the batch before are entered: they depend on nothing that this changes.
        """
        at = batches = 0
        number = min(BATCH, int(self.control[kernels.LENGTH]))
        prepared: Callable[[], int] | None = None
        while number:
            total = (prepared or self._prepared(at, number))()
            bench, prepared = self.benches[0], None
            # Nothing may move while the next batch is prepared.
            self._make_room(total)
            self._grow(self._items, int(self.control[kernels.LENGTH]) + number)
            after = at + number
            more = min(BATCH, int(self.control[kernels.LENGTH]) - after)
            if self.aside is not None and more:
                self.benches.reverse()
                prepared = self._prepared(after, more)
            self._enter(bench, at, number, total)
            at, number = after, more or min(BATCH, int(self.control[kernels.LENGTH]) - after)
            batches += 1
            if batches % _LOOK == 0:
                self.look()

    def _prepared(self, at: int, number: int) -> Callable[[], int]:
        """Have the first bench prepare some items, aside if there is somebody; gives how to get the number of their successors."""
        self.fit_patterns()
        bench = self.benches[0]
        asked = bench.questionnaires[SUCCESSORS]
        codes = [code for code in (asked, bench.system) if code is not None]
        composing = [self._composing(code, at, number) for code in codes]

        def work() -> int:
            total = 0
            for code, compose in zip(codes, composing, strict=True):
                compose()
                total = code.expand(number)
            return total

        return work if self.aside is None else self.aside.submit(work).result

    def _enter(self, bench: JointCode, at: int, number: int, total: int) -> None:
        """Enter the successors of a batch that was prepared."""
        self._cut(SUCCESSORS, bench, at, number)
        system = bench.system
        batch = system.batch
        self.hits |= batch.hits
        self.expansions += number
        if len(self.sets) > len(self.transitions):
            self.transitions = _longer(self.transitions, 2 * len(self.sets))
        np.add.at(self.transitions, self.cuts[:number], np.diff(batch.ends[:number], prepend=0))
        self.fired += np.bincount(batch.which[:total], minlength=len(self.fired))
        self.control[kernels.ITEM] = self.control[kernels.SUCCESSOR] = 0
        self._until_done(
            SUCCESSORS, kernels.enter, self.store.arrays, self.reached, self.memory, self.control, batch.states, batch.ends,
            self.cuts, self.hashes, system.width, number,
        )  # fmt: skip

    # What is asked

    def ask(self, kind: int, at: int, number: int) -> None:
        """Cut the sets of a batch down to the members that answer as the examples do; what is left of each is a new item."""
        self.fit_patterns()
        code = self.code.questionnaires[kind]
        if code is not None:
            self.compose(code, at, number)
            code.expand(number)
            self._grow(self._items, int(self.control[kernels.LENGTH]) + number)
        self._cut(kind, self.code, at, number)

    def _cut(self, kind: int, bench: JointCode, at: int, number: int) -> None:
        """Cut the sets of a batch as `ask` says, once the questionnaire's code has answered; there must be room for more items."""
        rows, code = self.rows[kind], bench.questionnaires[kind]
        if rows is None or code is None:
            self.cuts[:number] = self.items.sets[at : at + number]
            return
        rows.number(code, number, self.row_numbers)
        self.control[kernels.ITEM] = 0
        self._until_done(
            kind, kernels.cut, self.items, self.memory, self.control, at, number, self.row_numbers, self.cuts
        )

    def _until_done(self, kind: int, kernel: Kernel, *arguments: Any) -> None:
        """Have a kernel go on until it has what it asks for. One of its arguments is what is remembered, which moves as it grows."""
        place = next(i for i, a in enumerate(arguments) if isinstance(a, kernels.Memory))
        while True:
            memory = self.memory
            run = kernel.ready(*arguments[:place], memory, *arguments[place + 1 :])
            while memory.keys is self.sets.keys:
                if run():
                    return
                self.remember(kind)

    def remember(self, kind: int) -> None:
        """Work out what a kernel has asked for, which was busy with this kind of questions."""
        self._remembered += 1
        if self._remembered % _OPERATIONS == 0:
            self._look_at_memory()
        operation, one, other = (
            int(self.control[i]) for i in (kernels.OPERATION, kernels.ONE_SET, kernels.OTHER)
        )
        rows = self.rows[kind]
        if operation == kernels.ANSWERING and rows is not None:
            self.sets.remember_answering(one, other, rows.questions(other))
        else:
            self.sets.remember(operation, one, other)

    def compose(self, code: Code, at: int, number: int) -> None:
        """Write the states of some items, with the parameters of their sets' examples, into the input of the code."""
        self._composing(code, at, number)()

    def _composing(self, code: Code, at: int, number: int) -> Callable[[], None]:
        """The call that composes, with the arrays as they are now."""
        stored, items, patterns = self.store.arrays, self.items, self.patterns.reshape(-1)
        extra = self.code.parameter_words
        return lambda: kernels.compose(stored, items, at, number, patterns, extra, code.width, code.input)

    def fit_patterns(self) -> None:
        """Have the parameters of every set's example at hand, as words; wider ranges are compiled if that takes them."""
        while len(self.patterns) < len(self.sets):
            try:
                new = [self.code.pattern(e) for e in self.sets.examples[len(self.patterns) :]]
            except TooNarrow:
                self._compile(self.window * 16)
            else:
                more = np.array(new, np.uint64).reshape(len(new), self.code.parameter_words)
                self.patterns = np.concatenate([self.patterns, more])

    # What came out

    def _outcome(self, stopped: str | None) -> FamilyOutcome:
        count = int(self.control[kernels.COUNT])
        cells = len(self.sets.cells)
        states, transitions = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
        depth = np.zeros(cells, np.int64)
        violated = dict.fromkeys(self.lassos, len(self.levels) - 1)
        times = np.bincount(self.reached.sets[:count])
        for number in map(int, np.flatnonzero(times)):
            states[self.sets.members(number)] += times[number]
        for number in map(int, np.flatnonzero(self.transitions)):
            transitions[self.sets.members(number)] += self.transitions[number]
        for level, reached in enumerate(self.levels):
            depth[self.sets.members(reached)] = level
        for level, broken in self.violations:
            violated.update(dict.fromkeys(self.sets.members(broken).tolist(), level))
        return FamilyOutcome(
            cells=tuple(
                CellOutcome(
                    self.sets.cells.example(self.sets.cells.part_cells(c)),
                    self.sets.cells.answers(c),
                    int(states[c]),
                    int(transitions[c]),
                    int(depth[c]),
                    violated.get(c),
                )
                for c in range(cells)
            ),
            states=count,
            expansions=self.expansions,
            stopped=stopped,
            fired=tuple(map(int, self.fired[: len(self.slice.transitions)])),
            constraints_hit=frozenset(self.slice.constraints[bit] for bit in bits_of(self.hits)),
            witnesses=self.witnesses,
            endless=self.endless,
            seconds=self.budget.seconds,
        )


def restricted(parametric: ParametricSystem, questions: Sequence[Expr], part: Part) -> ParametricSystem:
    """The system with the answers of a part assumed."""
    answers = tuple(questions[number] if yes else negate(questions[number]) for number, yes in part)
    return replace(parametric, assumptions=(*parametric.assumptions, *answers))


def _longer(array: np.ndarray, length: int) -> np.ndarray:
    longer = np.zeros(length, array.dtype)
    longer[: len(array)] = array
    return longer
