"""Packed states, expanded by native code: for searches whose loop is in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping

import numpy as np

from ....model.language import State, TransitionSystem
from ...codegen.program import generate
from ...llvm.machine_code import compile_system
from ...trace.validation import positions
from .successors import ALL, Batch

Packed = bytes
"""The words of a state, one after the other."""


class Native:
    """The states of a system as its native code has them; an `Expander` of checker/trace/validation.py. Raises ValueError for a system without native code."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system, self._program = system, generate(system)
        code = compile_system(self._program.ir)
        self._batch = Batch(self._program, code, 1)
        self._expand = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 7)(code.expand)
        self._parent = np.empty(self._program.layout.words, np.uint64)
        self._allowed: dict[frozenset[int], np.ndarray] = {}
        batch = self._batch
        arrays = (self._parent, batch.states, batch.which, batch.ends, batch.hits)
        self._pointers = [array.ctypes.data for array in arrays]

    @property
    def initial(self) -> Packed:
        """Where a run begins."""
        return np.array(self._program.layout.pack(self.system.initial), np.uint64).tobytes()

    def successors(self, state: Packed, possible: frozenset[int] | None) -> list[tuple[int, Packed]]:
        """The enabled ones of the transitions, in their order, with the states that they lead to."""
        batch, size = self._batch, len(state)
        self._parent[:] = np.frombuffer(state, np.uint64)
        parent, *rest = self._pointers
        count = self._expand(parent, 1, *rest, ALL)
        which = batch.which[:count]
        wanted = np.ones(count, bool) if possible is None else self._mask(possible)[which]
        chosen: list[int] = np.flatnonzero(wanted).tolist()
        packed = batch.states[: count * batch.words].tobytes() if chosen else b""
        return [(int(which[i]), packed[i * size : (i + 1) * size]) for i in chosen]

    def _mask(self, possible: frozenset[int]) -> np.ndarray:
        found = self._allowed.get(possible)
        if found is None:
            found = np.zeros(len(self.system.transitions), bool)
            found[list(possible)] = True
            self._allowed[possible] = found
        return found

    def agreeing(self, seen: Mapping[str, int]) -> Callable[[Packed], bool]:
        """Whether a state has these codes. Raises ValueError for a name that is no variable."""
        masks = patterns = 0
        fields = list(self._program.layout.fields.items())
        for place, code in positions(self.system, seen):
            variable, field = fields[place]
            if not variable.lo <= code <= variable.hi:
                return lambda state: False
            masks |= field.mask << 64 * field.word
            patterns |= field.pattern(code) << 64 * field.word
        return lambda state: int.from_bytes(state, "little") & masks == patterns

    def state(self, state: Packed) -> State:
        """The codes of a state."""
        return self._program.layout.unpack(np.frombuffer(state, np.uint64).tolist())
