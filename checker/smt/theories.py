"""How numbers become Z3 terms: as integers here, as bit-vectors in a tool of the tests.

A term stands for the value of one expression and is wide enough for the expression's range; `fit` carries it over
to another range that holds the value, too. Bools are Z3 bools in both, so a theory never sees one.
"""

from collections.abc import Callable
from typing import Any, Protocol

import z3

from ...model.language import Expr

Term = Any
"""A z3.ExprRef: bool, bit-vector or integer. (Z3's Python package has no types.)"""


class Theory(Protocol):
    """What the translation needs to know about numbers."""

    name: str
    logic: str
    """Z3's solver for constraints in this theory."""

    def number(self, code: int, lo: int, hi: int) -> Term:
        """A constant of the range lo..hi."""

    def unknown(self, name: str, lo: int, hi: int) -> Term:
        """A free constant that is meant to be in lo..hi; `within` says so."""

    def within(self, term: Term, lo: int, hi: int) -> list[Term]:
        """Conditions that hold an unknown of the range lo..hi in it; none where every term of its sort is."""

    def fit(self, term: Term, node: Expr, lo: int, hi: int) -> Term:
        """The term of `node`, whose value is in lo..hi, as a term of that range."""

    def apply(self, node: Expr, terms: list[Term]) -> Term:
        """The term of eq, lt, add, sub, mul or div on these terms of its arguments."""

    def code(self, value: Term, lo: int) -> int:
        """The number that a value of a model stands for; `lo` is the least of its range."""


class Integers:
    """Mathematical integers."""

    name, logic = "integers", "QF_LIA"

    def number(self, code: int, lo: int, hi: int) -> Term:
        return z3.IntVal(code)

    def unknown(self, name: str, lo: int, hi: int) -> Term:
        return z3.Int(name)

    def within(self, term: Term, lo: int, hi: int) -> list[Term]:
        return [term >= lo, term <= hi]

    def fit(self, term: Term, node: Expr, lo: int, hi: int) -> Term:
        return term

    def apply(self, node: Expr, terms: list[Term]) -> Term:
        return _INTEGERS[node.op](*terms)

    def code(self, value: Term, lo: int) -> int:
        return int(value.as_long())


_INTEGERS: dict[str, Callable[[Term, Term], Term]] = {
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,  # SMT-LIB's, which rounds down where the divisor is positive, as it always is
}


INTEGERS: Theory = Integers()
