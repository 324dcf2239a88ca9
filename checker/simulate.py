"""Random walks from the initial state: a search for violations in systems that are too large to exhaust.

A walk takes enabled transitions at random until it violates the invariant, comes to rest, or is long enough; then the next
begins. Walks can only find violations: without one, the verdict is INCONCLUSIVE, however many there were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..model.language import INT, TransitionSystem, Variable
from .core.exploration import Path
from .core.interpreter import Interpreter
from .core.result import Counts, Result, Seen, Verdict, WalkCounts
from .core.trace import Trace
from .reduction.conclusion import coverage_of, disagreement, times_fired
from .reduction.questions import explored_slice
from .reduction.scales_of_time import confirm_time
from .reduction.slicing import Slicer, transition_map
from .trace.execution import confirm, confirm_witness
from .trace.shrinking import shrink

By = Literal["step", "transition"]

ENGINE = "random walks"

SEEDS = 1 << 64
LONGEST = 10_000_000


@dataclass(frozen=True, slots=True)
class Walks:
    """Which walks: how many (None: until the time is over), of how many steps at most, from which seed.

    `by` says what all have the same chance in each state: the enabled "transition"s, or first the "step"s that are
    enabled with any arguments, and then the arguments. The seed and the number of a walk determine it; `jobs` is the
    number of threads.
    """

    count: int | None = 10_000
    steps: int = 1_000
    seed: int = 0
    by: By = "step"
    timeout: float | None = None
    jobs: int = 1

    def __post_init__(self) -> None:
        if self.count is None and self.timeout is None:
            raise ValueError("walks without a number need a time")
        if self.count is not None and self.count < 1:
            raise ValueError(f"there must be at least 1 walk, not {self.count}")
        if not 1 <= self.steps <= LONGEST:
            raise ValueError(f"a walk has 1 to {LONGEST:,} steps, not {self.steps}")
        if not 0 <= self.seed < SEEDS:
            raise ValueError(f"a seed is a number from 0 to 2^64 - 1, not {self.seed}")


def simulate(
    system: TransitionSystem,
    name: str,
    walks: Walks = Walks(),
    progress: Callable[[int, int, float], None] | None = None,
) -> Result:
    """Look for a violation of an invariant by random walks in its slice, execute it again, and say what was covered.

    The counterexample is a run of the original system with some of the steps of the walk that found it; all counts are those of
    the walks up to that one. A witness is reached after the least number of steps that any walk took to it. `progress` is told walks, steps and seconds now and then. Raises UnknownProperty, ValueError for a property that is no
    invariant or a system without native code, and EngineDisagreement.
    """
    from .explicit.walks.simulation import walk_at_random  # numpy and LLVM take a while to import

    sliced = explored_slice(system, name)
    if name not in system.invariants:
        raise ValueError(f"`{name}` of {system.name} is no invariant: walks that end cannot violate it")
    first = Interpreter(sliced)
    if not first.holds(sliced.invariants[name], sliced.initial):
        nothing = WalkCounts(walks=0, steps=0, resting=0, longest=0, violating=0)
        return Result(
            system.name,
            name,
            "invariant",
            Verdict.VIOLATED,
            Counts(seconds=0.0, walks=nothing),
            trace=confirm(system, (), name),
            engine=ENGINE,
        )
    tally, walkers, seconds = walk_at_random(
        sliced,
        seed=walks.seed,
        walks=walks.count,
        length=walks.steps,
        by_step=walks.by == "step",
        timeout=walks.timeout,
        jobs=walks.jobs,
        progress=None if progress is None else lambda t, seconds: progress(t.walks, t.steps, seconds),
    )
    numbers = transition_map(sliced, system)

    def original(path: Path) -> Path:
        return tuple(numbers[i] for i in path)

    trace = None
    if tally.broken is not None:
        run = shrink(walkers.path(*tally.broken), walkers.shortened)
        with disagreement(f"a random walk claims to show `{name}` of {system.name} after {len(run)} steps"):
            confirm_time(sliced, system, numbers, run)
        trace = _executed(confirm, system, original(run), name)
    reached = {}
    for witness, (steps, walk) in zip(sliced.witnesses, tally.earliest.tolist(), strict=True):
        if first.holds(sliced.witnesses[witness], sliced.initial):
            steps, walk = 0, 0
        if steps <= walks.steps:
            path = original(walkers.path(walk, steps))
            reached[witness] = len(_executed(confirm_witness, system, path, witness).steps)
    stopped = None
    if trace is None:
        stopped = "walks" if tally.walks == walks.count else "timeout"
    violating, met_after = (None, 0) if tally.broken is None else tally.broken
    return Result(
        system.name,
        name,
        "invariant",
        Verdict.INCONCLUSIVE if trace is None else Verdict.VIOLATED,
        Counts(
            seconds=seconds,
            walks=WalkCounts(tally.walks, tally.steps, tally.resting, tally.longest, violating, met_after),
        ),
        coverage_of(
            Slicer(system),
            sliced,
            name,
            fired=times_fired(sliced, tally.fired.tolist()),
            reached=reached,
            constraints_hit=walkers.constraints_hit(tally),
            values=tuple(_seen(sliced, v, codes) for v, codes in walkers.values_seen(tally).items()),
        ),
        trace=trace,
        stopped=stopped,
        engine=ENGINE,
    )


def _executed(
    confirming: Callable[[TransitionSystem, Path, str], Trace],
    system: TransitionSystem,
    path: Path,
    name: str,
) -> Trace:
    with disagreement(f"a random walk claims to show `{name}` of {system.name} after {len(path)} steps"):
        return confirming(system, path, name)


def _seen(system: TransitionSystem, variable: Variable, codes: frozenset[int]) -> Seen:
    values = {c: system.universe.decode(variable.sort, c) for c in range(variable.lo, variable.hi + 1)}
    return Seen(
        variable.name,
        variable.sort is INT,
        tuple(value for code, value in values.items() if code in codes),
        tuple(value for code, value in values.items() if code not in codes),
    )
