"""Which transitions can interfere, computed from the expression graph and from nothing else.

The vocabulary is that of guard-based partial-order reduction (Laarman, Pater, van de Pol, Weber: Guard-Based
Partial-Order Reduction, SPIN 2013; Valmari: Stubborn sets for reduced state space generation, 1990):

- two transitions *accord* if wherever both are enabled, neither disables the other and both orders end in
  the same state; `conflicts` holds, for each transition, those that it is not known to accord with;
- a *necessary enabling set* of a false condition: before it can hold, one of these must happen (`enablers`).

What must not be lost is a transition too, one that is never taken: an *observer*, enabled where an invariant
is broken, a witness or a resettability holds, or a limit stops a transition. An observer conflicts with what may disable it.
Sets are integers: bit i stands for transition i, observers come after the transitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ...model.language import Expr, Transition, TransitionSystem, Variable, negate, variables_of
from ...model.language.expr import fresh_graph
from .effects import Effect, conjuncts, effect_of


@dataclass(frozen=True, slots=True)
class Observer:
    """Something that a reduced search must not miss: its kind, its name, and when it is to be seen."""

    kind: str  # "invariant", "witness", "resettability", "limit"
    name: str
    conditions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Dependence:
    """The conflicts and enablers of a system. `needs[i]` are the conditions of transition or observer i, by number."""

    system: TransitionSystem
    observers: tuple[Observer, ...]
    conditions: tuple[Expr, ...]
    needs: tuple[tuple[int, ...], ...]
    conflicts: tuple[int, ...]
    enablers: tuple[int, ...]

    @property
    def observed(self) -> int:
        """The set of all observers."""
        first = len(self.system.transitions)
        return (1 << first + len(self.observers)) - (1 << first)

    def without_conflicts(self, accords: Iterable[tuple[int, int]]) -> Dependence:
        """A copy in which these pairs of transitions are known to accord."""
        conflicts = list(self.conflicts)
        for i, j in accords:
            conflicts[i] &= ~(1 << j)
            conflicts[j] &= ~(1 << i)
        return replace(self, conflicts=tuple(conflicts))


def dependence_of(system: TransitionSystem) -> Dependence:
    """What folding shows about the transitions of a system; everything else is taken to interfere."""
    with fresh_graph():
        observers = tuple(_observers(system))
        guards = [_conditions_of(t) for t in system.transitions]
    numbers: dict[Expr, int] = {}
    needs = tuple(
        tuple(numbers.setdefault(c, len(numbers)) for c in cs)
        for cs in (*guards, *(o.conditions for o in observers))
    )
    conditions = tuple(numbers)
    supports = [variables_of([c]) for c in conditions]
    effects = [
        effect_of(t, own, conditions, supports) for t, own in zip(system.transitions, guards, strict=True)
    ]
    return Dependence(
        system=system,
        observers=observers,
        conditions=conditions,
        needs=needs,
        conflicts=_conflicts(effects, needs),
        enablers=tuple(
            _set(len(effects), lambda t, c=c: c in effects[t].may_enable)  # type: ignore[misc]
            for c in range(len(conditions))
        ),
    )


def _conditions_of(transition: Transition) -> tuple[Expr, ...]:
    bounds = (c for _, constraint in transition.constraints for c in conjuncts(constraint))
    return tuple(dict.fromkeys((*conjuncts(transition.guard), *bounds)))


def _observers(system: TransitionSystem) -> Iterator[Observer]:
    for name, e in system.invariants.items():
        yield Observer("invariant", name, conjuncts(negate(e)))
    for name, e in system.witnesses.items():
        yield Observer("witness", name, conjuncts(e))
    for name, e in system.resettabilities.items():
        yield Observer("resettability", name, conjuncts(e))
    for t in system.transitions:
        for name, constraint in t.constraints:
            yield Observer("limit", name, (*conjuncts(t.guard), *conjuncts(negate(constraint))))


def _conflicts(effects: list[Effect], needs: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    count = len(effects)
    found = [0] * len(needs)
    for i in range(count):
        for j in range(i):
            if _may_conflict(effects[i], needs[i], effects[j], needs[j]):
                found[i] |= 1 << j
                found[j] |= 1 << i
        for o in range(count, len(needs)):
            if not effects[i].may_disable.isdisjoint(needs[o]):
                found[i] |= 1 << o
    return tuple(found)


def _may_conflict(a: Effect, a_needs: tuple[int, ...], b: Effect, b_needs: tuple[int, ...]) -> bool:
    if not a.excluded.isdisjoint(b_needs) or not b.excluded.isdisjoint(a_needs):
        return False  # never enabled together
    if not a.may_disable.isdisjoint(b_needs) or not b.may_disable.isdisjoint(a_needs):
        return True
    if not a.writes.isdisjoint(b.reads) or not b.writes.isdisjoint(a.reads):
        return True
    return any(not _agree(v, a, b) for v in a.writes & b.writes)


def _agree(v: Variable, a: Effect, b: Effect) -> bool:
    return v in a.constants and a.constants[v] == b.constants.get(v)


def _set(count: int, member: Callable[[int], bool]) -> int:
    return sum(1 << i for i in range(count) if member(i))
