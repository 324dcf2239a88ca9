"""Random systems of processes that are alike, or nearly, each perhaps with a size that is not known."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from podrace.model.language import (
    Expr,
    Parameter,
    Transition,
    TransitionSystem,
    Universe,
    all_of,
    negate,
)
from podrace.model.language.expressions.expr import fresh_graph, less, parameter, variable
from tests.symmetric_systems import Crowd, Formula, Process


class Sized(Crowd):
    """Processes with sizes: what fits looks at their own, or at all of them."""

    def __init__(self, size: int, owner: int, ranks: tuple[bool, ...], most: int) -> None:
        super().__init__(size, owner, ranks)
        self.sizes = {p: Parameter(f"{p.name}.size", 0, most) for p in self.all}

    def condition(self, formula: Formula, me: Process | None) -> Expr:
        """What the formula says; `fits` and `largest` are about sizes."""
        op, *args = formula
        if op == "fits" and me is not None:
            return negate(less(variable(self.shared) + args[0], parameter(self.sizes[me])))
        if op == "largest" and me is not None:
            return all_of(negate(less(parameter(self.sizes[me]), parameter(self.sizes[p]))) for p in self.all)
        return super().condition(formula, me)


class _Words:
    """Draws formulas and actions: about sizes, and about who comes before whom, if there is such a thing."""

    def __init__(self, random: Random, sized: bool, ranked: bool) -> None:
        self.random, self.sized, self.ranked = random, sized, ranked

    def formula(self, closed: bool, depth: int = 2) -> Formula:
        """About one process, or, if closed, about all."""
        random = self.random
        kinds = ["shared", "owner", "free"]
        kinds += [] if closed else ["at", "at", "flag", "mine"]
        kinds += ["first"] if self.ranked and not closed else []
        kinds += ["fits", "largest", "fits"] if self.sized and not closed else []
        kinds += ["some", "most", "not", "and", "or"] if depth else []
        kind = random.choice(kinds)
        if kind in ("shared", "owner", "at"):
            return (kind, random.randint(0, 2))
        if kind == "fits":
            return (kind, random.randint(0, 1))
        if kind in ("some", "most"):
            return (kind, self.formula(False, depth - 1))
        if kind == "not":
            return (kind, self.formula(closed, depth - 1))
        if kind in ("and", "or"):
            return (kind, *(self.formula(closed, depth - 1) for _ in range(2)))
        return (kind,)

    def action(self) -> Formula:
        """What a process does."""
        kinds = ("go", "go", "mark", "own", "share", "leave", "clear", *(("last",) if self.ranked else ()))
        kind = self.random.choice(kinds)
        if kind == "go":
            return (kind, self.random.randint(0, 2))
        if kind in ("mark", "own", "last"):
            return (kind, self.formula(False, 1))
        return (kind, self.random.choice((-1, 1))) if kind == "share" else (kind,)


def random_crowd(seed: object, sizes: int = 0, spoiled: bool = False) -> tuple[TransitionSystem, Sized]:
    """Two or three processes that do the same. With `sizes`, sizes up to that play a part; spoiled: one does something else."""
    random = Random(repr(seed))
    with fresh_graph():
        count = 2 if sizes else random.choice((2, 3))
        ranked = random.random() < 0.3
        words = _Words(random, sizes > 0, ranked)
        ranks = tuple(random.random() < 0.5 for _ in range(3)) if ranked else ()
        crowd = Sized(count, 0, ranks, max(sizes, 1))
        transitions: list[Transition] = []
        for k in range(random.randint(2, 4)):
            guards = [("at", k % 3)]
            if random.random() < 0.6:
                guards.append(words.formula(False, 1))
            actions = [("go", (k + 1) % 3), *(words.action() for _ in range(random.randint(0, 2)))]
            limit = words.formula(False, 1) if random.random() < 0.2 else None
            for me in crowd.all:
                transitions.append(_step(crowd, f"step{k}", guards, actions, limit, me))
        if spoiled:
            _spoil(words, crowd, transitions)
        predicates: dict[str, Any] = {
            f"{kind}s": {f"{kind}{i}": crowd.condition(words.formula(True), None) for i in range(2)}
            for kind in ("invariant", "witness")
        }
        return TransitionSystem(
            "crowd", Universe({Process: crowd.all}), crowd.variables, tuple(transitions),
            invariants={name: negate(e) for name, e in predicates["invariants"].items()},
            witnesses=predicates["witnesss"],
        ), crowd  # fmt: skip


def _step(
    crowd: Sized, name: str, guards: list[Formula], actions: list[Formula], limit: Formula | None, me: Process
) -> Transition:
    return Transition(
        part="crowd",
        step=name,
        args=(("me", me),),
        actor="crowd",
        fair=True,
        guard=all_of(crowd.condition(g, me) for g in guards),
        constraints=() if limit is None else (("few", crowd.condition(limit, me)),),
        updates=crowd.updates(actions, me),
    )


def _spoil(words: _Words, crowd: Sized, transitions: list[Transition]) -> None:
    random = words.random
    at = random.randrange(len(transitions))
    old = transitions[at]
    (_, me) = old.args[0]
    if random.random() < 0.5:
        transitions[at] = replace(old, updates={**old.updates, **crowd.updates([words.action()], me)})
    else:
        condition = crowd.condition(words.formula(False, 1), me)
        transitions[at] = replace(old, guard=all_of((old.guard, condition)))
