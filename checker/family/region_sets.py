"""Sets of choices of parameters, as numbers: equal sets have the same number, and what was worked out once is remembered.

A set is the cells that it is made of, a bit each. When a cell is divided, both halves are in every set that the cell was in: so a set stays what
it was, and so do all results that are remembered. Its bits are brought up to date when it is needed next: there are far more sets than
are ever needed again. What it is found by are the bits that it has had since it could be told: those of the cells up to the last one that it does not treat as
the cell that this was divided from.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...model.language import Parameter
from .cells import Cells, Numbers
from .kernels import ANSWERING, FREE, WITHOUT, place_of

NOTHING, EVERYTHING = 0, 1
"""The sets without members, and of all choices."""


class RegionSets:
    """Sets by number, and the operations on them.

    `keys` and `results` are what kernels look up: ANSWERING (the members of a set that answer the questions of a row as the set's
    example does), WITHOUT and JOINED.
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self._bits = [0, 1]
        self._told = [1, 1]
        """How many cells there were when the bits of each set were brought up to date."""
        self._number = {(1, 0): NOTHING, (1, 1): EVERYTHING}
        self._now = {0: NOTHING, 1: EVERYTHING}
        """Sets by their bits since the last cell was divided."""
        self._sources: dict[int, Numbers] = {}
        self._part_cells: list[tuple[int, ...]] = [(), cells.part_cells(0)]
        self.examples: list[dict[Parameter, int]] = [{}, cells.example(self._part_cells[EVERYTHING])]
        """A member of each set; NOTHING has none."""
        self._answering: dict[int, tuple[int, int, int]] = {}
        self.keys = np.zeros(1 << 12, np.uint64)
        self.results = np.zeros(1 << 12, np.uint32)
        self._kept = 0

    def __len__(self) -> int:
        return len(self._bits)

    @property
    def answered(self) -> dict[int, tuple[int, int]]:
        """Of each question that was asked, the cells that answer no, and those that answer yes, a bit each."""
        return {question: self._answers(question) for question in self._answering}

    def members(self, number: int) -> Numbers:
        """The cells of a set."""
        return _members(self._bits_of(number), len(self.cells))

    def bits(self, numbers: Iterable[int]) -> int:
        """The cells of several sets, a bit each."""
        found = 0
        for number in numbers:
            found |= self._bits_of(number)
        return found

    def sharing(self, cells: int) -> np.ndarray:
        """For each set 1 if it has one of some cells, a bit each, else 0."""
        return np.array([self._bits_of(number) & cells != 0 for number in range(len(self))], np.uint8)

    def union(self, numbers: Iterable[int]) -> int:
        """All members of several sets."""
        return self._interned(self.bits(numbers))

    def without(self, one: int, other: int) -> int:
        """The members of one set that are not in the other."""
        return self._interned(self._bits_of(one) & ~self._bits_of(other))

    def each_without(self, sets: np.ndarray, other: int) -> np.ndarray:
        """Of many sets, of which few differ, the members that are not in the other."""
        found = np.zeros(len(self), np.uint32)
        for number in numbers_in(sets):
            found[number] = self.without(number, other)
        return found[sets]

    def remember(self, operation: int, one: int, other: int) -> None:
        """Work out what a kernel asked for: WITHOUT or JOINED."""
        result = self.without(one, other) if operation == WITHOUT else self.union((one, other))
        self._keep(operation, one, other, result)

    def remember_answering(self, number: int, row: int, questions: Iterable[int]) -> None:
        """Work out ANSWERING: which members of a set answer the questions of a row as its example does."""
        bits = self._bits_of(number)
        for question in questions:
            bits = self._asked(bits, question)
            bits &= self._answers(question)[self.cells.example_answer(self._part_cells[number], question)]
        self._keep(int(ANSWERING), number, row, self._interned(bits))

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

    def _asked(self, bits: int, question: int) -> int:
        """The same cells, divided until each answers the question in one way."""
        no, yes = self._answers(question)
        count = len(self.cells)
        undecided = bits & ~(no | yes)
        if not undecided:
            return bits
        cells = _members(undecided, count)
        answers, divided = self.cells.ask(cells, question)
        others = np.arange(count, len(self.cells))
        if len(others):
            self._now.clear()
            self._sources.clear()
        both = np.concatenate([cells, others])
        said = np.concatenate([answers, ~answers[divided]])
        no |= _as_bits(both[~said], len(self.cells))
        yes |= _as_bits(both[said], len(self.cells))
        self._answering[question] = no, yes, len(self.cells)
        return self._up_to_date(bits, count)

    def _answers(self, question: int) -> tuple[int, int]:
        """The cells that answer no, and those that answer yes, of those that were asked."""
        no, yes, told = self._answering.get(question, (0, 0, len(self.cells)))
        if told < len(self.cells):
            no, yes = self._up_to_date(no, told), self._up_to_date(yes, told)
            self._answering[question] = no, yes, len(self.cells)
        return no, yes

    def _bits_of(self, number: int) -> int:
        if self._told[number] < len(self.cells):
            self._bits[number] = self._up_to_date(self._bits[number], self._told[number])
            self._told[number] = len(self.cells)
        return self._bits[number]

    def _up_to_date(self, bits: int, told: int) -> int:
        """The bits of a set when there were so many cells, with those of the cells that came since."""
        if told == len(self.cells) or not bits:
            return bits
        if told not in self._sources:
            parents = self.cells.parents
            sources = parents[told:].copy()
            while (later := sources >= told).any():
                sources[later] = parents[sources[later]]
            self._sources[told] = sources
        return bits | _packed(_bools(bits, told)[self._sources[told]]) << told

    def _interned(self, bits: int) -> int:
        """The number of a set whose bits are up to date."""
        number = self._now.get(bits)
        if number is None:
            key = self._key(bits)
            number = self._number.get(key)
            if number is None:
                number = self._number[key] = len(self._bits)
                self._bits.append(bits)
                self._told.append(len(self.cells))
                part_cells = self.cells.part_cells((bits & -bits).bit_length() - 1)
                self._part_cells.append(part_cells)
                self.examples.append(self.cells.example(part_cells))
            self._now[bits] = number
        return number

    def _key(self, bits: int) -> tuple[int, int]:
        """How many of the cells tell the set, and its bits of these: any later cell is in it if the one that it was divided from is."""
        is_in = _bools(bits, len(self.cells))
        differ = np.flatnonzero(is_in != is_in[self.cells.parents])
        told = int(differ[-1]) + 1 if len(differ) else 1
        return told, bits & ((1 << told) - 1)


def numbers_in(sets: np.ndarray) -> list[int]:
    """The different ones among many sets, in order: counting is faster than sorting where few differ."""
    found: list[int] = np.flatnonzero(np.bincount(sets)).tolist()
    return found


def _bools(bits: int, count: int) -> NDArray[np.bool_]:
    octets = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), np.uint8)
    return np.unpackbits(octets, count=count, bitorder="little").view(np.bool_)


def _packed(bools: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(bools, bitorder="little").tobytes(), "little")


def _members(bits: int, count: int) -> Numbers:
    return np.flatnonzero(_bools(bits, count))


def _as_bits(cells: Numbers, count: int) -> int:
    found = np.zeros(count, np.bool_)
    found[cells] = True
    return _packed(found)
