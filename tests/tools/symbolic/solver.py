"""The solver: constraints that only ever grow, questions with a deadline, and no answer but yes, no or unknown."""

from __future__ import annotations

import time
from collections.abc import Iterable

import z3

from podrace.checker.smt.theories import Term, Theory

SEED = 0
"""The same questions get the same answers."""


class Undecided(Exception):
    """The solver gave no answer; the argument says why: "timeout", or the solver's own words."""


class Solver:
    """An incremental solver for one theory; `deadline` is a moment of `time.monotonic`, None for none."""

    def __init__(self, theory: Theory, deadline: float | None = None) -> None:
        self._solver = z3.SolverFor(theory.logic)
        self._solver.set("random_seed", SEED)
        self.deadline = deadline

    def add(self, constraints: Iterable[Term]) -> None:
        """Constraints that hold from now on."""
        self._solver.add(*constraints)

    def check_clock(self) -> float | None:
        """The seconds that are left, None for no bound. Raises Undecided if there are none."""
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Undecided("timeout")
        return left

    def model(self, *assumed: Term) -> Term | None:
        """A model of everything added in which these hold as well; None if there is none. Raises Undecided."""
        left = self.check_clock()
        if left is not None:
            self._solver.set("timeout", max(1, int(1000 * left)))
        answer = self._solver.check(*assumed)
        if answer == z3.sat:
            return self._solver.model()
        if answer == z3.unsat:
            return None
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise Undecided("timeout")
        raise Undecided(self._solver.reason_unknown())
