"""The stubborn-set filter: drops, from the successors of a batch of states, those that the search need not take.

The same closure as `reduction.stubborn`, on sets of 64-bit words, and the same cycle condition as
`reduced_reference`; both choose the same transitions in every state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codegen.program import Program, truths, words_for
from ...kernel_compiler.intrinsics import call
from ...kernel_compiler.jit import jit
from ...llvm.machine_code import Code, compile_ir
from ...reduction.dependence import Dependence
from .hash_table import ONE, Stored, Words, hash_of, lookup
from .successors import BATCH, Integers, Successors

Short = NDArray[np.int32]

NEVER, LIMIT, PREDICATE = range(3)
"""When an observer is done: never, or with a bit of the constraints hit, or of the predicates seen."""


class Rules(NamedTuple):
    """A `Dependence` as arrays.

    Sets are rows of words. The conditions of member m are needs[starts[m]:starts[m + 1]]. Observer o is dropped from
    `watching` once bit bits[o] of the predicates seen, or of the constraints hit, is set.
    """

    transitions: int
    truth: int  # the address of the function that evaluates the conditions
    conflicts: Words
    enablers: Words
    starts: Short
    needs: Short
    kinds: Short
    bits: Short
    watching: Words
    advancing: NDArray[np.bool_]
    conditions: Words
    enabled: Words  # this and the next four: room for the work on one state
    chosen: Words
    todo: Words
    found: Words
    sizes: Integers
    pruned: Integers  # one number: enabled transitions that were dropped


@jit
def begin_level(rules: Rules, seen: Words, hits: Words) -> None:
    """Watch for all observers but those that have seen what they are there for."""
    rules.watching[:] = 0
    for o in range(len(rules.kinds)):
        number, bit = rules.transitions + o, rules.bits[o]
        word, mask = bit >> 6, ONE << np.uint64(bit & 63)
        done = (rules.kinds[o] == LIMIT and hits[word] & mask != 0) or (
            rules.kinds[o] == PREDICATE and seen[word] & mask != 0
        )
        if not done:
            rules.watching[number >> 6] |= ONE << np.uint64(number & 63)
    for t in range(rules.transitions):
        rules.watching[t >> 6] |= ONE << np.uint64(t & 63)


@jit
def prune(rules: Rules, stored: Stored, batch: Successors, level_end: int, first: int, number: int) -> int:
    """Keep those successors of `number` states from `first` on that are to be taken, in order, and correct the ends.

    Gives how many there are.
    """
    size = len(stored.shape)
    call(rules.truth, (stored.states.ctypes.data + first * size * 8, number, rules.conditions.ctypes.data))
    sizes, enabled, chosen, found = rules.sizes, rules.enabled, rules.chosen, rules.found
    which, buffer = batch.which, batch.states
    truths = len(rules.conditions) // len(batch.ends)
    kept = 0
    begin = 0
    for i in range(number):
        end = batch.ends[i]
        reduced = False
        if end - begin > 1:
            for w in range(len(enabled)):
                enabled[w] = np.uint64(0)
            for k in range(begin, end):
                enabled[which[k] >> 6] |= ONE << np.uint64(which[k] & 63)
            many = end - begin
            for s in range(many):
                sizes[s] = 0  # not acceptable
            for s in range(many):
                count = _close(rules, which[begin + s], 64 * truths * i, many)
                if count == 1:
                    reduced = _advances(rules, stored, batch, level_end, begin, end)
                    if reduced:
                        break
                elif count < many:
                    sizes[s] = count
                    for w in range(len(enabled)):
                        found[s, w] = chosen[w]
            while not reduced:
                best = -1
                for s in range(many):
                    if sizes[s] > 0 and (best < 0 or sizes[s] < sizes[best]):
                        best = s
                if best < 0:
                    break
                sizes[best] = 0
                for w in range(len(enabled)):
                    chosen[w] = found[best, w]
                reduced = _advances(rules, stored, batch, level_end, begin, end)
        for k in range(begin, end):
            t = which[k]
            if not reduced or chosen[t >> 6] >> np.uint64(t & 63) & ONE != 0:
                if k != kept:
                    which[kept] = t
                    for w in range(size):
                        buffer[kept * size + w] = buffer[k * size + w]
                kept += 1
        begin = end
        batch.ends[i] = kept
    rules.pruned[0] += begin - kept
    return kept


@jit
def _close(rules: Rules, seed: int, offset: int, many: int) -> int:
    """Put a stubborn set with `seed` into `chosen`; gives how many of the `many` enabled transitions are in it.

    The conditions of this state are bits, from `offset` on.
    """
    conflicts, enablers, watching, true = rules.conflicts, rules.enablers, rules.watching, rules.conditions
    enabled, chosen, todo = rules.enabled, rules.chosen, rules.todo
    words = len(enabled)
    for w in range(words):
        chosen[w] = np.uint64(0)
        todo[w] = np.uint64(0)
    chosen[seed >> 6] = ONE << np.uint64(seed & 63)
    todo[seed >> 6] = ONE << np.uint64(seed & 63)
    while True:
        word, first, is_enabled = -1, np.uint64(0), False
        for w in range(words):
            if todo[w] & enabled[w] != 0:
                word, first, is_enabled = w, todo[w] & enabled[w], True
                break
            if word < 0 and todo[w] != 0:
                word, first = w, todo[w]
        if word < 0:
            break
        lowest = first & (~first + ONE)
        todo[word] ^= lowest
        member: int = 64 * word + int(_count(lowest - ONE))
        row = member
        if not is_enabled:
            # The false condition whose enablers cost least to add.
            row, least = -1, 0
            for n in range(rules.starts[member], rules.starts[member + 1]):
                c = int(rules.needs[n])
                at = offset + c
                if true[at >> 6] >> np.uint64(at & 63) & ONE == 0:
                    cost = 0
                    for w in range(words):
                        added = enablers[c, w] & ~chosen[w]
                        if added != 0:
                            cost += 256 * int(_count(added & enabled[w])) + int(_count(added))
                    if row < 0 or cost < least:
                        row, least = c, cost
            if row < 0:
                continue
        missing = False
        for w in range(words):
            more = conflicts[row, w] if is_enabled else enablers[row, w]
            added = more & watching[w] & ~chosen[w]
            chosen[w] |= added
            todo[w] |= added
            if enabled[w] & ~chosen[w] != 0:
                missing = True
        if not missing:
            return many
    count = 0
    for w in range(words):
        count += int(_count(chosen[w] & enabled[w]))
    return count


@jit
def _advances(rules: Rules, stored: Stored, batch: Successors, level_end: int, first: int, end: int) -> bool:
    """Whether a chosen transition, fair where that matters, leads beyond this level."""
    size = np.uint64(len(stored.shape))
    last = (ONE << stored.bits) - ONE
    for k in range(first, end):
        t = batch.which[k]
        if rules.chosen[t >> 6] >> np.uint64(t & 63) & ONE != 0 and rules.advancing[t]:
            at = np.uint64(k) * size
            _, entry = lookup(stored, batch.states, at, hash_of(stored.shape, batch.states, at))
            if entry == 0 or np.int64((entry & last) - ONE) >= level_end:
                return True
    return False


@jit
def _count(word: Any) -> Any:
    """The number of bits that are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


class StubbornFilter:
    """The rules of one search, and the code that they refer to, which lives as long as this object."""

    def __init__(self, program: Program, dependence: Dependence | None) -> None:
        self.code: Code | None = None
        self.rules: Rules | tuple[()] = ()
        if dependence is not None:
            truth = truths(program, "truth", list(dependence.conditions))
            self.code = compile_ir(truth, ("truth",))
            self.rules = _rules(dependence, self.code["truth"])

    @property
    def pruned(self) -> int:
        """How many enabled transitions were dropped."""
        return int(self.rules.pruned[0]) if self.rules else 0


def _rules(dependence: Dependence, truth: int) -> Rules:
    system, needs = dependence.system, dependence.needs
    count, words = len(system.transitions), words_for(len(dependence.conflicts))
    observers = [_bit(dependence, o) for o in range(len(dependence.observers))]
    return Rules(
        transitions=count,
        truth=truth,
        conflicts=_rows(dependence.conflicts, words),
        enablers=_rows(dependence.enablers, words),
        starts=np.cumsum([0, *map(len, needs)]).astype(np.int32),
        needs=np.array([c for cs in needs for c in cs], np.int32),
        kinds=np.array([kind for kind, _ in observers], np.int32),
        bits=np.array([bit for _, bit in observers], np.int32),
        watching=np.zeros(words, np.uint64),
        advancing=np.array([t.fair or not system.resettabilities for t in system.transitions], np.bool_),
        conditions=np.zeros(BATCH * words_for(len(dependence.conditions)), np.uint64),
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
