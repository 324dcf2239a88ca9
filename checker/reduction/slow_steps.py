"""Which steps would have to last for minutes for a run to happen: those amid which a timer of minutes fires.

A run of a system without scales of time is one with them, unless a timer fires in it that was never armed while nothing shorter was under way. Then minutes
passed amid shorter work, and what was under way would have to be so slow.
"""

from ...base.structs import Data
from ...model.language import Lasts, TransitionSystem
from ..core.exploration import Path
from ..core.interpreter import Interpreter


class SlowSteps(Data):
    """What would have to last for minutes for the timer of step `timer` to fire: minutes would pass after `since` steps, where these transitions are under way."""

    timer: int
    since: int
    slow: tuple[int, ...]


def slow_steps(system: TransitionSystem, path: Path) -> list[SlowSteps]:
    """For each timer of minutes that fires amid shorter work in a run, what would have to last for minutes, at the moment at which this takes the fewest actors."""
    interpreter, transitions = Interpreter(system), system.transitions
    if all(transitions[number].lasts is not Lasts.MINUTES for number in path):
        return []
    short = [number for number, t in enumerate(transitions) if t.lasts is Lasts.SHORT]
    states = [system.initial]
    for number in path:
        states.append(interpreter.successor(states[-1], number))
    under_way = [interpreter.enabled(state, short) for state in states]
    found = []
    for fires, number in enumerate(path):
        if transitions[number].lasts is not Lasts.MINUTES:
            continue
        armed = fires
        while armed and interpreter.holds(transitions[number].guard, states[armed - 1]):
            armed -= 1
        fewest = min(
            range(armed, fires + 1), key=lambda moment: len({transitions[n].actor for n in under_way[moment]})
        )
        if under_way[fewest]:
            found.append(SlowSteps(fires + 1, fewest, tuple(under_way[fewest])))
    return found
