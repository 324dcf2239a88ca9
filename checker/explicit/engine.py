"""The native search: what happens between the inner loops."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.language import State, TransitionSystem, Variable
from ..codegen.program import Program, generate
from ..core.exploration import Budget, Exploration, Lasso, OutOfBudget, Path, Watcher
from ..llvm.machine_code import MachineCode, compile_system
from . import parallel_bfs
from .liveness.fair_runs import FairCycles
from .liveness.resettability import Resettability
from .parallel_bfs import ParallelBfs
from .states import bfs_kernel as kernels
from .states.bfs_kernel import CHECKED, HEAD, NEEDED, ROOM, STOP_AT, STOPPED
from .states.budget import BriefPace, Pace, SearchBudget
from .states.hash_table import owner_bits
from .states.search_state import SearchState, bits_of
from .states.sleep_sets import AFTER, SleepSets
from .states.store import Store, path_to
from .states.successors import ALL, Batch
from .states.workers import Workers

FIRST_LASSOS, LASSOS_AGAIN = 1 << 24, 4
"""After how many transitions lassos are looked for before the search is complete; and how much later again."""


def search(system: TransitionSystem, budget: Budget, progress: Watcher | None) -> Exploration:
    """Explore `system` as `exploration` says. A search for lassos is the work of one worker.

    Raises ValueError if the system has no native code.
    """
    program = generate(system)
    with Workers(1 if system.livenesses else budget.jobs) as workers:
        bound = SearchBudget(budget, progress)
        return Search(program, bound, workers).run()


class Search:
    """One exploration, which the inner loops carry on from where its state and its store stand."""

    def __init__(
        self,
        program: Program,
        budget: SearchBudget,
        workers: Workers,
        code: MachineCode | None = None,
        initial: State | None = None,
    ) -> None:
        self.sleep_sets = SleepSets(program.system)
        self.program, self.system, self.budget = program, program.system, budget
        self.workers = workers
        self.code = compile_system(program.ir, soon=True) if code is None else code
        self.initial = program.system.initial if initial is None else initial
        self.batch = Batch(program, self.code)
        self.state = SearchState(program, budget.max_states)
        self.store: Store | None = None
        self.parallel: ParallelBfs | None = None
        self.alone_pace, self.brief_pace, self.shared_pace = Pace(), BriefPace(), Pace()
        self.lassos: dict[str, Lasso] = {}
        self.next_lassos = FIRST_LASSOS

    def run(self) -> Exploration:
        """Search until everything was expanded or answered, or a budget ran out."""
        stopped: str | None = None
        no_way_back: dict[str, int] = {}
        try:
            self.store = self._first_store()
            while self.next_lassos <= self.state.transitions:
                self.next_lassos *= LASSOS_AGAIN
            stopped = self._search(self.store)
            if stopped is None and self.system.resettabilities:
                no_way_back = self._no_way_back(self.store)
            if stopped is None and self.system.livenesses:
                self._find_lassos(self.store)
        except OutOfBudget as reason:
            stopped = reason.reason
        return self._result(stopped, no_way_back)

    def _first_store(self) -> Store:
        beside = self.batch.bytes
        store = Store(
            self.program.layout.words, self.budget, beside, self.workers, owner_bits=self._owner_bits()
        )
        store.add_first(self.program.layout.pack(self.initial))
        return store

    def _owner_bits(self) -> int:
        """Not 0 if the table can hold states rather than their numbers: they are short, and nobody will ask for the number of a successor."""
        layout = self.program.layout
        if layout.words > 1 or self.system.resettabilities or self.system.livenesses:
            return 0
        return owner_bits(sum(f.bits for f in layout.fields.values()), self.workers.size)

    def _search(self, store: Store) -> str | None:
        """Run the inner loops and see to what they ask for; the reason to stop early, if there is one."""
        state = self.state
        while True:
            if self.code.pays_after(state.transitions, self.budget.seconds):
                self.code.improve()
            self._see_to_sleep_sets(store)
            shared = self._share(store)
            outcome = self._advance(store, 0 if shared else self._patience())
            if outcome == kernels.FOUND:
                state.note(int(state.control[CHECKED]))
            elif outcome == kernels.FULL:
                store.make_room(state.states, int(state.control[NEEDED]))
            elif outcome == kernels.PAUSED:
                if shared is not None:
                    with self.shared_pace.measuring(lambda: state.transitions):
                        shared.advance(state, self.shared_pace.quantum)
                self._look(store.bytes)
                if self.system.livenesses and state.transitions >= self.next_lassos:
                    self._find_lassos(store)
                    if len(self.lassos) == len(self.system.livenesses):
                        return "answered"
                    self.next_lassos *= LASSOS_AGAIN
            elif outcome == kernels.TOO_MANY:
                self._finish_hits(store)
                return "states"
            else:
                return "answered" if outcome == kernels.DONE else None

    def _see_to_sleep_sets(self, store: Store) -> None:
        """Begin with them once the search is not small, keep room for them, and leave them where they do not pay."""
        state, sets = self.state, self.sleep_sets
        if not sets.settled and state.transitions > AFTER:
            sets.begin(state.states, store)
        if sets.on:
            sets.make_room(int(state.control[HEAD]), state.states, store)
            sets.judge([self.batch, *(self.parallel.batches if self.parallel else ())])

    def _share(self, store: Store) -> ParallelBfs | None:
        """The parallel search, if the work that comes next is for all workers."""
        count = self.state.states
        if self.workers.size == 1 or count < parallel_bfs.MANY:
            return None
        try:
            if self.parallel is None:
                self.parallel = ParallelBfs(self.program, self.code, self.workers, store, self.sleep_sets)
            if not self.parallel.worthwhile(self.state.control):
                return None
            store.make_room(count, self.parallel.most)
        except OutOfBudget:
            return None  # one worker needs less room, and goes on to the last state
        self.state.control[ROOM] = store.room
        return self.parallel

    @property
    def _pace(self) -> Pace:
        waiting = self.workers.size > 1 and self.state.states >= parallel_bfs.MANY
        return self.brief_pace if waiting else self.alone_pace

    def _patience(self) -> int:
        """How many transitions one worker goes on for; while others wait for a wide level, not for long."""
        if self.system.livenesses:
            # A search for lassos begins after a fixed number of transitions: none of the results may depend on time.
            return max(1, min(self._pace.quantum, self.next_lassos - self.state.transitions))
        return self._pace.quantum

    def _advance(self, store: Store, quantum: int) -> int:
        batch, state = self.batch, self.state
        state.control[ROOM] = store.room
        with self._pace.measuring(lambda: state.transitions):
            outcome = kernels.advance(
                store.arrays, self.sleep_sets.arrays, state.counts, batch.arrays, self.code.check, quantum
            )
        return int(outcome)

    def _finish_hits(self, store: Store) -> None:
        """Note the constraints hit in the batch in which the search stopped, up to the very transition."""
        control = self.state.control
        head, parent = int(control[HEAD]), int(control[STOPPED])
        for number in range(head, parent + 1):
            last = int(control[STOP_AT]) if number == parent else ALL
            self.batch.successors(store.state(number), last)
            self.state.hits |= self.batch.hits

    def _no_way_back(self, store: Store) -> dict[str, int]:
        batches = [self.batch] if self.parallel is None else self.parallel.batches
        resettability = Resettability(
            self.program, self.code, batches, store, self.budget, self.state.states, self.workers
        )
        fair = [t.fair for t in self.system.transitions]
        return resettability.no_way_back(int(self.state.fired[: len(fair)][fair].sum()), self._look)

    def _find_lassos(self, store: Store) -> None:
        """Look for fair cycles among the states found so far, although more may come."""
        cycles = FairCycles(
            self.program, self.code, self.batch, store, self.budget, self.state.states, self._look
        )
        self.lassos = cycles.lassos(self._path)

    def _look(self, memory: int) -> None:
        """Report, and see whether time is up."""
        state = self.state
        self.budget.look(state.states, state.transitions, state.depth, state.frontier, memory)

    def _result(self, stopped: str | None, no_way_back: dict[str, int]) -> Exploration:
        state, system = self.state, self.system
        violated: dict[str, Path] = {}
        reached: dict[str, Path] = {}
        for bit, number in sorted(state.first.items()):
            found = violated if bit < len(system.invariants) else reached
            found[state.names[bit]] = self._path(number)
        return Exploration(
            states=state.states if self.store else 0,
            transitions=state.transitions,
            depth=state.depth,
            complete=stopped is None,
            stopped=stopped,
            fired=tuple(int(n) for n in state.fired[: len(system.transitions)]),
            constraints_hit=frozenset(system.constraints[bit] for bit in bits_of(state.hits)),
            violations=violated,
            witnesses=reached,
            no_way_back={name: self._path(number) for name, number in no_way_back.items()},
            lassos=self.lassos,
            seconds=self.budget.seconds,
        )

    def columns(self) -> dict[Variable, NDArray[Any]]:
        """For each variable its codes, one for each state found, in the order of their numbers."""
        assert self.store is not None
        layout, count = self.program.layout, self.state.states
        words = self.store.states[: count * layout.words].reshape(count, layout.words)
        found = {}
        for variable, field in layout.fields.items():
            mask = np.uint64((1 << field.bits) - 1)
            codes = (words[:, field.word] >> np.uint64(field.shift)) & mask
            found[variable] = codes.astype(np.int64) + field.lo
        return found

    def _path(self, state: int) -> Path:
        assert self.store is not None
        return path_to(state, self.state.states, self.store, self.batch)


class Series:
    """Searches of one system that differ in where they begin: compiled once."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system, self.program = system, generate(system)
        self.code = compile_system(self.program.ir, soon=True)
        self.transitions, self.seconds = 0, 0.0

    def explore(self, initial: State, budget: Budget, progress: Watcher | None = None) -> Exploration:
        """As `explore` of the system with this initial state, in memory and by one worker."""
        bound = SearchBudget(budget, progress)
        search = Search(self.program, bound, Workers(1), code=self.code, initial=initial)
        found = search.run()
        self.transitions += found.transitions
        self.seconds += found.seconds
        if self.code.pays_after(self.transitions, self.seconds):
            self.code.improve()
        return found
