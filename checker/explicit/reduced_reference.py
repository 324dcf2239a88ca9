"""The reference search with reductions: slow and clear, what the native one is compared with.

Partial-order reduction takes the transitions of a stubborn set in place of all enabled ones, if one of them leads to
a state that no level up to the present one has. Followed along such transitions, every run ends in a state
where everything enabled is taken, so nothing is put off for ever: this is the queue condition of Bošnački and
Holzmann (Improving SPIN's partial-order reduction for breadth-first search, SPIN 2005), by levels, so that it
does not depend on the order within one. Where resettabilities are asked, that transition must be fair.
"""

from __future__ import annotations

from dataclasses import replace

from ...model.language import State, TransitionSystem
from ..core.exploration import Budget, Exploration
from ..core.interpreter import Interpreter
from ..reduction.dependence import Dependence, dependence_of
from ..reduction.stubborn import candidates, members
from ..reduction.symmetry import Symmetry, lifted
from . import reference
from .reference import Search, Watcher


def explore_reduced(
    system: TransitionSystem,
    budget: Budget | None = None,
    progress: Watcher | None = None,
    dependence: Dependence | None = None,
) -> Exploration:
    """Like `reference.explore`, under partial-order reduction."""
    return ReducedSearch(system, budget or Budget(), progress, dependence or dependence_of(system)).run()


def explore_symmetric(
    system: TransitionSystem,
    symmetry: Symmetry,
    budget: Budget | None = None,
    progress: Watcher | None = None,
    dependence: Dependence | None = None,
) -> Exploration:
    """Like `reference.explore`, with one state for each orbit; also under partial-order reduction with a dependence."""
    budget = budget or Budget()
    search = (
        reference.Search(system, budget, progress)
        if dependence is None
        else ReducedSearch(system, budget, progress, dependence)
    )
    search.acting = Folding(system, symmetry)
    return lifted(system, symmetry, search.run())


def explore_either(
    system: TransitionSystem,
    budget: Budget,
    progress: Watcher | None,
    dependence: Dependence | None = None,
    symmetry: Symmetry | None = None,
) -> Exploration:
    """The reference search, reduced as asked."""
    if symmetry is not None:
        return explore_symmetric(system, symmetry, budget, progress, dependence)
    if dependence is None:
        return reference.explore(system, budget, progress)
    return explore_reduced(system, budget, progress, dependence)


class Folding(Interpreter):
    """Leads from representatives to representatives."""

    def __init__(self, system: TransitionSystem, symmetry: Symmetry) -> None:
        super().__init__(system)
        self.symmetry = symmetry

    @property
    def initial(self) -> State:
        return self.symmetry.canonical(self.system.initial)

    def successor(self, state: State, number: int) -> State:
        return self.symmetry.canonical(super().successor(state, number))


class ReducedSearch(Search):
    """A search that takes stubborn sets where it can."""

    def __init__(
        self, system: TransitionSystem, budget: Budget, progress: Watcher | None, dependence: Dependence
    ) -> None:
        super().__init__(system, budget, progress)
        self.dependence = dependence
        self.watching = dependence.observed
        self.level_end = 0
        self.known_depth = -1
        self.pruned = 0

    def expand(self, number: int) -> None:
        """Take the chosen transitions of one state."""
        if self.depth != self.known_depth:
            self.begin_level()
        state, acting = self.states[number], self.acting
        enabled, stopped = 0, []
        for index, transition in enumerate(self.system.transitions):
            if acting.holds(transition.guard, state):
                if acting.blocking(state, index):
                    stopped.append(index)
                else:
                    enabled |= 1 << index
        chosen = self.choose(state, enabled)
        self.pruned += (enabled & ~chosen).bit_count()
        for index in sorted([*stopped, *members(chosen)]):
            if index in stopped:
                self.constraints_hit.update(acting.blocking(state, index))
            else:
                self.take(number, index)

    def take(self, number: int, index: int) -> None:
        """Follow one transition."""
        self.fired[index] += 1
        target = self.acting.successor(self.states[number], index)
        if target not in self.number:
            self.find(target, parent=(number, index))
        if self.system.resettabilities and self.system.transitions[index].fair:
            self.fair_edges.append((number, self.number[target]))

    def begin_level(self) -> None:
        """Stop watching for what the levels so far have shown."""
        self.known_depth, self.level_end = self.depth, len(self.states)
        self.watching = watched(self.dependence, {*self.violated, *self.reached}, self.constraints_hit)

    def result(self, stopped: str | None) -> Exploration:
        """What was found out, and what was pruned."""
        return replace(super().result(stopped), pruned=self.pruned)

    def choose(self, state: State, enabled: int) -> int:
        """The transitions to take: a stubborn set that makes progress, or all that are enabled."""
        if enabled.bit_count() < 2:
            return enabled
        true = sum(
            1 << c
            for c, condition in enumerate(self.dependence.conditions)
            if self.acting.holds(condition, state)
        )
        for chosen in candidates(self.dependence, enabled, true, self.watching):
            if any(self.advances(state, t) for t in members(chosen)):
                return chosen
        return enabled

    def advances(self, state: State, index: int) -> bool:
        """Whether the transition leads beyond this level, by a fair step where that matters."""
        if self.system.resettabilities and not self.system.transitions[index].fair:
            return False
        number = self.number.get(self.acting.successor(state, index))
        return number is None or number >= self.level_end


def watched(dependence: Dependence, seen: set[str], constraints_hit: set[str]) -> int:
    """The observers that still matter when these predicates and constraints were seen."""
    first = len(dependence.system.transitions)
    return sum(
        1 << first + i
        for i, o in enumerate(dependence.observers)
        if o.kind == "resettability" or o.name not in (constraints_hit if o.kind == "limit" else seen)
    )
