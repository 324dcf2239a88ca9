"""Choices of parameters in classes that reach the same states: one is searched, what it asked there says which others are like it.

Z3 gives a choice that no class has yet, until there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from ...model.language import Expr, Parameter, topological
from ..core.exploration import Budget, Exploration
from ..smt.theories import THEORIES
from ..smt.translate import translate
from .explorer import Explorer
from .parametric_system import ParametricSystem
from .questions import AskedQuestions, Columns
from .regions import SMALL, UndecidedRegions, Values, evaluate

INTEGERS = THEORIES["integers"]

_FIRST_RANGE = 15
"""What is searched is compiled for parameters up to this, and again for twice as much whenever Z3 gives greater ones."""


@dataclass(frozen=True, slots=True)
class Class:
    """Choices that are alike: a member, which was searched, what it asked with its answers, and what was found."""

    values: Mapping[Parameter, int]
    answers: Mapping[Expr, bool]
    found: Exploration
    explorer: Explorer

    def has(self, values: Mapping[Parameter, int]) -> bool:
        """Whether other parameters are of this class."""
        return all(bool(evaluate(q, values)) == answer for q, answer in self.answers.items())


def classes(parametric: ParametricSystem, property_id: str, budget: Budget) -> Iterator[Class]:
    """Every class, each searched as the budget says. Raises UndecidedRegions."""
    choices = _Choices(parametric)
    most = _FIRST_RANGE
    explorer = _compiled(parametric, property_id, most)
    asking = AskedQuestions(explorer.slice)
    while (values := choices.next()) is not None:
        while not _within(explorer, values):
            most = most * 2 + 1
            explorer = _compiled(parametric, property_id, most)
        asked: list[Expr] = []

        def note(columns: Columns, values: Values = values, asked: list[Expr] = asked) -> None:
            asked += asking.asked(columns, values)

        found = explorer.explore(values, budget, reached=note)
        answers = {q: bool(evaluate(q, values)) for q in asked}
        choices.leave_out(answers)
        yield Class(values, answers, found, explorer)


def _compiled(parametric: ParametricSystem, property_id: str, most: int) -> Explorer:
    ranges = {q: (q.lo, min(q.hi, max(q.lo, 0) + most)) for q in parametric.parameters}
    return Explorer(parametric, property_id, ranges)


def _within(explorer: Explorer, values: Mapping[Parameter, int]) -> bool:
    return all(lo <= values[q] <= hi for q, (lo, hi) in explorer.ranges.items())


class _Choices:
    """Gives one choice after the other, of which none is in a class that was left out."""

    def __init__(self, parametric: ParametricSystem) -> None:
        self.parameters = parametric.parameters
        self.context = z3.Context()
        self.unknown = {
            q: INTEGERS.unknown(q.name, q.lo, q.hi).translate(self.context) for q in self.parameters
        }
        self.solver = z3.SolverFor("QF_LIA", ctx=self.context)
        for q in self.parameters:
            self.solver.add(*INTEGERS.within(self.unknown[q], q.lo, q.hi))
        self.terms: dict[Expr, Any] = {}
        for assumption in parametric.assumptions:
            self.solver.add(self._term(assumption))

    def leave_out(self, answers: Mapping[Expr, bool]) -> None:
        """Give no choice any more that answers so."""
        alike = [self._term(q) if answer else z3.Not(self._term(q)) for q, answer in answers.items()]
        self.solver.add(z3.Not(z3.And(*alike)) if alike else z3.BoolVal(False, self.context))

    def next(self) -> Values | None:
        """A choice; of small numbers, if there is one. Raises UndecidedRegions."""
        for bound in (*SMALL, None):
            self.solver.push()
            if bound is not None:
                self.solver.add(*(self.unknown[q] <= max(q.lo, 0) + bound for q in self.parameters))
            verdict = self.solver.check()
            values = self._values(self.solver.model()) if verdict == z3.sat else None
            self.solver.pop()
            if values is not None:
                return values
            if bound is None and verdict == z3.unknown:
                raise UndecidedRegions(self.solver.reason_unknown())
        return None

    def _term(self, question: Expr) -> Any:
        if question not in self.terms:
            named = {q: INTEGERS.unknown(q.name, q.lo, q.hi) for q in self.parameters}
            terms = translate(topological([question]), INTEGERS, lambda leaf: named[leaf.value])
            self.terms[question] = terms[question].translate(self.context)
        return self.terms[question]

    def _values(self, model: z3.ModelRef) -> Values:
        return {q: model.eval(u, model_completion=True).as_long() for q, u in self.unknown.items()}
