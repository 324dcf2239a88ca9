"""One system with unknown parameters, and the choices of them that it can tell apart.

The clusters of one size whose pods stand in the same places are one parametric system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ...model.language import Entity, Expr, Parameter, TransitionSystem
from ...model.language.expressions.expr import fresh_graph
from ..core.union_find import UnionFind
from ..reduction.questions import explored_slice
from .exchange import EntityExchange
from .grounding import questions
from .regions import Answers, Look, Region, regions, smallest
from .valid import Valid


@dataclass(frozen=True)
class Exchange:
    """Two entities that may be interchangeable, and the parameters that change places with them."""

    one: Entity
    other: Entity
    parameters: Mapping[Parameter, Parameter]


@dataclass(frozen=True)
class ParametricSystem:
    """A system with unknown parameters, what is assumed of them, and which entities may be interchangeable.

    `assumptions` are conditions on the parameters alone; none is needed for what their ranges say.
    """

    system: TransitionSystem
    parameters: tuple[Parameter, ...]
    assumptions: tuple[Expr, ...] = ()
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class RegionRepresentative:
    """A choice of parameters, and how many regions it stands for: its own, and those that are its image under renaming."""

    values: Mapping[Parameter, int]
    regions: int


class Regions:
    """The choices of the parameters of one unknown system that make a difference to one property.

    Two choices in one region give the same slice of the system. Raises what `regions`, which tells `look` how far it is, and
    `questions` raise.
    """

    def __init__(
        self, parametric: ParametricSystem, property_id: str, look: Look = lambda found: None
    ) -> None:
        self.parametric, self._look = parametric, look
        self.slice = explored_slice(parametric.system, property_id)

    @cached_property
    def questions(self) -> list[Expr]:
        """All that the system can ask about its parameters."""
        with fresh_graph():
            return questions(self.slice)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.parametric.parameters, self.questions)

    @cached_property
    def regions(self) -> list[Region]:
        """Every way in which the parameters can answer the questions."""
        return regions(self.parametric.parameters, self.questions, self.parametric.assumptions, self._look)

    @cached_property
    def representatives(self) -> list[RegionRepresentative]:
        """One choice for each class of regions that a proved exchange maps to one another, in the order of the regions."""
        number = {region.answers: i for i, region in enumerate(self.regions)}
        alike = UnionFind[int]()
        for exchange in self.exchanges:
            for i, region in enumerate(self.regions):
                moved = {exchange.parameters.get(q, q): value for q, value in region.example.items()}
                image = number.get(self.answers(moved))
                if image is not None:  # else the assumptions rule it out, and nothing is there to be merged
                    alike.join(sorted((alike.find(i), alike.find(image))))
        counts: dict[int, int] = {}
        for i in range(len(self.regions)):
            counts[alike.find(i)] = counts.get(alike.find(i), 0) + 1
        return [RegionRepresentative(self.regions[i].example, count) for i, count in counts.items()]

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """The exchanges that are proved: automorphisms of the slice that leave its initial state as it is."""
        if self.slice.livenesses:
            return []
        proved = []
        for exchange in self.parametric.exchanges:
            candidate = EntityExchange(self.slice, [(exchange.one, exchange.other)], exchange.parameters)
            if candidate.variables is None:
                continue
            renamed = candidate.permutation()
            if renamed.is_identity or renamed(self.slice.initial) != self.slice.initial:
                continue
            if candidate.is_automorphism(Valid(candidate)):
                proved.append(exchange)
        return proved

    @property
    def ranges(self) -> dict[Parameter, tuple[int, int]]:
        """For each parameter the least and the greatest value of the representatives."""
        examples = [r.values for r in self.representatives]
        return {
            q: (min(e[q] for e in examples), max(e[q] for e in examples)) for q in self.parametric.parameters
        }

    def answers(self, values: Mapping[Parameter, int]) -> tuple[bool, ...]:
        """How these parameters answer the questions."""
        return self._answers(values)

    def smallest(self, values: Mapping[Parameter, int]) -> dict[Parameter, int]:
        """The least parameters of the same region."""
        return smallest(
            self.parametric.parameters, self.questions, self.parametric.assumptions, self.answers(values)
        )
