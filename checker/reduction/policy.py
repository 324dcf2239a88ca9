"""One search of a slice, and what it says about each of its properties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ...model.language import TransitionSystem
from ..core.exploration import Budget, Exploration, Watcher

Mode = Literal["auto", "on", "off"]
Explore = Callable[[TransitionSystem, Budget, Watcher | None], Exploration]

PARTIAL_ORDER = "partial-order reduction"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of the search."""

    answer: Exploration

    def about(self, name: str) -> tuple[Exploration, tuple[str, ...]]:
        """The search whose figures and runs hold for this property, and the reductions in force there."""
        return self.answer, ()


def decide(
    system: TransitionSystem, budget: Budget, progress: Watcher | None, explore: Explore, mode: Mode
) -> Outcome:
    """Search `system` for everything that it asks."""
    return Outcome(explore(system, budget, progress))
