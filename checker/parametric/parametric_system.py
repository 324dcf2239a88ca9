"""One system with unknown quantities, and the choices of them that it can tell apart.

The clusters of one size whose pods stand in the same places are a family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ...model.language import Entity, Expr, Parameter, TransitionSystem
from ...model.language.expr import fresh_graph
from ..core.union_find import UnionFind
from ..reduction.questions import explored_slice
from .exchange import Exchange as Candidate
from .grounding import questions
from .regions import Answers, Cell, Look, cells, smallest
from .valid import Valid


@dataclass(frozen=True)
class Exchange:
    """Two entities that may be interchangeable, and the quantities that change places with them."""

    one: Entity
    other: Entity
    quantities: Mapping[Parameter, Parameter]


@dataclass(frozen=True)
class Unknown:
    """A system with unknown quantities, what is assumed of them, and which entities may be interchangeable.

    `assumptions` are conditions on the quantities alone; none is needed for what their ranges say.
    """

    system: TransitionSystem
    quantities: tuple[Parameter, ...]
    assumptions: tuple[Expr, ...] = ()
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Representative:
    """A choice of quantities, and how many cells it stands for: its own, and those that are its image under renaming."""

    values: Mapping[Parameter, int]
    cells: int


class Family:
    """The choices of the quantities of one unknown system that make a difference to one property.

    Two choices in one cell give the same slice of the system. Raises what `cells`, which tells `look` how far it is, and
    `questions` raise.
    """

    def __init__(self, unknown: Unknown, property_id: str, look: Look = lambda found: None) -> None:
        self.unknown, self._look = unknown, look
        self.slice = explored_slice(unknown.system, property_id)
        with fresh_graph():
            self.questions = questions(self.slice)
        self._answers = Answers(unknown.quantities, self.questions)

    @cached_property
    def cells(self) -> list[Cell]:
        """Every way in which the quantities can answer the questions."""
        return cells(self.unknown.quantities, self.questions, self.unknown.assumptions, self._look)

    @cached_property
    def representatives(self) -> list[Representative]:
        """One choice for each class of cells that a proved exchange maps to one another, in the order of the cells."""
        number = {cell.answers: i for i, cell in enumerate(self.cells)}
        alike = UnionFind[int]()
        for exchange in self.exchanges:
            for i, cell in enumerate(self.cells):
                moved = {exchange.quantities.get(q, q): value for q, value in cell.example.items()}
                image = number.get(self.answers(moved))
                if image is not None:  # else the assumptions rule it out, and nothing is there to be merged
                    alike.join(sorted((alike.find(i), alike.find(image))))
        counts: dict[int, int] = {}
        for i in range(len(self.cells)):
            counts[alike.find(i)] = counts.get(alike.find(i), 0) + 1
        return [Representative(self.cells[i].example, count) for i, count in counts.items()]

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """The exchanges that are proved: automorphisms of the slice that leave its initial state as it is."""
        if self.slice.livenesses:
            return []
        proved = []
        for exchange in self.unknown.exchanges:
            candidate = Candidate(self.slice, [(exchange.one, exchange.other)], exchange.quantities)
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
        """For each quantity the least and the greatest value of the representatives."""
        examples = [r.values for r in self.representatives]
        return {
            q: (min(e[q] for e in examples), max(e[q] for e in examples)) for q in self.unknown.quantities
        }

    def answers(self, values: Mapping[Parameter, int]) -> tuple[bool, ...]:
        """How these quantities answer the questions."""
        return self._answers(values)

    def smallest(self, values: Mapping[Parameter, int]) -> dict[Parameter, int]:
        """The least quantities of the same cell."""
        return smallest(
            self.unknown.quantities, self.questions, self.unknown.assumptions, self.answers(values)
        )
