"""Which transitions do not depend on each other: in either order they lead to the same, and neither enables or disables the other."""

from collections.abc import Iterable

from ...model.language import Expr, Transition, TransitionSystem, Variable, topological


def independent_transitions(system: TransitionSystem) -> list[int]:
    """For each transition, as bits, the numbers of those that are independent of it in every state.

    Two are if neither assigns to a variable that the other assigns to or reads: in its guard, in its constraints or in its updates. An update that leaves a
    variable as it is counts as well, so this is a lower bound of what is independent.
    """
    numbers: dict[Variable, int] = {}
    writes = [_union(numbers, t.updates) for t in system.transitions]
    reads = [_union(numbers, variables_of(_looked_at(t))) for t in system.transitions]
    found = [0] * len(system.transitions)
    for a, (written, read) in enumerate(zip(writes, reads, strict=True)):
        touched = written | read
        for b in range(a):
            if not (written & (reads[b] | writes[b]) or writes[b] & touched):
                found[a] |= 1 << b
                found[b] |= 1 << a
    return found


def variables_of(expressions: Iterable[Expr]) -> list[Variable]:
    """The variables that some expressions read."""
    return [e.value for e in topological(list(expressions)) if e.op == "var"]


def _looked_at(transition: Transition) -> list[Expr]:
    return [transition.guard, *(c for _, c in transition.constraints), *transition.updates.values()]


def _union(numbers: dict[Variable, int], variables: Iterable[Variable]) -> int:
    found = 0
    for variable in variables:
        found |= numbers.setdefault(variable, 1 << len(numbers))
    return found
