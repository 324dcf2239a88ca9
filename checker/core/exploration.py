"""What any exhaustive engine is asked and what it answers; engines agree on every field but `seconds`.

The search is breadth-first and level-synchronous. States are numbered in the order in which they are
found: by the number of the parent, then by the position of the transition in `system.transitions`.
A successor counts as one transition for every enabled transition of every expanded state, whether or
not it leads to a new state. A search that has an answer for every question finishes its level, so that
the counts do not depend on the engine.
"""

from collections.abc import Callable, Mapping
from dataclasses import field

from ...base.structs import Data

Path = tuple[int, ...]
"""A run from the initial state: positions in `system.transitions`."""


class Lasso(Data):
    """A run that repeats `cycle` for ever after `prefix`, and is as `case` of a liveness property says.

    An empty cycle: the run rests where the prefix ends.
    """

    prefix: Path
    cycle: Path
    case: str


class Budget(Data):
    """What one search may use: distinct states, bytes of memory, seconds (None: unbounded), and threads.

    The answer does not depend on the number of threads. After a search that runs out of states or memory, others begin where `walks` random runs end.
    """

    max_states: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    jobs: int = 1
    walks: int = 0


class OutOfBudget(Exception):
    """A budget ran out; `reason` says which: "states", "memory" or "timeout"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Progress(Data):
    """Where a search stands: sent a few times a second, for people."""

    states: int
    transitions: int
    depth: int
    frontier: int
    seconds: float
    memory: int


Watcher = Callable[[Progress], None]
"""Who is told where a search stands."""


class Exploration(Data):
    """The answer of one search.

    `complete`: every reachable state was expanded. Otherwise `stopped` says why: "answered" when every
    invariant was violated and nothing else was asked, or "states", "memory", "timeout" for what
    ran out. `depth` is the number of the last level in which a state was found (the initial
    state is level 0). `violations` maps an invariant to a shortest run to a state that breaks it,
    `witnesses` maps a reached witness to a shortest run that reaches it, `no_way_back` maps a resettability to a shortest run
    to a state from which fair transitions alone can no longer reach it (filled only when complete).
    `lassos` maps a violated liveness to a lasso, which begins in a fair component as close to the initial state as any
    (filled when complete, or when a large search has found one for every liveness and so ends as "answered").
    `fired[i]` counts how often transition i was enabled; `constraints_hit` names the bounds that stopped a
    transition whose guard held. `walked` are the properties whose violation was found from the last of `walks` random runs or one before, so that a shorter one is possible.
    """

    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    stopped: str | None
    fired: tuple[int, ...]
    constraints_hit: frozenset[str]
    violations: Mapping[str, Path] = field(default_factory=dict)
    witnesses: Mapping[str, Path] = field(default_factory=dict)
    no_way_back: Mapping[str, Path] = field(default_factory=dict)
    lassos: Mapping[str, Lasso] = field(default_factory=dict)
    walks: int = 0
    walked: frozenset[str] = frozenset()
