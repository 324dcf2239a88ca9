"""The clusters of one template in classes that reach the same states: for templates whose clusters cannot be told apart beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...checker.core.exploration import Budget
from ...checker.parametric.classes import Class, classes
from ...checker.parametric.parametric_system import ParametricSystem
from ...checker.parametric.regions import smallest
from ...checker.reduction.conclusion import times_fired
from ...checker.reduction.questions import explored_slice
from ...model.language import Parameter
from .cluster_batches import outcome_of
from .outcomes import BatchOutcome


class KnownClasses:
    """The classes of a system with unknown parameters, found one after the other."""

    def __init__(self, parametric: ParametricSystem, property_id: str) -> None:
        self.parametric, self._property = parametric, property_id
        self.slice = explored_slice(parametric.system, property_id)
        self._found: list[Class] = []

    def search(self, budget: Budget) -> Iterator[BatchOutcome]:
        """Search one cluster of each class. Every counterexample is executed by the interpreter."""
        for one in classes(self.parametric, self._property, budget):
            self._found.append(one)
            trace = one.explorer.confirm(one.found, one.values)
            values = tuple(one.values[q] for q in self.parametric.parameters)
            yield BatchOutcome(
                (outcome_of(values, 1, one.found, trace),),
                tuple(sorted(one.found.constraints_hit)),
                tuple(sorted(one.found.witnesses)),
                tuple(sorted(times_fired(one.explorer.slice, one.found.fired))),
                short_of_memory=one.found.stopped == "memory",
            )

    def smallest(self, values: Mapping[Parameter, int]) -> dict[Parameter, int]:
        """The least parameters of the same class."""
        one = next(c for c in self._found if c.values == values)
        asked = list(one.answers)
        answers = [one.answers[q] for q in asked]
        return smallest(self.parametric.parameters, asked, self.parametric.assumptions, answers)
