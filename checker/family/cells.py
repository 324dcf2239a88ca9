"""The choices of parameters, divided into as many cells as somebody has asked for.

At first all choices are one cell. A question is asked of a cell when a run needs its answer: if all members of the cell
answer alike, Z3 says so; else the cell falls into two. So questions that no run asks divide nothing.

Parameters that no question connects are divided apart: a cell is one part-cell of each of these groups, and Z3 is asked once
for each part-cell, not for each cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.language import Expr, Parameter
from ..parametric.parametric_system import ParametricSystem
from ..parametric.regions import Connected, Values, evaluate, parts


@dataclass(slots=True)
class _PartCell:
    """Choices of connected parameters: those that answer so. `parent` is the number of what it was divided from."""

    answers: Mapping[int, bool]
    example: Values
    parent: int | None


class Cells:
    """Cells by number; a cell that is divided keeps its number for the half that has its example."""

    def __init__(self, parametric: ParametricSystem, questions: Sequence[Expr]) -> None:
        """Raises ValueError if no choice meets the assumptions, and UndecidedRegions."""
        self._questions = questions
        self._part_of: dict[int, int] = {}
        self._parts: list[Connected] = []
        self._part_cells: list[list[_PartCell]] = []
        place = {question: number for number, question in enumerate(questions)}
        for members, asked, given in parts(parametric.parameters, questions, parametric.assumptions):
            part = Connected(members, asked, given)
            first = part.example({})
            if first is None:
                raise ValueError("no choice of numbers meets what is assumed of them")
            self._part_of.update((place[question], len(self._parts)) for question in asked)
            self._parts.append(part)
            self._part_cells.append([_PartCell({}, first, None)])
        self._cells: list[tuple[int, ...]] = [(0,) * len(self._parts)]
        self._known: dict[tuple[int, int, int], bool | tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._cells)

    def example(self, cell: int) -> dict[Parameter, int]:
        """A member of a cell."""
        found: Values = {}
        for part, number in enumerate(self._cells[cell]):
            found.update(self._part_cells[part][number].example)
        return found

    def answer(self, cell: int, question: int) -> bool | None:
        """What all members of a cell answer; None if not all answer alike: then the cell can be divided."""
        part = self._part_of[question]
        known = self._answer(part, self._cells[cell][part], question)
        return known if isinstance(known, bool) else None

    def divide(self, cell: int, question: int) -> bool:
        """Divide a cell whose members do not all answer alike; the other half is a new cell, the last.

        Gives what the half that keeps the number answers.
        """
        part = self._part_of[question]
        numbers = self._cells[cell]
        halves = self._answer(part, numbers[part], question)
        assert not isinstance(halves, bool), "there is nothing to be divided"
        mine, other = halves
        for number, add in ((mine, False), (other, True)):
            made = (*numbers[:part], number, *numbers[part + 1 :])
            if add:
                self._cells.append(made)
            else:
                self._cells[cell] = made
        return self._part_cells[part][mine].answers[question]

    def _answer(self, part: int, number: int, question: int) -> bool | tuple[int, int]:
        """What all members of a part-cell answer, or its halves: first that with its example."""
        key = part, number, question
        if key not in self._known:
            self._known[key] = self._found(part, number, question)
        return self._known[key]

    def _found(self, part: int, number: int, question: int) -> bool | tuple[int, int]:
        cells = self._part_cells[part]
        above = cells[number].parent
        while above is not None:
            known = self._known.get((part, above, question))
            if isinstance(known, bool):
                return known
            above = cells[above].parent
        cell = cells[number]
        if question in cell.answers:
            return cell.answers[question]
        answer = bool(evaluate(self._questions[question], cell.example))
        wanted = {self._questions[q]: yes for q, yes in cell.answers.items()}
        other = self._parts[part].example({**wanted, self._questions[question]: not answer})
        if other is None:
            return answer
        cells.append(_PartCell({**cell.answers, question: answer}, cell.example, number))
        cells.append(_PartCell({**cell.answers, question: not answer}, other, number))
        return len(cells) - 2, len(cells) - 1

    def cell_of(self, values: Mapping[Parameter, int]) -> int:
        """The cell that these parameters are in; they must meet the assumptions."""
        return next(cell for cell in range(len(self)) if self._holds(cell, values))

    def _holds(self, cell: int, values: Mapping[Parameter, int]) -> bool:
        return all(
            bool(evaluate(self._questions[question], values)) == yes
            for part, number in enumerate(self._cells[cell])
            for question, yes in self._part_cells[part][number].answers.items()
        )
