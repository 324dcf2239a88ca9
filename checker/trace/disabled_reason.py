"""Why a transition cannot be taken in a state: the part of its guard that is false, and what that part looks at."""

from ...model.language import Expr, State, TransitionSystem, variables_of
from ..core.interpreter import Interpreter
from ..core.trace import plain_value

MOST_NAMED = 4
"""How many variables an explanation names."""


def why_disabled(system: TransitionSystem, state: State, number: int) -> str | None:
    """Half a sentence, such as ``its guard is false: queue.place[p] is NONE``; None if the transition is enabled."""
    interpreter = Interpreter(system)
    guard = system.transitions[number].guard
    if not interpreter.holds(guard, state):
        return f"its guard is false{_because(system, interpreter, guard, state)}"
    blocking = interpreter.blocking(state, number)
    return f"the constraint `{blocking[0]}` is hit" if blocking else None


def _because(system: TransitionSystem, interpreter: Interpreter, guard: Expr, state: State) -> str:
    part = guard
    while part.op == "and":
        part = next(arg for arg in part.args if not interpreter.holds(arg, state))
    position = {variable.name: i for i, variable in enumerate(system.variables)}
    read = sorted((v for v in variables_of([part]) if v.name in position), key=lambda v: position[v.name])
    told = [
        f"{v.name} is {_shown(plain_value(system.universe.decode(v.sort, state[position[v.name]])))}"
        for v in read[:MOST_NAMED]
    ]
    more = f", and {len(read) - MOST_NAMED} more variables" if len(read) > MOST_NAMED else ""
    return f": {', '.join(told)}{more}" if told else ""


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)
