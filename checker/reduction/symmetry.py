"""Symmetry: entities that can change places without any difference to what is asked.

A candidate exchanges two entities of one kind (`exchange.py`). It is used only if it is proved to be an automorphism:
it maps every transition to a transition (guard, constraints, updates), and every invariant and every witness to itself. Then
it suffices to explore one state of each orbit (Clarke, Enders, Filkorn, Jha: Exploiting symmetry in temporal logic model
checking, 1996; Ip, Dill: Better verification through symmetry, 1996). The initial state need not be symmetric: a state
and its image break the same invariants and reach the same orbits, whichever of them is reachable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...model.language import Entity, State, TransitionSystem
from ..core.exploration import Exploration, Path
from ..core.interpreter import Interpreter
from ..parametric.exchange import Move, Permutation, proved_exchange

LARGEST_GROUP = 24
"""How many permutations are tried in every state, at most: those of four equal nodes."""


@dataclass(frozen=True)
class Symmetry:
    """Classes of interchangeable entities, and the permutations among them other than the identity.

    Of an orbit, the state with the least `key` is the representative: engines choose what is cheap for them.
    """

    classes: tuple[tuple[Entity, ...], ...]
    permutations: tuple[Permutation, ...]
    key: Callable[[State], Any] = tuple

    @property
    def names(self) -> tuple[str, ...]:
        """For people: one phrase for each class."""
        return tuple(f"symmetry of {', '.join(e.name for e in members)}" for members in self.classes)

    def canonical(self, state: State) -> State:
        """The representative of the state's orbit."""
        return min((state, *(p(state) for p in self.permutations)), key=self.key)


def lifted(system: TransitionSystem, symmetry: Symmetry, answer: Exploration) -> Exploration:
    """The answer with real runs in place of runs between representatives; they have the same lengths."""
    return replace(
        answer,
        violations={n: lift(system, symmetry, path) for n, path in answer.violations.items()},
        witnesses={n: lift(system, symmetry, path) for n, path in answer.witnesses.items()},
    )


def lift(system: TransitionSystem, symmetry: Symmetry, path: Path) -> Path:
    """A run from the initial state through the orbits of the representatives between which `path` goes."""
    acting = Interpreter(system)
    state, representative = system.initial, symmetry.canonical(system.initial)
    run = []
    for step in path:
        representative = symmetry.canonical(acting.successor(representative, step))
        choices = ((i, acting.successor(state, i)) for i in acting.enabled(state))
        number, state = next((i, s) for i, s in choices if symmetry.canonical(s) == representative)
        run.append(number)
    return tuple(run)


def symmetry_of(system: TransitionSystem) -> Symmetry | None:
    """The symmetry that can be proved, or None; none is used where resettabilities or livenesses are asked."""
    if system.resettabilities or system.livenesses:
        return None
    classes: list[tuple[Entity, ...]] = []
    group = [Permutation(tuple(Move(i) for i in range(len(system.variables))))]
    for kind in system.universe.kinds():
        members = list(system.universe[kind])
        while members:
            first, *others = members
            candidates = ((e, proved_exchange(system, first, e)) for e in others)
            swaps = {e: p for e, p in candidates if p is not None}
            orbit: tuple[Entity, ...] = (first,)
            for entity, swap in swaps.items():
                if len(group) * (len(orbit) + 1) > LARGEST_GROUP:
                    break
                # Every permutation of k + 1 entities is one of the first k, then perhaps an exchange with the last.
                exchanges = [swap, *(swaps[e].after(swap).after(swaps[e]) for e in orbit[1:])]
                group += [exchange.after(p) for exchange in exchanges for p in group]
                orbit = (*orbit, entity)
            if len(orbit) > 1:
                classes.append(orbit)
            members = [e for e in others if e not in swaps]
    return Symmetry(tuple(classes), tuple(group[1:])) if classes else None
