"""The reference: what a transition system means, by evaluating its expressions on one state at a time.

Every other engine is measured against this file, and every trace is executed by it before anyone sees
it. It shares no code with them, so it is meant to be read in one sitting and to be obviously right.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...model.language import Expr, State, TransitionSystem

# What each operator does with the values of its arguments. A bool is 0 or 1; `div` rounds down.
OPERATORS: dict[str, Callable[..., int]] = {
    "not": lambda a: 1 - a,
    "and": lambda *items: int(all(items)),
    "or": lambda *items: int(any(items)),
    "eq": lambda a, b: int(a == b),
    "lt": lambda a, b: int(a < b),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "ite": lambda condition, a, b: a if condition else b,
}


class Interpreter:
    """Evaluates one system. States are tuples of codes, in the order of `system.variables`.

    `parameters` gives the value of each parameter that the system leaves open, by its name.
    """

    def __init__(self, system: TransitionSystem, parameters: Mapping[str, int] | None = None) -> None:
        self.system = system
        self.parameters = dict(parameters or {})
        self._position = system.position
        self._state: State | None = None
        self._known: dict[Expr, int] = {}

    @property
    def initial(self) -> State:
        """The state in which a run begins."""
        return self.system.initial

    def evaluate(self, expr: Expr, state: State) -> int:
        """The code of the expression's value in this state."""
        if state is not self._state:
            # One state at a time: its guards share most of their nodes.
            self._state, self._known = state, {}
        known = self._known
        found = known.get(expr)
        if found is not None:
            return found
        stack = [expr]  # not recursion: graphs can be deeper than Python's call stack
        while stack:
            node = stack[-1]
            op, args, needed = node.op, node.args, node
            value: int | None = None
            if op in ("and", "or"):  # left to right, until one decides
                deciding = int(op == "or")
                for needed in args:
                    value = known.get(needed)
                    if value is None or value == deciding:
                        break
            elif op == "ite":  # the other arm is not looked at
                needed = args[0]
                value = known.get(needed)
                if value is not None:
                    needed = args[1] if value else args[2]
                    value = known.get(needed)
            elif args:
                missing = [arg for arg in args if arg not in known]
                if missing:
                    stack.extend(missing)
                    continue
                value = OPERATORS[op](*[known[arg] for arg in args])
            else:
                value = self._leaf(node, state)
            if value is None:
                stack.append(needed)
            else:
                known[stack.pop()] = value
        return known[expr]

    def _leaf(self, node: Expr, state: State) -> int:
        value: Any = node.value
        if node.op == "const":
            return int(value)
        if node.op == "var":
            place = self._position.get(value)
            if place is None:
                raise ValueError(f"`{value.name}` is not a variable of {self.system.name}")
            return state[place]
        if node.op != "param":
            raise ValueError(f"`{node.op}` is no operator of the modelling language")
        if value.name not in self.parameters:
            raise ValueError(f"the parameter `{value.name}` has no value here: give one in `parameters`")
        return self.parameters[value.name]

    def holds(self, predicate: Expr, state: State) -> bool:
        """Whether a condition is true in this state."""
        return bool(self.evaluate(predicate, state))

    def enabled(self, state: State, among: Iterable[int] | None = None) -> list[int]:
        """The transitions that can happen in this state, by number; of all, or of these."""
        transitions = self.system.transitions
        return [
            number
            for number in (range(len(transitions)) if among is None else among)
            if self.holds(transitions[number].guard, state) and not self.blocking(state, number)
        ]

    def blocking(self, state: State, number: int) -> list[str]:
        """The constraints of one transition that do not hold in this state, whether or not its guard does."""
        return [
            name
            for name, constraint in self.system.transitions[number].constraints
            if not self.holds(constraint, state)
        ]

    def successor(self, state: State, number: int) -> State:
        """The state after one transition, which must be enabled here; all updates read the old state.

        Raises ValueError if a variable would leave its range: that is a mistake in the system.
        """
        following = list(state)
        for variable, update in self.system.transitions[number].updates.items():
            code = self.evaluate(update, state)
            if not variable.lo <= code <= variable.hi:
                label = self.system.transitions[number].label
                raise ValueError(
                    f"{label} sets `{variable.name}` to {code}, outside {variable.lo}..{variable.hi}"
                )
            if variable in self.system.position:  # a variable with one value has no place in a state
                following[self.system.position[variable]] = code
        return tuple(following)
