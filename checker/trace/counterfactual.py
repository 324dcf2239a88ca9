"""Which step, had it come in time, would have kept a run from going as it did.

Computed by execution: a few fair steps of one actor that were possible somewhere in the run, and were not taken from
there on, are put in; the rest of the run is taken again as far as it goes.
"""

from collections.abc import Iterator
from itertools import islice

from ...base.structs import Data
from ...model.language import State, TransitionSystem
from ..core.exploration import Path
from ..core.interpreter import Interpreter
from ..core.trace import Step, Trace
from .execution import replay

MOST_STEPS = 6
"""How many steps of the one actor are put in at most: a handler needs two for an event, and may be some events behind."""

MOST_TRIALS = 120
"""How many ways of putting steps in are tried at one point of the run."""

MOST_IN_ALL = 1_200
"""How many are tried at all points together: a second of work or a few."""


class Counterfactual(Data):
    """`steps`, all of one actor, were possible before step `before` (from 1). After them, step `stops` is not."""

    before: int
    steps: tuple[Step, ...]
    stops: int


def counterfactuals(system: TransitionSystem, trace: Trace) -> tuple[Counterfactual, ...]:
    """What would have kept the run from its end, at the latest point where anything would have: one way per actor.

    Of the ways of an actor, the one with the fewest steps, and of these the first in the order of the transitions. Empty
    if nothing is found.
    """
    interpreter = Interpreter(system)
    path = trace.path
    left = MOST_IN_ALL
    for before in range(len(path), 0, -1):
        rest = path[before - 1 :]
        found: dict[str, Counterfactual] = {}
        ways = islice(_ways(interpreter, trace.states[before - 1], rest), min(left, MOST_TRIALS))
        for extra, state in ways:
            left -= 1
            actor = system.transitions[extra[0]].actor
            taken = None if actor in found else _first_impossible(interpreter, state, rest)
            if taken is not None:
                steps = replay(system, (*path[: before - 1], *extra)).steps[before - 1 :]
                found[actor] = Counterfactual(before, steps, before + taken)
        if found:
            return tuple(found.values())
    return ()


def _ways(interpreter: Interpreter, start: State, rest: Path) -> Iterator[tuple[Path, State]]:
    """Sequences of fair steps of one actor, none of which the rest of the run takes, the shortest first.

    Of those that lead the actor to one state, only the first.
    """
    transitions = interpreter.system.transitions
    later = set(rest)
    ways: list[tuple[Path, State]] = [((), start)]
    reached: set[tuple[str, State]] = set()
    for _ in range(MOST_STEPS):
        longer: list[tuple[Path, State]] = []
        for path, state in ways:
            for number in interpreter.enabled(state):
                one = transitions[number]
                if not one.fair or number in later or one.actor == transitions[rest[0]].actor:
                    continue
                if path and one.actor != transitions[path[0]].actor:
                    continue
                target = interpreter.successor(state, number)
                if (one.actor, target) not in reached:
                    reached.add((one.actor, target))
                    longer.append(((*path, number), target))
                    yield longer[-1]
        ways = longer


def _first_impossible(interpreter: Interpreter, state: State, rest: Path) -> int | None:
    """How many steps of the rest come before one whose guard is false; None if there is none, or a constraint stops one."""
    for taken, number in enumerate(rest):
        if not interpreter.holds(interpreter.system.transitions[number].guard, state):
            return taken
        if interpreter.blocking(state, number):
            return None
        state = interpreter.successor(state, number)
    return None
