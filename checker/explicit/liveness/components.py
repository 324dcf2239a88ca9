"""The inner loops of liveness, in native code: which states and edges count, and their fair components.

Members are the states in which some case persists, numbered in the order of the states. Everything here is said
of members, except `members` itself. Masks of fair sets and of conditions are rows of 64-bit words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import call, prefetch
from ...kernel_compiler.jit import jit
from ..states.bfs_kernel import BATCH, Integers
from ..states.hash_table import ONE, Numbers, Shape, Unsigned, Words, hash_of, home_of, lookup

Flags = NDArray[np.uint8]
Labels = NDArray[np.uint16]
ASSIGNED = np.uint32(0xFFFFFFFF)


@jit
def members(
    shape: Shape, states: Words, first: int, last: int, room: Words, width: int, persistent: Words,
    number: Numbers, original: Numbers, observed: Words, count: int, function: int,
) -> int:  # fmt: skip
    """Number those of the states first .. last - 1 in which a `persistent` condition holds, from `count` on.

    number[s] becomes 1 more than the member's number, or 0. original[m] is the state of member m; its row of
    `observed` is what the compiled `function` says of it. Returns the new count, for which there must be room.
    """
    chunk = len(room) // width
    while first < last:
        here: int = min(chunk, last - first)
        start = states.ctypes.data + first * len(shape) * 8
        call(function, (start, here, room.ctypes.data))
        for i in range(here):
            inside = False
            for w in range(len(persistent)):
                if room[i * width + w] & persistent[w]:
                    inside = True
            if inside:
                original[count] = first + i
                for w in range(width):
                    observed[count * width + w] = room[i * width + w]
                count += 1
                number[first + i] = count
        first += here
    return count


@jit
def edges(
    shape: Shape, states: Words, table: Numbers, bits: Unsigned, number: Numbers, original: Numbers,
    first: int, last: int, parents: Words, buffer: Words, which: NDArray[np.int32], ends: Integers, hits: Words,
    starts: Integers, targets: Numbers, labels: Labels, expand: int,
) -> int:  # fmt: skip
    """Store the edges among members of the members first .. last - 1, as long as there is room.

    Those of member m go to starts[m] .. starts[m + 1]; starts[first] must be there already. Returns
    the first member whose edges are not stored.
    """
    size = np.uint64(len(shape))
    low = (ONE << bits) - ONE
    edge = starts[first]
    while first < last:
        some: int = min(BATCH, last - first)
        for i in range(some):
            for w in range(len(shape)):
                parents[i * len(shape) + w] = states[np.int64(original[first + i]) * len(shape) + w]
        arguments = (
            parents.ctypes.data, some, buffer.ctypes.data, which.ctypes.data, ends.ctypes.data,
            hits.ctypes.data, 0,
        )  # fmt: skip
        total = np.uint64(call(expand, arguments))
        if edge + np.int64(total) > len(targets):
            return first
        for j in range(total):
            prefetch(table, home_of(hash_of(shape, buffer, j * size), table))
        k: Unsigned = np.uint64(0)
        for i in range(some):
            end = np.uint64(ends[i])
            while k < end:
                mixed = hash_of(shape, buffer, k * size)
                _, entry = lookup(shape, buffer, k * size, mixed, states, table, bits)
                # A search that is not complete has not found every target yet.
                target = np.uint32(0)
                if entry != 0:
                    target = number[(entry & low) - ONE]
                if target != 0:
                    targets[edge] = target - np.uint32(1)
                    labels[edge] = which[k]
                    edge += 1
                k += ONE
            starts[first + i + 1] = edge
        first += some
    return first


@jit
def select(observed: Words, width: int, word: int, bit: Unsigned, inside: Flags) -> int:
    """Mark the members that have a bit in a word of their row; how many there are."""
    found = 0
    for m in range(len(inside)):
        inside[m] = (observed[m * width + word] & bit) != 0
        found += inside[m]
    return found


@jit
def fair_components(
    starts: Integers, targets: Numbers, labels: Labels, inside: Flags, again: Flags, chosen: Flags,
    index: Numbers, low: Numbers, component: Numbers, cursor: Numbers, stack: Numbers, path: Numbers,
    observed: Words, width: int, recurrent: Words, acting: Words, weak: Words, strong: Words, best: int,
    acts: Words, calm: Words, waits: Words, holds: Words,
) -> int:  # fmt: skip
    """Find the strongly connected components of the members `inside` (Tarjan) and judge each as it is found.

    Returns the least member of a fair component if that is less than `best`, else `best`; the members
    of that component are then those that are `chosen`. Marks in `again` the members of components that are
    unfair to strong sets only, less those in which these sets wait. `index` must be 0 everywhere inside.
    The last four arguments are room for a row of fair sets each, and one of conditions.
    """
    sets = len(weak)
    conditions = width - sets
    clock = np.uint32(0)
    components = np.uint32(0)
    height = 0
    for root in range(len(inside)):
        if inside[root] == 0 or index[root] != 0:
            continue
        depth = 0
        path[0] = root
        clock += np.uint32(1)
        index[root] = low[root] = clock
        cursor[root] = 0
        stack[height] = root
        height += 1
        while depth >= 0:
            m = np.int64(path[depth])
            edge = starts[m] + np.int64(cursor[m])
            if edge < starts[m + 1]:
                cursor[m] += np.uint32(1)
                t = np.int64(targets[edge])
                if inside[t] == 0:
                    continue
                if index[t] == 0:
                    clock += np.uint32(1)
                    index[t] = low[t] = clock
                    cursor[t] = 0
                    stack[height] = t
                    height += 1
                    depth += 1
                    path[depth] = t
                elif index[t] != ASSIGNED and index[t] < low[m]:
                    low[m] = index[t]
                continue
            depth -= 1
            if depth >= 0 and low[m] < low[np.int64(path[depth])]:
                low[np.int64(path[depth])] = low[m]
            if low[m] != index[m]:
                continue
            bottom = height
            least: int = int(m)
            components += np.uint32(1)
            while True:
                bottom -= 1
                t = np.int64(stack[bottom])
                index[t] = ASSIGNED
                component[t] = components
                least = min(least, int(t))
                if t == m:
                    break
            acts[:] = 0
            calm[:] = 0
            waits[:] = 0
            holds[:] = 0
            for i in range(bottom, height):
                s = np.int64(stack[i])
                for w in range(conditions):
                    holds[w] |= observed[s * width + w]
                for w in range(sets):
                    row = observed[s * width + conditions + w]
                    calm[w] |= ~row
                    waits[w] |= row
                for edge in range(starts[s], starts[s + 1]):
                    t = np.int64(targets[edge])
                    if inside[t] != 0 and component[t] == components:
                        for w in range(sets):
                            acts[w] |= acting[np.int64(labels[edge]) * sets + w]
            fair = True
            compassionate = True
            for w in range(conditions):
                if recurrent[w] & ~holds[w]:
                    fair = False
            for w in range(sets):
                if weak[w] & ~(acts[w] | calm[w]):
                    fair = False
                if strong[w] & waits[w] & ~acts[w]:
                    compassionate = False
            if fair and compassionate and least < best:
                best = least
                chosen[:] = 0
                for i in range(bottom, height):
                    chosen[np.int64(stack[i])] = 1
            if fair and not compassionate:
                for i in range(bottom, height):
                    s = np.int64(stack[i])
                    stays = True
                    for w in range(sets):
                        if observed[s * width + conditions + w] & strong[w] & waits[w] & ~acts[w]:
                            stays = False
                    again[s] = stays
            height = bottom
    return best
