"""Bounded search: does a run of at most so many steps break an invariant, whatever the parameters are?

Biere, Cimatti, Clarke, Zhu: Symbolic Model Checking without BDDs, TACAS 1999. Depth by depth, so the run that is found is
a shortest one over all choices of the parameters. Without a violation nothing is known beyond the bound.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from podrace.checker.core.exploration import Path
from podrace.checker.core.result import Counts, EngineDisagreement, Result, Verdict
from podrace.checker.core.trace import Trace
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.reduction.slicing import transition_map
from podrace.checker.smt.theories import Theory
from podrace.checker.trace.execution import ReplayError, confirm
from podrace.model.language import Expr, TransitionSystem, as_expr
from tests.checker.slices import slice_system
from tests.checker.unknown_parameters import parameters_of
from tests.tools.symbolic.bit_vectors import THEORIES
from tests.tools.symbolic.solver import Solver, Undecided
from tests.tools.symbolic.unrolling import ParameterTerms, Unrolling

DEFAULT = THEORIES["bit-vectors"]
"""What measures better: see bench/symbolic.py."""


ENGINE = "bounded search"


@dataclass(frozen=True, slots=True)
class Claim:
    """That with these parameters this run of a system ends in the first state that breaks the invariant."""

    parameters: Mapping[str, int]
    path: Path


def confirmed(system: TransitionSystem, claim: Claim, invariant: str) -> Trace:
    """Execute a claim on the system that its parameters give.

    Raises EngineDisagreement if it is not so: then either the translation, the solver or the interpreter is wrong.
    """
    chosen = {q.name: claim.parameters[q.name] for q in parameters_of(system)}
    try:
        return confirm(with_parameters(system, chosen), claim.path, invariant)
    except (ReplayError, ValueError) as error:
        raise EngineDisagreement(
            f"Z3 claims that `{invariant}` of {system.name} is violated after {len(claim.path)} steps with "
            f"{dict(claim.parameters)}, but the reference interpreter says: {error}"
        ) from error


def search(
    system: TransitionSystem,
    invariant: str,
    steps: int,
    *,
    assumption: Expr | None = None,
    timeout: float | None = None,
    theory: Theory = DEFAULT,
) -> Result:
    """Look for a run of at most `steps` steps that breaks the invariant, for any parameters for which `assumption` holds.

    VIOLATED, by a shortest run that the reference interpreter executed, or INCONCLUSIVE, never HOLDS: no run of the depth of
    the result or less breaks the invariant, and `stopped` is "steps" if that is the bound, else why the solver gave up.
    Raises EngineDisagreement if a violation is not confirmed.
    """
    started = time.monotonic()
    deadline = None if timeout is None else started + timeout
    runs = Runs(system, invariant, assumption=assumption, deadline=deadline, theory=theory)
    clear, stopped, claim = -1, "steps", None
    try:
        for depth in range(steps + 1):
            if depth:
                runs.deepen()
            claim = runs.violation()
            if claim is not None:
                break
            clear = depth
    except Undecided as reason:
        stopped = str(reason)
    return Result(
        system=system.name,
        property_id=invariant,
        kind="invariant",
        verdict=Verdict.INCONCLUSIVE if claim is None else Verdict.VIOLATED,
        counts=Counts(depth=clear if claim is None else len(claim.path), seconds=time.monotonic() - started),
        trace=None if claim is None else confirmed(system, claim, invariant),
        parameters={} if claim is None else claim.parameters,
        stopped=stopped if claim is None else None,
        engine=ENGINE,
    )


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
        self.parameters = ParameterTerms(system, theory, () if assumption is None else [assumption])
        self._unrolling = Unrolling(sliced, [self._invariant], theory, self.parameters)
        self.solver = Solver(theory, deadline)
        self.solver.add(self.parameters.constraints())
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
        """Leave out all parameters for which a condition over parameters does not hold."""
        self.solver.add([self.parameters.term(condition)])

    def deepen(self) -> None:
        """Go on to runs of one step more. Raises Undecided when the time is up."""
        self.solver.check_clock()
        self.solver.add(self._unrolling.extend())

    def violation(self, *conditions: Expr) -> Claim | None:
        """A run whose last state breaks the invariant, with parameters for which the conditions hold; None if there is none."""
        broken = self._unrolling.broken(self._invariant)
        model = self.solver.model(broken, *map(self.parameters.term, conditions))
        if model is None:
            return None
        path = tuple(self._numbers[i] for i in self._unrolling.path(model))
        return Claim(self.parameters.chosen(model), path)
