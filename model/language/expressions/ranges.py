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

_CASES = 1000
"""How many combinations of conditions are told apart for one value. Where there are more, its range is wider than it could be."""


def range_where(value: Expr, known: Iterable[Expr], wanted: Interval | None = None) -> Interval:
    """Bounds of `value` in the states where all of `known` hold. What cannot happen there may have any bounds.

    With `wanted`, they need be no closer than that: it is enough if they are within it.
    """
    facts = [(condition, True) for condition in known]
    if wanted is not None:
        for depth in range(_DEPTH):
            lo, hi = _Facts(facts, depth).by_cases(value)
            if wanted[0] <= lo and hi <= wanted[1]:
                return lo, hi
    return _Facts(facts).by_cases(value)


_Cases = dict[frozenset[tuple[int, bool]], "_Facts"]
"""What follows from each combination of conditions that was told apart so far, by their identities."""


class _Facts:
    """What follows for parts of expressions from conditions of which it is known whether they hold."""

    def __init__(
        self, known: list[tuple[Expr, bool]], depth: int = _DEPTH, cases: _Cases | None = None
    ) -> None:
        self.known, self.depth = known, depth
        self.cases: _Cases = {} if cases is None else cases
        self.narrowed: dict[Expr, Interval] = {}
        self.computed: dict[Expr, Interval] = {}
        self.truths: dict[Expr, bool | None] = {}
        for _ in range(_ROUNDS):
            before = dict(self.narrowed)
            for condition, holds in known:
                self._assume(condition, holds)
            if self.narrowed == before:
                break

    def of(self, e: Expr) -> Interval:
        """The range of an expression."""
        # What is reached in many ways is computed once: a sum of sums has far more ways than parts.
        found = self.computed.get(e)
        if found is None:
            found = self.computed[e] = self._computed(e)
        lo, hi = found
        known = self.narrowed.get(e)
        return (lo, hi) if known is None else (max(lo, known[0]), min(hi, known[1]))

    def by_cases(self, e: Expr) -> Interval:
        """The range of an expression, where it calculates with conditions told apart by whether these hold."""
        lo, hi = self.of(e)
        condition = self._counted(e) if self.depth else None
        cases = None if condition is None else self._told_apart(condition)
        if cases is None:
            return lo, hi
        (a, b), (c, d) = (case.by_cases(e) for case in cases)
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
                n = _divisor(e)
                return self._ordered(e, a - d, b - c) if n is None else self._remainder(e.args[0], n)
            corners = (a * c, a * d, b * c, b * d)
            return min(corners), max(corners)
        if e.op == "div":
            (a, b), (c, d) = self.of(e.args[0]), self.of(e.args[1])
            c, d = max(c, 1), max(d, 1)  # where nothing is possible, a range may say anything
            corners = (a // c, a // d, b // c, b // d)
            return min(corners), max(corners)
        if e.op == "ite" and e.sort is not BOOL:
            holds = self._truth(e.args[0])
            if holds is not None:
                return self.of(e.args[1] if holds else e.args[2])
            cases = self._told_apart(e.args[0]) if self.depth else None
            if cases is not None:
                (a, b), (c, d) = cases[0].of(e.args[1]), cases[1].of(e.args[2])
                return max(min(a, c), e.lo), min(max(b, d), e.hi)
        return e.lo, e.hi

    def _remainder(self, x: Expr, n: int) -> Interval:
        a, b = self.of(x)
        return (a % n, b % n) if a // n == b // n else (0, n - 1)

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

    def _told_apart(self, condition: Expr) -> tuple[_Facts, _Facts] | None:
        """What follows where the condition holds as well, and where it does not; None if enough was told apart."""
        if len(self.cases) >= _CASES:
            return None
        return self._with(condition, True), self._with(condition, False)

    def _with(self, condition: Expr, holds: bool) -> _Facts:
        known = [(condition, holds), *self.known]
        key = frozenset((id(e), truth) for e, truth in known)
        found = self.cases.get(key)
        if found is None:
            found = self.cases[key] = _Facts(known, self.depth - 1, self.cases)
        return found

    def _truth(self, e: Expr) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        if e not in self.truths:
            self.truths[e] = self._judged(e)
        return self.truths[e]

    def _judged(self, e: Expr) -> bool | None:
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
        self.computed.clear()
        self.truths.clear()
        if e.op in ("add", "sub"):
            (x, y), (lo, hi) = e.args, new
            (a, b), (c, d) = self.of(x), self.of(y)
            if e.op == "add":
                self._narrow(x, lo - d, hi - c)
                self._narrow(y, lo - b, hi - a)
            elif (n := _divisor(e)) is not None:
                wanted = max(new[0], 0), min(new[1], n - 1)
                self._narrow(x, a + _up_to(a % n, wanted, n), b - _down_to(b % n, wanted, n))
            else:
                self._narrow(x, lo + c, hi + d)
                self._narrow(y, a - hi, b - lo)
        elif e.op in ("mul", "div") and e.args[1].op == "const" and e.args[1].value > 0:
            x, n, (lo, hi) = e.args[0], e.args[1].value, new
            if e.op == "div":
                self._narrow(x, lo * n, hi * n + n - 1)
            else:
                self._narrow(x, -(-lo // n), hi // n)
        elif e.op == "ite" and e.sort is not BOOL:
            holds = self._truth(e.args[0])
            if holds is not None:
                self._narrow(e.args[1] if holds else e.args[2], *new)


def _divisor(difference: Expr) -> int | None:
    """By which constant the minuend is divided, if a difference is what that division leaves: x - x // n * n."""
    x, product = difference.args
    if product.op != "mul" or product.args[1].op != "const":
        return None
    quotient, n = product.args
    return n.value if quotient.op == "div" and quotient.args[0] is x and quotient.args[1] is n else None


def _up_to(rest: int, wanted: Interval, n: int) -> int:
    """How far the next number is whose remainder is wanted, from one that leaves `rest`."""
    lo, hi = wanted
    return 0 if lo <= rest <= hi else (lo - rest) % n


def _down_to(rest: int, wanted: Interval, n: int) -> int:
    """How far the last number before is whose remainder is wanted, from one that leaves `rest`."""
    lo, hi = wanted
    return 0 if lo <= rest <= hi else (rest - hi) % n
