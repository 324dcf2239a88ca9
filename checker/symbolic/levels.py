"""What every variable and expression can be after so many steps: an over-approximation for each depth.

The value analysis (`values`), stopped after each round: what is possible within k steps is what was possible within k - 1,
and what the transitions that were possible then assign. Early on little can have happened, which keeps an
unrolling small: most of the first steps are constants.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...model.language import Expr, Transition, TransitionSystem
from ..values import ValueAnalysis


class ValuesWithin(ValueAnalysis):
    """The values within `depth` steps, at first within none; `advance` allows one step more."""

    def __init__(self, system: TransitionSystem, predicates: Iterable[Expr]) -> None:
        self.depth = 0
        super().__init__(system, predicates)

    def advance(self) -> None:
        """One step more."""
        for t in [t for t in self.system.transitions if self.may_happen(t)]:
            for variable, update in t.updates.items():
                at = self._at[update]
                self._join(variable, self._values[at], self._low[at])
        self.depth += 1
        self._solve()

    def may_happen(self, transition: Transition) -> bool:
        """Whether a transition can be enabled after at most `depth` steps."""
        return all(self.may_hold(e) for e in (transition.guard, *(bound for _, bound in transition.limits)))

    def _solve(self) -> None:
        for index in range(len(self._nodes)):
            self._values[index] = self._evaluate(index)
