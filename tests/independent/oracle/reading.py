"""What a transition system means, worked out a second time: values of expressions, and the steps of a state.

Nothing of this folder uses a line of `checker/`. It reads the data of a system, its variables, transitions and expression
nodes, and is plain recursion over them: an expression is evaluated from the top down, and of a conjunction, a
disjunction or a choice only what is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from podrace.model.language import Expr, State, TransitionSystem


class OutOfRange(Exception):
    """A step would give a variable a value that it cannot have."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What can happen in a state: transitions with where they lead, those whose guard holds, and the bounds that stop one."""

    steps: tuple[tuple[int, State], ...]
    willing: frozenset[int]
    hit: frozenset[str]


class Reader:
    """Reads one system, whose unknown parameters have the values given by name."""

    def __init__(self, system: TransitionSystem, parameters: Mapping[str, int] | None = None) -> None:
        self.system, self.parameters = system, dict(parameters or {})
        self._place = {id(v): i for i, v in enumerate(system.variables)}

    def holds(self, condition: Expr, state: State) -> bool:
        """Whether a condition is true in a state."""
        return self.value(condition, state, {}) != 0

    def moves(self, state: State) -> Moves:
        """All that can happen in a state."""
        known: dict[int, int] = {}
        steps, willing, hit = [], [], set[str]()
        for number, transition in enumerate(self.system.transitions):
            if not self.value(transition.guard, state, known):
                continue
            willing.append(number)
            stopped = [name for name, bound in transition.constraints if not self.value(bound, state, known)]
            hit.update(stopped)
            if not stopped:
                steps.append((number, self._after(number, state, known)))
        return Moves(tuple(steps), frozenset(willing), frozenset(hit))

    def _after(self, number: int, state: State, known: dict[int, int]) -> State:
        codes = dict(enumerate(state))
        for variable, update in self.system.transitions[number].updates.items():
            code = self.value(update, state, known)
            if code < variable.lo or code > variable.hi:
                raise OutOfRange(variable.name)
            if id(variable) in self._place:
                codes[self._place[id(variable)]] = code
        return tuple(codes[i] for i in range(len(state)))

    def value(self, node: Expr, state: State, known: dict[int, int]) -> int:
        """The code of an expression; `known` keeps what was worked out in this state."""
        if node.op == "const":
            return int(node.value)
        if node.op == "var":
            return state[self._place[id(node.value)]]
        if node.op == "param":
            return self.parameters[node.value.name]
        if id(node) not in known:
            known[id(node)] = self._operation(node, state, known)
        return known[id(node)]

    def _operation(self, node: Expr, state: State, known: dict[int, int]) -> int:
        first, *rest = node.args
        left = self.value(first, state, known)
        match node.op:
            case "not":
                return 0 if left else 1
            case "and":
                return 1 if left and all(self.value(e, state, known) for e in rest) else 0
            case "or":
                return 1 if left or any(self.value(e, state, known) for e in rest) else 0
            case "ite":
                return self.value(rest[0] if left else rest[1], state, known)
        right = self.value(rest[0], state, known)
        match node.op:
            case "eq":
                return 1 if left == right else 0
            case "lt":
                return 1 if left < right else 0
            case "add":
                return left + right
            case "sub":
                return left - right
            case "mul":
                return left * right
            case "div":
                return (left - left % right) // right
        raise ValueError(f"unknown operator {node.op}")
