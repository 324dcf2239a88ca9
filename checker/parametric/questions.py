"""The questions about its parameters that a system asks in states that it reaches.

`grounding` lets the state take every value it may. Here it takes those that a search has met, and a comparison counts only where its
outcome is looked at: of a conjunction as far as the parts before it are true, of an update where the guard is true.
Parts without a parameter come before parts with one.

Parameters that answer these questions alike reach the same states and take the same transitions: by induction, what is looked at in each state has
the same values. The same parameters ask the same questions, so two choices that are alike in this sense are one class, and
the classes are disjoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.language import BOOL, Expr, Parameter, TransitionSystem, Variable, topological
from ...model.language.expressions.expr import fresh_graph
from .grounding import conditions_on_parameters, leaves_of, with_values

Column = NDArray[Any]
Columns = Mapping[Variable, Column]
"""For each variable its codes, one for each state."""

BLOCK = 1 << 12
"""So many states are looked at together."""


class AskedQuestions:
    """Tells which questions a system asks in given states. Questions are expressions of a graph of their own."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        everything = topological(system.roots())
        self._open: set[Expr] = set()
        for node in everything:
            if node.op == "param" or any(a in self._open for a in node.args):
                self._open.add(node)
        self._conditions = {c: leaves_of(c) for c in conditions_on_parameters(system)}
        self._roots = [(root, given) for root, given in _looked_at(system) if root in self._open]
        needed = dict.fromkeys(e for root, given in self._roots for e in (root, *given))
        self._nodes = topological(needed)
        self._known: dict[tuple[Expr, int], Expr] = {}
        self._alike: dict[str, Expr] = {}

    def asked(self, columns: Columns, values: Mapping[Parameter, int]) -> list[Expr]:
        """The questions that a system with these parameters asks in these states, each once, in a fixed order."""
        codes: dict[Expr, set[int]] = {condition: set() for condition in self._conditions}
        count = len(next(iter(columns.values())))
        for start in range(0, count, BLOCK):
            block = {v: column[start : start + BLOCK] for v, column in columns.items()}
            self._note(block, values, codes)
        found: dict[Expr, None] = {}
        for condition, some in codes.items():
            for code in sorted(some):
                question = self._question(condition, code)
                if not question.is_const:
                    found[question] = None
        return list(found)

    def _question(self, condition: Expr, code: int) -> Expr:
        key = condition, code
        if key not in self._known:
            chosen = {}
            for leaf in self._conditions[condition]:
                code, digit = divmod(code, _size(leaf))
                chosen[leaf] = digit + _least(leaf)
            with fresh_graph():
                made = with_values(condition, chosen)
            # A condition and its negation are one question.
            made = made.args[0] if made.op == "not" else made
            self._known[key] = self._alike.setdefault(repr(made), made)
        return self._known[key]

    def _note(self, columns: Columns, values: Mapping[Parameter, int], codes: dict[Expr, set[int]]) -> None:
        count = len(next(iter(columns.values())))
        known = _evaluated(self._nodes, columns, values, count)
        looked: dict[Expr, Column] = {}

        def look(node: Expr, where: Column) -> None:
            if node in self._open:
                looked[node] = where if node not in looked else looked[node] | where

        for root, given in self._roots:
            where = np.ones(count, bool)
            for condition in given:
                where = where & known[condition]
            look(root, where)
        for node in reversed(self._nodes):
            if node not in looked:
                continue
            where = looked.pop(node)
            if not where.any():
                continue
            if node in self._conditions:
                leaves = self._conditions[node]
                codes[node] |= _codes(leaves, known, where)
                for leaf in leaves:
                    look(leaf, where)
            else:
                for arg, here in self._parts(node, where, known):
                    look(arg, here)

    def _parts(
        self, node: Expr, where: Column, known: Mapping[Expr, Column]
    ) -> Iterator[tuple[Expr, Column]]:
        """Which arguments of a node are looked at where."""
        if node.op in ("and", "or"):
            for arg in sorted(node.args, key=lambda a: a in self._open):
                yield arg, where
                where = where & (known[arg] if node.op == "and" else ~known[arg])
        elif node.op == "ite":
            condition, yes, no = node.args
            yield condition, where
            yield yes, where & known[condition]
            yield no, where & ~known[condition]
        else:
            for arg in node.args:
                yield arg, where


def _looked_at(system: TransitionSystem) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """What engines evaluate, each with what must be true for that."""
    for t in system.transitions:
        yield t.guard, ()
        yield from ((e, (t.guard,)) for _, e in t.constraints)
        yield from ((e, (t.guard,)) for e in t.updates.values())
    for table in (system.invariants, system.witnesses, system.resettabilities):
        yield from ((e, ()) for e in table.values())
    yield from ((e, ()) for e in system.liveness_predicates())


def _evaluated(
    nodes: Sequence[Expr], columns: Columns, values: Mapping[Parameter, int], count: int
) -> dict[Expr, Column]:
    known: dict[Expr, Column] = {}
    for node in nodes:
        args = [known[a] for a in node.args]
        if node.op == "const":
            found = np.full(count, node.value, bool if node.sort is BOOL else np.int64)
        elif node.op == "param":
            found = np.full(count, values[node.value], np.int64)
        elif node.op == "var":
            column = columns[node.value]
            found = column.astype(bool) if node.sort is BOOL else column
        elif node.op == "ite":
            found = np.where(*args)
        else:
            found = _OPERATORS[node.op](args)
        known[node] = found
    return known


_OPERATORS: dict[str, Callable[[list[Column]], Any]] = {
    "not": lambda args: ~args[0],
    "and": np.logical_and.reduce,
    "or": np.logical_or.reduce,
    "eq": lambda args: args[0] == args[1],
    "lt": lambda args: args[0] < args[1],
    "add": lambda args: args[0] + args[1],
    "sub": lambda args: args[0] - args[1],
    "mul": lambda args: args[0] * args[1],
    "div": lambda args: args[0] // np.maximum(args[1], 1),
}
"""What each operator does with columns. Where a divisor is not positive, nobody looks."""


def _codes(leaves: Sequence[Expr], known: Mapping[Expr, Column], where: Column) -> set[int]:
    """The values that the leaves have together, the first leaf as the lowest digit."""
    code = np.zeros(int(where.sum()), np.int64)
    for leaf in reversed(leaves):
        code = code * _size(leaf) + (known[leaf][where].astype(np.int64) - _least(leaf))
    return set(np.unique(code).tolist())


def _least(leaf: Expr) -> int:
    return 0 if leaf.sort is BOOL else leaf.lo


def _size(leaf: Expr) -> int:
    return 2 if leaf.sort is BOOL else leaf.hi - leaf.lo + 1
