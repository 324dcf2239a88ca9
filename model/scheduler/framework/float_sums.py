"""Scores that upstream computes in floating point, as integers: the same numbers, which a test compares with floating point.

A percentage of a quotient is off by one for a few quotients only, and a sum of counts times logarithms is never near the number at which its rounding changes, so that a
fixed point of few bits does.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from math import floor, log

from ...language import Expr, as_expr, one_of, select, total
from ...language.expressions.errors import ModelError

Span = tuple[int, int]
"""The least and the greatest value of a number."""

MOST_COMBINATIONS = 200_000
MOST_BITS = 24
MARGIN = 1e-6
"""How far a sum stays from where its rounding changes: more than any order of additions, or any library's logarithm, can differ by."""


def share(part: Expr, whole: Expr, scale: int) -> Expr:
    """`int(scale * (part / whole))` in float64, of a part from 0 to the whole.

    The quotient is rounded to a float64, so that the product may come to less than the whole number that it should be. It depends on the quotient alone: there are
    as many cases as the scale has numbers.
    """
    exact = part * scale // whole
    short = [k for k in range(scale + 1) if int(float(scale) * (k / scale)) != k]
    if not short:
        return exact
    is_short = one_of(exact, *short) & (exact * whole == part * scale)
    return select(is_short, exact - 1, exact)


def weighted(terms: Sequence[tuple[Expr, Expr]], half: bool) -> Expr:
    """The sum of count * log(size + 2) over pairs of a count and a size, as an integer: rounded, or, if not `half`, rounded down.

    Raises ModelError where the counts and sizes are too many to be looked at one by one.
    """
    if not terms:
        return as_expr(0)
    bits = bits_for(tuple(((count.lo, count.hi), (size.lo, size.hi)) for count, size in terms), half)
    one = 1 << bits
    found = total(_weighed(count, size, bits) for count, size in terms)
    return (found + (one // 2 if half else 0)) // one


def _weighed(count: Expr, size: Expr, bits: int) -> Expr:
    found = count * _fixed(size.hi, bits)
    for value in range(size.lo, size.hi):
        found = select(size == value, count * _fixed(value, bits), found)
    return found


def _fixed(size: int, bits: int) -> int:
    return round(log(size + 2) * (1 << bits))


@cache
def bits_for(spans: tuple[tuple[Span, Span], ...], half: bool) -> int:
    """The fewest binary places with which all sums within these spans come to the same integer."""
    several = [[*product(_range(counts), _range(sizes))] for counts, sizes in spans]
    combinations = 1
    for choices in several:
        combinations *= len(choices)
    if combinations > MOST_COMBINATIONS:
        raise ModelError(
            f"the scores of soft topology spread constraints have {combinations} cases: give a pod fewer of them, or the cluster fewer pods"
        )
    more = 0.5 if half else 0.0
    wanted = {}
    for chosen in product(*several):
        exact = sum(count * log(size + 2) for count, size in chosen) + more
        if any(count for count, _ in chosen) and abs(exact - round(exact)) < MARGIN:
            raise ModelError("a score of topology spread is too near to where its rounding changes")
        wanted[chosen] = floor(exact)
    for bits in range(3, MOST_BITS):
        one = 1 << bits
        if all(_sum(chosen, bits) + (one // 2 if half else 0) >> bits == w for chosen, w in wanted.items()):
            return bits
    raise ModelError("the scores of soft topology spread constraints need too many binary places")


def _sum(chosen: Iterable[Span], bits: int) -> int:
    return sum(count * _fixed(size, bits) for count, size in chosen)


def _range(span: Span) -> range:
    return range(span[0], span[1] + 1)
