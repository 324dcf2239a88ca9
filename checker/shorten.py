"""Leave out of a run what its end does not need: for runs that a reduced search found, which may be longer than need be."""

from __future__ import annotations

from ..model.language import Expr, TransitionSystem
from .exploration import Path
from .interpreter import Interpreter


def shorten(system: TransitionSystem, path: Path, invariant: str) -> Path:
    """A run with some of the steps of `path`, in the same order, that violates the invariant in its last state alone.

    1-minimal (Zeller and Hildebrandt 2002): without any one step it does not, where a step that is not possible any more
    is left out too. ValueError if `path` does not violate the invariant.
    """
    interpreter, predicate = Interpreter(system), system.invariants[invariant]
    best = _violating(interpreter, path, predicate)
    if best is None:
        raise ValueError(f"the run that is to be made shorter does not violate `{invariant}`")
    first = 0
    while first < len(best):
        shorter = _violating(interpreter, (*best[:first], *best[first + 1 :]), predicate)
        if shorter is None:
            first += 1
        else:
            best, first = shorter, 0
    return best


def _violating(interpreter: Interpreter, path: Path, predicate: Expr) -> Path | None:
    """What can be taken of these steps up to a violation; None if there is none."""
    state, taken = interpreter.initial, list[int]()
    for number in (*path, None):
        if not interpreter.holds(predicate, state):
            return tuple(taken)
        if number is None or not _possible(interpreter, state, number):
            continue
        taken.append(number)
        state = interpreter.successor(state, number)
    return None


def _possible(interpreter: Interpreter, state: tuple[int, ...], number: int) -> bool:
    guard = interpreter.system.transitions[number].guard
    return interpreter.holds(guard, state) and not interpreter.blocking(state, number)
