"""The ways in which parameters can answer a list of questions, enumerated with Z3, each with an example: what cells are compared with.

Regions are found one question after the other: the example of a region answers the next question in one way, and Z3 is asked
whether other members of the region answer it in the other. So no region is missed and none is given twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import z3

from podrace.checker.parametric.parametric_system import ParametricSystem, Regions
from podrace.checker.parametric.regions import Connected, Values, evaluate, parts
from podrace.model.language import Expr, Parameter


@dataclass(frozen=True, slots=True)
class Region:
    """The answers to the questions, in their order, and parameters that give them."""

    answers: tuple[bool, ...]
    example: Mapping[Parameter, int]


def regions(
    parameters: Sequence[Parameter],
    questions: Sequence[Expr],
    assumptions: Sequence[Expr] = (),
) -> list[Region]:
    """Every region of the parameters that satisfy the assumptions. Raises UndecidedRegions."""
    found: list[list[tuple[dict[Expr, bool], Values]]] = []
    for members, asked, given in parts(parameters, questions, assumptions):
        found.append(list(_Enumerated(members, asked, given).regions()))
    combined = []
    for choice in product(*found):
        answers: dict[Expr, bool] = {}
        example: Values = {}
        for part_answers, part_example in choice:
            answers.update(part_answers)
            example.update(part_example)
        combined.append(Region(tuple(answers[q] for q in questions), example))
    return combined


def regions_of(parametric: ParametricSystem, property_id: str) -> list[Region]:
    """Every region of the slice for a property."""
    asked = Regions(parametric, property_id).questions
    return regions(parametric.parameters, asked, parametric.assumptions)


class _Enumerated(Connected):
    def regions(self) -> Iterator[tuple[dict[Expr, bool], Values]]:
        """The answers of each region, with an example."""
        first = self._example()
        if first is not None:
            yield from self._divided(first)

    def _divided(self, first: Values) -> Iterator[tuple[dict[Expr, bool], Values]]:
        """Depth first, question by question; the solver holds the answers of the path. Without recursion, for there may be a thousand."""
        answers: dict[Expr, bool] = {}
        if not self.questions:
            yield answers, first
            return
        path = [self._sides(0, first)]
        while path:
            question = self.questions[len(path) - 1]
            if question in answers:  # all below this answer has been seen
                del answers[question]
                self.solver.pop()
            side = next(path[-1], None)
            if side is None:
                path.pop()
                continue
            answer, example = side
            self.solver.push()
            self.solver.add(self.terms[question] if answer else z3.Not(self.terms[question]))
            found = self._example() if example is None else example
            if found is None:
                self.solver.pop()
                continue
            answers[question] = answer
            if len(path) == len(self.questions):
                yield dict(answers), found
            else:
                path.append(self._sides(len(path), found))

    def _sides(self, at: int, example: Values) -> Iterator[tuple[bool, Values | None]]:
        """Both answers to a question, the example's first."""
        known = bool(evaluate(self.questions[at], example))
        return iter(((known, example), (not known, None)))
