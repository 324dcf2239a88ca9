"""The whole state graph of a system, by the native engine: its states, and every transition of each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.language import TransitionSystem
from ..codegen.program import generate
from ..core.exploration import Budget, Path, Watcher
from .engine import Search
from .liveness.fair_runs import FairCycles
from .states.budget import SearchBudget
from .states.workers import Workers


@dataclass(frozen=True, eq=False)
class StateGraph:
    """States are numbered as `core.exploration` says, and edges in the order of their sources.

    Those of state s are starts[s] .. starts[s + 1] - 1: the states that they lead to, and their transitions as `labels`. Row s of `codes` has the values of the variables in state s.
    If `stopped` says which budget ran out, only edges between states that were found are there.
    """

    system: TransitionSystem
    codes: NDArray[Any]
    starts: NDArray[np.int64]
    targets: NDArray[np.uint32]
    labels: NDArray[np.uint16]
    stopped: str | None = None

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.codes)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.targets)

    def transitions_of(self, edges: Sequence[int]) -> Path:
        """The transitions of these edges."""
        return tuple(map(int, self.labels[list(edges)]))


class _Numbered(Search):
    """A search that can say the number of a state."""

    def _owner_bits(self) -> int:
        return 0


def state_graph(
    system: TransitionSystem, budget: Budget | None = None, progress: Watcher | None = None
) -> StateGraph:
    """The graph of a system without parameters, as far as the budget goes. Raises ValueError for a system without native code."""
    program, bound = generate(system), SearchBudget(budget or Budget(), progress)
    with Workers(1 if budget is None else budget.jobs) as workers:
        search = _Numbered(program, bound, workers)
        stopped = search.run().stopped
    assert search.store is not None
    count = search.state.states
    everything = np.arange(count, dtype=np.uint32)
    members = FairCycles(
        program, search.code, search.batch, search.store, SearchBudget(Budget(), None), count, lambda memory: None
    )  # fmt: skip
    starts, targets, labels = members.edges(everything + 1, everything, count)
    edges = int(starts[count])
    codes: NDArray[Any] = np.empty((count, len(system.variables)), _smallest_type(system))
    for place, (_, column) in enumerate(search.columns().items()):
        codes[:, place] = column
    return StateGraph(system, codes, starts, targets[:edges].copy(), labels[:edges].copy(), stopped)


def _smallest_type(system: TransitionSystem) -> type:
    low = min((v.lo for v in system.variables), default=0)
    high = max((v.hi for v in system.variables), default=0)
    return next(
        t
        for t in (np.int8, np.int16, np.int32, np.int64)
        if np.iinfo(t).min <= low and high <= np.iinfo(t).max
    )
