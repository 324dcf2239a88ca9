"""One system with unknown parameters, and the choices of them that its expressions can tell apart.

The clusters of one size whose pods stand in the same places are one parametric system.
"""

from collections.abc import Mapping
from functools import cached_property

from ...base.structs import Data
from ...model.language import Expr, Parameter, TransitionSystem
from ...model.language.expressions.expr import fresh_graph
from ..reduction.questions import explored_slice
from .grounding import questions
from .regions import evaluate, smallest


class ParametricSystem(Data, slots=False):
    """A system with unknown parameters, and what is assumed of them.

    `assumptions` are conditions on the parameters alone; none is needed for what their ranges say.
    """

    system: TransitionSystem
    parameters: tuple[Parameter, ...]
    assumptions: tuple[Expr, ...] = ()


class Regions:
    """The choices of the parameters of one unknown system that make a difference to one property.

    Two choices in one region give the same slice of the system. Raises what `questions` raises.
    """

    def __init__(self, parametric: ParametricSystem, property_id: str) -> None:
        self.parametric = parametric
        self.slice = explored_slice(parametric.system, property_id)

    @cached_property
    def questions(self) -> list[Expr]:
        """All that the system can ask about its parameters."""
        with fresh_graph():
            return questions(self.slice)

    def answers(self, values: Mapping[Parameter, int]) -> tuple[bool, ...]:
        """How these parameters answer the questions."""
        return tuple(bool(evaluate(question, values)) for question in self.questions)

    def smallest(self, values: Mapping[Parameter, int]) -> dict[Parameter, int]:
        """The least parameters of the same region."""
        return smallest(
            self.parametric.parameters, self.questions, self.parametric.assumptions, self.answers(values)
        )
