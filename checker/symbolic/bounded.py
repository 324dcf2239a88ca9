"""Bounded search: does a run of at most so many steps break an invariant, whatever the quantities are?

Biere, Cimatti, Clarke, Zhu: Symbolic Model Checking without BDDs, TACAS 1999. Depth by depth, so the run that is found is
a shortest one over all choices of the quantities. Without a violation nothing is known beyond the bound.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...model.language import Expr, TransitionSystem, as_expr
from ..core.result import Verdict
from ..reduction.slicing import slice_system, transition_map
from ..smt.solver import Solver, Undecided
from ..smt.theories import THEORIES, Theory
from ..trace.trace import Trace
from .claims import Claim, confirmed
from .unrolling import Quantities, Unrolling

DEFAULT = THEORIES["bit-vectors"]
"""What measures better: see bench/symbolic.py."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """The answer of a bounded search: VIOLATED or INCONCLUSIVE, never HOLDS.

    `depth` is the greatest for which no violation is known to be shorter or equal, less than 0 if even the initial
    state is undecided; where VIOLATED, the length of the run. `stopped` is "steps" if the bound was reached, else why the
    solver gave up.
    """

    verdict: Verdict
    depth: int
    seconds: float
    quantities: Mapping[str, int] = field(default_factory=dict)
    trace: Trace | None = None
    stopped: str | None = None


def search(
    system: TransitionSystem,
    invariant: str,
    steps: int,
    *,
    assumption: Expr | None = None,
    timeout: float | None = None,
    theory: Theory = DEFAULT,
) -> Bounded:
    """Look for a run of at most `steps` steps that breaks the invariant, for any quantities for which `assumption` holds.

    A violation is executed by the reference interpreter. Raises EngineDisagreement if that does not confirm it.
    """
    started = time.monotonic()
    deadline = None if timeout is None else started + timeout
    runs = Runs(system, invariant, assumption=assumption, deadline=deadline, theory=theory)
    clear, stopped = -1, "steps"
    try:
        for depth in range(steps + 1):
            if depth:
                runs.deepen()
            claim = runs.violation()
            if claim is not None:
                trace = confirmed(system, claim, invariant)
                return Bounded(Verdict.VIOLATED, depth, time.monotonic() - started, claim.quantities, trace)
            clear = depth
    except Undecided as reason:
        stopped = str(reason)
    return Bounded(Verdict.INCONCLUSIVE, clear, time.monotonic() - started, stopped=stopped)


class Runs:
    """The runs of one system that might break an invariant, all of one length: `depth`, which `deepen` increases.

    Asked of the slice that decides the invariant. `violation` knows only of a last state that breaks it, so a
    run is a shortest one if there was none for the depths before.
    """

    def __init__(
        self,
        system: TransitionSystem,
        invariant: str,
        *,
        assumption: Expr | None = None,
        deadline: float | None = None,
        theory: Theory = DEFAULT,
    ) -> None:
        sliced = slice_system(system, invariants=[invariant], witnesses=(), resettabilities=(), livenesses=())
        self._numbers = transition_map(sliced, system)
        self._invariant = sliced.invariants[invariant]
        # What the slice does not look at may still be part of the assumption, or of what makes a cluster small.
        self.quantities = Quantities(system, theory, () if assumption is None else [assumption])
        self._unrolling = Unrolling(sliced, [self._invariant], theory, self.quantities)
        self.solver = Solver(theory, deadline)
        self.solver.add(self.quantities.constraints())
        self.require(as_expr(True) if assumption is None else assumption)

    @property
    def depth(self) -> int:
        """The length of the runs."""
        return self._unrolling.depth

    @property
    def harmless(self) -> bool:
        """Whether the slice shows that no run of any length breaks the invariant."""
        return self._invariant.is_const and bool(self._invariant.value)

    def require(self, condition: Expr) -> None:
        """Leave out all quantities for which a condition over quantities does not hold."""
        self.solver.add([self.quantities.term(condition)])

    def deepen(self) -> None:
        """Go on to runs of one step more. Raises Undecided when the time is up."""
        self.solver.check_clock()
        self.solver.add(self._unrolling.extend())

    def violation(self, *conditions: Expr) -> Claim | None:
        """A run whose last state breaks the invariant, with quantities for which the conditions hold; None if there is none."""
        broken = self._unrolling.broken(self._invariant)
        model = self.solver.model(broken, *map(self.quantities.term, conditions))
        if model is None:
            return None
        path = tuple(self._numbers[i] for i in self._unrolling.path(model))
        return Claim(self.quantities.chosen(model), path)
