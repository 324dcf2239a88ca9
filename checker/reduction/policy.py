"""When a search is reduced, and what becomes of the answer.

A reduced search answers the same questions (see docs/reductions.md). Symmetry keeps the lengths of runs and costs
little, so a search that is reduced uses it wherever it is proved. Under partial-order reduction, counterexamples may
be longer than need be. So every violation is looked for again without it, which gives a shortest run, and its figures.

Reductions are for large systems: working them out, and choosing in every state, costs more than it saves
below some hundred thousand states. Mode "auto" therefore starts without; a larger search it begins again with symmetry, and under
partial-order reduction only where a sample of it leaves out much. "on" reduces from the first state, "off" never does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from ...model.language import TransitionSystem
from ..core.exploration import Budget, Exploration, Watcher
from ..core.result import PARTIAL_ORDER as PARTIAL_ORDER
from .dependence import Dependence, dependence_of
from .symmetry import Symmetry, symmetry_of

Mode = Literal["auto", "on", "off"]
Explore = Callable[
    [TransitionSystem, Budget, Watcher | None, Dependence | None, Symmetry | None], Exploration
]

LARGE = 400_000
"""After how many states without reductions "auto" thinks of them: fewer are found sooner than reductions are worked out."""

SAMPLE = 50_000
"""How many states "auto" then looks at with reductions, before it decides."""

WORTH = 2
"""The reduced sample must leave out one enabled transition in so many: choosing costs about as much as expanding."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of the search, and that of the one that looked for its violations again, if it found them.

    `symmetry` was in force in both, `reductions` only in the first.
    """

    answer: Exploration
    reductions: tuple[str, ...] = ()
    shortest: Exploration | None = None
    symmetry: tuple[str, ...] = ()

    def about(self, name: str) -> tuple[Exploration, tuple[str, ...]]:
        """The search whose figures and runs hold for this property, and the reductions in force there."""
        if self.shortest is not None and name in {**self.shortest.violations, **self.shortest.no_way_back}:
            return self.shortest, self.symmetry
        return self.answer, (*self.symmetry, *self.reductions)


def decide(
    system: TransitionSystem, budget: Budget, progress: Watcher | None, explore: Explore, mode: Mode
) -> Outcome:
    """Search `system` for everything that it asks, reduced as `mode` says."""
    return _Decision(system, budget, progress, explore).run(mode)


class _Decision:
    def __init__(
        self, system: TransitionSystem, budget: Budget, progress: Watcher | None, explore: Explore
    ) -> None:
        self.system, self.budget, self.progress, self.explore = system, budget, progress, explore
        self.symmetry: Symmetry | None = None
        self.started = time.monotonic()

    def run(self, mode: Mode) -> Outcome:
        """The answer, and what was in force."""
        if mode == "off" or self.system.livenesses or self.budget.disk is not None:
            return Outcome(self.search(self.system))
        if mode == "auto":
            first = self.search(self.system, budget=self.up_to(LARGE))
            if first.stopped != "states" or self.affordable <= LARGE:
                return Outcome(first)
        self.symmetry = symmetry_of(self.system)
        outcome = self.ordered(mode)
        return outcome if self.symmetry is None else replace(outcome, symmetry=self.symmetry.names)

    def ordered(self, mode: Mode) -> Outcome:
        """Search under partial-order reduction, in mode "auto" only where that pays."""
        dependence = dependence_of(self.system)
        if mode == "auto":
            first = self.search(self.system, dependence, self.up_to(SAMPLE))
            if first.stopped != "states":
                return self.confirmed(first)
            if WORTH * first.pruned < first.pruned + first.transitions:
                return Outcome(self.search(self.system))
        return self.confirmed(self.search(self.system, dependence))

    def up_to(self, states: int) -> Budget:
        """The budget with so many states at most."""
        return replace(self.budget, max_states=min(states, self.affordable))

    @property
    def affordable(self) -> int:
        """How many states the budget allows."""
        return sys.maxsize if self.budget.max_states is None else self.budget.max_states

    def search(
        self, system: TransitionSystem, dependence: Dependence | None = None, budget: Budget | None = None
    ) -> Exploration:
        """One search in what is left of the time."""
        budget = budget or self.budget
        if budget.timeout is not None:
            left = budget.timeout - (time.monotonic() - self.started)
            budget = replace(budget, timeout=max(left, 0.0))
        return self.explore(system, budget, self.progress, dependence, self.symmetry)

    def confirmed(self, answer: Exploration) -> Outcome:
        """A reduced answer, with shortest runs to what it found if the budget lasts."""
        if not answer.violations and not answer.no_way_back:
            return Outcome(answer, (PARTIAL_ORDER,))
        system = self.system
        violated = system.with_predicates(
            invariants={n: e for n, e in system.invariants.items() if n in answer.violations},
            resettabilities={n: e for n, e in system.resettabilities.items() if n in answer.no_way_back},
        )
        return Outcome(answer, (PARTIAL_ORDER,), self.search(violated))
