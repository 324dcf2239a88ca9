"""How a run goes on after a state with no way back: an example, so that a reader sees what "no way out" looks like.

The verdict does not rest on this: that there is no way out was found by the search and confirmed by the
reference interpreter. The example is executed by the reference interpreter too.
"""

from collections.abc import Sequence

from ...base.structs import Data
from ...model.language import State, TransitionSystem
from ..core.exploration import Path
from ..core.interpreter import Interpreter
from ..core.trace import Trace

MAX_STEPS = 300


class FairSuffix(Data):
    """Transitions after a state with no way back: first those of `lead_in`, then those of `cycle` again and again.

    Without a cycle, no fair step is enabled at the end.
    """

    lead_in: Path
    cycle: Path


def fair_suffix(system: TransitionSystem, trace: Trace) -> FairSuffix | None:
    """Let the fair actors take turns from the end of a trace, until they only repeat themselves.

    The cycle is weakly fair: each fair transition happens in it, or is disabled somewhere in it. None if
    no such cycle shows within MAX_STEPS.
    """
    interpreter = Interpreter(system)
    state = trace.states[-1]
    states = [state]
    taken: list[int] = []
    enabled: list[frozenset[int]] = []
    last: dict[int, int] = {}
    while len(taken) < MAX_STEPS:
        able = [n for n in interpreter.enabled(state) if system.transitions[n].fair]
        if not able:
            return FairSuffix(tuple(taken), ())
        enabled.append(frozenset(able))
        # Whoever waited longest goes first.
        number = min(able, key=lambda n: (last.get(n, -1), n))
        state = interpreter.successor(state, number)
        last[number] = len(taken)
        taken.append(number)
        states.append(state)
        start = _fair_cycle(states, taken, enabled)
        if start is not None:
            return FairSuffix(tuple(taken[:start]), tuple(taken[start:]))
    return None


def _fair_cycle(
    states: Sequence[State], taken: Sequence[int], enabled: Sequence[frozenset[int]]
) -> int | None:
    """Where a weakly fair cycle that ends in the last state begins: the latest such place."""
    for start in reversed(range(len(taken))):
        if states[start] == states[-1]:
            always = frozenset.intersection(*enabled[start:])
            if always <= set(taken[start:]):
                return start
    return None
