"""Many searches of one system, each from another initial state: compiled once."""

from __future__ import annotations

from ...model.language import State, TransitionSystem
from ..codegen.machine_code import Tiers
from ..codegen.program import generate
from ..core.exploration import Budget, Exploration
from .engine import LONG, Search
from .states.budget import Watch, Watcher
from .states.threads import Crew


class Series:
    """Searches that differ in where they begin; all together, they are as one long search."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system, self.program = system, generate(system)
        self.code = Tiers(self.program.ir)
        self._transitions = 0

    def explore(self, initial: State, budget: Budget, progress: Watcher | None = None) -> Exploration:
        """As `explore` of the system with this initial state, in memory, by one thread and without reductions."""
        search = Search(
            self.program, Watch(budget, progress), budget.max_states, Crew(1), code=self.code, initial=initial
        )
        found = search.run()
        self._transitions += found.transitions
        if self._transitions >= LONG:
            self.code.improve()
        return found
