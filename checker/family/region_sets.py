"""Sets of choices of parameters, as numbers: equal sets have the same number, and what was worked out once is remembered.

A set is the cells that it is made of. When a cell is divided, both halves are in every set that the cell was in: so a set stays what
it was, and so do all results that are remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...model.language import Expr, Parameter
from ..parametric.regions import evaluate
from .cells import Cells
from .kernels import ANSWERING, FREE, WITHOUT, place_of

NOTHING, EVERYTHING = 0, 1
"""The sets without members, and of all choices."""


class RegionSets:
    """Sets by number, and the operations on them.

    `keys` and `results` are what kernels look up: ANSWERING (the members of a set that answer the questions of a row as the set's
    example does), WITHOUT and JOINED.
    """

    def __init__(self, cells: Cells, questions: list[Expr]) -> None:
        self.cells, self.questions = cells, questions
        self.examples: list[dict[Parameter, int]] = [{}, cells.example(0)]
        """A member of each set; NOTHING has none."""
        self._bits = [0, 1]
        self._number = {0: NOTHING, 1: EVERYTHING}
        self._answers: dict[tuple[int, int], bool] = {}
        self._answering: dict[int, list[int]] = {}
        self.keys = np.zeros(1 << 12, np.uint64)
        self.results = np.zeros(1 << 12, np.uint32)
        self._kept = 0

    def __len__(self) -> int:
        return len(self._bits)

    @property
    def answered(self) -> dict[int, list[int]]:
        """Of each question that was asked, the cells that answer no, and those that answer yes, a bit each."""
        return self._answering

    def members(self, number: int) -> Iterator[int]:
        """The cells of a set."""
        return _ones(self._bits[number])

    def bits(self, numbers: Iterable[int]) -> int:
        """The cells of several sets, a bit each."""
        found = 0
        for number in numbers:
            found |= self._bits[number]
        return found

    def sharing(self, cells: int) -> np.ndarray:
        """For each set 1 if it has one of some cells, a bit each, else 0."""
        return np.array([bits & cells != 0 for bits in self._bits], np.uint8)

    def size(self, number: int) -> int:
        """How many cells a set has."""
        return self._bits[number].bit_count()

    def union(self, numbers: Iterable[int]) -> int:
        """All members of several sets."""
        return self._interned(self.bits(numbers))

    def without(self, one: int, other: int) -> int:
        """The members of one set that are not in the other."""
        return self._interned(self._bits[one] & ~self._bits[other])

    def _example_answer(self, number: int, question: int) -> bool:
        """What the example of a set answers."""
        key = number, question
        if key not in self._answers:
            self._answers[key] = bool(evaluate(self.questions[question], self.examples[number]))
        return self._answers[key]

    def remember(self, operation: int, one: int, other: int) -> None:
        """Work out what a kernel asked for: WITHOUT or JOINED."""
        result = self.without(one, other) if operation == WITHOUT else self.union((one, other))
        self._keep(operation, one, other, result)

    def remember_answering(self, number: int, row: int, questions: Iterable[int]) -> None:
        """Work out ANSWERING: which members of a set answer the questions of a row as its example does."""
        current = number
        for question in questions:
            yes = self._example_answer(number, question)
            self._ask(current, question)
            current = self._interned(self._bits[current] & self._answering[question][yes])
        self._keep(int(ANSWERING), number, row, current)

    def _keep(self, operation: int, one: int, other: int, result: int) -> None:
        if 2 * (self._kept + 1) > len(self.keys):
            self._grow()
        self._enter(np.uint64(int(operation) << 62 | one << 31 | other), result + 1)
        self._kept += 1

    def _enter(self, key: np.uint64, result: int) -> None:
        place = place_of(key, len(self.keys))
        while self.keys[place] != FREE:
            place = (place + 1) % len(self.keys)
        self.keys[place], self.results[place] = key, result

    def _grow(self) -> None:
        keys, results = self.keys, self.results
        self.keys = np.zeros(4 * len(keys), np.uint64)
        self.results = np.zeros(4 * len(keys), np.uint32)
        for place in np.flatnonzero(keys != FREE):
            self._enter(keys[place], int(results[place]))

    def _ask(self, number: int, question: int) -> None:
        """Divide the cells of a set until each answers the question in one way."""
        no_yes = self._answering.setdefault(question, [0, 0])
        divided = []
        for cell in list(_ones(self._bits[number] & ~(no_yes[0] | no_yes[1]))):
            answer = self.cells.answer(cell, question)
            if answer is None:
                answer = self.cells.divide(cell, question)
                other = len(self.cells) - 1
                divided.append((cell, other))
                no_yes[not answer] |= 1 << other
            no_yes[answer] |= 1 << cell
        if divided:
            self._refine(divided, question)

    def _refine(self, divided: list[tuple[int, int]], question: int) -> None:
        """Let every set have both halves of the cells that it had. The question's own answers have been divided already."""

        def both(bits: int) -> int:
            for cell, other in divided:
                if bits >> cell & 1:
                    bits |= 1 << other
            return bits

        self._bits = [both(bits) for bits in self._bits]
        self._number = {bits: number for number, bits in enumerate(self._bits)}
        for asked, answers in self._answering.items():
            if asked != question:
                self._answering[asked] = [both(bits) for bits in answers]

    def _interned(self, bits: int) -> int:
        number = self._number.get(bits)
        if number is None:
            number = self._number[bits] = len(self._bits)
            self._bits.append(bits)
            self.examples.append(self.cells.example((bits & -bits).bit_length() - 1))
        return number


def _ones(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
