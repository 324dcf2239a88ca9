"""The inner loop of random walks, in native code.

All walkers that are on their way take a step together: one call expands their states, each picks one of its
own successors, one call checks the new states. What a walker picks depends on nothing but the seed, the number of its walk
and the number of the step, so neither do the walks.

Which of its successors a random walk goes to, in native code.

The choice depends on nothing but the seed, the number of the walk and the number of the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import call
from ...kernel_compiler.jit import inline, jit
from ..states.bfs_kernel import ALL, Integers
from ..states.hash_table import ONE, THIRTY_TWO, Shape, Unsigned, Words

# Where `control` keeps the numbers of a stretch of walks: the next walk to begin, and the one before which to end; how
# many walkers are on their way; walks ended, ended in a deadlock, and the length of the longest; steps taken; the
# violating walk of least number, with the step after which it violated an invariant.
NEXT, END, LIVE, WALKS, STUCK, LONGEST, STEPS, BROKEN_WALK, BROKEN_STEP = range(9)
CONTROL_SIZE = 9


@jit
def wander(
    shape: Shape,
    control: Integers,
    seed: Unsigned,
    initial: Words,
    length: int,
    walks: Integers,
    steps: Integers,
    states: Words,
    buffer: Words,
    which: NDArray[np.int32],
    ends: Integers,
    hits: Words,
    fired: Integers,
    values: NDArray[np.uint8],
    writes: Integers,
    writes_from: Integers,
    fields: Words,
    earliest: Integers,
    invariants: int,
    nothing: Words,
    found: Words,
    names: Integers,
    record: NDArray[np.int32],
    expand: int,
    check: int,
    quantum: int,
) -> bool:
    """Walk on until all walks before END have ended, or about `quantum` more steps were taken; gives whether all have.

    A walk ends after `length` steps, in a deadlock, or in a state that violates an invariant; after that, no walk of a
    higher number begins or goes on. `values` gets a 1 for each value that a variable takes, at the place that
    `fields` gives; `earliest` gets, for each witness, the fewest steps after which a walk reached it, and the least number of such a
    walk. With a `record` there is one walk, and it gets its transitions.
    """
    size = len(shape)
    limit = control[STEPS] + quantum
    room = len(walks)
    while True:
        live = control[LIVE]
        while live < room and control[NEXT] < control[END]:
            walks[live], steps[live] = control[NEXT], 0
            for w in range(size):
                states[live * size + w] = initial[w]
            control[NEXT] += 1
            live += 1
        control[LIVE] = live
        if live == 0:
            return True
        if control[STEPS] >= limit:
            return False

        arrays = (buffer.ctypes.data, which.ctypes.data, ends.ctypes.data, hits.ctypes.data)
        call(expand, (states.ctypes.data, live, *arrays, ALL))
        first = np.int64(0)
        kept = 0
        for i in range(live):
            last = ends[i]
            if last == first:
                control[STUCK] += 1
                _end(control, steps[i])
                continue
            k = pick(random_bits(seed, walks[i], steps[i]), which, first, last, names)
            first = last
            transition = which[k]
            fired[transition] += 1
            if len(record) > 0:
                record[steps[i]] = transition
            walks[kept], steps[kept] = walks[i], steps[i] + 1
            for w in range(size):
                states[kept * size + w] = buffer[k * size + w]
            for j in range(writes_from[transition], writes_from[transition + 1]):
                _note_value(values, fields, writes[j], states, kept * size)
            kept += 1
        control[STEPS] += kept
        control[LIVE] = kept
        _look(size, control, walks, steps, states, earliest, invariants, nothing, found, check)

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
def _look(
    size: int,
    control: Integers,
    walks: Integers,
    steps: Integers,
    states: Words,
    earliest: Integers,
    invariants: int,
    nothing: Words,
    found: Words,
    check: int,
) -> None:
    """Note which witnesses the new states reach, and end the walks that violate an invariant: their steps become -1."""
    live = control[LIVE]
    if len(found) == 0:
        return
    at = np.int64(0)
    while at < live:
        start = states.ctypes.data + at * size * 8
        at += call(check, (start, live - at, nothing.ctypes.data, found.ctypes.data))
        if at == live:
            return
        broken = False
        for bit in range(invariants + len(earliest) // 2):
            if (found[bit >> 6] >> np.uint64(bit & 63)) & ONE == 0:
                continue
            if bit < invariants:
                broken = True
                continue
            witness = 2 * (bit - invariants)
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
    shape: Shape,
    initial: Words,
    path: NDArray[np.int32],
    states: Words,
    buffer: Words,
    which: NDArray[np.int32],
    ends: Integers,
    hits: Words,
    invariants: int,
    nothing: Words,
    found: Words,
    taken: NDArray[np.int32],
    expand: int,
    check: int,
) -> int:
    """Go along a path, without the transitions that are not enabled when their turn comes.

    Gives the number of steps `taken` up to the first state that violates an invariant; -1 if there is none.
    """
    size = len(shape)
    for w in range(size):
        states[w] = initial[w]
    count = 0
    arrays = (buffer.ctypes.data, which.ctypes.data, ends.ctypes.data, hits.ctypes.data)
    number = -1
    for position in range(len(path)):
        transition = path[position]
        if number < 0:
            number = call(expand, (states.ctypes.data, 1, *arrays, ALL))
        k = 0
        while k < number and which[k] != transition:
            k += 1
        if k == number:
            continue
        for w in range(size):
            states[w] = buffer[k * size + w]
        number = -1
        taken[count] = transition
        count += 1
        if call(check, (states.ctypes.data, 1, nothing.ctypes.data, found.ctypes.data)) == 0:
            for bit in range(invariants):
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
