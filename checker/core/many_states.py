"""Expressions in many states at once, in plain Python: a set of states is an integer with a bit for each of them.

A condition is the set of the states in which it holds, and any other expression is its values, each with the set of the states in
which it has this value. So what a guard says of a thousand states costs about as much as what it says of one, and nothing is compiled.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import add, floordiv, mul, sub

from ...model.language import Expr, State, TransitionSystem, Variable
from ...model.language.expressions.sorts import BOOL

Set = int
"""States by their numbers: of n states, state i is bit n - 1 - i, so that written in binary they stand in order."""
Values = dict[int, Set]
"""Each value that an expression has in some state, with the states in which it has it."""

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {"add": add, "sub": sub, "mul": mul, "div": floordiv}
"""Not the interpreter's: by that, what is computed here is checked."""

MOST_PAIRS = 4096
"""Of more values of two expressions than this, taken together, nothing is computed here."""


class NotApplicable(Exception):
    """The system is none that is evaluated in this way, or not now: another engine is to be asked."""


class PackedStates:
    """States as integers, with a byte for each variable. Raises NotApplicable for a variable that takes more."""

    def __init__(self, system: TransitionSystem) -> None:
        self.variables = system.variables
        if any(v.hi - v.lo > 255 for v in self.variables):
            raise NotApplicable
        self.width = len(self.variables)
        self.place = {v: i for i, v in enumerate(self.variables)}

    def pack(self, state: State) -> int:
        """A state, one code for each variable, as an integer."""
        return int.from_bytes(
            bytes(code - v.lo for v, code in zip(self.variables, state, strict=True)), "little"
        )

    def columns(self, states: Sequence[int]) -> list[bytes]:
        """For each variable a byte for each state: how far its code lies above the least."""
        rows = b"".join([state.to_bytes(self.width, "little") for state in states])
        return [rows[i :: self.width] for i in range(self.width)]


class ManyStates:
    """What expressions of a system are in some of its states, which are known by their place in `states`."""

    def __init__(self, packed: PackedStates, states: Sequence[int]) -> None:
        self.count = len(states)
        self.all: Set = (1 << self.count) - 1
        self._place, self._columns = packed.place, packed.columns(states)
        self._conditions: dict[Expr, Set] = {}
        self._values: dict[Expr, Values] = {}

    def where(self, condition: Expr) -> Set:
        """The states in which a condition holds. Raises NotApplicable, and RecursionError for one that is very deep."""
        known = self._conditions.get(condition)
        if known is None:
            known = self._conditions[condition] = self._where(condition)
        return known

    def values(self, expr: Expr) -> Values:
        """The values of an expression that is no condition. Raises as `where` does."""
        known = self._values.get(expr)
        if known is None:
            known = self._values[expr] = self._compute(expr)
        return known

    def split(self, expr: Expr) -> Values:
        """The values of any expression; those of a condition are 0 and 1."""
        if expr.sort is not BOOL:
            return self.values(expr)
        true = self.where(expr)
        return {value: states for value, states in ((0, self.all ^ true), (1, true)) if states}

    def numbers(self, states: Set) -> Iterator[int]:
        """Their places, in order."""
        count = self.count
        if states.bit_count() * 8 > count:
            yield from (i for i, bit in enumerate(f"{states:0{count}b}") if bit == "1")
            return
        while states:
            highest = states.bit_length()
            yield count - highest
            states ^= 1 << (highest - 1)

    @property
    def looked(self) -> int:
        """How many expressions were evaluated."""
        return len(self._conditions) + len(self._values)

    def first(self, states: Set) -> int:
        """The place of the first of these states; there must be one."""
        return self.count - states.bit_length()

    def _where(self, node: Expr) -> Set:
        op, args, where = node.op, node.args, self.where
        if op == "and":
            found = self.all
            for arg in args:
                found &= where(arg)
                if not found:
                    break
            return found
        if op == "or":
            found = 0
            for arg in args:
                found |= where(arg)
                if found == self.all:
                    break
            return found
        if op == "not":
            return self.all ^ where(args[0])
        if op == "eq":
            return self._equal(*args)
        if op == "ite":
            condition = where(args[0])
            here = where(args[1]) & condition if condition else 0
            return here if condition == self.all else here | (where(args[2]) & ~condition)
        if op == "var":
            return _bits(self._column(node.value), 1)
        if op == "const":
            return self.all if node.value else 0
        if op == "lt":
            return self._compare(*args)
        raise NotApplicable

    def _equal(self, a: Expr, b: Expr) -> Set:
        if a.sort is BOOL:
            return self.all ^ self.where(a) ^ self.where(b)
        if b.op == "const":
            return self.values(a).get(b.value, 0)
        ours, others = self.values(a), self.values(b)
        found = 0
        for value, states in ours.items():
            found |= states & others.get(value, 0)
        return found

    def _compare(self, a: Expr, b: Expr) -> Set:
        found = 0
        for value, other, states in self._pairs(a, b):
            if value < other:
                found |= states
        return found

    def _pairs(self, a: Expr, b: Expr) -> Iterator[tuple[int, int, Set]]:
        """The values that two expressions have together."""
        ours, others = self.split(a), self.split(b)
        if len(ours) * len(others) > MOST_PAIRS:
            raise NotApplicable
        for value, states in ours.items():
            for other, theirs in others.items():
                if both := states & theirs:
                    yield value, other, both

    def _compute(self, node: Expr) -> Values:
        op, args = node.op, node.args
        if op == "var":
            variable: Variable = node.value
            column = self._column(variable)
            return {variable.lo + value: _bits(column, value) for value in set(column)}
        if op == "const":
            return {node.value: self.all}
        if op == "ite":
            return self._choose(*args)
        operator = _ARITHMETIC.get(op)
        if operator is None:
            raise NotApplicable
        found: Values = {}
        for a, b, states in self._pairs(*args):
            value = operator(a, b)
            found[value] = found.get(value, 0) | states
        return found

    def _choose(self, condition: Expr, a: Expr, b: Expr) -> Values:
        here = self.where(condition)
        if here == self.all:
            return self.values(a)
        if not here:
            return self.values(b)
        found = {value: both for value, states in self.values(a).items() if (both := states & here)}
        for value, states in self.values(b).items():
            rest = states & ~here
            if rest:
                found[value] = found.get(value, 0) | rest
        return found

    def _column(self, variable: Variable) -> bytes:
        place = self._place.get(variable)
        if place is None:
            raise NotApplicable
        return self._columns[place]


def _bits(column: bytes, value: int) -> Set:
    """The states whose byte in the column is `value`."""
    return int(column.translate(_is(value)), 2)


@cache
def _is(value: int) -> bytes:
    """For each byte a digit: 1 for `value`, 0 for any other."""
    return b"0" * value + b"1" + b"0" * (255 - value)
