"""Random walks from the initial state: a search for violations in systems that are too large to exhaust.

A walk takes enabled transitions at random until it violates the invariant, comes to rest, or is long enough; then the next
begins. Walks can only find violations: without one, the verdict is INCONCLUSIVE, however many there were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..model.language import INT, TransitionSystem, Variable
from .core.exploration import Path
from .core.interpreter import Interpreter
from .reduction.slicing import Slicer, step_name, transition_map
from .search import EngineDisagreement, explored_slice, witnesses_of
from .trace.shrinking import minimise
from .trace.trace import ReplayError, Trace, confirm, confirm_witness
from .verdict import Verdict, counted

By = Literal["step", "transition"]

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


@dataclass(frozen=True, slots=True)
class Seen:
    """The values that a variable took on the walks, of those that it may take; both as Python values."""

    variable: str
    counted: bool
    values: tuple[Any, ...]
    missing: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the walks found about one invariant.

    `walks` ended, `resting` of them in a state without a successor; `steps` were taken, `longest` on one walk. With a violation,
    `walk` is the least number of a walk that has one, `met_after` the number of its steps, and `trace` a run of
    the original system with some of these steps; all counts are those of the walks up to this one. `fired` counts the
    steps (`part.step`, all bindings together); `outside_cone` are those that nothing asked can see. `witnesses_reached` gives the least
    number of steps after which a walk reached a witness.
    """

    system: str
    property_id: str
    verdict: Verdict
    walks: int
    steps: int
    resting: int
    longest: int
    seconds: float
    out_of_time: bool = False
    walk: int | None = None
    met_after: int = 0
    trace: Trace | None = None
    fired: Mapping[str, int] = field(default_factory=dict)
    never_fired: tuple[str, ...] = ()
    outside_cone: tuple[str, ...] = ()
    witnesses_reached: Mapping[str, int] = field(default_factory=dict)
    witnesses_missed: tuple[str, ...] = ()
    constraints_hit: tuple[str, ...] = ()
    values: tuple[Seen, ...] = ()

    @property
    def words(self) -> str:
        """One sentence or two: the verdict and what it rests on."""
        if self.trace is not None:
            steps = len(self.trace.steps)
            if steps == 0:
                return "Violated in the initial state."
            met = counted(self.met_after, "step")
            how = "" if steps == self.met_after else ", less the steps that make no difference"
            return (
                f"Violated after {counted(steps, 'step')}, perhaps sooner by another run "
                f"(met by walk {self.walk} after {met}{how})."
            )
        stopped = "Stopped by the time limit: no" if self.out_of_time else "No"
        return (
            f"{stopped} violation in {counted(self.walks, 'random walk')}: {counted(self.steps, 'step')}, "
            f"{self.longest:,} on the longest walk; {self.resting:,} came to rest. "
            "Nothing is known about other runs."
        )


def simulate(
    system: TransitionSystem,
    name: str,
    walks: Walks = Walks(),
    progress: Callable[[int, int, float], None] | None = None,
) -> Simulation:
    """Look for a violation of an invariant by random walks in its slice, execute it again, and say what was covered.

    `progress` is told walks, steps and seconds now and then. Raises UnknownProperty, ValueError for a property that is no
    invariant or a system without native code, and EngineDisagreement.
    """
    from .explicit.walks.simulation import walk_at_random  # numpy and LLVM take a while to import

    sliced = explored_slice(system, name)
    if name not in system.invariants:
        raise ValueError(f"`{name}` of {system.name} is no invariant: walks that end cannot violate it")
    first = Interpreter(sliced)
    if not first.holds(sliced.invariants[name], sliced.initial):
        return Simulation(
            system.name, name, Verdict.VIOLATED, 0, 0, 0, 0, 0.0, trace=confirm(system, (), name), walk=0
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
        run = minimise(walkers.path(*tally.broken), walkers.shortened)
        trace = _executed(confirm, system, original(run), name)
    reached = {}
    for witness, (steps, walk) in zip(sliced.witnesses, tally.earliest.tolist(), strict=True):
        if first.holds(sliced.witnesses[witness], sliced.initial):
            steps, walk = 0, 0
        if steps <= walks.steps:
            path = original(walkers.path(walk, steps))
            reached[witness] = len(_executed(confirm_witness, system, path, witness).steps)
    fired: dict[str, int] = {}
    for transition, times in zip(sliced.transitions, tally.fired.tolist(), strict=False):
        if times:
            fired[step_name(transition)] = fired.get(step_name(transition), 0) + times
    outside_cone = Slicer(system).steps_outside_cone(sliced)
    steps_seen = [s for s in dict.fromkeys(map(step_name, system.transitions)) if s not in outside_cone]
    hit = walkers.constraints_hit(tally)
    witnesses = witnesses_of(system, name)
    return Simulation(
        system=system.name,
        property_id=name,
        verdict=Verdict.INCONCLUSIVE if trace is None else Verdict.VIOLATED,
        walks=tally.walks,
        steps=tally.steps,
        resting=tally.stuck,
        longest=tally.longest,
        seconds=seconds,
        out_of_time=trace is None and tally.walks != walks.count,
        walk=None if tally.broken is None else tally.broken[0],
        met_after=0 if tally.broken is None else tally.broken[1],
        trace=trace,
        fired={step: fired[step] for step in steps_seen if step in fired},
        never_fired=tuple(step for step in steps_seen if step not in fired),
        outside_cone=outside_cone,
        witnesses_reached={witness: reached[witness] for witness in witnesses if witness in reached},
        witnesses_missed=tuple(witness for witness in witnesses if witness not in reached),
        constraints_hit=tuple(bound for bound in system.constraints if bound in hit),
        values=tuple(_seen(sliced, v, codes) for v, codes in walkers.values_seen(tally).items()),
    )


def _executed(
    confirming: Callable[[TransitionSystem, Path, str], Trace],
    system: TransitionSystem,
    path: Path,
    name: str,
) -> Trace:
    try:
        return confirming(system, path, name)
    except ReplayError as error:
        raise EngineDisagreement(
            f"a random walk claims to show `{name}` of {system.name} after {len(path)} steps, "
            f"but the reference interpreter says: {error}"
        ) from error


def _seen(system: TransitionSystem, variable: Variable, codes: frozenset[int]) -> Seen:
    values = {c: system.universe.decode(variable.sort, c) for c in range(variable.lo, variable.hi + 1)}
    return Seen(
        variable.name,
        variable.sort is INT,
        tuple(value for code, value in values.items() if code in codes),
        tuple(value for code, value in values.items() if code not in codes),
    )
