"""The search: what happens between the inner loops."""

from __future__ import annotations

import numpy as np

from ...model.language import TransitionSystem
from ..exploration import Budget, Exploration, Lasso, Path
from ..reductions.dependence import Dependence
from . import kernels
from .ample import Ample
from .batch import Batch
from .codegen import generate
from .compile import compile_ir
from .kernels import (
    ANSWERED,
    CHECKED,
    COUNT,
    DEPTH,
    HEAD,
    LEVEL_END,
    MAX_STATES,
    NEEDED,
    ROOM,
    STOP_AT,
    STOPPED,
    TRANSITIONS,
)
from .liveness import FairCycles
from .paths import path_to
from .recovery import Recovery
from .store import Store
from .watch import OutOfBudget, Watch, Watcher

_SLICE = 0.05
"""How many seconds of work lie between two looks at the clock, about."""
FIRST_LASSOS, LASSOS_AGAIN = 1 << 24, 4
"""After how many transitions lassos are looked for before the search is complete; and how much later again."""


def search(
    system: TransitionSystem,
    budget: Budget,
    progress: Watcher | None,
    dependence: Dependence | None = None,
) -> Exploration:
    """Explore `system` as `exploration` says, reduced where `dependence` is given.

    Raises ValueError if the system has no native code.
    """
    return Search(system, Watch(budget, progress), budget.max_states, dependence).run()


class Search:
    """One exploration. Predicates are numbered: invariants first, then goals."""

    def __init__(
        self,
        system: TransitionSystem,
        watch: Watch,
        max_states: int | None,
        dependence: Dependence | None = None,
    ) -> None:
        self.system, self.watch, self.dependence = system, watch, dependence
        self.program = generate(system)
        self.code = compile_ir(self.program.ir)
        self.batch = Batch(self.program, self.code)
        self.ample = Ample(self.program, dependence, kernels.BATCH)
        self.fired = np.zeros(max(1, len(system.transitions)), np.int64)
        self.hits = np.zeros(self.program.limit_words, np.uint64)
        self.seen, self.found = np.zeros((2, self.program.predicate_words), np.uint64)
        self.first: dict[int, int] = {}  # the first state to break each invariant or reach each goal
        self.control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        self.control[MAX_STATES] = kernels.ALL if max_states is None else max(1, max_states)
        self.control[DEPTH] = self.control[STOPPED] = -1
        self.store: Store | None = None
        self.quantum = 1 << 12
        self.lassos: dict[str, Lasso] = {}
        self.next_lassos = FIRST_LASSOS

    def run(self) -> Exploration:
        """Search until everything was expanded or answered, or a budget ran out."""
        stopped: str | None = None
        traps: dict[str, int] = {}
        try:
            self.store = self._first_store()
            stopped = self._search(self.store)
            if stopped is None and self.system.recoveries:
                recovery = Recovery(
                    self.program, self.code, self.batch, self.store, self.watch, self._states()
                )
                fair_edges = sum(
                    int(n) for n, t in zip(self.fired, self.system.transitions, strict=False) if t.fair
                )
                traps = recovery.traps(fair_edges if self.dependence is None else None, self._look)
            if stopped is None and self.system.livenesses:
                self._find_lassos()
        except OutOfBudget as reason:
            stopped = reason.reason
        return self._result(stopped, traps)

    def _first_store(self) -> Store:
        store = Store(self.program.layout.words, self.watch, self.batch.bytes)
        store.add_first(self.program.layout.pack(self.system.initial))
        self.control[COUNT] = 1
        return store

    def _search(self, store: Store) -> str | None:
        """Run the inner loop and see to what it asks for; the reason to stop early, if there is one."""
        while True:
            began = self.watch.seconds
            outcome = self._advance(store)
            if outcome == kernels.FOUND:
                self._note(int(self.control[CHECKED]))
            elif outcome == kernels.FULL:
                store.make_room(int(self.control[COUNT]), int(self.control[NEEDED]))
            elif outcome == kernels.PAUSED:
                self._look(store.bytes)
                if self.system.livenesses and self.control[TRANSITIONS] >= self.next_lassos:
                    self._find_lassos()
                    if len(self.lassos) == len(self.system.livenesses):
                        return "answered"
                    self.next_lassos *= LASSOS_AGAIN
                    began = self.watch.seconds
                took = self.watch.seconds - began
                self.quantum = (
                    self.quantum * 2 if took < _SLICE / 2 else max(1, int(self.quantum * _SLICE / took))
                )
            elif outcome == kernels.TOO_MANY:
                self._finish_hits(store)
                return "states"
            else:
                return "answered" if outcome == kernels.DONE else None

    def _advance(self, store: Store) -> int:
        batch = self.batch
        self.control[ROOM] = store.room
        outcome = kernels.advance(
            store.shape, self.control, store.states, store.parents, store.table, np.uint64(store.bits),
            batch.states, batch.which, batch.ends, batch.hashes, batch.hits,
            self.hits, self.fired, self.seen, self.found, self.code.expand, self.code.check, self._next_quantum(),
            self.ample.rules,
        )  # fmt: skip
        return int(outcome)

    def _next_quantum(self) -> int:
        # A search for lassos begins after a fixed number of transitions: not one of the results may depend on time.
        if not self.system.livenesses:
            return self.quantum
        return max(1, min(self.quantum, self.next_lassos - int(self.control[TRANSITIONS])))

    def _find_lassos(self) -> None:
        """Look for fair cycles among the states found so far, although more may come."""
        assert self.store is not None
        search = FairCycles(
            self.program, self.code, self.batch, self.store, self.watch, self._states(), self._look
        )
        self.lassos = search.lassos(self._path)

    def _note(self, state: int) -> None:
        """The predicates of `found` hold in this state; those not `seen` before show here first."""
        for bit in _bits(self.found & ~self.seen):
            self.first[bit] = state
        self.seen |= self.found
        invariants = len(self.system.invariants)
        broken = sum(bit < invariants for bit in self.first)
        self.control[ANSWERED] = 0 < invariants == broken and not self.system.recoveries

    def _finish_hits(self, store: Store) -> None:
        """Note the limits hit in the batch in which the search stopped, up to the very transition."""
        head, parent = int(self.control[HEAD]), int(self.control[STOPPED])
        for number in range(head, parent + 1):
            last = int(self.control[STOP_AT]) if number == parent else kernels.ALL
            self.batch.successors(store.state(number), last)
            self.hits |= self.batch.hits

    def _look(self, memory: int) -> None:
        """Report, and see whether time is up."""
        frontier = int(self.control[LEVEL_END] - self.control[HEAD])
        self.watch.look(self._states(), int(self.control[TRANSITIONS]), self._depth(), frontier, memory)

    def _states(self) -> int:
        return int(self.control[COUNT])

    def _depth(self) -> int:
        """The last level in which a state was found: beyond the one that is being expanded, if any was."""
        return max(0, int(self.control[DEPTH] + (self.control[COUNT] > self.control[LEVEL_END])))

    def _result(self, stopped: str | None, traps: dict[str, int]) -> Exploration:
        system = self.system
        names = [*system.invariants, *system.goals]
        violated: dict[str, Path] = {}
        reached: dict[str, Path] = {}
        for bit, state in sorted(self.first.items()):
            table = violated if bit < len(system.invariants) else reached
            table[names[bit]] = self._path(state)
        return Exploration(
            states=self._states(),
            transitions=int(self.control[TRANSITIONS]),
            depth=self._depth(),
            complete=stopped is None,
            stopped=stopped,
            fired=tuple(int(n) for n in self.fired[: len(system.transitions)]),
            limits_hit=frozenset(system.limits[bit] for bit in _bits(self.hits)),
            violations=violated,
            goals=reached,
            traps={name: self._path(state) for name, state in traps.items()},
            lassos=self.lassos,
            seconds=self.watch.seconds,
            spared=int(self.ample.rules.spared[0]),
        )

    def _path(self, state: int) -> Path:
        assert self.store is not None
        return path_to(state, self.store, self.batch)


def _bits(words: np.ndarray) -> list[int]:
    """The numbers of the bits that are set in a row of 64-bit words."""
    return [64 * w + b for w, word in enumerate(map(int, words)) for b in range(64) if word >> b & 1]
