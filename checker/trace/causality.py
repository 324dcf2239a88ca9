"""Which earlier steps of a run a step depends on: a dynamic slice, computed from the expression graph.

Korel and Laski, Dynamic program slicing (1988): a step depends on the step that last assigned a variable whose value it
really used. An operand that could not have made a difference where it was evaluated was not used: the branch that was
not taken, what else is true beside a true operand of `or`, what else is false beside a false operand of `and`.
"""

from ...base.structs import Data
from ...model.language import Expr, State, TransitionSystem, Variable
from ..core.interpreter import Interpreter
from ..core.trace import Trace


class Dependence(Data):
    """Step `number` used variables that step `after` had assigned; both count from 1."""

    number: int
    after: int
    variables: tuple[str, ...]


def dependences(system: TransitionSystem, trace: Trace) -> tuple[Dependence, ...]:
    """What each step of the run used of what earlier ones had assigned, in the order of the steps.

    A step uses what decides its guard, what decides the new value of each variable that it changes, and what it assigns to
    a variable that has that value already, unless it is made from the variable itself. The bounds of the scenario are
    not looked at.
    """
    interpreter = Interpreter(system)
    assigned: dict[Variable, int] = {}
    found = []
    for number, (step, state) in enumerate(zip(trace.steps, trace.states[:-1], strict=True), 1):
        transition = system.transitions[step.transition]
        names = {change.variable for change in step.changes}
        roots, written = [transition.guard], []
        for variable, update in transition.updates.items():
            root = update if variable.name in names else _taken(interpreter, update, state)
            if variable.name in names or variable not in used_variables(interpreter, [root], state):
                written.append(variable)
                roots.append(root)
        used: dict[int, list[str]] = {}
        for variable in used_variables(interpreter, roots, state):
            if variable in assigned:
                used.setdefault(assigned[variable], []).append(variable.name)
        found += [Dependence(number, after, tuple(sorted(used[after]))) for after in sorted(used)]
        assigned.update(dict.fromkeys(written, number))
    return tuple(found)


def used_variables(interpreter: Interpreter, roots: list[Expr], state: State) -> set[Variable]:
    """Variables that decide the values of these expressions in this state: whatever the others are, they stay."""
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


def _taken(interpreter: Interpreter, update: Expr, state: State) -> Expr:
    """What the branches that are taken here lead to."""
    while update.op == "ite":
        condition, one, other = update.args
        update = one if interpreter.holds(condition, state) else other
    return update


def _used_arguments(interpreter: Interpreter, node: Expr, state: State) -> tuple[Expr, ...]:
    if node.op == "ite":
        condition, one, other = node.args
        return (condition, one if interpreter.holds(condition, state) else other)
    if node.op in ("and", "or"):
        decisive = int(node.op == "or")
        for argument in node.args:
            if interpreter.evaluate(argument, state) == decisive:
                return (argument,)
    return tuple(node.args)
