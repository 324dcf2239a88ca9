"""Two systems side by side, and one system without some kinds of its steps: by walking over everything."""

from __future__ import annotations

from itertools import combinations

from podrace.model.language import Entity, Expr, State, Transition, TransitionSystem
from tests.independent.oracle.graph import Graph, TooLarge, smallest_first
from tests.independent.oracle.reading import Reader

Decisions = frozenset[tuple[str, str]]


def kind_of(transition: Transition) -> str:
    """The step with those of its arguments that are no entities."""
    shown = [f"{n}={getattr(v, 'name', v)}" for n, v in transition.args if not isinstance(v, Entity)]
    arguments = f"({', '.join(shown)})" if shown else ""
    return f"{transition.part}.{transition.step}{arguments}"


def minimal_ways(graph: Graph, invariant: Expr) -> dict[frozenset[str], int]:
    """Every smallest set of kinds of steps that can break the invariant, with the length of a shortest run of no others."""
    kinds = [kind_of(t) for t in graph.reader.system.transitions]
    broken = graph.where(invariant)
    lengths: dict[frozenset[str], int] = {}
    for size in range(len(set(kinds)) + 1):
        for chosen in combinations(sorted(set(kinds)), size):
            allowed = {i for i, kind in enumerate(kinds) if kind in chosen}
            distances = (d for s, d in graph.distances(allowed).items() if s not in broken)
            shortest = min(distances, default=None)
            if shortest is not None:
                lengths[frozenset(chosen)] = shortest
    return {kinds: lengths[kinds] for kinds in smallest_first(lengths)}


def first_difference(
    before: TransitionSystem, after: TransitionSystem, most: int = 2000
) -> tuple[int, list[Decisions]] | None:
    """How many steps both systems can take alike until they decide differently, and how they may differ then.

    Both have variables of the same names; a transition is known by its label. None if they never do. Raises TooLarge.
    """
    one, other = Reader(before), Reader(after)
    start = _named(before, before.initial), _named(after, after.initial)
    if start[0] != start[1]:
        return 0, []
    level, seen, depth = [(before.initial, after.initial)], {before.initial}, 0
    while level:
        found, following = list[Decisions](), list[tuple[State, State]]()
        for here, there in level:
            ours = {before.transitions[n].label: s for n, s in one.moves(here).steps}
            theirs = {after.transitions[n].label: s for n, s in other.moves(there).steps}
            decided = {(label, "only before") for label in ours.keys() - theirs.keys()}
            decided |= {(label, "only after") for label in theirs.keys() - ours.keys()}
            for label in ours.keys() & theirs.keys():
                if _named(before, ours[label]) != _named(after, theirs[label]):
                    decided.add((label, "another effect"))
                elif ours[label] not in seen:
                    seen.add(ours[label])
                    following.append((ours[label], theirs[label]))
            if decided:
                found.append(frozenset(decided))
        if found:
            return depth, found
        if len(seen) > most:
            raise TooLarge
        level, depth = following, depth + 1
    return None


def _named(system: TransitionSystem, state: State) -> dict[str, int]:
    return {v.name: code for v, code in zip(system.variables, state, strict=True)}
