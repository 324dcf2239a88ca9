"""The search: what happens between the inner loops."""

from __future__ import annotations

from contextlib import ExitStack, suppress

import numpy as np

from ...model.language import TransitionSystem
from ..exploration import Budget, Exploration, Path
from . import kernels, together
from .account import Account, bits_of
from .batch import Batch
from .codegen import Program, generate
from .compile import compile_ir
from .crew import Crew
from .diary import Diary
from .kernels import CHECKED, HEAD, NEEDED, ROOM, STOP_AT, STOPPED
from .paths import path_to
from .recovery import Recovery
from .store import Store
from .together import Together
from .watch import OutOfBudget, Pace, Watch, Watcher

_BRIEF = 1 << 14
"""Transitions in a row for one thread, while others wait for a wide level."""


def search(system: TransitionSystem, budget: Budget, progress: Watcher | None) -> Exploration:
    """Explore `system` as `exploration` says. Raises ValueError if it has no native code."""
    program = generate(system)
    with ExitStack() as stack:
        diary = None
        if budget.disk is not None:
            diary = Diary(budget.disk, program, budget.resume)
            stack.callback(diary.close)
        crew = stack.enter_context(Crew(budget.jobs))
        return Search(program, Watch(budget, progress), budget.max_states, crew, diary).run()


class Search:
    """One exploration, which the inner loops carry on from where its account and its store stand."""

    def __init__(
        self,
        program: Program,
        watch: Watch,
        max_states: int | None,
        crew: Crew,
        diary: Diary | None = None,
    ) -> None:
        self.program, self.system, self.watch = program, program.system, watch
        self.max_states, self.crew, self.diary = max_states, crew, diary
        self.code = compile_ir(program.ir)
        self.batch = Batch(program, self.code)
        self.account = Account(program, max_states)
        self.store: Store | None = None
        self.together: Together | None = None
        self.alone_pace, self.shared_pace = Pace(), Pace()

    def run(self) -> Exploration:
        """Search until everything was expanded or answered, or a budget ran out."""
        stopped: str | None = None
        traps: dict[str, int] = {}
        try:
            self.store = self._first_store()
            stopped = self._search(self.store)
            if stopped is None and self.system.recoveries:
                traps = self._traps(self.store)
        except OutOfBudget as reason:
            stopped = reason.reason
        if self.diary is not None and self.store is not None and stopped != "states":
            with suppress(OutOfBudget):
                self.diary.write(self.account, self.watch.seconds)
        return self._result(stopped, traps)

    def _first_store(self) -> Store:
        if self.diary is not None:
            store = self.diary.open_store(self.watch, self.batch.bytes, self.crew, self.account)
            self.account.allow(self.max_states)
            return store
        store = Store(self.program.layout.words, self.watch, self.batch.bytes, self.crew)
        store.add_first(self.program.layout.pack(self.system.initial))
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
                if shared is not None:
                    with self.shared_pace.measuring(lambda: account.transitions):
                        shared.advance(store, account, self.shared_pace.quantum)
                if self.diary is not None and self.diary.directory.due:
                    self.diary.write(account, self.watch.seconds)
                self._look(store.bytes)
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
                self.code.expand, self.code.check, quantum,
            )  # fmt: skip
        return int(outcome)

    def _finish_hits(self, store: Store) -> None:
        """Note the limits hit in the batch in which the search stopped, up to the very transition."""
        control = self.account.control
        head, parent = int(control[HEAD]), int(control[STOPPED])
        for number in range(head, parent + 1):
            last = int(control[STOP_AT]) if number == parent else kernels.ALL
            self.batch.successors(store.state(number), last)
            self.account.hits |= self.batch.hits

    def _traps(self, store: Store) -> dict[str, int]:
        recovery = Recovery(self.program, self.code, self.batch, store, self.watch, self.account.states)
        fair = [t.fair for t in self.system.transitions]
        return recovery.traps(int(self.account.fired[: len(fair)][fair].sum()), self._look)

    def _look(self, memory: int) -> None:
        """Report, and see whether time is up."""
        account = self.account
        self.watch.look(account.states, account.transitions, account.depth, account.frontier, memory)

    def _result(self, stopped: str | None, traps: dict[str, int]) -> Exploration:
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
            limits_hit=frozenset(system.limits[bit] for bit in bits_of(account.hits)),
            violations=violated,
            goals=reached,
            traps={name: self._path(state) for name, state in traps.items()},
            seconds=self.watch.seconds + (self.diary.earlier if self.diary else 0.0),
        )

    def _path(self, state: int) -> Path:
        assert self.store is not None
        return path_to(state, self.account.states, self.store, self.batch)
