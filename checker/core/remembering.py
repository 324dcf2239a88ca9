"""The reference interpreter, for questions about many states that differ little from each other."""

from collections.abc import Callable, Mapping
from operator import itemgetter

from ...model.language import Expr, State, TransitionSystem
from .interpreter import Interpreter


class RememberingInterpreter(Interpreter):
    """Evaluates an expression once for all states that give the same values to the variables that it reads."""

    def __init__(self, system: TransitionSystem, parameters: Mapping[str, int] | None = None) -> None:
        super().__init__(system, parameters)
        self._places: dict[
            Expr, int
        ] = {}  # of every node that was asked for, or is below one: a bit for each place of a state that it reads
        self._asked: dict[Expr, tuple[Callable[[State], object], dict[object, int]]] = {}

    def evaluate(self, expr: Expr, state: State) -> int:
        """The code of the expression's value in this state."""
        asked = self._asked.get(expr)
        if asked is None:
            asked = self._asked[expr] = _reader(self._read_by(expr)), {}
        read, values = asked
        seen = read(state)
        value = values.get(seen)
        if value is None:
            value = values[seen] = super().evaluate(expr, state)
        return value

    def _read_by(self, root: Expr) -> int:
        found = self._places
        stack = [root]  # not recursion: graphs can be deeper than Python's call stack
        while stack:
            node = stack[-1]
            missing = [arg for arg in node.args if arg not in found]
            if missing:
                stack.extend(missing)
                continue
            here = 0
            if node.op == "var" and node.value in self._position:
                here = 1 << self._position[node.value]
            for arg in node.args:
                here |= found[arg]
            found[stack.pop()] = here
        return found[root]


def _reader(places: int) -> Callable[[State], object]:
    """What gives the values in these places of a state."""
    numbers = [number for number in range(places.bit_length()) if places >> number & 1]
    return itemgetter(*numbers) if numbers else _nothing


def _nothing(state: State) -> object:
    return ()
