"""Runs to a state, rebuilt from little: of every STRIDE states, the parent of one is known.

States are numbered by the number of the parent that found them first. So parents never decrease from
one state to the next, and the parent of a state lies between two that are known. It is the lowest
number there that leads to the state: a lower one would have found it first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.exploration import Path
from ...kernel_compiler.jit import jit
from .batch import Batch
from .bfs_kernel import BATCH, STRIDE, Integers, successors
from .hash_table import Shape, Words, same
from .store import Store


def path_to(number: int, count: int, store: Store, batch: Batch) -> Path:
    """The transitions of the run by which state `number` of `count` was found; no run to it is shorter."""
    run = []
    while number != 0:
        mark = number // STRIDE
        first = int(store.origins[mark])
        last = int(store.origins[mark + 1]) if (mark + 1) * STRIDE < count else number - 1
        number, transition = _parent(
            store.shape, store.states, number, first, last + 1,
            batch.states, batch.which, batch.ends, batch.hits, batch.code.expand,
        )  # fmt: skip
        run.append(transition)
    return tuple(reversed(run))


@jit
def _parent(
    shape: Shape,
    states: Words,
    target: int,
    first: int,
    last: int,
    buffer: Words,
    which: NDArray[np.int32],
    ends: Integers,
    hits: Words,
    expand: int,
) -> tuple[int, int]:
    """The first of the states first .. last - 1 that leads to state `target`, and its transition."""
    size = np.uint64(len(shape))
    at = np.uint64(target) * size
    while first < last:
        number: int = min(BATCH, last - first)
        total = successors(shape, states, first, number, buffer, which, ends, hits, expand)
        i = 0
        for k in range(np.uint64(total)):
            while np.int64(k) >= ends[i]:
                i += 1
            if same(shape, buffer, k * size, states, at):
                return first + i, which[k]
        first += number
    raise ValueError("a state that no state leads to: the numbers in `origins` are wrong")
