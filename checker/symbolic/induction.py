"""Proofs for runs of any length, with quantities left unknown: k-induction, and property-directed reachability.

k-induction (Sheeran, Singh, Stalmarck: Checking Safety Properties Using Induction and a SAT-Solver, FMCAD 2000): no run
of fewer than k steps breaks the invariant, and no k states in a row, all different, that keep it are followed by one that breaks it. Where
that fails, the states are a counterexample to induction: perhaps nothing reaches them.

Property-directed reachability (`pdr`) strengthens the invariant until one step suffices. What it finds is written out and
counts only once a fresh solver has confirmed it (`certificate`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import z3

from ...model.language import State, TransitionSystem
from ..core.result import EngineDisagreement
from ..reduction.slicing import slice_system
from ..smt.solver import Solver, Undecided
from ..smt.theories import Term, Theory
from ..trace.trace import Trace
from .bounded import DEFAULT, Bounded, search
from .certificate import certificate, failed_obligations
from .pdr import Pdr
from .relation import Relation, Symbols
from .unrolling import Quantities

Word = Literal["PROVED", "VIOLATED", "INCONCLUSIVE"]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """States of `system`, a slice, in a row: they keep the invariant, the last one breaks it. Perhaps nothing reaches them."""

    system: TransitionSystem
    quantities: Mapping[str, int]
    states: tuple[State, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """What induction says. `k` is the depth of induction, or for PDR the number of frames.

    PROVED by PDR has a `certificate`, which a fresh solver has confirmed, and the number of its `clauses`. VIOLATED has
    `quantities` and a `trace` that was executed. INCONCLUSIVE says why in `stopped`: "timeout", or "induction" with a `counterexample`.
    """

    word: Word
    k: int
    seconds: float
    certificate: str | None = None
    clauses: int = 0
    quantities: Mapping[str, int] = field(default_factory=dict)
    trace: Trace | None = None
    counterexample: Counterexample | None = None
    stopped: str | None = None


def by_k_induction(
    system: TransitionSystem,
    invariant: str,
    most: int,
    *,
    timeout: float | None = None,
    theory: Theory = DEFAULT,
) -> Proof:
    """Try k = 1, 2, ... up to `most`. Raises EngineDisagreement if a violation is not confirmed."""
    started = time.monotonic()
    deadline = None if timeout is None else started + timeout
    based = search(system, invariant, most - 1, timeout=timeout, theory=theory)
    if based.trace is not None:
        return _violated(based, started)
    clear, found = based.depth + 1, None
    try:
        step = _Step(_sliced(system, invariant), invariant, theory, deadline)
        for k in range(1, clear + 1):
            found = step.extended()
            if found is None:
                return Proof("PROVED", k, time.monotonic() - started)
    except Undecided as reason:
        return Proof("INCONCLUSIVE", clear, time.monotonic() - started, stopped=str(reason))
    stopped = "induction" if based.stopped == "steps" else based.stopped
    seconds = time.monotonic() - started
    return Proof("INCONCLUSIVE", clear, seconds, counterexample=found, stopped=stopped)


def by_pdr(
    system: TransitionSystem,
    invariant: str,
    *,
    timeout: float | None = None,
    theory: Theory = DEFAULT,
    title: str = "",
    watch: Callable[[int, int], None] = lambda frames, clauses: None,
) -> Proof:
    """Look for an inductive invariant that implies `invariant`. Raises EngineDisagreement if an answer is not confirmed."""
    started = time.monotonic()
    deadline = None if timeout is None else started + timeout
    sliced = _sliced(system, invariant)
    pdr = Pdr(sliced, sliced.invariants[invariant], theory, deadline, watch)
    try:
        length = pdr.run()
    except Undecided as reason:
        return Proof("INCONCLUSIVE", pdr.frames, time.monotonic() - started, stopped=str(reason))
    if length is not None:
        based = search(system, invariant, length, theory=theory)
        if based.trace is None:
            raise EngineDisagreement(
                f"PDR claims that `{invariant}` of {system.name} is violated within {length} steps, but bounded search does not"
            )
        return _violated(based, started)
    written = certificate(pdr.cubes, pdr.clauses, title or f"{invariant} of {system.name}")
    failed = failed_obligations(written)
    if failed:
        raise EngineDisagreement(f"the proof of `{invariant}` of {system.name} is none: {'; '.join(failed)}")
    return Proof("PROVED", pdr.frames, time.monotonic() - started, written, len(pdr.clauses))


def _violated(found: Bounded, started: float) -> Proof:
    seconds = time.monotonic() - started
    return Proof("VIOLATED", found.depth, seconds, quantities=found.quantities, trace=found.trace)


def _sliced(system: TransitionSystem, invariant: str) -> TransitionSystem:
    return slice_system(system, invariants=[invariant], witnesses=(), resettabilities=(), livenesses=())


class _Step:
    """k different states in a row that keep the invariant, and one more; k grows."""

    def __init__(
        self, system: TransitionSystem, invariant: str, theory: Theory, deadline: float | None
    ) -> None:
        self.system, self.theory = system, theory
        self._predicate = system.invariants[invariant]
        self.quantities = Quantities(system, theory)
        self.relation = Relation(system, [self._predicate], theory, self.quantities)
        self.solver = Solver(theory, deadline)
        self.solver.add(self.quantities.constraints())
        self._states: list[Symbols] = []
        self._choices: list[Term] = []
        self._append()

    def extended(self) -> Counterexample | None:
        """One state more; a counterexample to induction if there is one."""
        state = self._states[-1]
        terms = self.relation.terms(state)
        choice = self.relation.choice(f"@{len(self._choices)}")
        self.solver.add([terms[self._predicate]])
        self._append()
        self._choices.append(choice)
        following = self._states[-1]
        self.solver.add(self.relation.step(state, terms, following, choice))
        broken = z3.Not(self.relation.terms(following)[self._predicate])
        model = self.solver.model(broken)
        return None if model is None else self._shown(model)

    def _append(self) -> None:
        state = self.relation.symbols(f"@{len(self._states)}")
        self.solver.add(self.relation.within(state))
        for earlier in self._states:
            self.solver.add([z3.Or([state[v] != earlier[v] for v in self.system.variables])])
        self._states.append(state)

    def _shown(self, model: Term) -> Counterexample:
        def code(term: Term, lo: int) -> int:
            value = model.eval(term, model_completion=True)
            return int(z3.is_true(value)) if z3.is_bool(term) else self.theory.code(value, lo)

        numbers = [self.theory.code(model.eval(c, model_completion=True), 0) for c in self._choices]
        return Counterexample(
            self.system,
            self.quantities.chosen(model),
            tuple(tuple(code(state[v], v.lo) for v in self.system.variables) for state in self._states),
            tuple(self.system.transitions[n].label for n in numbers),
        )
