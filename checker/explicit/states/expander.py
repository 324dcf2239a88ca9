"""Packed states, expanded by native code: for searches whose loop is in Python."""

import ctypes
from collections.abc import Callable

import numpy as np

from ....model.language import State, TransitionSystem
from ...codegen.program import generate
from ...llvm.machine_code import compile_system
from ...trace.validation import Seen, positions
from .successors import ALL, Batch

Packed = bytes
"""The words of a state, one after the other."""


class Native:
    """The states of a system as its native code has them; an `Expander` of checker/trace/validation.py. Raises ValueError for a system without native code."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system, self._program = system, generate(system)
        code = compile_system(self._program.ir, soon=True)
        self._batch = Batch(self._program, code, 1)
        self._expand = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)(code.expand)
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
        count = self._expand(parent, 1, *rest, ALL, batch.room)
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

    def agreeing(self, seen: Seen) -> Callable[[Packed], bool]:
        """Whether a state is as it was seen. Raises ValueError for a name that is no variable."""
        masks = patterns = 0
        several: list[tuple[int, frozenset[int]]] = []
        fields = list(self._program.layout.fields.items())
        for place, codes in positions(self.system, seen):
            variable, field = fields[place]
            own = [code for code in codes if variable.lo <= code <= variable.hi]
            if not own:
                return lambda state: False
            if len(own) == 1:
                masks |= field.mask << 64 * field.word
                patterns |= field.pattern(own[0]) << 64 * field.word
            else:
                allowed = frozenset(field.pattern(code) << 64 * field.word for code in own)
                several.append((field.mask << 64 * field.word, allowed))

        def agrees(state: Packed) -> bool:
            bits = int.from_bytes(state, "little")
            return bits & masks == patterns and all(bits & mask in allowed for mask, allowed in several)

        return agrees

    def state(self, state: Packed) -> State:
        """The codes of a state."""
        return self._program.layout.unpack(np.frombuffer(state, np.uint64).tolist())
