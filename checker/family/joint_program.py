"""The native code of a system and of its questionnaires: one layout of state and parameters for all of them.

The parameters are variables that no step changes, in words after those of the state, so that states can be kept without them. What a
questionnaire writes comes after these.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from ...model.language import Parameter, TransitionSystem, Variable
from ..codegen.program import Program
from ..codegen.state_layout import Layout
from ..explicit.states.hash_table import Words
from ..explicit.states.successors import ALL, Batch
from ..llvm.machine_code import MachineCode, compile_system
from ..parametric.parameters import as_variables
from .asking import Questionnaire

BATCH = 8192
"""Items expanded at a time: enough that what Python does between the kernels does not show."""

WINDOW = 1 << 10
"""At first parameters are compiled within so much of the value nearest to 0; numbers that fit into 16 bits are the quickest."""

Ranges = Mapping[str, tuple[int, int]]


class TooNarrow(Exception):
    """An example has a parameter outside of the range that was compiled."""


class StackedLayout(Layout):
    """The variables of a system in groups, each of which begins a word. The first has a word also if it is empty."""

    def __init__(self, variables: Sequence[Variable], groups: Sequence[Sequence[Variable]]) -> None:
        found, self.words = {}, 0
        for number, group in enumerate(groups):
            if group or number == 0:
                own = Layout(group)
                for variable, field in own.fields.items():
                    found[variable] = replace(field, word=field.word + self.words)
                self.words += own.words
        self.fields = {v: found[v] for v in variables}


class Code:
    """One of the systems, compiled: the successors of many states."""

    def __init__(self, program: Program, code: MachineCode | None = None) -> None:
        self.program = program
        self.code = code or compile_system(program.ir, soon=True)
        self.batch = Batch(program, self.code, BATCH)
        self.width = program.layout.words
        self.input = np.zeros(BATCH * self.width, np.uint64)

    def another(self) -> Code:
        """The same code with buffers of its own."""
        return Code(self.program, self.code)

    def expand(self, number: int) -> int:
        """Write the successors of the first states of `input`; gives how many there are."""
        batch = self.batch
        batch.hits[:] = 0
        arrays = (batch.states, batch.which, batch.ends, batch.hits)
        pointers = [a.ctypes.data for a in arrays]
        return self._call("expand", self.input.ctypes.data, number, *pointers, ALL, batch.room)

    def observe(self, number: int) -> Words:
        """What livenesses look at in the first states of `input`: rows of words, as `codegen.program` describes them."""
        found = np.zeros(number * (self.program.case_words + self.program.set_words), np.uint64)
        self._call("observed", self.input.ctypes.data, number, found.ctypes.data)
        return found

    def check(self, first: int, number: int, seen: Words, found: Words) -> int:
        """The number of the first state of `input` from `first` on with predicate bits that `seen` lacks, which go to `found`; or `number`."""
        start = self.input.ctypes.data + 8 * first * self.width
        return first + self._call("check", start, number - first, seen.ctypes.data, found.ctypes.data)

    def _call(self, name: str, *arguments: int) -> int:
        """What a function gives, whose code may have been improved since the last call."""
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(arguments))
        return int(function(self.code[name])(*arguments))


class JointCode:
    """The system and its questionnaires, for parameters within some ranges."""

    def __init__(
        self, system: TransitionSystem, asked: Sequence[Questionnaire | None], ranges: Ranges
    ) -> None:
        self.ranges = ranges
        moved, names = as_variables(system, ranges)
        self.system = _compiled(moved, [system.variables, list(names)], ())
        self.fields = {
            name: field
            for variable, field in self.system.program.layout.fields.items()
            if (name := names.get(variable)) is not None
        }
        self.state_words = Layout(system.variables).words
        self.parameter_words = self.system.width - self.state_words
        self.questionnaires = [None if q is None else self._questionnaire(q, ranges) for q in asked]

    def _questionnaire(self, asked: Questionnaire, ranges: Ranges) -> Code:
        moved, names = as_variables(asked.system, ranges)
        own = asked.system.variables[: len(asked.system.variables) - len(asked.variables)]
        return _compiled(moved, [own, list(names)], asked.variables)

    def another(self) -> JointCode:
        """The same code with buffers of its own, for another thread."""
        other = copy(self)
        other.system = self.system.another()
        other.questionnaires = [None if q is None else q.another() for q in self.questionnaires]
        return other

    @property
    def bytes(self) -> int:
        """What the buffers take."""
        return sum(c.batch.bytes + c.input.nbytes for c in self._codes)

    def improve(self, transitions: int, seconds: float) -> None:
        """Have better code from now on where that pays after so many transitions."""
        for each in self._codes:
            if each.code.pays_after(transitions, seconds):
                each.code.improve()

    @property
    def _codes(self) -> tuple[Code, ...]:
        return (self.system, *(c for c in self.questionnaires if c is not None))

    def initial(self, system: TransitionSystem) -> tuple[int, ...]:
        """The words of the initial state, without parameters."""
        words = [0] * self.state_words
        for variable in system.variables:
            field = self.system.program.layout.fields[variable]
            words[field.word] |= field.pattern(variable.initial)
        return tuple(words)

    def pattern(self, example: Mapping[Parameter, int]) -> list[int]:
        """The words of the parameters. Raises TooNarrow."""
        words = [0] * self.parameter_words
        for q, value in example.items():
            least, most = self.ranges[q.name]
            if not least <= value <= most:
                raise TooNarrow
            field = self.fields.get(q.name)
            if field is not None:
                words[field.word - self.state_words] |= field.pattern(value)
        return words


def _compiled(
    system: TransitionSystem, groups: Sequence[Sequence[Variable]], last: Sequence[Variable]
) -> Code:
    return Code(Program(system, StackedLayout(system.variables, [*groups, last])))


def ranges_of(parameters: Sequence[Parameter], window: int) -> dict[str, tuple[int, int]]:
    """For each parameter what of its range is near 0."""
    found = {}
    for q in parameters:
        base = min(max(q.lo, 0), q.hi)
        found[q.name] = max(q.lo, base - window), min(q.hi, base + window)
    return found
