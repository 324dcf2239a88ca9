"""Properties of the order of steps: what a predicate over states cannot see is added once the steps are traced."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...model.language import State, TransitionSystem
from .property import Property


class OfSteps(Property):
    """Base class of properties of the order of steps.

    `companions` are properties that it looks at. `answers` says what the verdicts mean, by their names.
    """

    companions: ClassVar[tuple[type[Property], ...]] = ()
    answers: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def completed(cls, system: TransitionSystem) -> TransitionSystem:
        """The traced system with what the property adds to it."""
        raise NotImplementedError

    @classmethod
    def remarks(
        cls, system: TransitionSystem, path: Sequence[int], states: Sequence[State]
    ) -> dict[int, str]:
        """What is to be said before the step of each number of a counterexample (behind the last: after it)."""
        raise NotImplementedError
