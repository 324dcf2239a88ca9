"""k-induction: proofs for runs of any length, with parameters left unknown.

Sheeran, Singh, Stalmarck: Checking Safety Properties Using Induction and a SAT-Solver, FMCAD 2000. No run of fewer than k
steps breaks the invariant, and no k states in a row, all different, that keep it are followed by one that breaks it. Where
that fails, the states are a counterexample to induction: perhaps nothing reaches them.

A state is any choice of values for the variables within their ranges, reachable or not. Beyond the reachable states the
terms may say something else than the expressions do, because a slice and its ranges are about reachable states only. That
is sound: an inductive set of states that has the initial state has every state that can be reached from it, and up to
there terms and expressions agree.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import z3

from ...model.language import Expr, State, TransitionSystem, Variable, topological
from ..core.result import Counts, Result, Verdict
from ..reduction.slicing import slice_system
from ..reduction.value_analysis import transition_roots
from ..smt.solver import Solver, Undecided
from ..smt.theories import Term, Theory
from ..smt.translate import fitted, translate, unknown
from .bounded import DEFAULT, search
from .unrolling import ParameterTerms

ENGINE = "k-induction"

Symbols = Mapping[Variable, Term]


@dataclass(frozen=True, slots=True)
class NotInductive:
    """A counterexample to induction: states of `system`, a slice, in a row; they keep the invariant, the last one breaks it.

    Perhaps nothing reaches them.
    """

    system: TransitionSystem
    states: tuple[State, ...]
    labels: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """The states and the steps between them as lists, strings and numbers."""
        return {"states": [list(state) for state in self.states], "labels": list(self.labels)}


def by_k_induction(
    system: TransitionSystem,
    invariant: str,
    most: int,
    *,
    timeout: float | None = None,
    theory: Theory = DEFAULT,
) -> Result:
    """Try k = 1, 2, ... up to `most`; the depth of the result is the last k.

    A violation was executed. INCONCLUSIVE says why in `stopped`: "induction" with NotInductive as evidence, "timeout", or the
    solver's own words. Raises EngineDisagreement if a violation is not confirmed.
    """
    started = time.monotonic()
    deadline = None if timeout is None else started + timeout
    based = search(system, invariant, most - 1, timeout=timeout, theory=theory)
    depth = based.counts.depth
    assert depth is not None

    def result(verdict: Verdict, depth: int, **more: Any) -> Result:
        counts = Counts(depth=depth, seconds=time.monotonic() - started)
        return replace(based, verdict=verdict, counts=counts, engine=ENGINE, **more)

    if based.verdict is Verdict.VIOLATED:
        return result(Verdict.VIOLATED, depth)
    clear = depth + 1
    shown, chosen = None, dict[str, int]()
    try:
        step = _Step(_sliced(system, invariant), invariant, theory, deadline)
        for k in range(1, clear + 1):
            found = step.extended()
            if found is None:
                return result(Verdict.HOLDS, k, stopped=None)
            shown, chosen = found
    except Undecided as reason:
        return result(Verdict.INCONCLUSIVE, clear, stopped=str(reason))
    stopped = "induction" if based.stopped == "steps" else based.stopped
    return result(Verdict.INCONCLUSIVE, clear, evidence=shown, parameters=chosen, stopped=stopped)


def _sliced(system: TransitionSystem, invariant: str) -> TransitionSystem:
    return slice_system(system, invariants=[invariant], witnesses=(), resettabilities=(), livenesses=())


class _Step:
    """k different states in a row that keep the invariant, and one more; k grows."""

    def __init__(
        self, system: TransitionSystem, invariant: str, theory: Theory, deadline: float | None
    ) -> None:
        self.system, self.theory = system, theory
        self._predicate = system.invariants[invariant]
        self.parameters = ParameterTerms(system, theory)
        self.relation = Relation(system, [self._predicate], theory, self.parameters)
        self.solver = Solver(theory, deadline)
        self.solver.add(self.parameters.constraints())
        self._states: list[Symbols] = []
        self._choices: list[Term] = []
        self._append()

    def extended(self) -> tuple[NotInductive, dict[str, int]] | None:
        """One state more; a counterexample to induction if there is one, with its values of the parameters."""
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

    def _shown(self, model: Term) -> tuple[NotInductive, dict[str, int]]:
        def code(term: Term, lo: int) -> int:
            value = model.eval(term, model_completion=True)
            return int(z3.is_true(value)) if z3.is_bool(term) else self.theory.code(value, lo)

        numbers = [self.theory.code(model.eval(c, model_completion=True), 0) for c in self._choices]
        states = tuple(tuple(code(state[v], v.lo) for v in self.system.variables) for state in self._states)
        labels = tuple(self.system.transitions[n].label for n in numbers)
        return NotInductive(self.system, states, labels), self.parameters.chosen(model)


class Relation:
    """The transition relation of a system, with `predicates` that can be asked about in any state."""

    def __init__(
        self, system: TransitionSystem, predicates: Iterable[Expr], theory: Theory, parameters: ParameterTerms
    ) -> None:
        self.system, self.theory, self.parameters = system, theory, parameters
        self._nodes = topological([*transition_roots(system), *predicates])

    def symbols(self, mark: str) -> dict[Variable, Term]:
        """A state of free constants; `mark` is put behind the variables' names."""
        return {v: unknown(self.theory, v.name + mark, v.sort, v.lo, v.hi) for v in self.system.variables}

    def within(self, state: Symbols) -> list[Term]:
        """That every number is in the range of its variable."""
        return [
            c
            for v, term in state.items()
            if not z3.is_bool(term)
            for c in self.theory.within(term, v.lo, v.hi)
        ]

    def terms(self, state: Symbols) -> dict[Expr, Term]:
        """What every expression is in a state."""

        def leaf(node: Expr) -> Term:
            return self.parameters[node.value] if node.op == "param" else state[node.value]

        return translate(self._nodes, self.theory, leaf)

    def enabled(self, terms: Mapping[Expr, Term], number: int) -> list[Term]:
        """That a transition can happen."""
        t = self.system.transitions[number]
        return [terms[e] for e in (t.guard, *(constraint for _, constraint in t.constraints))]

    def updated(self, state: Symbols, terms: Mapping[Expr, Term], number: int) -> dict[Variable, Term]:
        """The state after a transition."""
        updates = self.system.transitions[number].updates
        return {
            v: fitted(self.theory, terms[updates[v]], updates[v], v.lo, v.hi) if v in updates else term
            for v, term in state.items()
        }

    def step(
        self, state: Symbols, terms: Mapping[Expr, Term], following: Symbols, choice: Term
    ) -> list[Term]:
        """That `following` comes after a state by the transition whose number is `choice`."""
        transitions = range(len(self.system.transitions))
        last = len(transitions) - 1
        chosen = [choice == self.theory.number(i, 0, max(last, 0)) for i in transitions]
        constraints = [z3.Or(chosen)]
        for i in transitions:
            constraints += [z3.Implies(chosen[i], e) for e in self.enabled(terms, i)]
        after = [self.updated(state, terms, i) for i in transitions]
        for v, term in state.items():
            result = term
            for i in transitions:
                if after[i][v] is not term:
                    result = z3.If(chosen[i], after[i][v], result)
            constraints.append(following[v] == result)
        return constraints

    def choice(self, mark: str) -> Term:
        """An unknown number of a transition."""
        return self.theory.unknown(f"choice{mark}", 0, max(len(self.system.transitions) - 1, 0))
