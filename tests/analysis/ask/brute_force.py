"""What a question means, walked by the reference interpreter: every state with every place in the sequence, one at a time."""

from __future__ import annotations

from collections import deque

from podrace.analysis.ask.monitor import Order
from podrace.checker.core.interpreter import Interpreter
from podrace.model.language import State, TransitionSystem

Place = tuple[State, int]


class Walked:
    """All pairs of a state and a number of steps that have been matched, with the length of a shortest run to each.

    A run chooses whether a step that fits is taken for the next one of the sequence: nothing here is a subset construction.
    """

    def __init__(self, system: TransitionSystem, order: Order) -> None:
        self.order = order
        interpreter = Interpreter(system)
        start = (interpreter.initial, 0)
        self.steps: dict[Place, int] = {start: 0}
        waiting = deque([start])
        while waiting:
            state, place = waiting.popleft()
            for number in interpreter.enabled(state):
                if self._is(order.never, number, state, interpreter):
                    continue
                target = interpreter.successor(state, number)
                for after in self._places(place, number, state, interpreter):
                    if (target, after) not in self.steps:
                        self.steps[target, after] = self.steps[state, place] + 1
                        waiting.append((target, after))
        ends = [
            n for (s, i), n in self.steps.items() if i == len(order.steps) and interpreter.holds(order.end, s)
        ]
        self.shortest = min(ends, default=None)
        self.possible = max(i for _, i in self.steps)

    def after(self, place: int) -> list[State]:
        """Every state in which so many steps have been matched, and the next may follow."""
        return [state for state, i in self.steps if i == place]

    def _places(self, place: int, number: int, state: State, interpreter: Interpreter) -> list[int]:
        """To how many matched steps a transition may lead."""
        steps = self.order.steps
        found = []
        if place < len(steps) and self._is(steps[place].events, number, state, interpreter):
            found.append(place + 1)
        directly = place < len(steps) and steps[place].directly
        without = steps[place].without if place < len(steps) else self.order.after
        if not directly and not self._is(without, number, state, interpreter):
            found.append(place)
        return found

    @staticmethod
    def _is(events, number, state, interpreter) -> bool:
        where = (events or {}).get(number)
        return where is not None and interpreter.holds(where, state)
