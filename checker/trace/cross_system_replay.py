"""The schedule of a run, tried on another system: what the same actors can do there, and where they must do otherwise."""

from collections.abc import Sequence

from ...base.structs import Data
from ...model.language import State, TransitionSystem
from ..core.exploration import Path
from ..core.interpreter import Interpreter

MOST_BETWEEN = 3
"""How many further steps an actor may take before the one that it is to take: a changed system may divide its work anew."""


class ReplayedAcross(Data):
    """`path` is a run of the other system. `follows[i]` is the step of the schedule, from 0, that its step i takes; None for
    a step that was put in. `stopped_at` is the first step of the schedule that could not be taken, None if all could.
    """

    path: Path
    follows: tuple[int | None, ...]
    stopped_at: int | None


def replay_across(system: TransitionSystem, schedule: Sequence[tuple[str, str]]) -> ReplayedAcross:
    """Take the steps of a run of another system in this one, as far as they go; each is given by its label and its actor.

    Where the next step is not possible, a few steps of its actor alone may come before it: the fewest, and of these the
    first in the order of the transitions.
    """
    interpreter = Interpreter(system)
    numbers = {t.label: n for n, t in enumerate(system.transitions)}
    state, path, follows = system.initial, list[int](), list[int | None]()
    for position, (label, actor) in enumerate(schedule):
        way = _way(interpreter, state, numbers.get(label, -1), actor)
        if way is None:
            return ReplayedAcross(tuple(path), tuple(follows), position)
        for number in way:
            state = interpreter.successor(state, number)
        path += way
        follows += [*[None] * (len(way) - 1), position]
    return ReplayedAcross(tuple(path), tuple(follows), None)


def _way(interpreter: Interpreter, start: State, wanted: int, actor: str) -> list[int] | None:
    """The shortest way to take this transition by steps of its actor; None if there is none."""
    if wanted < 0:
        return None
    transitions = interpreter.system.transitions
    ways: list[tuple[list[int], State]] = [([], start)]
    for _ in range(MOST_BETWEEN + 1):
        longer = []
        for path, state in ways:
            enabled = interpreter.enabled(state)
            if wanted in enabled:
                return [*path, wanted]
            longer += [
                ([*path, n], interpreter.successor(state, n))
                for n in enabled
                if transitions[n].actor == actor
            ]
        ways = longer
    return None
