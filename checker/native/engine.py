"""The search: what happens between the inner loops."""

from __future__ import annotations

import numpy as np

from ...model.language import TransitionSystem
from ..exploration import Budget, Exploration, Path
from . import kernels, together
from .batch import Batch
from .codegen import generate
from .compile import compile_ir
from .crew import Crew
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
from .paths import path_to
from .recovery import Recovery
from .store import Store
from .together import Together
from .watch import OutOfBudget, Pace, Watch, Watcher

_BRIEF = 1 << 14
"""Transitions in a row for one thread, while others wait for a wide level."""


def search(system: TransitionSystem, budget: Budget, progress: Watcher | None) -> Exploration:
    """Explore `system` as `exploration` says. Raises ValueError if it has no native code."""
    with Crew(budget.jobs) as crew:
        return Search(system, Watch(budget, progress), budget.max_states, crew).run()


class Search:
    """One exploration. Predicates are numbered: invariants first, then goals."""

    def __init__(self, system: TransitionSystem, watch: Watch, max_states: int | None, crew: Crew) -> None:
        self.system, self.watch, self.crew = system, watch, crew
        self.program = generate(system)
        self.code = compile_ir(self.program.ir)
        self.batch = Batch(self.program, self.code)
        self.fired = np.zeros(max(1, len(system.transitions)), np.int64)
        self.hits = np.zeros(self.program.limit_words, np.uint64)
        self.seen, self.found = np.zeros((2, self.program.predicate_words), np.uint64)
        self.first: dict[int, int] = {}  # the first state to break each invariant or reach each goal
        self.control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        self.control[MAX_STATES] = kernels.ALL if max_states is None else max(1, max_states)
        self.control[DEPTH] = self.control[STOPPED] = -1
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
                recovery = Recovery(
                    self.program, self.code, self.batch, self.store, self.watch, self._states()
                )
                fair_edges = sum(
                    int(n) for n, t in zip(self.fired, self.system.transitions, strict=False) if t.fair
                )
                traps = recovery.traps(fair_edges, self._look)
        except OutOfBudget as reason:
            stopped = reason.reason
        return self._result(stopped, traps)

    def _first_store(self) -> Store:
        store = Store(self.program.layout.words, self.watch, self.batch.bytes, self.crew)
        store.add_first(self.program.layout.pack(self.system.initial))
        self.control[COUNT] = 1
        return store

    def _search(self, store: Store) -> str | None:
        """Run the inner loops and see to what they ask for; the reason to stop early, if there is one."""
        while True:
            shared = self._share(store)
            outcome = self._advance(store, 0 if shared else self._patience())
            if outcome == kernels.FOUND:
                self._note(int(self.control[CHECKED]))
            elif outcome == kernels.FULL:
                store.make_room(int(self.control[COUNT]), int(self.control[NEEDED]))
            elif outcome == kernels.TOO_MANY:
                self._finish_hits(store)
                return "states"
            elif outcome == kernels.PAUSED:
                if shared is not None:
                    with self.shared_pace.measuring(self._transitions):
                        shared.advance(
                            store, self.control, self.seen, self.fired, self.hits, self.shared_pace.quantum
                        )
                self._look(store.bytes)
            else:
                return "answered" if outcome == kernels.DONE else None

    def _share(self, store: Store) -> Together | None:
        """The crew, if the work that comes next is for all of them."""
        count = int(self.control[COUNT])
        if self.crew.size == 1 or count < together.MANY:
            return None
        try:
            if self.together is None:
                self.together = Together(self.program, self.code, self.crew, store)
            if not self.together.worthwhile(self.control):
                return None
            store.make_room(count, self.together.most)
        except OutOfBudget:
            return None  # one thread needs less room, and goes on to the last state
        self.control[ROOM] = store.room
        return self.together

    def _patience(self) -> int:
        """How many transitions one thread goes on for; while others wait, not many."""
        waiting = self.crew.size > 1 and self.control[COUNT] >= together.MANY
        return min(self.alone_pace.quantum, _BRIEF) if waiting else self.alone_pace.quantum

    def _advance(self, store: Store, quantum: int) -> int:
        batch = self.batch
        self.control[ROOM] = store.room
        with self.alone_pace.measuring(self._transitions):
            outcome = kernels.advance(
                store.shape, self.control, store.states, store.origins, store.table, np.uint64(store.bits),
                batch.states, batch.which, batch.ends, batch.hashes, batch.hits,
                self.hits, self.fired, self.seen, self.found, self.code.expand, self.code.check, quantum,
            )  # fmt: skip
        return int(outcome)

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
        self.watch.look(self._states(), self._transitions(), self._depth(), frontier, memory)

    def _states(self) -> int:
        return int(self.control[COUNT])

    def _transitions(self) -> int:
        return int(self.control[TRANSITIONS])

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
            transitions=self._transitions(),
            depth=self._depth(),
            complete=stopped is None,
            stopped=stopped,
            fired=tuple(int(n) for n in self.fired[: len(system.transitions)]),
            limits_hit=frozenset(system.limits[bit] for bit in _bits(self.hits)),
            violations=violated,
            goals=reached,
            traps={name: self._path(state) for name, state in traps.items()},
            seconds=self.watch.seconds,
        )

    def _path(self, state: int) -> Path:
        assert self.store is not None
        return path_to(state, self._states(), self.store, self.batch)


def _bits(words: np.ndarray) -> list[int]:
    """The numbers of the bits that are set in a row of 64-bit words."""
    return [64 * w + b for w, word in enumerate(map(int, words)) for b in range(64) if word >> b & 1]
