"""The range of a value where a step can run: `self.fails + 1` is in range under `require(self.fails < 3)`, `self.fails - (self.fails > 0)` always.

Intervals are narrowed by what is known to hold, again and again until nothing changes: sound, quick, and not complete.
"""

from __future__ import annotations

from collections.abc import Iterable

from .expr import Expr
from .sorts import BOOL

Interval = tuple[int, int]

_ROUNDS = 4
_DEPTH = 3
"""How many conditions of nested choices are taken into account."""


def range_where(value: Expr, known: Iterable[Expr]) -> Interval:
    """Bounds of `value` in the states where all of `known` hold. What cannot happen there may have any bounds."""
    return _Facts([(condition, True) for condition in known]).by_cases(value)


class _Facts:
    """What follows for parts of expressions from conditions of which it is known whether they hold."""

    def __init__(self, known: list[tuple[Expr, bool]], depth: int = _DEPTH) -> None:
        self.known, self.depth = known, depth
        self.narrowed: dict[Expr, Interval] = {}
        for _ in range(_ROUNDS):
            before = dict(self.narrowed)
            for condition, holds in known:
                self._assume(condition, holds)
            if self.narrowed == before:
                break

    def of(self, e: Expr) -> Interval:
        """The range of an expression."""
        lo, hi = self._computed(e)
        known = self.narrowed.get(e)
        return (lo, hi) if known is None else (max(lo, known[0]), min(hi, known[1]))

    def by_cases(self, e: Expr) -> Interval:
        """The range of an expression, where it calculates with conditions told apart by whether these hold."""
        lo, hi = self.of(e)
        condition = self._counted(e) if self.depth else None
        if condition is None:
            return lo, hi
        (a, b), (c, d) = (self._with(condition, holds).by_cases(e) for holds in (True, False))
        return max(lo, min(a, c)), min(hi, max(b, d))

    def _counted(self, e: Expr) -> Expr | None:
        """The first condition that a sum, a difference or a product depends on and of which it is not known whether it holds."""
        if e.op == "ite" and self._truth(e.args[0]) is None:
            return e.args[0]
        if e.op in ("add", "sub", "mul"):
            return next((found for arg in e.args if (found := self._counted(arg)) is not None), None)
        return None

    def _computed(self, e: Expr) -> Interval:
        if e.op in ("add", "sub", "mul"):
            (a, b), (c, d) = self.of(e.args[0]), self.of(e.args[1])
            if e.op == "add":
                return a + c, b + d
            if e.op == "sub":
                return self._ordered(e, a - d, b - c)
            corners = (a * c, a * d, b * c, b * d)
            return min(corners), max(corners)
        if e.op == "ite" and e.sort is not BOOL:
            holds = self._truth(e.args[0])
            if holds is not None:
                return self.of(e.args[1] if holds else e.args[2])
            if self.depth:
                condition = e.args[0]
                (a, b), (c, d) = (
                    self._with(condition, True).of(e.args[1]),
                    self._with(condition, False).of(e.args[2]),
                )
                return max(min(a, c), e.lo), min(max(b, d), e.hi)
        return e.lo, e.hi

    def _ordered(self, difference: Expr, lo: int, hi: int) -> Interval:
        """The range of a difference, by what is known of which side is the greater one."""
        x, y = difference.args
        for fact, (holds, same) in self.narrowed.items():
            if fact.op != "lt" or holds != same:
                continue
            left, right = fact.args
            if left is x and right is y:
                lo, hi = (lo, min(hi, -1)) if holds else (max(lo, 0), hi)
            elif left is y and right is x:
                lo, hi = (max(lo, 1), hi) if holds else (lo, min(hi, 0))
        return lo, hi

    def _with(self, condition: Expr, holds: bool) -> _Facts:
        return _Facts([(condition, holds), *self.known], self.depth - 1)

    def _truth(self, e: Expr) -> bool | None:
        lo, hi = self.narrowed.get(e, (e.lo, e.hi))
        if lo == hi:
            return bool(lo)
        if e.op == "not":
            inner = self._truth(e.args[0])
            return None if inner is None else not inner
        if e.op in ("and", "or"):
            parts = [self._truth(a) for a in e.args]
            if (e.op == "or") in parts:
                return e.op == "or"
            return None if None in parts else e.op == "and"
        if e.op in ("lt", "eq"):
            (a, b), (c, d) = self.of(e.args[0]), self.of(e.args[1])
            if e.op == "lt":
                return True if b < c else False if a >= d else None
            return False if b < c or d < a else True if a == b == c == d else None
        return None

    def _assume(self, e: Expr, holds: bool) -> None:
        self._narrow(e, int(holds), int(holds))
        if e.op == "not":
            self._assume(e.args[0], not holds)
        elif e.op in ("and", "or"):
            if (e.op == "and") == holds:
                for part in e.args:
                    self._assume(part, holds)
            else:
                open_ = [part for part in e.args if self._truth(part) is not (e.op == "and")]
                if len(open_) == 1:
                    self._assume(open_[0], holds)
        elif e.op == "lt":
            x, y = e.args
            (a, b), (c, d) = self.of(x), self.of(y)
            if holds:
                self._narrow(x, a, d - 1)
                self._narrow(y, a + 1, d)
            else:
                self._narrow(x, c, b)
                self._narrow(y, c, b)
        elif e.op == "eq":
            self._assume_equal(e.args[0], e.args[1], holds)
        elif e.op == "ite":
            condition = self._truth(e.args[0])
            if condition is not None:
                self._assume(e.args[1] if condition else e.args[2], holds)

    def _assume_equal(self, x: Expr, y: Expr, holds: bool) -> None:
        (a, b), (c, d) = self.of(x), self.of(y)
        if holds:
            self._narrow(x, c, d)
            self._narrow(y, a, b)
            return
        for one, (lo, hi), (point, same) in ((x, (a, b), (c, d)), (y, (c, d), (a, b))):
            if point == same and lo < hi:
                self._narrow(one, lo + (lo == point), hi - (hi == point))

    def _narrow(self, e: Expr, lo: int, hi: int) -> None:
        if e.op == "const":
            return
        old = self.narrowed.get(e, (e.lo, e.hi))
        new = max(old[0], lo), min(old[1], hi)
        if new == old or new[0] > new[1]:
            return
        self.narrowed[e] = new
        if e.op in ("add", "sub"):
            (x, y), (lo, hi) = e.args, new
            (a, b), (c, d) = self.of(x), self.of(y)
            if e.op == "add":
                self._narrow(x, lo - d, hi - c)
                self._narrow(y, lo - b, hi - a)
            else:
                self._narrow(x, lo + c, hi + d)
                self._narrow(y, a - hi, b - lo)
        elif e.op == "ite" and e.sort is not BOOL:
            holds = self._truth(e.args[0])
            if holds is not None:
                self._narrow(e.args[1] if holds else e.args[2], *new)
