"""Questions about parameters: parameters that answer them in given ways, small ones, by Z3; and what given parameters answer.

Parameters are integers within their ranges. A *region* is a set of choices that answer every question alike. Questions
without a parameter in common are looked at apart.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import z3

from ...model.language import Expr, Parameter, topological
from ..core.interpreter import OPERATORS
from ..core.union_find import UnionFind
from ..smt.theories import INTEGERS
from ..smt.translate import translate

Values = dict[Parameter, int]
SMALL = (3, 7, 15, 31)
"""Examples are sought among numbers up to these before any number will do."""


class UndecidedRegions(Exception):
    """Z3 gave up on a question about the parameters, so that their regions are not known."""


def evaluate(condition: Expr, values: Mapping[Parameter, int]) -> int:
    """The value of an expression of parameters alone."""
    known: dict[Expr, int] = {}
    for node in topological([condition]):
        if node.op == "const":
            known[node] = node.value
        elif node.op == "param":
            known[node] = values[node.value]
        else:
            known[node] = OPERATORS[node.op](*(known[a] for a in node.args))
    return known[condition]


def smallest(
    parameters: Sequence[Parameter],
    questions: Sequence[Expr],
    assumptions: Sequence[Expr],
    answers: Sequence[bool],
) -> Values:
    """Of the parameters with these answers, those with the least sum; of these, the first in the order of parameters.

    Raises UndecidedRegions, and ValueError if there are none.
    """
    result: Values = {}
    wanted = dict(zip(questions, answers, strict=True))
    for members, asked, given in parts(parameters, questions, assumptions):
        part = Connected(members, asked, given)
        result.update(part.smallest({q: wanted[q] for q in asked}))
    return {q: result[q] for q in parameters}


Part = tuple[list[Parameter], list[Expr], list[Expr]]


def parts(
    parameters: Sequence[Parameter], questions: Sequence[Expr], assumptions: Sequence[Expr]
) -> list[Part]:
    """Parameters that some condition connects, with the questions and the assumptions about them, in their order."""
    connected = UnionFind[Parameter]()
    about = {e: [n.value for n in topological([e]) if n.op == "param"] for e in (*questions, *assumptions)}
    for members in about.values():
        connected.join(members)
    found: dict[Parameter, Part] = {}
    for q in parameters:
        found.setdefault(connected.find(q), ([], [], []))[0].append(q)
    for e in questions:
        found[connected.find(about[e][0])][1].append(e)
    for e in assumptions:
        if about[e]:
            found[connected.find(about[e][0])][2].append(e)
    return list(found.values())


class Connected:
    """Connected parameters, and what Z3 knows of them. They have a context of their own."""

    def __init__(self, parameters: list[Parameter], questions: list[Expr], assumptions: list[Expr]) -> None:
        self.parameters, self.questions, self.assumptions = parameters, questions, assumptions
        unknown = {q: INTEGERS.unknown(q.name, q.lo, q.hi) for q in parameters}
        terms = translate(topological([*questions, *assumptions]), INTEGERS, lambda leaf: unknown[leaf.value])
        # Z3's examples depend on which terms its context has seen: in one of their own they are the same in every run.
        self.context = z3.Context()
        self.unknown = {q: term.translate(self.context) for q, term in unknown.items()}
        self.terms = {e: terms[e].translate(self.context) for e in (*questions, *assumptions)}
        self._negated: dict[Expr, Any] = {}
        self.solver = z3.SolverFor("QF_LIA", ctx=self.context)
        self.solver.add(*self._given())

    def example(self, answers: Mapping[Expr, bool]) -> Values | None:
        """Parameters that give these answers, small ones if there are any; None if none do. Raises UndecidedRegions."""
        self.solver.push()
        for question, yes in answers.items():
            # What `add` does beside this takes longer than the search for an example.
            z3.Z3_solver_assert(self.context.ref(), self.solver.solver, self._said(question, yes).as_ast())
        found = self._example()
        self.solver.pop()
        return found

    def _said(self, question: Expr, yes: bool) -> Any:
        """The term that says so."""
        if yes:
            return self.terms[question]
        if question not in self._negated:
            self._negated[question] = z3.Not(self.terms[question])
        return self._negated[question]

    def smallest(self, answers: Mapping[Expr, bool]) -> Values:
        """The least example of these answers."""
        best = z3.Optimize(ctx=self.context)
        best.add(*self._given())
        best.add(*(self.terms[q] if yes else z3.Not(self.terms[q]) for q, yes in answers.items()))
        best.minimize(z3.Sum([_distance(self.unknown[q], q) for q in self.parameters]))
        for q in self.parameters:
            best.minimize(_distance(self.unknown[q], q))
        verdict = best.check()
        if verdict == z3.unknown:
            raise UndecidedRegions(best.reason_unknown())
        if verdict == z3.unsat:
            raise ValueError("no parameters give these answers")
        return self._values(best.model())

    def _example(self) -> Values | None:
        """Parameters that satisfy what the solver holds; small ones, if there are any."""
        verdict = self.solver.check()
        if verdict == z3.unknown:
            raise UndecidedRegions(self.solver.reason_unknown())
        if verdict == z3.unsat:
            return None
        values = self._values(self.solver.model())
        for bound in SMALL:
            if all(abs(values[q] - _nearest(q)) <= bound for q in self.parameters):
                return values
            self.solver.push()
            self.solver.add(*(_distance(self.unknown[q], q) <= bound for q in self.parameters))
            smaller = self._values(self.solver.model()) if self.solver.check() == z3.sat else None
            self.solver.pop()
            if smaller is not None:
                return smaller
        return values

    def _given(self) -> Iterator[Any]:
        for q in self.parameters:
            yield from INTEGERS.within(self.unknown[q], q.lo, q.hi)
        for e in self.assumptions:
            yield self.terms[e]

    def _values(self, model: z3.ModelRef) -> Values:
        return {q: model.eval(u, model_completion=True).as_long() for q, u in self.unknown.items()}


def _nearest(p: Parameter) -> int:
    """The value of a parameter's range that is nearest to 0."""
    return min(max(p.lo, 0), p.hi)


def _distance(term: Any, p: Parameter) -> Any:
    base = _nearest(p)
    return term - base if p.lo == base else z3.If(term < base, base - term, term - base)
