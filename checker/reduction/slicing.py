"""Slicing: a smaller system that gives the same answers.

Three things are taken away: what was not asked, what cannot happen, and what nobody can see.

1. Only the predicates that are asked are kept.
2. The value analysis (`values`) finds what every variable and expression can ever be. Variables and
   expressions with one value become constants, ranges hold no more than what is possible, transitions whose guard is never
   true are dropped, and so are constraints that always hold.
3. Cone of influence: a variable that no kept predicate can see is dropped with its updates. A predicate
   sees what it reads, what is assigned to a variable that it sees, and the guard and the constraints of every
   transition that assigns to one. A transition that assigns to none only stutters, so it is dropped too.
   Where a liveness is asked, all members of a fair set stay if one does, with what their guards see.

What is left is the original seen through a projection (forget the dropped variables): a state of the
original and its projection enable the same transitions of the slice, break the same invariants, and go to states
that are projections of one another; a dropped transition leaves the projection as it is. So the slice preserves

- which invariants hold, which witnesses are reached, which resettabilities can be lost;
- the length of a shortest run to each of them;
- which of its transitions are ever enabled, and, in a complete search, which of their constraints are hit;
- which livenesses are violated, and by which case.

The last is so because fair sets stay or go as a whole. Of one that stays, the projection of a run shows when it waits and when
it acts. One that goes assigns to nothing that is left and has no constraints, so its steps can be put into any run of the slice,
wherever it waits, and change nothing there (`lasso.complete` does that). A run of the original of which the slice
sees only finitely many steps is a run of the slice that comes to rest.

It never has more states, depth or transitions. Of a dropped transition a search of the slice says nothing:
`Slicer.steps_outside_cone` names the steps that only have such transitions. A transition whose guard can hold but which a
constraint always stops stays, without updates, where its guard is seen, because a verdict names that constraint.

An unknown parameter may have any value of its range, so all of this holds for the system that any choice of
the parameters gives: to choose and to slice can be done in either order.

Ranges and constants hold in the states that the analysis admits, which include every reachable one. In other states the
slice may behave as the original does not: an inductive invariant of the slice holds in every reachable state of the original,
but what is shown of an arbitrary state is about the slice. `values=False` slices without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from ...model.language import Expr, Transition, TransitionSystem, Variable
from .constant_propagation import ConstantPropagation, predicates_of

Key = tuple[str, str, tuple[object, ...]]
T = TypeVar("T")


class Slicer:
    """Slices of one system; what cannot happen in it is found out once for all of them.

    With `values=False` nothing is taken to be impossible. `within` slices a system that is this one with more predicates, and with more
    variables that only these see: what cannot happen is found out there.
    """

    def __init__(
        self, system: TransitionSystem, *, values: bool = True, within: Slicer | None = None
    ) -> None:
        self.system = system
        self._values, self._within = values, within

    @cached_property
    def _propagation(self) -> ConstantPropagation:
        return ConstantPropagation(self.system) if self._within is None else self._within._propagation

    def slice(
        self,
        *,
        invariants: Iterable[str] | None = None,
        witnesses: Iterable[str] | None = None,
        resettabilities: Iterable[str] | None = None,
        livenesses: Iterable[str] | None = None,
    ) -> TransitionSystem:
        """The part of the system that decides the named predicates; all of a kind where none are named.

        Its transitions keep part, step and arguments (see `transition_map`), its variables keep their names and
        order. `views` are dropped: reports evaluate them on the original. Raises ValueError for a name
        that the system does not have.
        """
        own, whole = self.system, self._propagation.propagated if self._values else self.system
        return _without_the_invisible(
            whole.with_predicates(
                invariants=_chosen(own, "invariant", own.invariants, whole.invariants, invariants),
                witnesses=_chosen(own, "witness", own.witnesses, whole.witnesses, witnesses),
                resettabilities=_chosen(
                    own, "resettability", own.resettabilities, whole.resettabilities, resettabilities
                ),
                livenesses=_chosen(own, "liveness", own.livenesses, whole.livenesses, livenesses),
                views={},
            )
        )

    def steps_outside_cone(self, slice_: TransitionSystem) -> tuple[str, ...]:
        """The steps (`part.step`) that may happen in the system, but of which a slice of it shows nothing.

        Whether they do happen makes no difference to what the slice was asked.
        """
        shown = {step_name(t) for t in slice_.transitions}
        possible = map(step_name, self._propagation.happening)
        return tuple(dict.fromkeys(name for name in possible if name not in shown))

    def outside_cone(self, slice_: TransitionSystem) -> frozenset[Key]:
        """The transitions that may happen in the system, and that a slice of it does not have."""
        shown = {key_of(t) for t in slice_.transitions}
        return frozenset(key for key in map(key_of, self._propagation.happening) if key not in shown)

    def impossible(self, transition: Transition) -> tuple[Expr, str] | None:
        """Why a transition of the system cannot happen: the condition that can never hold, and the constraint that it belongs to, if it is of one."""
        return self._propagation.impossible(transition)


def transition_map(slice_: TransitionSystem, original: TransitionSystem) -> tuple[int, ...]:
    """The number in the original system of each transition of the slice."""
    numbers: dict[Key, int] = {}
    for i, t in enumerate(original.transitions):
        if numbers.setdefault(key_of(t), i) != i:
            raise ValueError(f"{original.name} has two transitions `{t.label}`: they cannot be told apart")
    return tuple(numbers[key_of(t)] for t in slice_.transitions)


def key_of(transition: Transition) -> Key:
    """What identifies a transition in a system and in all its slices."""
    return transition.part, transition.step, tuple(value for _, value in transition.args)


def _chosen(
    system: TransitionSystem,
    kind: str,
    known: Mapping[str, T],
    table: Mapping[str, T],
    names: Iterable[str] | None,
) -> Mapping[str, T]:
    wanted = list(known if names is None else names)
    for name in wanted:
        if name not in known:
            said = ", ".join(f"`{n}`" for n in known) or "none"
            raise ValueError(f"{system.name} has no {kind} `{name}`; it has {said}")
    return {name: e for name, e in table.items() if name in wanted}


def step_name(transition: Transition) -> str:
    """Part and step, all bindings together."""
    return f"{transition.part}.{transition.step}"


def _always_stopped(transition: Transition) -> bool:
    return any(constraint.is_const and not constraint.value for _, constraint in transition.constraints)


def _without_the_invisible(system: TransitionSystem) -> TransitionSystem:
    assigned: dict[Variable, list[Expr]] = {}
    writers: dict[Variable, list[Transition]] = {}
    for t in system.transitions:
        for v, e in t.updates.items():
            assigned.setdefault(v, []).append(e)
            writers.setdefault(v, []).append(t)
    # One walk over the graph: what is looked at; once a variable is seen, what is assigned to it, and when.
    waiting = predicates_of(system)
    kept: set[Key] = set()
    companions = system.fair_sets if system.livenesses else {}

    def keep(t: Transition) -> None:
        coming = [t]
        while coming:
            t = coming.pop()
            if key_of(t) in kept:
                continue
            kept.add(key_of(t))
            waiting.extend([t.guard, *(constraint for _, constraint in t.constraints)])
            coming += [system.transitions[i] for f in t.fairness for i in companions.get(f, ())]

    for t in system.transitions:
        # A constraint may hold it back for ever: then no run is fair to it.
        if companions and t.fairness and t.constraints:
            keep(t)
        if _always_stopped(
            t
        ):  # its updates are gone, but the constraint that stops it is part of the verdict
            keep(t)
    visited: set[Expr] = set()
    seen: set[Variable] = set()
    while waiting:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        waiting += node.args
        if node.op == "var":
            seen.add(node.value)
            waiting += assigned.get(node.value, ())
            for t in writers.get(node.value, ()):
                keep(t)
    return replace(
        system,
        variables=tuple(v for v in system.variables if v in seen),
        transitions=tuple(
            replace(t, updates={v: e for v, e in t.updates.items() if v in seen})
            for t in system.transitions
            if key_of(t) in kept
        ),
    )
