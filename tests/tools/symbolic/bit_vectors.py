"""Numbers as bit-vectors of Z3, which bounded search is quicker with than with integers."""

from __future__ import annotations

from collections.abc import Callable

import z3

from podrace.checker.smt.theories import INTEGERS, Term, Theory
from podrace.model.language import Expr


class BitVectors:
    """Bit-vectors as narrow as the ranges allow: unsigned where nothing is negative, else in two's complement."""

    name, logic = "bit-vectors", "QF_FD"

    def number(self, code: int, lo: int, hi: int) -> Term:
        return z3.BitVecVal(code, width(lo, hi))

    def unknown(self, name: str, lo: int, hi: int) -> Term:
        return z3.BitVec(name, width(lo, hi))

    def within(self, term: Term, lo: int, hi: int) -> list[Term]:
        bits = width(lo, hi)
        if lo < 0:
            least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
            return [term >= lo] * (lo > least) + [term <= hi] * (hi < most)
        most = (1 << bits) - 1
        return [z3.UGE(term, lo)] * (lo > 0) + [z3.ULE(term, hi)] * (hi < most)

    def fit(self, term: Term, node: Expr, lo: int, hi: int) -> Term:
        have, want = width(node.lo, node.hi), width(lo, hi)
        if have > want:
            return z3.Extract(want - 1, 0, term)
        return _extended(term, node.lo < 0, want)

    def apply(self, node: Expr, terms: list[Term]) -> Term:
        a, b = node.args
        counted = (a, b) if node.op in ("eq", "lt") else (a, b, node)
        # Wide enough for all values involved, so that nothing overflows; the quotient's divisor may be the widest.
        lo, hi = min(e.lo for e in counted), max(e.hi for e in counted)
        bits, signed = width(lo, hi), lo < 0
        x, y = (_extended(t, e.lo < 0, bits) for t, e in zip(terms, node.args, strict=True))
        if node.op == "eq":
            return x == y
        if node.op == "lt":
            return x < y if signed else z3.ULT(x, y)
        found = _quotient(x, y, signed) if node.op == "div" else _ARITHMETIC[node.op](x, y)
        return z3.Extract(width(node.lo, node.hi) - 1, 0, found)

    def code(self, value: Term, lo: int) -> int:
        return int(value.as_signed_long() if lo < 0 else value.as_long())


_ARITHMETIC: dict[str, Callable[[Term, Term], Term]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def width(lo: int, hi: int) -> int:
    """The number of bits of a term for lo..hi."""
    if lo >= 0:
        return max(1, hi.bit_length())
    return 1 + max((-lo - 1).bit_length(), max(hi, 0).bit_length())


def _extended(term: Term, signed: bool, bits: int) -> Term:
    missing = bits - term.size()
    if missing == 0:
        return term
    return z3.SignExt(missing, term) if signed else z3.ZeroExt(missing, term)


def _quotient(x: Term, y: Term, signed: bool) -> Term:
    """x / y rounded down, for a positive y."""
    if not signed:
        return z3.UDiv(x, y)
    # The machine's division rounds towards zero: one more step down where something negative is left over.
    return z3.If(z3.And(x < 0, z3.SRem(x, y) != 0), x / y - 1, x / y)


THEORIES: dict[str, Theory] = {theory.name: theory for theory in (BitVectors(), INTEGERS)}
