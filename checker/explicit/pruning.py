"""Stubborn sets natively: drops, from the successors of a batch of states, those that the search need not take.

The same closure as `reductions.stubborn`, on sets of 64-bit words, and the same cycle condition as
`reductions.reduced`; both choose the same transitions in every state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernel_compiler.intrinsics import call
from ..kernel_compiler.jit import jit
from .states.hash_table import ONE, Numbers, Shape, Unsigned, Words, hash_of, lookup

Short = NDArray[np.int32]
Integers = NDArray[np.int64]

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
def thin(
    shape: Shape,
    rules: Rules,
    level_end: int,
    states: Words,
    start: int,
    table: Numbers,
    bits: Unsigned,
    buffer: Words,
    which: Short,
    ends: Integers,
    number: int,
) -> int:
    """Keep the successors that are to be taken, in order, and correct `ends`; gives how many there are."""
    call(rules.truth, (start, number, rules.conditions.ctypes.data))
    conflicts, enablers, starts, needs = rules.conflicts, rules.enablers, rules.starts, rules.needs
    watching, advancing, true = rules.watching, rules.advancing, rules.conditions
    sizes, enabled, chosen, todo, found = rules.sizes, rules.enabled, rules.chosen, rules.todo, rules.found
    size = len(shape)
    truths = len(true) // len(ends)
    kept = 0
    first = 0
    for i in range(number):
        end = ends[i]
        reduced = False
        if end - first > 1:
            for w in range(len(enabled)):
                enabled[w] = np.uint64(0)
            for k in range(first, end):
                enabled[which[k] >> 6] |= ONE << np.uint64(which[k] & 63)
            many = end - first
            for s in range(many):
                sizes[s] = 0  # not acceptable
            for s in range(many):
                count = _close(
                    conflicts, enablers, starts, needs, watching, which[first + s], true, 64 * truths * i,
                    enabled, chosen, todo, many,
                )  # fmt: skip
                if count == 1:
                    reduced = _advances(
                        shape, advancing, chosen, level_end, states, table, bits, buffer, which, first, end
                    )
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
                reduced = _advances(
                    shape, advancing, chosen, level_end, states, table, bits, buffer, which, first, end
                )
        for k in range(first, end):
            t = which[k]
            if not reduced or chosen[t >> 6] >> np.uint64(t & 63) & ONE != 0:
                if k != kept:
                    which[kept] = t
                    for w in range(size):
                        buffer[kept * size + w] = buffer[k * size + w]
                kept += 1
        first = end
        ends[i] = kept
    rules.pruned[0] += first - kept
    return kept


@jit
def _close(
    conflicts: Words,
    enablers: Words,
    starts: Short,
    needs: Short,
    watching: Words,
    seed: int,
    true: Words,
    offset: int,
    enabled: Words,
    chosen: Words,
    todo: Words,
    many: int,
) -> int:
    """Put a stubborn set with `seed` into `chosen`; gives how many of its members are enabled.

    The conditions of this state are the bits of `true` from `offset` on.
    """
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
            for n in range(starts[member], starts[member + 1]):
                c = int(needs[n])
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
def _advances(
    shape: Shape,
    advancing: NDArray[np.bool_],
    chosen: Words,
    level_end: int,
    states: Words,
    table: Numbers,
    bits: Unsigned,
    buffer: Words,
    which: Short,
    first: int,
    end: int,
) -> bool:
    """Whether a chosen transition, fair where that matters, leads beyond this level."""
    size = np.uint64(len(shape))
    last = (ONE << bits) - ONE
    for k in range(first, end):
        t = which[k]
        if chosen[t >> 6] >> np.uint64(t & 63) & ONE != 0 and advancing[t]:
            at = np.uint64(k) * size
            _, entry = lookup(shape, buffer, at, hash_of(shape, buffer, at), states, table, bits)
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
