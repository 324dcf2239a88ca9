"""What states ask, as numbers: equal rows of a questionnaire have the same number."""

from collections.abc import Mapping

import numpy as np

from ...model.language import Expr
from ..codegen.program import Program
from ..codegen.state_layout import Field
from ..explicit.states.budget import SearchBudget
from ..explicit.states.store import Store
from ..explicit.states.workers import Workers
from . import kernels
from .asking import Questionnaire, answers_of
from .joint_program import BATCH, Code


class Rows:
    """The rows of one questionnaire that have come up. The rows of several are told apart by `which` of `kinds` it is."""

    def __init__(
        self, asked: Questionnaire, number: Mapping[Expr, int], budget: SearchBudget, which: int, kinds: int
    ) -> None:
        self.asked, self._number, self._which, self._kinds = asked, number, which, kinds
        self._count = 0
        self._store: Store | None = None
        self._budget = budget
        self._questions: dict[int, list[int]] = {}
        self._read: np.ndarray | None = None
        self._program: Program | None = None
        """The code whose rows were numbered last, and where it writes: `_first` is the first word, `_fields` are places from there on."""
        self._first = 0
        self._fields: list[tuple[int, Field]] = []

    def number(self, code: Code, number: int, numbers: np.ndarray) -> None:
        """Number the rows that the code has written for the first states of its input; they go to `numbers`."""
        if code.program is not self._program:
            fields = [code.program.layout.fields[v] for v in self.asked.variables]
            self._program, self._first = code.program, min(field.word for field in fields)
            self._fields = [(field.word - self._first, field) for field in fields]
        words = code.width - self._first
        if self._store is None:
            self._store = Store(words, self._budget, 0, Workers(1))
            self._read = np.zeros(BATCH * words, np.uint64)
        assert self._read is not None
        kernels.gather_rows(code.batch.states, code.batch.ends, number, code.width, words, self._read)
        if self._count + number > self._store.room:
            self._store.make_room(self._count, number)
        self._count = kernels.number_rows(self._store.arrays, self._count, self._read, number, numbers)
        numbers[:number] = numbers[:number] * np.uint32(self._kinds) + np.uint32(self._which)

    def questions(self, row: int) -> list[int]:
        """The numbers of the questions that a row asks."""
        own = row // self._kinds
        if own not in self._questions:
            assert self._store is not None
            words = self._store.state(own)
            cases = [((words[word] & field.mask) >> field.shift) + field.lo for word, field in self._fields]
            asked = answers_of(self.asked, cases)
            self._questions[own] = sorted(self._number[question] for question in asked)
        return self._questions[own]
