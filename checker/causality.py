"""Which earlier steps of a run a step depends on: a dynamic slice, computed from the expression graph.

Korel and Laski, Dynamic program slicing (1988): a step depends on the step that last assigned a variable whose value it
really used. An operand that could not have made a difference where it was evaluated was not used: the branch that was
not taken, what else is true beside a true operand of `or`, what else is false beside a false operand of `and`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..model.language import Expr, State, TransitionSystem, Variable
from .interpreter import Interpreter
from .trace import Trace


@dataclass(frozen=True, slots=True)
class Dependence:
    """Step `number` used variables that step `after` had assigned; both count from 1."""

    number: int
    after: int
    variables: tuple[str, ...]


def dependences(system: TransitionSystem, trace: Trace) -> tuple[Dependence, ...]:
    """What each step of the run used of what earlier ones had assigned, in the order of the steps.

    A step uses what decides its guard, and what decides the values that it assigns. Assigning the value that is there
    already counts, keeping it does not. The bounds of the scenario are not looked at.
    """
    interpreter = Interpreter(system)
    assigned: dict[Variable, int] = {}
    found = []
    for number, (step, state) in enumerate(zip(trace.steps, trace.states[:-1], strict=True), 1):
        transition = system.transitions[step.transition]
        updates = {v: e for v, e in transition.updates.items() if not _keeps(interpreter, v, e, state)}
        roots = [transition.guard, *updates.values()]
        used: dict[int, list[str]] = {}
        for variable in used_variables(interpreter, roots, state):
            if variable in assigned:
                used.setdefault(assigned[variable], []).append(variable.name)
        found += [Dependence(number, after, tuple(sorted(used[after]))) for after in sorted(used)]
        assigned.update(dict.fromkeys(updates, number))
    return tuple(found)


def used_variables(interpreter: Interpreter, roots: list[Expr], state: State) -> set[Variable]:
    """The variables that decide the values of these expressions in this state."""
    found: set[Variable] = set()
    seen: set[Expr] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "var":
            found.add(node.value)
        else:
            waiting.extend(_used_arguments(interpreter, node, state))
    return found


def _keeps(interpreter: Interpreter, variable: Variable, update: Expr, state: State) -> bool:
    """Whether the branches that are taken here lead to the variable itself."""
    while update.op == "ite":
        condition, one, other = update.args
        update = one if interpreter.holds(condition, state) else other
    return update.op == "var" and update.value is variable


def _used_arguments(interpreter: Interpreter, node: Expr, state: State) -> tuple[Expr, ...]:
    if node.op == "ite":
        condition, one, other = node.args
        if interpreter.evaluate(one, state) == interpreter.evaluate(other, state):
            return (one,)
        return (condition, one if interpreter.holds(condition, state) else other)
    if node.op in ("and", "or"):
        decisive = int(node.op == "or")
        for argument in node.args:
            if interpreter.evaluate(argument, state) == decisive:
                return (argument,)
    return tuple(node.args)
