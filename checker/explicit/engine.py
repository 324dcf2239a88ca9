"""The search: what happens between the inner loops."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import numpy as np

from ...model.language import State, TransitionSystem
from ..codegen.machine_code import Care, Tiers
from ..codegen.program import Program, generate
from ..core.exploration import Budget, Exploration, Lasso, Path
from ..reduction.dependence import Dependence
from ..reduction.symmetry import Symmetry, lifted
from . import workers as together
from .ample import Ample
from .checkpoint import Diary
from .liveness.fair_runs import FairCycles
from .liveness.resettability import Resettability
from .states import bfs_kernel as kernels
from .states.batch import Batch
from .states.bfs_kernel import CHECKED, HEAD, NEEDED, ROOM, STOP_AT, STOPPED
from .states.budget import OutOfBudget, Pace, Watch, Watcher
from .states.paths import path_to
from .states.search_state import Account, bits_of
from .states.store import Store
from .states.threads import Crew
from .workers import Together

_BRIEF = 1 << 14
"""Transitions in a row for one thread, while others wait for a wide level."""

LONG = 1 << 20
"""After so many transitions, it pays to compile the system with care: what is not over by then takes longer than that."""

FIRST_LASSOS, LASSOS_AGAIN = 1 << 24, 4
"""After how many transitions lassos are looked for before the search is complete; and how much later again."""


def search(
    system: TransitionSystem,
    budget: Budget,
    progress: Watcher | None,
    dependence: Dependence | None = None,
    symmetry: Symmetry | None = None,
) -> Exploration:
    """Explore `system` as `exploration` says, reduced where `dependence` or `symmetry` is given.

    A search under partial-order reduction, and one for lassos, is the work of one thread. Raises ValueError if the system has no native
    code, or if a reduced search is to be kept on disk.
    """
    if (dependence is not None or symmetry is not None) and budget.disk is not None:
        raise ValueError("a reduced search cannot be kept on disk: search without reductions")
    program = _program(system, symmetry)
    with ExitStack() as stack:
        diary = None
        if budget.disk is not None:
            diary = Diary(budget.disk, program, budget.resume)
            stack.callback(diary.close)
        alone = dependence is not None or bool(system.livenesses)
        crew = stack.enter_context(Crew(1 if alone else budget.jobs))
        watch = Watch(budget, progress)
        answer = Search(program, watch, budget.max_states, crew, diary, dependence).run()
    return answer if program.symmetry is None else lifted(system, program.symmetry, answer)


_latest: list[tuple[TransitionSystem, Symmetry | None, Program]] = []
"""The last program: the searches by which a reduction is decided upon are of one system, one after the other."""


def _program(system: TransitionSystem, symmetry: Symmetry | None) -> Program:
    for known, of_known, program in _latest:
        if known is system and of_known is symmetry:
            return program
    program = generate(system, symmetry)
    _latest[:] = [(system, symmetry, program)]
    return program


class Search:
    """One exploration, which the inner loops carry on from where its account and its store stand."""

    def __init__(
        self,
        program: Program,
        watch: Watch,
        max_states: int | None,
        crew: Crew,
        diary: Diary | None = None,
        dependence: Dependence | None = None,
        code: Tiers | None = None,
        initial: State | None = None,
    ) -> None:
        self.program, self.system, self.watch = program, program.system, watch
        self.max_states, self.crew, self.diary = max_states, crew, diary
        self.code = Tiers(program.ir) if code is None else code
        self.initial = program.initial if initial is None else initial
        self.batch = Batch(program, self.code)
        self.ample, self.reduced = Ample(program, dependence, kernels.BATCH), dependence is not None
        self.account = Account(program, max_states)
        self.store: Store | None = None
        self.together: Together | None = None
        self.alone_pace, self.shared_pace = Pace(), Pace()
        self.lassos: dict[str, Lasso] = {}
        self.next_lassos = FIRST_LASSOS

    def run(self) -> Exploration:
        """Search until everything was expanded or answered, or a budget ran out."""
        stopped: str | None = None
        no_way_back: dict[str, int] = {}
        try:
            self.store = self._first_store()
            while self.next_lassos <= self.account.transitions:
                self.next_lassos *= LASSOS_AGAIN
            stopped = self._search(self.store)
            if stopped is None and self.system.resettabilities:
                no_way_back = self._no_way_back(self.store)
            if stopped is None and self.system.livenesses:
                self._find_lassos(self.store)
        except OutOfBudget as reason:
            stopped = reason.reason
        if self.diary is not None and self.store is not None and stopped != "states":
            with suppress(OutOfBudget):
                self.diary.write(self.account, self.watch.seconds)
        return self._result(stopped, no_way_back)

    def _first_store(self) -> Store:
        beside = self.batch.bytes + len(Care) * self.program.bytes
        if self.diary is not None:
            store = self.diary.open_store(self.watch, beside, self.crew, self.account)
            self.account.allow(self.max_states)
            return store
        store = Store(self.program.layout.words, self.watch, beside, self.crew)
        store.add_first(self.program.layout.pack(self.initial))
        return store

    def _search(self, store: Store) -> str | None:
        """Run the inner loops and see to what they ask for; the reason to stop early, if there is one."""
        account = self.account
        while True:
            shared = self._share(store)
            outcome = self._advance(store, 0 if shared else self._patience())
            if outcome == kernels.FOUND:
                account.note(int(account.control[CHECKED]))
            elif outcome == kernels.FULL:
                store.make_room(account.states, int(account.control[NEEDED]))
            elif outcome == kernels.PAUSED:
                if account.transitions >= LONG:
                    self.code.improve()
                if shared is not None:
                    with self.shared_pace.measuring(lambda: account.transitions):
                        shared.advance(store, account, self.shared_pace.quantum)
                if self.diary is not None and self.diary.directory.due:
                    self.diary.write(account, self.watch.seconds)
                self._look(store.bytes)
                if self.system.livenesses and account.transitions >= self.next_lassos:
                    self._find_lassos(store)
                    if len(self.lassos) == len(self.system.livenesses):
                        return "answered"
                    self.next_lassos *= LASSOS_AGAIN
            elif outcome == kernels.TOO_MANY:
                if self.diary is not None:
                    self.diary.write_before(account, self.batch.which, self.watch.seconds)
                self._finish_hits(store)
                return "states"
            else:
                return "answered" if outcome == kernels.DONE else None

    def _share(self, store: Store) -> Together | None:
        """The crew, if the work that comes next is for all of them."""
        count = self.account.states
        if self.crew.size == 1 or count < together.MANY:
            return None
        try:
            if self.together is None:
                self.together = Together(self.program, self.code, self.crew, store)
            if not self.together.worthwhile(self.account.control):
                return None
            store.make_room(count, self.together.most)
        except OutOfBudget:
            return None  # one thread needs less room, and goes on to the last state
        self.account.control[ROOM] = store.room
        return self.together

    def _patience(self) -> int:
        """How many transitions one thread goes on for; while others wait, not many."""
        if self.system.livenesses:
            # A search for lassos begins after a fixed number of transitions: none of the results may depend on time.
            return max(1, min(self.alone_pace.quantum, self.next_lassos - self.account.transitions))
        waiting = self.crew.size > 1 and self.account.states >= together.MANY
        return min(self.alone_pace.quantum, _BRIEF) if waiting else self.alone_pace.quantum

    def _advance(self, store: Store, quantum: int) -> int:
        batch, account = self.batch, self.account
        account.control[ROOM] = store.room
        with self.alone_pace.measuring(lambda: account.transitions):
            outcome = kernels.advance(
                store.shape, account.control, store.states, store.origins, store.table, np.uint64(store.bits),
                batch.states, batch.which, batch.ends, batch.hashes, batch.hits,
                account.hits, account.fired, account.seen, account.found,
                self.code.expand, self.code.check, quantum, self.ample.rules,
            )  # fmt: skip
        return int(outcome)

    def _finish_hits(self, store: Store) -> None:
        """Note the constraints hit in the batch in which the search stopped, up to the very transition."""
        control = self.account.control
        head, parent = int(control[HEAD]), int(control[STOPPED])
        for number in range(head, parent + 1):
            last = int(control[STOP_AT]) if number == parent else kernels.ALL
            self.batch.successors(store.state(number), last)
            self.account.hits |= self.batch.hits

    def _no_way_back(self, store: Store) -> dict[str, int]:
        resettability = Resettability(
            self.program, self.code, self.batch, store, self.watch, self.account.states
        )
        fair = [t.fair for t in self.system.transitions]
        known = None if self.reduced else int(self.account.fired[: len(fair)][fair].sum())
        return resettability.no_way_back(known, self._look)

    def _find_lassos(self, store: Store) -> None:
        """Look for fair cycles among the states found so far, although more may come."""
        cycles = FairCycles(
            self.program, self.code, self.batch, store, self.watch, self.account.states, self._look
        )
        self.lassos = cycles.lassos(self._path)

    def _look(self, memory: int) -> None:
        """Report, and see whether time is up."""
        account = self.account
        self.watch.look(account.states, account.transitions, account.depth, account.frontier, memory)

    def _result(self, stopped: str | None, no_way_back: dict[str, int]) -> Exploration:
        account, system = self.account, self.system
        violated: dict[str, Path] = {}
        reached: dict[str, Path] = {}
        for bit, state in sorted(account.first.items()):
            found = violated if bit < len(system.invariants) else reached
            found[account.names[bit]] = self._path(state)
        return Exploration(
            states=account.states if self.store else 0,
            transitions=account.transitions,
            depth=account.depth,
            complete=stopped is None,
            stopped=stopped,
            fired=tuple(int(n) for n in account.fired[: len(system.transitions)]),
            constraints_hit=frozenset(system.constraints[bit] for bit in bits_of(account.hits)),
            violations=violated,
            witnesses=reached,
            no_way_back={name: self._path(state) for name, state in no_way_back.items()},
            lassos=self.lassos,
            pruned=self.ample.pruned,
            seconds=self.watch.seconds + (self.diary.earlier if self.diary else 0.0),
        )

    def _path(self, state: int) -> Path:
        assert self.store is not None
        return path_to(state, self.account.states, self.store, self.batch)
