"""Which choices of the parameters are alike: those that answer all questions of the system alike (`parametric.grounding`)."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.language import Expr, TransitionSystem, all_of, negate
from ...model.language.expr import equal, fresh_graph, parameter
from ..core.interpreter import Interpreter
from .grounding import questions
from .parameters import parameters_of


class Comparisons:
    """The questions of a system about its parameters; `exact` if they cannot be enumerated: then each value counts."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self.all: tuple[Expr, ...]
        with fresh_graph():
            try:
                self.exact, self.all = False, tuple(questions(system))
            except ValueError:
                self.exact, self.all = True, tuple(parameter(q) for q in parameters_of(system))

    def like(self, values: Mapping[str, int]) -> Expr:
        """The condition on parameters that the same holds of them as of these values."""
        interpreter, start = Interpreter(self._system, values), self._system.initial
        with fresh_graph():
            conditions = []
            for compared in self.all:
                value = interpreter.evaluate(compared, start)
                if self.exact:
                    conditions.append(equal(compared, value))
                else:
                    conditions.append(compared if value else negate(compared))
            return all_of(conditions)
