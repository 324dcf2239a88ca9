"""Runs to a state, rebuilt from the number of the state that each one was found from."""

from __future__ import annotations

from ..exploration import Path
from .batch import Batch
from .store import Store


def path_to(number: int, store: Store, batch: Batch) -> Path:
    """The transitions of the run by which state `number` was found; no run to it is shorter."""
    run = []
    while number != 0:
        parent, target = int(store.parents[number]), store.state(number)
        run.append(next(t for t, state in batch.successors(store.state(parent)) if state == target))
        number = parent
    return tuple(reversed(run))
