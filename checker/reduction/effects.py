"""What one transition can do, as far as folding its expressions shows.

Where a transition happens its guard holds, so the variables that the guard compares with a constant have that
value. With these values put in, the graph folds: updates lose reads, or turn out to keep what is there; the
conditions of other transitions turn out false (the two are never enabled together) or unaffected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...model.language import BOOL, Expr, Transition, Variable, negate, substitute, variables_of
from ...model.language.expr import const, fresh_graph, variable


@dataclass(frozen=True, slots=True)
class Effect:
    """One transition, given that it is enabled.

    `constants` are the new values that are known beforehand. Conditions are named by their position in the
    list that `effect_of` was given: those that are false before the transition whenever it is enabled, and those
    that it may turn true or false.
    """

    writes: frozenset[Variable]
    reads: frozenset[Variable]
    constants: Mapping[Variable, int]
    excluded: frozenset[int]
    may_enable: frozenset[int]
    may_disable: frozenset[int]


def conjuncts(condition: Expr) -> tuple[Expr, ...]:
    """Conditions that hold together exactly where this one does; none for one that always holds."""
    if condition.op == "and":
        return condition.args
    if condition.op == "not" and condition.args[0].op == "or":
        return tuple(negate(item) for item in condition.args[0].args)
    return () if condition.is_const and condition.value else (condition,)


def known_values(conditions: Iterable[Expr]) -> dict[Variable, int]:
    """The variables that have one value wherever all the conditions hold, as far as one look shows."""
    found: dict[Variable, int] = {}
    for c in conditions:
        wanted, node = (0, c.args[0]) if c.op == "not" else (1, c)
        if node.op == "var":
            found[node.value] = wanted
        elif wanted and node.op == "eq" and node.args[0].op == "var" and node.args[1].is_const:
            found[node.args[0].value] = node.args[1].value
    return found


def effect_of(
    transition: Transition, own: Sequence[Expr], conditions: Sequence[Expr], supports: Sequence[set[Variable]]
) -> Effect:
    """The effect of a transition on these conditions, which read the variables in `supports`.

    `own` are the conjuncts of its guard and constraints.
    """
    known = known_values(own)
    with fresh_graph():

        def before(node: Expr) -> Expr:
            if node.op == "const":
                return const(node.sort, node.value)
            if node.op != "var":
                raise ValueError(f"the parameter `{node.value.name}` is unknown: reductions need every value")
            if node.value in known:
                return const(node.sort, known[node.value])
            return variable(node.value)

        old = substitute([*transition.updates.values(), *conditions], before)
        new = {v: old[e] for v, e in transition.updates.items()}
        new = {v: e for v, e in new.items() if not _keeps(v, e, known)}

        def after(node: Expr) -> Expr:
            return new.get(node.value, before(node)) if node.op == "var" else before(node)

        touched = [i for i, support in enumerate(supports) if not support.isdisjoint(new)]
        later = substitute([conditions[i] for i in touched], after)
        results = [
            (i, later[conditions[i]]) for i in touched if later[conditions[i]] is not old[conditions[i]]
        ]
        return Effect(
            writes=frozenset(new),
            reads=frozenset(variables_of(new.values())),
            constants={v: e.value for v, e in new.items() if e.is_const},
            excluded=frozenset(i for i, c in enumerate(conditions) if _is(old[c], 0)),
            may_enable=frozenset(i for i, c in results if not _is(c, 0) and not _is(old[conditions[i]], 1)),
            may_disable=frozenset(i for i, c in results if not _is(c, 1) and not _is(old[conditions[i]], 0)),
        )


def _is(condition: Expr, value: int) -> bool:
    assert condition.sort is BOOL or condition.sort == BOOL
    return condition.is_const and condition.value == value


def _keeps(v: Variable, e: Expr, known: Mapping[Variable, int]) -> bool:
    """Whether the update gives the variable the value that it has."""
    if e.op == "var":
        return e.value is v
    return e.is_const and known.get(v) == e.value
