"""The choices of parameters, divided into as many cells as somebody has asked for.

At first all choices are one cell. A question is asked of a cell when a run needs its answer: if all members of the cell
answer alike, Z3 says so; else the cell falls into two. So questions that no run asks divide nothing.

Parameters that no question connects are divided apart: a cell is one part-cell of each of these groups, and Z3 is asked once
for each part-cell, not for each cell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.language import Expr, Parameter
from ..parametric.parametric_system import ParametricSystem
from ..parametric.regions import Connected, Values, evaluate, parts

Numbers = NDArray[np.int64]


@dataclass(slots=True)
class _PartCell:
    """Choices of connected parameters: those that answer so. `parent` is the number of what it was divided from."""

    answers: Mapping[int, bool]
    example: Values
    parent: int | None


class Cells:
    """Cells by number; a cell that is divided keeps its number for the half that has its example, and the other half is a new cell."""

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
        self._numbers: list[Numbers] = [np.zeros(1, np.int64) for _ in self._parts]
        """Of each part, the part-cell of each cell."""
        self.parents: Numbers = np.zeros(1, np.int64)
        """The cell that each cell was divided from. It has a lower number; the first has none, and says 0."""
        self._known: dict[tuple[int, int, int], bool | tuple[int, int]] = {}
        self._examples: dict[tuple[int, int, int], bool] = {}

    def __len__(self) -> int:
        return len(self.parents)

    def part_cells(self, cell: int) -> tuple[int, ...]:
        """The part-cells that a cell is made of now, by which its example is found also when it has been divided."""
        return tuple(int(numbers[cell]) for numbers in self._numbers)

    def example(self, part_cells: Sequence[int]) -> dict[Parameter, int]:
        """A member of a cell, which is made of these part-cells."""
        found: Values = {}
        for part, number in enumerate(part_cells):
            found.update(self._part_cells[part][number].example)
        return found

    def example_answer(self, part_cells: Sequence[int], question: int) -> bool:
        """What that member answers."""
        part = self._part_of[question]
        key = part, part_cells[part], question
        if key not in self._examples:
            example = self._part_cells[part][part_cells[part]].example
            self._examples[key] = bool(evaluate(self._questions[question], example))
        return self._examples[key]

    def ask(self, cells: Numbers, question: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Divide those of some cells, in order, whose members do not all answer alike.

        Gives what each answers then, and which were divided. The other halves, which answer the opposite, are new cells in the same order.
        """
        part = self._part_of[question]
        numbers = self._numbers[part][cells]
        different, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        found: dict[int, bool | tuple[int, int]] = {}
        for i in np.argsort(
            first
        ):  # in the order of the cells: Z3's examples depend on what it was asked before
            found[int(i)] = self._answer(part, int(different[i]), question)
        halves = [found[i] for i in range(len(different))]
        pairs = np.array([(0, 0) if isinstance(h, bool) else h for h in halves], np.int64).reshape(-1, 2)
        part_cells = self._part_cells[part]
        yes = [h if isinstance(h, bool) else part_cells[h[0]].answers[question] for h in halves]
        divided = np.array([not isinstance(h, bool) for h in halves], np.bool_)[which]
        mine, other = pairs[which[divided]].T
        whole = cells[divided]
        self._numbers[part][whole] = mine
        for number, known in enumerate(self._numbers):
            self._numbers[number] = np.concatenate([known, other if number == part else known[whole]])
        self.parents = np.concatenate([self.parents, whole])
        return np.array(yes, np.bool_)[which], divided

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

    def answers(self, cell: int) -> dict[Expr, bool]:
        """What the members of a cell answer alike; who answers so and meets the assumptions is a member."""
        return {
            self._questions[question]: yes
            for part, number in enumerate(self.part_cells(cell))
            for question, yes in self._part_cells[part][number].answers.items()
        }
