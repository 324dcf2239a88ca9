"""Runs of one scenario that are traced, analysed and compiled once, although each property has a system and a search of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from ..checker import explicit
from ..checker.core.exploration import Budget, Exploration, Watcher
from ..checker.explicit.small_search import explore_if_small
from ..checker.reduction.questions import slice_for
from ..checker.reduction.slicing import Key, Slicer, key_of
from ..model.language import TransitionSystem
from ..model.language.expressions.expr import fresh_graph
from ..properties import instrument
from ..properties.base.instrument import alone
from ..properties.base.of_steps import OfSteps
from .request.in_release import refusal_of
from .request.plan import Run

if TYPE_CHECKING:
    from ..checker.explicit.shared_code import SharedCode


class Together:
    """The runs at the head of `runs` that are about one scenario and one composition. What is explored for each is what would be explored for it by itself."""

    def __init__(self, runs: Sequence[Run]) -> None:
        first = runs[0]
        alike = _leading(runs)
        self._runs = alike if len(alike) > 1 and refusal_of(first.scenario, first.composition) is None else ()
        self._large: set[frozenset[Key]] = set()

    def has(self, run: Run) -> bool:
        """Whether it was made for this run, too."""
        return any(run is one for one in self._runs)

    def explore(
        self, system: TransitionSystem, budget: Budget, progress: Watcher | None = None
    ) -> Exploration:
        """What the native engine gives for a system."""
        steps = frozenset(map(key_of, system.transitions))
        found = None if steps in self._large else explore_if_small(system, budget)
        if found is None and self._runs:
            self._large.add(steps)  # those that differ in their property have about as many states
            found = self._shared.explore(system, budget, progress)
        return found or explicit.explore(system, budget, progress)

    def system_of(self, run: Run) -> TransitionSystem:
        """The system of one of them."""
        return alone(self._traced, run.prop.id, [one.prop.id for one in self._runs])

    def slicer_of(self, system: TransitionSystem) -> Slicer:
        """The slicer of one of these systems."""
        return Slicer(system, within=self._slicer)

    @cached_property
    def _slicer(self) -> Slicer:
        return Slicer(self._traced)

    @cached_property
    def _traced(self) -> TransitionSystem:
        first = self._runs[0]
        return instrument(first.scenario.spec, first.composition.classes, [run.prop for run in self._runs])

    @cached_property
    def _shared(self) -> SharedCode:
        from ..checker.explicit.shared_code import SharedCode  # numpy and LLVM take a while to import

        with fresh_graph():
            return SharedCode(
                [slice_for(self._slicer, "invariant", [name]) for name in self._traced.invariants]
            )


def _leading(runs: Sequence[Run]) -> Sequence[Run]:
    """Those at the head that go together. Text of the user's own is traced by itself, so that a mistake in it is told of the one run."""
    first = runs[0]

    def goes_with(run: Run) -> bool:
        return (
            run.scenario is first.scenario
            and run.composition is first.composition
            and run.own is None
            and not issubclass(run.prop, OfSteps)
        )

    if first.composition.patches or first.scenario.open:
        return ()
    return [run for run in takewhile(goes_with, runs) if not run.ignored]
