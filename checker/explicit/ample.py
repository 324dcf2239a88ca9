"""Stubborn sets natively: what the search is to leave out, as arrays and code for `thinning`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..codegen.machine_code import Code, compile_ir
from ..codegen.program import Program, truths, words_for
from ..reduction.dependence import Dependence
from .pruning import LIMIT, NEVER, PREDICATE, Rules
from .states.hash_table import Words


class Ample:
    """The rules of one search, and the code that they refer to, which lives as long as this object."""

    def __init__(self, program: Program, dependence: Dependence | None, batch: int) -> None:
        self.code: Code | None = None
        self.rules: Rules | tuple[()] = ()
        if dependence is None:
            return
        system = program.system
        self.code = compile_ir(truths(program, "truth", list(dependence.conditions)), ("truth",))
        fair = np.array([t.fair or not system.resettabilities for t in system.transitions], np.bool_)
        self.rules = _rules(
            len(system.transitions),
            self.code["truth"],
            dependence.conflicts,
            dependence.enablers,
            dependence.needs,
            tuple(_bit(dependence, o) for o in range(len(dependence.observers))),
            fair,
            batch * words_for(len(dependence.conditions)),
        )

    @property
    def pruned(self) -> int:
        """How many enabled transitions were dropped."""
        return int(self.rules.pruned[0]) if self.rules else 0


def _rules(
    count: int,
    truth: int,
    conflicts: tuple[int, ...],
    enablers: tuple[int, ...],
    needs: tuple[tuple[int, ...], ...],
    observers: tuple[tuple[int, int], ...],
    advancing: NDArray[np.bool_],
    room: int,
) -> Rules:
    words = words_for(len(conflicts))
    return Rules(
        transitions=count,
        truth=truth,
        conflicts=_rows(conflicts, words),
        enablers=_rows(enablers, words),
        starts=np.cumsum([0, *map(len, needs)]).astype(np.int32),
        needs=np.array([c for cs in needs for c in cs], np.int32),
        kinds=np.array([kind for kind, _ in observers], np.int32),
        bits=np.array([bit for _, bit in observers], np.int32),
        watching=np.zeros(words, np.uint64),
        advancing=advancing,
        conditions=np.zeros(room, np.uint64),
        enabled=np.zeros(words, np.uint64),
        chosen=np.zeros(words, np.uint64),
        todo=np.zeros(words, np.uint64),
        found=np.zeros((count, words), np.uint64),
        sizes=np.zeros(count, np.int64),
        pruned=np.zeros(1, np.int64),
    )


def _bit(dependence: Dependence, number: int) -> tuple[int, int]:
    system, observer = dependence.system, dependence.observers[number]
    if observer.kind == "resettability":
        return NEVER, 0
    if observer.kind == "limit":
        return LIMIT, system.constraints.index(observer.name)
    if observer.kind == "invariant":
        return PREDICATE, list(system.invariants).index(observer.name)
    return PREDICATE, len(system.invariants) + list(system.witnesses).index(observer.name)


def _rows(sets: tuple[int, ...], words: int) -> Words:
    flat = [s >> 64 * w & (2**64 - 1) for s in sets for w in range(words)]
    return np.array(flat, np.uint64).reshape(len(sets), words)
