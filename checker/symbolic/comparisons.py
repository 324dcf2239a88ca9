"""Which choices of the quantities make a difference at all: those that some comparison of the system tells apart.

A system looks at its quantities through comparisons. Each side of a comparison is, on every way through its conditions, a
sum of quantities and a number; two choices that answer all comparisons between such sums alike give the same guards and
the same updates, so they have the same runs. The sums are read off the graph. Conditions on the way to one are
forgotten, so choices may be told apart that nothing distinguishes, but never the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...model.language import INT, Expr, Parameter, TransitionSystem, all_of, negate, topological, total
from ...model.language.expr import const, equal, fresh_graph, less, multiply, parameter
from ..interpreter import Interpreter
from ..quantities import quantities_of
from ..values import transition_roots

MOST_SUMS = 2000
"""With more sums than this below one expression, every choice counts as a class of its own."""

Sum = tuple[int, tuple[tuple[str, int], ...]]
"""A number, and how often each quantity is added to it, by name."""

Sums = frozenset[Sum] | None
"""What an expression can amount to; None for anything."""


class Comparisons:
    """The comparisons through which a system looks at its quantities; `exact` if they are not all that matters."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self._quantities = {q.name: q for q in quantities_of(system)}
        self.exact = False
        roots = [*transition_roots(system), *system.invariants.values()]
        self._sums: dict[Expr, Sums] = {}
        self._reads: dict[
            Expr, bool
        ] = {}  # whether its value, not only a condition on the way, has a quantity in it
        found: dict[tuple[str, Sum], Expr] = {}
        with fresh_graph():
            for node in topological(roots):
                if node.sort is INT:
                    self._add(node)
                elif node.op in ("eq", "lt") and node.args[0].sort is INT:
                    self._compare(node, found)
            for t in system.transitions:
                # A quantity that is remembered can be compared with anything later.
                if any(self._reads.get(update, False) for update in t.updates.values()):
                    self.exact = True
            if self.exact:
                found = {("eq", (0, ((name, 1),))): parameter(q) for name, q in self._quantities.items()}
        self.all = tuple(found.values())

    def like(self, values: Mapping[str, int]) -> Expr:
        """The condition on quantities to which no comparison tells them apart from these values."""
        interpreter, start = Interpreter(self._system, values), self._system.initial
        with fresh_graph():
            conditions = []
            for compared in self.all:
                value = interpreter.evaluate(compared, start)
                if self.exact:
                    conditions.append(equal(compared, value))
                else:
                    conditions.append(compared if value else negate(compared))
            return all_of(conditions)

    def _add(self, node: Expr) -> None:
        reads = [self._reads.get(a, False) for a in node.args if a.sort is INT]
        self._reads[node] = node.op == "param" or any(reads)
        self._sums[node] = self._amounts(node)

    def _amounts(self, node: Expr) -> Sums:
        if node.op == "param":
            quantity: Parameter = node.value
            return frozenset({(0, ((quantity.name, 1),))})
        if node.op == "ite":
            found = self._union(self._sums[node.args[1]], self._sums[node.args[2]])
        elif node.op in ("add", "sub") and self._reads[node]:
            left, right = (self._sums[a] for a in node.args)
            found = self._pairs(left, right, -1 if node.op == "sub" else 1)
        elif node.op == "mul" and self._reads[node]:
            found = self._scaled(*node.args)
        elif self._reads[node]:
            return None
        else:
            found = None
        if found is None and not self._reads[node] and node.hi - node.lo < MOST_SUMS:
            return frozenset((n, ()) for n in range(node.lo, node.hi + 1))
        return None if found is None or len(found) > MOST_SUMS else found

    def _union(self, a: Sums, b: Sums) -> Sums:
        return None if a is None or b is None else a | b

    def _pairs(self, a: Sums, b: Sums, sign: int) -> Sums:
        if a is None or b is None or len(a) * len(b) > MOST_SUMS**2:
            return None
        return frozenset(_combined(x, y, sign) for x in a for y in b)

    def _scaled(self, a: Expr, b: Expr) -> Sums:
        if self._reads[a]:
            a, b = b, a
        factors, sums = self._sums[a], self._sums[b]
        if self._reads[a] or factors is None or sums is None:
            return None
        return frozenset(_combined((0, ()), s, factor) for s in sums for factor, _ in factors)

    def _compare(self, node: Expr, found: dict[tuple[str, Sum], Expr]) -> None:
        left, right = node.args
        if not (self._reads[left] or self._reads[right]):
            return
        differences = self._pairs(self._sums[left], self._sums[right], -1)
        if differences is None:
            self.exact = True
            return
        for difference in sorted(differences):
            if difference[1] and (node.op, difference) not in found:
                found[node.op, difference] = self._condition(node.op, difference)

    def _condition(self, op: str, difference: Sum) -> Expr:
        """That a sum is 0, or less than 0."""
        number, parts = difference
        terms = [multiply(parameter(self._quantities[name]), times) for name, times in parts]
        amount = total([*terms, const(INT, number)])
        return equal(amount, 0) if op == "eq" else less(amount, 0)


def _combined(a: Sum, b: Sum, factor: int) -> Sum:
    parts = dict(a[1])
    for name, times in b[1]:
        parts[name] = parts.get(name, 0) + factor * times
    return a[0] + factor * b[0], tuple(sorted((n, times) for n, times in parts.items() if times))
