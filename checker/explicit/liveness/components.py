"""The inner loops of liveness, in native code: which states and edges count, and their fair components.

Members are the states in which some case persists, numbered in the order of the states. Everything here is said
of members, except `members` itself. Masks of fair sets and of conditions are rows of 64-bit words.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernel_compiler.intrinsics import call, prefetch
from ...kernel_compiler.jit import jit
from ..states.hash_table import ONE, Numbers, Stored, Unsigned, Words, hash_of, home_of, lookup
from ..states.successors import BATCH, Integers, Successors

Flags = NDArray[np.uint8]
Labels = NDArray[np.uint16]
ASSIGNED = np.uint32(0xFFFFFFFF)


class Observer(NamedTuple):
    """What the compiled `observed` says of states, `width` words each, and `room` for some of them.

    `persistent` has the bits of the conditions that make a state a member.
    """

    function: int
    width: int
    room: Words
    persistent: Words


class Members(NamedTuple):
    """`number` of a state is 1 more than that of the member, or 0; `original` of a member is its state."""

    number: Numbers
    original: Numbers


class Edges(NamedTuple):
    """The edges of member m are starts[m] .. starts[m + 1] - 1: their targets, and their transitions as labels."""

    starts: Integers
    targets: Numbers
    labels: Labels


class Marks(NamedTuple):
    """Marks of members: those that are looked at, those to be looked at again, those of the best component."""

    inside: Flags
    again: Flags
    chosen: Flags


class FairSets(NamedTuple):
    """What a component must offer, as rows of words: the conditions that recur in it, the weak and the strong fair sets.

    `acting` has a row for each transition: the fair sets that it belongs to.
    """

    recurrent: Words
    weak: Words
    strong: Words
    acting: Words


class Tarjan(NamedTuple):
    """Room for the search: of each member when it was found, its low link, component and next edge; and two stacks."""

    found: Numbers
    low: Numbers
    component: Numbers
    cursor: Numbers
    stack: Numbers
    path: Numbers


class Offered(NamedTuple):
    """Room for what one component offers: the fair sets that act, are calm or wait in it, the conditions that hold."""

    acts: Words
    calm: Words
    waits: Words
    holds: Words


class Owed(NamedTuple):
    """What a walk goes to, as `fair_cycles.Owed` says, as words; and `acting` of the fair sets."""

    either: Words
    weak: Words
    recurrent: Words
    acting: Words


@jit
def members(
    stored: Stored, first: int, last: int, observer: Observer, found: Members, observed: Words, count: int
) -> int:
    """Number those of the states first .. last - 1 in which a persistent condition holds, from `count` on.

    Row m of `observed` becomes what the observer says of member m. Returns the new count, for which there must be room.
    """
    room, width = observer.room, observer.width
    chunk = len(room) // width
    while first < last:
        here: int = min(chunk, last - first)
        start = stored.states.ctypes.data + first * len(stored.shape) * 8
        call(observer.function, (start, here, room.ctypes.data))
        for i in range(here):
            inside = False
            for w in range(len(observer.persistent)):
                if room[i * width + w] & observer.persistent[w]:
                    inside = True
            if inside:
                found.original[count] = first + i
                for w in range(width):
                    observed[count * width + w] = room[i * width + w]
                count += 1
                found.number[first + i] = count
        first += here
    return count


@jit
def edges(
    stored: Stored, members: Members, first: int, last: int, parents: Words, batch: Successors, found: Edges
) -> int:
    """Store the edges among members of the members first .. last - 1, as long as there is room.

    starts[first] must be there already. Returns the first member whose edges are not stored. `parents` is room
    for a batch of states.
    """
    size = np.uint64(len(stored.shape))
    words = len(stored.shape)
    low = (ONE << stored.bits) - ONE
    edge = found.starts[first]
    while first < last:
        some: int = min(BATCH, last - first)
        for i in range(some):
            for w in range(words):
                parents[i * words + w] = stored.states[np.int64(members.original[first + i]) * words + w]
        arguments = (
            parents.ctypes.data, some, batch.states.ctypes.data, batch.which.ctypes.data, batch.ends.ctypes.data,
            batch.hits.ctypes.data, 0, batch.room,
        )  # fmt: skip
        total = np.uint64(call(batch.expand, arguments))
        if edge + np.int64(total) > len(found.targets):
            return first
        for j in range(total):
            prefetch(stored.table, home_of(stored, hash_of(stored.shape, batch.states, j * size)))
        k: Unsigned = np.uint64(0)
        for i in range(some):
            end = np.uint64(batch.ends[i])
            while k < end:
                mixed = hash_of(stored.shape, batch.states, k * size)
                _, entry = lookup(stored, batch.states, k * size, mixed)
                # A search that is not complete has not found every target yet.
                target = np.uint32(0)
                if entry != 0:
                    target = members.number[(entry & low) - ONE]
                if target != 0:
                    found.targets[edge] = target - np.uint32(1)
                    found.labels[edge] = batch.which[k]
                    edge += 1
                k += ONE
            found.starts[first + i + 1] = edge
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
def _judge(
    graph: Edges, observed: Words, marks: Marks, asked: FairSets, search: Tarjan, offered: Offered, bottom: int, height: int,
    least: int, best: int,
) -> int:  # fmt: skip
    """Judge the component stack[bottom:height], whose least member is `least`: as `fair_components` says."""
    inside, again, chosen = marks.inside, marks.again, marks.chosen
    starts, targets, labels = graph.starts, graph.targets, graph.labels
    stack, component = search.stack, search.component
    recurrent, weak, strong, acting = asked.recurrent, asked.weak, asked.strong, asked.acting
    acts, calm, waits, holds = offered.acts, offered.calm, offered.waits, offered.holds
    sets = len(weak)
    conditions = len(holds)
    width = conditions + sets
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
            if inside[t] != 0 and component[t] == component[s]:
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
    return best


@jit
def fair_components(
    graph: Edges, observed: Words, marks: Marks, asked: FairSets, search: Tarjan, offered: Offered, best: int
) -> int:  # fmt: skip
    """Find the strongly connected components of the members `inside` (Tarjan) and judge each as it is found.

    Returns the least member of a fair component if that is less than `best`, else `best`; the members
    of that component are then those that are `chosen`. Marks in `again` the members of components that are
    unfair to strong sets only, less those in which these sets wait. What is `found` must be 0 everywhere inside.
    """
    inside, starts, targets = marks.inside, graph.starts, graph.targets
    index, low, component, cursor = search.found, search.low, search.component, search.cursor
    stack, path = search.stack, search.path
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
            best = _judge(graph, observed, marks, asked, search, offered, bottom, height, least, best)
            height = bottom
    return best


@jit
def nearest(
    graph: Edges, observed: Words, chosen: Flags, start: int, home: int, owed: Owed, tree: Tarjan, turn: int
) -> tuple[int, int, int]:
    """Look from `start`, breadth first among the members `chosen`, for the nearest edge that leads to what is owed, or home.

    Gives that edge, its source (-1 both where there is none), and how many members were looked at. Of each member that is `found` in this `turn`, `path` has
    the one from which it was, and `cursor` the number of that one's edge.
    """
    starts, targets, labels = graph.starts, graph.targets, graph.labels
    found, order, source, by = tree.found, tree.stack, tree.path, tree.cursor
    sets, conditions = len(owed.weak), len(owed.recurrent)
    width = conditions + sets
    found[start] = turn
    order[0] = start
    head, tail = 0, 1
    while head < tail:
        m = np.int64(order[head])
        head += 1
        for edge in range(starts[m], starts[m + 1]):
            t = np.int64(targets[edge])
            if chosen[t] == 0:
                continue
            pays = t == home
            for w in range(sets):
                if owed.acting[np.int64(labels[edge]) * sets + w] & owed.either[w]:
                    pays = True
                if owed.weak[w] & ~observed[t * width + conditions + w]:
                    pays = True
            for w in range(conditions):
                if owed.recurrent[w] & observed[t * width + w]:
                    pays = True
            if pays:
                return edge, int(m), head
            if found[t] != np.uint32(turn):
                found[t] = turn
                source[t] = m
                by[t] = edge - starts[m]
                order[tail] = t
                tail += 1
    return -1, -1, head
