"""States of one word where bits alone would take more: variables whose ranges are no powers of two share a field.

A range of five values takes three bits, and log2(5) = 2.32 are enough: as digits of one number, each with a base of its own, three such variables take
seven bits instead of nine. The system is written anew with the number as a variable: where one of them was read, the
number is divided; where one is assigned to, the number changes by the difference. Nothing else of the system changes, so a run
of the one is a run of the other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import combinations_with_replacement
from math import prod

from ...base.structs import Data
from ...model.language import BOOL, INT, Expr, Transition, TransitionSystem, Variable
from ...model.language.expressions.expr import (
    add,
    const,
    divide,
    fresh_graph,
    multiply,
    parameter,
    subtract,
    variable,
)
from ...model.language.expressions.graph import substitute
from .state_layout import WORD_BITS, Layout

_WANTED = (62, 63, WORD_BITS)
"""Bits of a state, the best first: with one or two bits left, two threads or one can keep states in a table of keys."""

_MOST_WORDS = 2
"""Wider states are left as they are: of the systems known, none would become a word shorter."""

_LARGEST, _MOST_DIGITS = 1 << 8, 5
"""How many values a number may have, and how many digits: small numbers are quickly divided, 16 at a time."""


class Digit(Data):
    """One variable as a digit: the number's `base`s and `radix` such that number // base % radix is its code less `lo`."""

    number: Variable
    base: int
    radix: int
    lo: int

    def read(self) -> Expr:
        """The code of the variable, in terms of the number."""
        whole = variable(self.number)
        above = self.base * self.radix
        code = divide(whole, const(INT, self.base))
        if above <= self.number.hi:
            code = subtract(code, multiply(const(INT, self.radix), divide(whole, const(INT, above))))
            code.lo, code.hi = 0, self.radix - 1
        return add(code, const(INT, self.lo))


def in_fewer_words(system: TransitionSystem) -> TransitionSystem:
    """The same system with states of one word, or with a bit to spare in it, if that can be had; else `system` itself.

    Transitions, predicates and their order stay. Variables do not. A system of which a liveness is asked is left as it is.
    Raises ValueError for a variable that no word can hold.
    """
    words = Layout(system.variables).words
    if words > _MOST_WORDS or system.livenesses:
        return system
    for wanted in _WANTED:
        if words == 1 and system.bits <= wanted:
            break
        groups = list(_groups(system, system.bits - wanted))
        if groups:
            shorter = rewritten(system, groups)
            if Layout(shorter.variables).words == 1:
                return shorter
    return system


def _size(v: Variable) -> int:
    return v.hi - v.lo + 1


def _saved(sizes: Iterable[int]) -> int:
    """How many bits these ranges take less as one number."""
    sizes = list(sizes)
    return sum((n - 1).bit_length() for n in sizes) - (prod(sizes) - 1).bit_length()


def _groups(system: TransitionSystem, needed: int) -> Iterator[list[Variable]]:
    """Variables to share a field, so many that together they save the bits needed; none if that cannot be.

    Those that few transitions write go first: reading is cheap, for it is done for many states at once.
    """
    writers = Counter(v for t in system.transitions for v in t.updates)
    left: dict[int, list[Variable]] = {}
    for v in sorted(system.variables, key=lambda v: writers[v]):
        if _size(v) & (_size(v) - 1) and _size(v) <= _LARGEST // 2:
            left.setdefault(_size(v), []).append(v)
    chosen: list[list[Variable]] = []
    shapes = [
        shape
        for length in range(2, _MOST_DIGITS + 1)
        for shape in combinations_with_replacement(sorted(left), length)
        if prod(shape) <= _LARGEST and _saved(shape) > 0
    ]
    shapes.sort(key=lambda shape: (-_saved(shape) / len(shape), shape))
    for shape in shapes:
        while needed > 0 and all(len(left[size]) >= times for size, times in Counter(shape).items()):
            chosen.append([left[size].pop(0) for size in shape])
            needed -= _saved(shape)
    return iter(chosen if needed <= 0 else ())


def rewritten(system: TransitionSystem, groups: list[list[Variable]]) -> TransitionSystem:
    """The system with a number for each group. Its other variables become plain integers and conditions."""
    digits: dict[Variable, Digit] = {}
    members: dict[Variable, list[Variable]] = {}
    for group in groups:
        bases = [prod(map(_size, group[:place])) for place in range(len(group))]
        code = sum((v.initial - v.lo) * base for v, base in zip(group, bases, strict=True))
        name = " ".join(v.name for v in group)
        number = Variable(name, INT, 0, prod(map(_size, group)) - 1, code)
        members[number] = group
        digits |= {v: Digit(number, base, _size(v), v.lo) for v, base in zip(group, bases, strict=True)}
    plain = {v: _plain(v) for v in system.variables if v not in digits}

    def leaf(node: Expr) -> Expr:
        if node.op == "const":
            return const(BOOL if node.sort == BOOL else INT, node.value)
        if node.op == "var":
            return digits[node.value].read() if node.value in digits else variable(plain[node.value])
        return parameter(node.value)

    def moved(t: Transition) -> Transition:
        updates = {plain[v]: new[e] for v, e in t.updates.items() if v in plain}
        for number, group in members.items():
            assigned = {v: new[t.updates[v]] for v in group if v in t.updates}
            if assigned:
                updates[number] = _assigned(variable(number), [(digits[v], e) for v, e in assigned.items()])
        constraints = tuple((name, new[e]) for name, e in t.constraints)
        return replace(t, guard=new[t.guard], constraints=constraints, updates=updates)

    with fresh_graph():
        new = substitute(system.roots(), leaf)
        transitions = tuple(map(moved, system.transitions))
        return replace(
            system.with_predicates(
                **{
                    table: {name: new[e] for name, e in getattr(system, table).items()}
                    for table in ("invariants", "witnesses", "resettabilities")
                },
                views={},
            ),
            variables=(*plain.values(), *members),
            transitions=transitions,
        )


def _plain(v: Variable) -> Variable:
    return Variable(v.name, BOOL if v.sort == BOOL else INT, v.lo, v.hi, v.initial)


def _assigned(number: Expr, changes: list[tuple[Digit, Expr]]) -> Expr:
    """The number with these digits replaced."""

    def changed(so_far: Expr, change: tuple[Digit, Expr]) -> Expr:
        digit, code = change
        return add(so_far, multiply(const(INT, digit.base), subtract(code, digit.read())))

    return reduce(changed, changes, number)
