"""Sets of states as conjunctions of literals, and a solver that is asked about them.

A literal says that a variable has a value, or how a comparison of quantities comes out (`comparisons`): a system tells choices of
the quantities apart by nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3

from ...model.language import Expr, TransitionSystem, Variable
from ..parametric.comparisons import Comparisons
from ..smt.solver import Solver
from ..smt.theories import Term, Theory
from ..smt.translate import constant
from .relation import Relation, Symbols
from .unrolling import Quantities


@dataclass(frozen=True, eq=False, slots=True)
class Question:
    """A comparison of quantities. (Expressions cannot stand in sets: their == makes an expression.)"""

    asked: Expr


Literal = tuple[Variable | Question, int]
"""A variable and its code, or a comparison and whether it holds."""

Cube = tuple[Literal, ...]


class Cubes:
    """The literals of a system as Z3 terms, in the state before a step and in the one after it."""

    def __init__(
        self, system: TransitionSystem, invariant: Expr, theory: Theory, deadline: float | None
    ) -> None:
        self.system, self.theory, self.invariant = system, theory, invariant
        self.quantities = Quantities(system, theory)
        self.relation = Relation(system, [invariant], theory, self.quantities)
        self.questions = [Question(compared) for compared in Comparisons(system).all]
        self.before, self.after = self.relation.symbols(""), self.relation.symbols("'")
        self.terms = self.relation.terms(self.before)
        self.good = self.terms[invariant]
        self.choice = self.relation.choice("")
        self.solver = Solver(theory, deadline)
        self.solver.add(self.quantities.constraints())
        self.solver.add(self.relation.within(self.before))
        self._flags: dict[tuple[Variable | Question, int, bool], Term] = {}

    def literal(self, literal: Literal, later: bool = False) -> Term:
        """A literal as a Z3 literal, which can be assumed and found in a core."""
        subject, code = literal
        if isinstance(subject, Question):
            return self._answered(subject, code)
        state = self.after if later else self.before
        if z3.is_bool(state[subject]):
            return state[subject] if code else z3.Not(state[subject])
        return self._flag((subject, code, later), lambda: self._equal(state[subject], subject, code))

    def _answered(self, question: Question, code: int) -> Term:
        """How a comparison comes out, before and after any step, as a Z3 literal."""
        if z3.is_bool(self.quantities.term(question.asked)):
            flag = self._flag((question, 1, False), lambda: self._answer(question, 1))
            return flag if code else z3.Not(flag)
        return self._flag((question, code, False), lambda: self._answer(question, code))

    def _answer(self, question: Question, code: int) -> Term:
        """The same in terms of the quantities alone."""
        term = self.quantities.term(question.asked)
        if z3.is_bool(term):
            return term if code else z3.Not(term)
        return term == self.theory.number(code, question.asked.lo, question.asked.hi)

    def _flag(self, key: tuple[Variable | Question, int, bool], meaning: Callable[[], Term]) -> Term:
        if key not in self._flags:
            self._flags[key] = z3.Bool(f"literal {len(self._flags)}")
            self.solver.add([self._flags[key] == meaning()])
        return self._flags[key]

    def _equal(self, term: Term, variable: Variable, code: int) -> Term:
        number = constant(self.theory, variable.sort, code, variable.lo, variable.hi)
        if z3.is_bool(term):
            return term if code else z3.Not(term)
        return term == number

    def not_all(self, cube: Cube) -> Term:
        """That a state is not in a cube."""
        return z3.Or([z3.Not(self.literal(literal)) for literal in cube])

    def state(self, model: Term) -> Cube:
        """The state before the step, and the comparisons, in a model."""
        found: list[Literal] = []
        for v, term in self.before.items():
            value = model.eval(term, model_completion=True)
            found.append((v, int(z3.is_true(value)) if z3.is_bool(term) else self.theory.code(value, v.lo)))
        for question in self.questions:
            value = model.eval(self.quantities.term(question.asked), model_completion=True)
            code = int(z3.is_true(value)) if z3.is_bool(value) else self.theory.code(value, question.asked.lo)
            found.append((question, code))
        return tuple(found)

    def chosen(self, model: Term) -> int:
        """The transition of a model."""
        return self.theory.code(model.eval(self.choice, model_completion=True), 0)

    def leads_to(self, number: int, cube: Cube) -> Term:
        """That a transition can happen and leads into a cube."""
        following = self.relation.updated(self.before, self.terms, number)
        return z3.And([*self.relation.enabled(self.terms, number), *self.within(following, cube)])

    def within(self, state: Symbols, cube: Cube) -> list[Term]:
        """That a state, of any terms, is in a cube; without the solver's own names, so that a certificate stands by itself."""
        return [
            self._answer(subject, code)
            if isinstance(subject, Question)
            else self._equal(state[subject], subject, code)
            for subject, code in cube
        ]

    def meets_start(self, cube: Cube) -> bool:
        """Whether nothing in a cube sets it apart from the initial state."""
        return all(isinstance(s, Question) or s.initial == code for s, code in cube)


def subsumes(large: Cube, small: Cube) -> bool:
    """Whether one cube contains another."""
    return set(large) <= set(small)
