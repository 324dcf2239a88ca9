"""Renaming of entities, by their names: what becomes of a state, and whether a system stays the same under it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import permutations

from podrace.model.language import BOOL, Entity, State, TransitionSystem
from tests.independent.oracle.graph import Graph

Names = Mapping[str, str]


def orders(names: list[str]) -> list[dict[str, str]]:
    """Every permutation of some names."""
    return [dict(zip(names, order, strict=True)) for order in permutations(names)]


def renamed_state(system: TransitionSystem, names: Names, state: State) -> State:
    """The state in which every entity has the part of the one that is renamed to it.

    An order of pairs is kept for one half of them: where `before[a][b]` is missing, it is the contrary of `before[b][a]`.
    """
    codes = {v.name: (v, code) for v, code in zip(system.variables, state, strict=True)}
    found: dict[str, int] = {}
    for name, (v, code) in codes.items():
        moved = re.sub(r"\[([^][]*)\]", lambda m: f"[{names.get(m[1], m[1])}]", name)
        value = code
        if isinstance(v.sort.tag, type) and issubclass(v.sort.tag, Entity) and code:
            members = system.universe[v.sort.tag]
            target = names.get(members[code - 1].name, members[code - 1].name)
            value = 1 + next(i for i, e in enumerate(members) if e.name == target)
        if moved not in codes and v.sort is BOOL:
            head, first, second = re.fullmatch(r"(.*)\[([^][]*)\]\[([^][]*)\]", moved).groups()  # type: ignore[union-attr]
            moved, value = f"{head}[{second}][{first}]", 1 - value
        found[moved] = value
    return tuple(found[v.name] for v in system.variables)


def is_symmetric(graph: Graph, other: Graph, names: Names) -> bool:
    """Whether renaming takes the first graph to the second: states, steps with their arguments, predicates, bounds hit."""
    system = graph.reader.system
    for state, moves in graph.moves.items():
        image = renamed_state(system, names, state)
        if image not in other.moves or other.moves[image].hit != moves.hit:
            return False
        here = {(_renamed_label(system, n, names), renamed_state(system, names, s)) for n, s in moves.steps}
        there = {(_renamed_label(system, n, {}), s) for n, s in other.moves[image].steps}
        predicates = (*system.invariants.values(), *system.witnesses.values())
        if here != there or any(
            graph.reader.holds(e, state) != other.reader.holds(e, image) for e in predicates
        ):
            return False
    return len(graph.moves) == len(other.moves)


def _renamed_label(system: TransitionSystem, number: int, names: Names) -> tuple[str, ...]:
    t = system.transitions[number]
    shown = (getattr(value, "name", str(value)) for _, value in t.args)
    return t.step, *(names.get(name, name) for name in shown)
