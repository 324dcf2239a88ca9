"""The inner loop of random walks, in native code.

All walkers that are on their way take a step together: one call expands their states, each picks one of its
own successors, one call checks the new states. What a walker picks depends on nothing but the seed, the number of its walk
and the number of the step, so neither do the walks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import call
from ...kernel_compiler.jit import inline, jit
from ..states.hash_table import ONE, THIRTY_TWO, Shape, Unsigned, Words
from ..states.successors import ALL, Integers, Successors

# Where `control` keeps the numbers of a stretch of walks: the next walk to begin, and the one before which to end; how
# many walkers are on their way; walks ended, ended in a deadlock, and the length of the longest; steps taken; the
# violating walk of least number, with the step after which it violated an invariant.
NEXT, END, LIVE, WALKS, STUCK, LONGEST, STEPS, BROKEN_WALK, BROKEN_STEP = range(9)
CONTROL_SIZE = 9


class WalkSetting(NamedTuple):
    """What a walk depends on beside its number: where it begins, the seed, the most steps, and how it picks.

    `shape` says how many words a state has (see `Stored`). `names` has the name of each transition's step, or nothing:
    see `pick`.
    """

    shape: Shape
    initial: Words
    seed: Unsigned
    length: int
    names: Integers


class Positions(NamedTuple):
    """A stretch of walks: `control` as above; of each walker its walk's number, its steps so far, its state's words."""

    control: Integers
    walks: Integers
    steps: Integers
    states: Words


class WalkSeen(NamedTuple):
    """What is seen on the way.

    How often each transition was taken; the constraints hit; a 1 for each value that a variable takes; for each witness, the fewest steps
    after which a walk reached it, and the least number of such a walk.
    """

    fired: Integers
    hits: Words
    values: NDArray[np.uint8]
    earliest: Integers


class Writes(NamedTuple):
    """The variables whose values are noted: `variables[starts[i]:starts[i + 1]]` are those that transition i writes.

    Each has a row of four `fields`: word, shift, bits, and where its values are noted.
    """

    variables: Integers
    starts: Integers
    fields: Words


class Judge(NamedTuple):
    """The compiled `check`, how many of its bits are invariants, and its arguments: bits to pass over, and room for those found."""

    check: int
    invariants: int
    nothing: Words
    found: Words


@jit
def wander(
    setting: WalkSetting,
    walkers: Positions,
    batch: Successors,
    judge: Judge,
    seen: WalkSeen,
    writes: Writes,
    record: NDArray[np.int32],
    quantum: int,
) -> bool:
    """Walk on until all walks before END have ended, or about `quantum` more steps were taken; gives whether all have.

    A walk ends after `length` steps, in a deadlock, or in a state that violates an invariant; after that, no walk of a
    higher number begins or goes on. With a `record` there is one walk, and it gets its transitions.
    """
    control, walks, steps, states = walkers.control, walkers.walks, walkers.steps, walkers.states
    which, ends, length = batch.which, batch.ends, setting.length
    size = len(setting.shape)
    limit = control[STEPS] + quantum
    room = len(walks)
    while True:
        live = control[LIVE]
        while live < room and control[NEXT] < control[END]:
            walks[live], steps[live] = control[NEXT], 0
            for w in range(size):
                states[live * size + w] = setting.initial[w]
            control[NEXT] += 1
            live += 1
        control[LIVE] = live
        if live == 0:
            return True
        if control[STEPS] >= limit:
            return False

        arrays = (batch.states.ctypes.data, which.ctypes.data, ends.ctypes.data, seen.hits.ctypes.data)
        call(batch.expand, (states.ctypes.data, live, *arrays, ALL, batch.room))
        first = np.int64(0)
        kept = 0
        for i in range(live):
            last = ends[i]
            if last == first:
                control[STUCK] += 1
                _end(control, steps[i])
                continue
            k = pick(random_bits(setting.seed, walks[i], steps[i]), which, first, last, setting.names)
            first = last
            transition = which[k]
            seen.fired[transition] += 1
            if len(record) > 0:
                record[steps[i]] = transition
            walks[kept], steps[kept] = walks[i], steps[i] + 1
            for w in range(size):
                states[kept * size + w] = batch.states[k * size + w]
            for j in range(writes.starts[transition], writes.starts[transition + 1]):
                _note_value(seen.values, writes.fields, writes.variables[j], states, kept * size)
            kept += 1
        control[STEPS] += kept
        control[LIVE] = kept
        _look(size, walkers, judge, seen.earliest)

        live, kept = kept, 0
        for i in range(live):
            if steps[i] < 0 or walks[i] >= control[END]:
                continue
            if steps[i] == length:
                _end(control, length)
                continue
            walks[kept], steps[kept] = walks[i], steps[i]
            for w in range(size):
                states[kept * size + w] = states[i * size + w]
            kept += 1
        control[LIVE] = kept


@inline
def _end(control: Integers, steps: int) -> None:
    control[WALKS] += 1
    control[LONGEST] = max(control[LONGEST], steps)


@inline
def _note_value(values: NDArray[np.uint8], fields: Words, variable: int, states: Words, at: int) -> None:
    """Note the value of one variable. Its row of `fields`: word, shift, bits, and where its values are noted."""
    word, shift = fields[4 * variable], fields[4 * variable + 1]
    mask = (ONE << fields[4 * variable + 2]) - ONE
    code = (states[np.uint64(at) + word] >> shift) & mask
    values[fields[4 * variable + 3] + code] = 1


@inline
def _look(size: int, walkers: Positions, judge: Judge, earliest: Integers) -> None:
    """Note which witnesses the new states reach, and end the walks that violate an invariant: their steps become -1."""
    control, walks, steps, found = walkers.control, walkers.walks, walkers.steps, judge.found
    live = control[LIVE]
    if len(found) == 0:
        return
    at = np.int64(0)
    while at < live:
        start = walkers.states.ctypes.data + at * size * 8
        at += call(judge.check, (start, live - at, judge.nothing.ctypes.data, found.ctypes.data))
        if at == live:
            return
        broken = False
        for bit in range(judge.invariants + len(earliest) // 2):
            if (found[bit >> 6] >> np.uint64(bit & 63)) & ONE == 0:
                continue
            if bit < judge.invariants:
                broken = True
                continue
            witness = 2 * (bit - judge.invariants)
            sooner = steps[at] < earliest[witness]
            if sooner or (steps[at] == earliest[witness] and walks[at] < earliest[witness + 1]):
                earliest[witness], earliest[witness + 1] = steps[at], walks[at]
        if broken:
            if walks[at] < control[END]:
                control[BROKEN_WALK], control[BROKEN_STEP] = walks[at], steps[at]
                control[END] = walks[at]
            _end(control, steps[at])
            steps[at] = -1
        at += 1


@jit
def follow(
    setting: WalkSetting,
    path: NDArray[np.int32],
    state: Words,
    batch: Successors,
    judge: Judge,
    taken: NDArray[np.int32],
) -> int:
    """Go along a path, without the transitions that are not enabled when their turn comes.

    Gives the number of steps `taken` up to the first state that violates an invariant; -1 if there is none. `state` is
    room for one.
    """
    size = len(setting.shape)
    for w in range(size):
        state[w] = setting.initial[w]
    which, found = batch.which, judge.found
    arrays = (batch.states.ctypes.data, which.ctypes.data, batch.ends.ctypes.data, batch.hits.ctypes.data)
    count = 0
    number = -1
    for position in range(len(path)):
        transition = path[position]
        if number < 0:
            number = call(batch.expand, (state.ctypes.data, 1, *arrays, ALL, batch.room))
        k = 0
        while k < number and which[k] != transition:
            k += 1
        if k == number:
            continue
        for w in range(size):
            state[w] = batch.states[k * size + w]
        number = -1
        taken[count] = transition
        count += 1
        if call(judge.check, (state.ctypes.data, 1, judge.nothing.ctypes.data, found.ctypes.data)) == 0:
            for bit in range(judge.invariants):
                if (found[bit >> 6] >> np.uint64(bit & 63)) & ONE:
                    return count
    return -1


GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_LOW32 = np.uint64(0xFFFFFFFF)


@inline
def mix(z: Unsigned) -> Unsigned:
    """The output function of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014)."""
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@inline
def random_bits(seed: Unsigned, walk: int, step: int) -> Unsigned:
    """64 random bits for this step of this walk: a walk has a stream of its own, a step a place in it."""
    stream = mix(mix(seed) + np.uint64(walk + 1) * GAMMA)
    return mix(stream + np.uint64(step + 1) * GAMMA)


@inline
def below(bits: Unsigned, count: int) -> Any:
    """A number from 0 to `count` - 1 from 32 random bits; the bias is below `count` / 2^32."""
    return np.int64((bits * np.uint64(count)) >> THIRTY_TWO)


@inline
def pick(bits: Unsigned, which: NDArray[np.int32], first: int, last: int, names: Integers) -> int:
    """One of the successors `first` .. `last` - 1 of a state.

    Without names, all alike. With the name of each transition's step: first one of the names, all alike, and then one of
    its successors.
    """
    if len(names) == 0:
        chosen: int = first + below(bits >> THIRTY_TWO, last - first)
        return chosen
    different = 0
    for k in range(first, last):
        different += _is_first(which, first, k, names)
    wanted = below(bits >> THIRTY_TWO, different)
    name = np.int64(-1)
    for k in range(first, last):
        if _is_first(which, first, k, names):
            if wanted == 0:
                name = names[which[k]]
            wanted -= 1
    instances = 0
    for k in range(first, last):
        instances += names[which[k]] == name
    wanted = below(bits & _LOW32, instances)
    for k in range(first, last):
        if names[which[k]] == name:
            if wanted == 0:
                return k
            wanted -= 1
    return first


@inline
def _is_first(which: NDArray[np.int32], first: int, k: int, names: Integers) -> bool:
    """Whether no successor before this one has the name of its step."""
    # The instances of a step mostly stand together, so the last is most likely to be the same.
    for j in range(k - 1, first - 1, -1):  # noqa: SIM110 (kernels have no all)
        if names[which[j]] == names[which[k]]:
            return False
    return True
