"""Values made of a list of others: their sum, how many hold, the smallest, the largest."""

from collections.abc import Iterable
from functools import reduce

from .errors import ModelError
from .expr import Expr, Value, add, any_of, as_expr, const, equal, less, listed, select
from .sorts import INT


def one_of(value: Value, *choices: Value) -> Expr:
    """Whether a value is one of these, all of its sort."""
    return any_of(equal(value, choice) for choice in choices)


def total(items: Iterable[Value] | Value, *more: Value) -> Expr:
    """Sum of ints, of a list or one by one; 0 of nothing."""
    result = const(INT, 0)
    for item in listed(items, more):
        result = add(result, item)
    return result


def count(items: Iterable[Value] | Value, *more: Value) -> Expr:
    """How many of the conditions hold, of a list or one by one."""
    return total([select(item, 1, 0) for item in listed(items, more)])


def smallest(items: Iterable[Value] | Value, *more: Value) -> Expr:
    """The smallest of some ints, of a list or one by one, of which there is at least one."""
    return reduce(lambda a, b: select(less(b, a), b, a), _some("smallest", items, more))


def largest(items: Iterable[Value] | Value, *more: Value) -> Expr:
    """The largest of the same."""
    return reduce(lambda a, b: select(less(a, b), b, a), _some("largest", items, more))


def _some(name: str, items: Iterable[Value] | Value, more: tuple[Value, ...]) -> list[Expr]:
    found = [as_expr(item) for item in listed(items, more)]
    if not found:
        raise ModelError(f"`{name}` of nothing has no value: give it one to compare with")
    return found
