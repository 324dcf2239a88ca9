"""One step from any state, as constraints: what induction reasons about.

A state is any choice of values for the variables within their ranges, reachable or not. Beyond the reachable states the
terms may say something else than the expressions do, because a slice and its ranges are about reachable states only. That
is sound: an inductive set of states that has the initial state has every state that can be reached from it, and up to
there terms and expressions agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import z3

from ...model.language import Expr, TransitionSystem, Variable, topological
from ..reduction.value_analysis import transition_roots
from ..smt.theories import Term, Theory
from ..smt.translate import constant, fitted, translate, unknown
from .unrolling import Quantities

Symbols = Mapping[Variable, Term]


class Relation:
    """The transition relation of a system, with `predicates` that can be asked about in any state."""

    def __init__(
        self, system: TransitionSystem, predicates: Iterable[Expr], theory: Theory, quantities: Quantities
    ) -> None:
        self.system, self.theory, self.quantities = system, theory, quantities
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

    def initial(self, state: Symbols) -> list[Term]:
        """That a state is the initial one."""
        return [term == constant(self.theory, v.sort, v.initial, v.lo, v.hi) for v, term in state.items()]

    def terms(self, state: Symbols) -> dict[Expr, Term]:
        """What every expression is in a state."""

        def leaf(node: Expr) -> Term:
            return self.quantities[node.value] if node.op == "param" else state[node.value]

        return translate(self._nodes, self.theory, leaf)

    def enabled(self, terms: Mapping[Expr, Term], number: int) -> list[Term]:
        """That a transition can happen."""
        t = self.system.transitions[number]
        return [terms[e] for e in (t.guard, *(bound for _, bound in t.constraints))]

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
