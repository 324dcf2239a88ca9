"""The states around a run: all that there are where these are few, otherwise those that one step leads to."""

from __future__ import annotations

from ...base.structs import dataclass
from ...model.language import Expr, State, TransitionSystem
from ..core.remembering import RememberingInterpreter
from ..core.trace import Trace

FEW = 40
"""A system of at most so many states is shown whole."""

MOST = 160
"""More states than this nobody can read as a graph."""


@dataclass(frozen=True, slots=True)
class Move:
    """A transition between two of the states, by their numbers."""

    source: int
    target: int
    transition: int


@dataclass(frozen=True, slots=True)
class NearbyStates:
    """States by number, the initial one first. `states` alone is told where there are too many (`refused`).

    A move is there for every transition from the run; of the other states only where all states are shown (`whole`).
    """

    states: int
    moves: tuple[Move, ...]
    run: tuple[int, ...]
    bad: tuple[int, ...]
    whole: bool
    refused: bool = False


def nearby_states(
    system: TransitionSystem, trace: Trace, bad: Expr | None = None, few: int = FEW, most: int = MOST
) -> NearbyStates:
    """The states around a run of the system; `bad` is what must not be."""
    interpreter = RememberingInterpreter(system)
    whole = _expand(interpreter, [system.initial], few, closed=True)
    numbers, moves = whole or ({}, [])
    if whole is None or any(state not in numbers for state in trace.states):
        found = _expand(interpreter, list(dict.fromkeys(trace.states)), None, closed=False)
        assert found is not None
        numbers, moves = found
        whole = None
    if len(numbers) > most:
        return NearbyStates(len(numbers), (), (), (), False, refused=True)
    return NearbyStates(
        states=len(numbers),
        moves=tuple(moves),
        run=tuple(numbers[state] for state in trace.states),
        bad=tuple(n for state, n in numbers.items() if bad is not None and interpreter.holds(bad, state)),
        whole=whole is not None,
    )


def _expand(
    interpreter: RememberingInterpreter, start: list[State], most: int | None, closed: bool
) -> tuple[dict[State, int], list[Move]] | None:
    """The states that one step leads to from these (`closed`: any number of steps), and the moves; None beyond `most`."""
    numbers = {state: number for number, state in enumerate(start)}
    moves: list[Move] = []
    waiting = list(start)
    for state in waiting:
        for transition in interpreter.enabled(state):
            target = interpreter.successor(state, transition)
            if target not in numbers:
                numbers[target] = len(numbers)
                if closed:
                    waiting.append(target)
            if most is not None and len(numbers) > most:
                return None
            moves.append(Move(numbers[state], numbers[target], transition))
    return numbers, moves
