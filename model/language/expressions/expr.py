"""Symbolic expressions: hash-consed, folded while they are built, each with a finite range.

An expression is a node of a directed acyclic graph. Nodes are built only by the functions of this
module, which fold constants, so that a function applied to constants gives a constant. Two nodes of
one graph are equal exactly when they are the same object.

Operators (`Expr.op`), the whole vocabulary that an engine has to know:

    const                 value                      var, param      value is a Variable / Parameter
    not a                 and a..  or a..            eq a b          lt a b
    add a b   sub a b     mul a b  div a b (floor)   ite c a b
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from operator import attrgetter
from types import MethodType
from typing import Any, NoReturn, Union, cast

from .errors import Location, ModelError, caller_location
from .sorts import BOOL, INT, Entity, Sort, sort_of_enum, sort_of_ref

Value = Union["Expr", "Parameter", bool, int, Enum, Entity, None]


class Variable:
    """One finite state variable: a name for people, a sort, a range, and its initial code."""

    __slots__ = ("hi", "initial", "lo", "name", "sort")

    def __init__(self, name: str, sort: Sort, lo: int, hi: int, initial: int) -> None:
        self.name, self.sort, self.lo, self.hi, self.initial = name, sort, lo, hi, initial

    @property
    def bits(self) -> int:
        """How many bits a packed state needs for this variable."""
        return (self.hi - self.lo).bit_length()

    def __repr__(self) -> str:
        return self.name


class Parameter:
    """A number that one system fixes and that a symbolic engine may leave unknown in lo..hi."""

    __slots__ = ("hi", "lo", "name")

    def __init__(self, name: str, lo: int, hi: int) -> None:
        self.name, self.lo, self.hi = name, lo, hi

    def __repr__(self) -> str:
        return self.name


class Expr:
    """A symbolic value. Use operators and the functions of this module; never `if`, `and`, `or`, `in`."""

    __slots__ = ("args", "hi", "index", "lo", "location", "op", "sort", "value")

    op: str
    args: tuple[Expr, ...]
    value: Any
    sort: Sort
    lo: int
    hi: int
    index: int
    location: Location

    __class__ = property(type)  # what `isinstance` asks for, which code of the user's gets no answer to

    @property
    def is_const(self) -> bool:
        """Whether this is a constant; its code is then `value`."""
        return self.op == "const"

    def __bool__(self) -> NoReturn:
        raise ModelError(
            "a symbolic value has no truth value while the model is traced: "
            "use `with when(...)`, `select(...)`, `&`, `|`, `~` instead of `if`, `and`, `or`, `not`"
        )

    def __iter__(self) -> NoReturn:
        raise ModelError("a symbolic value cannot be iterated or searched with `in`")

    def __contains__(self, item: object) -> NoReturn:
        raise ModelError("a symbolic value cannot be iterated or searched with `in`")

    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        return equal(self, other)

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return negate(equal(self, other))

    def __lt__(self, other: Value) -> Expr:
        return less(self, other)

    def __gt__(self, other: Value) -> Expr:
        return less(other, self)

    def __le__(self, other: Value) -> Expr:
        return negate(less(other, self))

    def __ge__(self, other: Value) -> Expr:
        return negate(less(self, other))

    def __invert__(self) -> Expr:
        return negate(self)

    def __and__(self, other: Value) -> Expr:
        return all_of((self, other))

    def __or__(self, other: Value) -> Expr:
        return any_of((self, other))

    def __add__(self, other: Value) -> Expr:
        return add(self, other)

    def __sub__(self, other: Value) -> Expr:
        return subtract(self, other)

    def __rsub__(self, other: Value) -> Expr:
        return subtract(other, self)

    def __mul__(self, other: Value) -> Expr:
        return multiply(self, other)

    def __floordiv__(self, other: Value) -> Expr:
        return divide(self, other)

    def __truediv__(self, other: Value) -> NoReturn:
        raise ModelError("there are no fractions: divide with `//`, which rounds down")

    def __mod__(self, other: Value) -> Expr:
        return remainder(self, other)

    def __rfloordiv__(self, other: Value) -> Expr:
        return divide(other, self)

    def __rmod__(self, other: Value) -> Expr:
        return remainder(other, self)

    def __neg__(self) -> Expr:
        return subtract(0, self)

    def __abs__(self) -> Expr:
        most = max(abs(self.lo), abs(self.hi))
        return _narrow(select(less(self, 0), subtract(0, self), self), 0, most)

    def __xor__(self, other: Value) -> Expr:
        return negate(equal(as_expr(self, BOOL), as_expr(other, BOOL)))

    def __index__(self) -> NoReturn:
        raise ModelError(
            "a symbolic value is no number of Python's while the model is traced: a table that it can index is "
            "`per(range(...), ...)`, and `select(...)` chooses between values"
        )

    __int__ = __round__ = __index__
    __copy__ = __deepcopy__ = lambda self, *_: self  # equal nodes are one
    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__
    __radd__ = __add__
    __rmul__ = __mul__

    @property
    def is_none(self) -> Expr:
        """Whether this optional reference refers to nothing."""
        if self.sort.tag is None or not issubclass(self.sort.tag, Entity):
            raise ModelError(f"`is_none` is for references; this is a value of sort {self.sort}")
        return equal(self, None)

    @property
    def is_some(self) -> Expr:
        """Whether this optional reference refers to an entity."""
        return negate(self.is_none)

    def __repr__(self) -> str:
        if self.op == "const":
            return show_code(self.sort, self.value)
        if self.op in ("var", "param"):
            return str(self.value)
        return f"{self.op}({', '.join(map(repr, self.args))})"


def show_code(sort: Sort, code: int) -> str:
    """A constant for people: true, 3, POPPED, none, or the reference's index."""
    if sort is BOOL:
        return "true" if code else "false"
    if sort.tag is None:
        return str(code)
    if issubclass(sort.tag, Enum):
        return str(list(sort.tag)[code].name)
    return "none" if code == 0 else f"{sort.tag.__name__}#{code - 1}"


# One graph at a time: a fresh table per traced system keeps numbering, and with it every order that
# depends on it, the same whatever was traced before in this process.
_Key = tuple[Any, ...] | Variable | Parameter
_table: dict[_Key, Expr] = {}
_joined: dict[tuple[Any, ...], Expr] = {}  # what a conjunction or disjunction of these in this order gave


@contextmanager
def fresh_graph() -> Iterator[None]:
    """Build expressions in a new, empty graph; the previous one is restored at exit."""
    global _table, _joined
    saved = _table, _joined
    _table, _joined = {}, {}
    try:
        yield
    finally:
        _table, _joined = saved


_NOWHERE: Location = ("", 0)


def _node(op: str, args: tuple[Expr, ...], sort: Sort, lo: int, hi: int) -> Expr:
    key = op, args
    found = _table.get(key)
    return _added(key, op, args, None, sort, lo, hi) if found is None else found


def _added(key: _Key, op: str, args: tuple[Expr, ...], value: Any, sort: Sort, lo: int, hi: int) -> Expr:
    found = object.__new__(Expr)
    found.op, found.args, found.value, found.sort = op, args, value, sort
    found.lo, found.hi, found.index = lo, hi, len(_table)
    # Nobody asks where a value comes from that cannot be too large, and to find out takes a while.
    found.location = caller_location() if sort is INT else _NOWHERE
    _table[key] = found
    return found


def const(sort: Sort, code: int) -> Expr:
    """The constant of `sort` with this code."""
    key = code, sort
    found = _table.get(key)
    return _added(key, "const", (), code, sort, code, code) if found is None else found


def variable(var: Variable) -> Expr:
    """The value of a state variable before the step."""
    found = _table.get(var)
    if found is not None:
        return found
    if var.lo == var.hi:
        return const(var.sort, var.lo)
    return _added(var, "var", (), var, var.sort, var.lo, var.hi)


def parameter(par: Parameter) -> Expr:
    """The value of a parameter."""
    if par.lo == par.hi:
        return const(INT, par.lo)
    found = _table.get(par)
    return _added(par, "param", (), par, INT, par.lo, par.hi) if found is None else found


def as_expr(value: Value, like: Sort | None = None) -> Expr:
    """`value` as an expression; `like` tells which references None stands for.

    Raises ModelError if the value has no symbolic form or its sort is not `like`.
    """
    if type(value) is Expr:
        result: Expr = value
        if like is None or result.sort is like:
            return result
    elif isinstance(value, bool):
        result = const(BOOL, int(value))
    elif isinstance(value, int):
        result = const(INT, value)
    elif isinstance(value, Enum):
        result = const(sort_of_enum(type(value)), _position(value))
    elif isinstance(value, Entity):
        result = const(sort_of_ref(type(value)), value.index + 1)
    elif isinstance(value, Parameter):
        result = parameter(value)
    elif value is None and like is not None and like.tag is not None and issubclass(like.tag, Entity):
        result = const(like, 0)
    elif isinstance(value, MethodType):
        raise ModelError(f"`{value.__name__}` is a method: call it, `{value.__name__}(...)`")
    else:
        raise ModelError(f"`{value!r}` is not a value of the modelling language")
    if like is not None and result.sort is not like:
        raise ModelError(f"expected a value of sort {like}, got one of sort {result.sort}")
    return result


def _position(member: Enum) -> int:
    known = _positions.get(type(member))
    if known is None:
        known = _positions[type(member)] = {m.name: i for i, m in enumerate(type(member))}
    return known[member._name_]


_positions: dict[type[Enum], dict[str, int]] = {}


def true() -> Expr:
    """The constant true."""
    return const(BOOL, 1)


def _pair(a: Value, b: Value) -> tuple[Expr, Expr]:
    if type(a) is Expr:
        return a, b if type(b) is Expr and a.sort is b.sort else as_expr(b, a.sort)
    left = as_expr(a, None if a is not None else as_expr(b).sort)
    return left, as_expr(b, left.sort)


def negate(a: Value) -> Expr:
    """Logical not."""
    a = a if type(a) is Expr and a.sort is BOOL else as_expr(a, BOOL)
    op = a.op
    if op == "const":
        return const(BOOL, 1 - a.value)
    if op == "not":
        return a.args[0]
    return _node("not", (a,), BOOL, 0, 1)


def _junction(op: str, items: Iterable[Value] | Value, absorbing: int) -> Expr:
    given = [
        item if type(item) is Expr and item.sort is BOOL else as_expr(item, BOOL)
        for item in listed(items, ())
    ]
    if len(given) == 2:  # most have two, of which one says nothing
        a, b = given
        if a.op == "const":
            return a if a.value == absorbing else b
        if b.op == "const":
            return b if b.value == absorbing else a
    key = op, *given
    found = _joined.get(key)
    if found is None:
        found = _joined[key] = _folded(op, given, absorbing)
    return found


def _folded(op: str, given: list[Expr], absorbing: int) -> Expr:
    dual = _DUAL[op]
    while True:  # what is left of one member may say something of another
        seen = _members(op, given)
        for item in seen:
            if item.op == "const" or (item.op == "not" and item.args[0] in seen):
                return const(BOOL, absorbing)
        if not seen:
            return const(BOOL, 1 - absorbing)
        if len(seen) == 1:
            return next(iter(seen))
        if len(seen) > _MANY or not any(
            item.op == dual or (item.op == "not" and item.args[0].op == op) for item in seen
        ):
            break
        # All at once: what a member says less for is smaller than it is, so a smaller one always stands for what a larger one gave up.
        given = [
            item if item.op not in (dual, "not") else _beside(op, item, seen, absorbing) for item in seen
        ]
        if all(a is b for a, b in zip(given, seen, strict=True)):
            break
    return _node(op, tuple(sorted(seen, key=_index)), BOOL, 0, 1)


_DUAL = {"and": "or", "or": "and"}

_MANY = 64
"""A junction of more members is left as it is: to look at each beside all others takes the square of their number."""


def _members(op: str, given: list[Expr]) -> dict[Expr, None]:
    """The members of a junction, those of junctions of its own kind among them, without the constant that says nothing."""
    seen: dict[Expr, None] = {}
    neutral = int(op == "and")
    stack = given[::-1]
    while stack:
        item = stack.pop()
        if item.op == op:
            stack.extend(reversed(item.args))
        elif item.op != "const" or item.value != neutral:
            seen[item] = None
    return seen


def _beside(op: str, item: Expr, seen: dict[Expr, None], absorbing: int) -> Expr:
    """What is left of one member of a junction beside the others, which say the same of what is in it: absorption, and unit propagation."""
    inverse = item.op == "not"
    junction = item.args[0] if inverse else item
    if junction.op != (op if inverse else _DUAL[op]):
        return item
    left = []
    for part in junction.args:
        opposite = part.args[0] if part.op == "not" else _table.get(("not", (part,)))
        same, other = (opposite, part) if inverse else (part, opposite)
        if same in seen:
            return const(BOOL, 1 - absorbing)
        if other not in seen:
            left.append(part)
    if len(left) == len(junction.args):
        return item
    rest = _junction(junction.op, left, absorbing if inverse else 1 - absorbing)
    return negate(rest) if inverse else rest


_index = attrgetter("index")


def all_of(items: Iterable[Value] | Value, *more: Value) -> Expr:
    """Conjunction of all in a list, or of those that are given one by one; true of nothing."""
    return _junction("and", listed(items, more) if more else items, 0)


def any_of(items: Iterable[Value] | Value, *more: Value) -> Expr:
    """Disjunction, of the same; false of nothing."""
    return _junction("or", listed(items, more) if more else items, 1)


def implies(a: Value, b: Value) -> Expr:
    """Logical implication."""
    return any_of((negate(a), b))


def equal(a: Value, b: Value) -> Expr:
    """Equality of two values of one sort."""
    x, y = (a, b) if type(a) is Expr and type(b) is Expr and a.sort is b.sort else _pair(a, b)
    if x is y:
        return const(BOOL, 1)
    if x.hi < y.lo or y.hi < x.lo:
        return const(BOOL, 0)
    if x.op == "const":
        x, y = y, x
    if y.op == "const":
        if x.op == "const":
            return const(BOOL, int(x.value == y.value))
        if x.sort is BOOL:
            return x if y.value else negate(x)
        if x.op == "ite" and (x.args[1].op == "const" or x.args[2].op == "const"):
            return select(x.args[0], equal(x.args[1], y), equal(x.args[2], y))
    elif x.index > y.index:
        x, y = y, x
    return _node("eq", (x, y), BOOL, 0, 1)


def as_number(value: Value) -> Expr:
    """A value as an int; a condition counts 1 where it holds. Raises ModelError for any other value."""
    found = as_expr(value)
    if found.sort is INT:
        return found
    return select(found, 1, 0) if found.sort is BOOL else as_expr(found, INT)


def less(a: Value, b: Value) -> Expr:
    """Strictly less, for ints, or for members of one Enum class in the order of their definition."""
    members = _order_of(a, b)
    if members:
        x, y = _pair(a, b)
        return any_of(
            all_of((equal(x, one), any_of(equal(y, later) for later in members[at + 1 :])))
            for at, one in enumerate(members)
        )
    x, y = as_expr(a, INT), as_expr(b, INT)
    if x.hi < y.lo:
        return const(BOOL, 1)
    if x is y or x.lo >= y.hi:
        return const(BOOL, 0)
    return _node("lt", (x, y), BOOL, 0, 1)


def _order_of(*values: Value) -> list[Enum]:
    """The members of the Enum class that one of the values is of; none if none is."""
    for value in values:
        tag = value.sort.tag if isinstance(value, Expr) else type(value)
        if isinstance(tag, type) and issubclass(tag, Enum):
            return list(tag)
    return []


def add(a: Value, b: Value) -> Expr:
    """Sum of two ints; a condition counts 1 where it holds, here and in the other sums and products."""
    x, y = as_number(a), as_number(b)
    if x.op == "const":
        x, y = y, x
    if y.op == "const":
        if x.op == "const":
            return const(INT, x.value + y.value)
        if y.value == 0:
            return x
        if x.op == "add" and x.args[1].op == "const":
            return add(x.args[0], const(INT, x.args[1].value + y.value))
    elif x.index > y.index:
        x, y = y, x
    return _node("add", (x, y), INT, x.lo + y.lo, x.hi + y.hi)


def subtract(a: Value, b: Value) -> Expr:
    """Difference of two ints."""
    x, y = as_number(a), as_number(b)
    if y.op == "const":
        return add(x, const(INT, -y.value))
    if x is y:
        return const(INT, 0)
    return _node("sub", (x, y), INT, x.lo - y.hi, x.hi - y.lo)


def multiply(a: Value, b: Value) -> Expr:
    """Product of two ints."""
    x, y = as_number(a), as_number(b)
    if x.op == "const":
        x, y = y, x
    if y.op == "const":
        if x.op == "const":
            return const(INT, x.value * y.value)
        if y.value == 0:
            return y
        if y.value == 1:
            return x
    elif x.index > y.index:
        x, y = y, x
    corners = [x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi]
    return _node("mul", (x, y), INT, min(corners), max(corners))


def divide(a: Value, b: Value) -> Expr:
    """Quotient rounded down; the divisor must be positive throughout its range."""
    x, y = as_expr(a, INT), as_expr(b, INT)
    if y.lo <= 0:
        raise ModelError(
            f"division by a value that can be {y.lo}: the divisor must be positive, such as `clamp(..., 1, {max(y.hi, 1)})`"
        )
    if x.op == "const" and y.op == "const":
        return const(INT, x.value // y.value)
    if y.op == "const" and y.value == 1:
        return x
    corners = [x.lo // y.lo, x.lo // y.hi, x.hi // y.lo, x.hi // y.hi]
    return _node("div", (x, y), INT, min(corners), max(corners))


def remainder(a: Value, b: Value) -> Expr:
    """What division leaves: a value from 0 up to the divisor, which must be positive throughout its range."""
    x, y = as_expr(a, INT), as_expr(b, INT)
    return clamp(subtract(x, multiply(y, divide(x, y))), 0, y.hi - 1)


def select(condition: Value, a: Value, b: Value) -> Expr:
    """`a` where the condition holds, else `b`; both of one sort."""
    c = condition if type(condition) is Expr and condition.sort is BOOL else as_expr(condition, BOOL)
    x, y = (a, b) if type(a) is Expr and type(b) is Expr and a.sort is b.sort else _pair(a, b)
    if x is y:
        return x
    if c.op == "not":
        c, x, y = c.args[0], y, x
    if c.op == "const":
        return x if c.value else y
    if x.sort is BOOL:
        if x is c:
            x = const(BOOL, 1)
        if y is c:
            y = const(BOOL, 0)
        if x.op == "const":
            return any_of((c, y)) if x.value else all_of((negate(c), y))
        if y.op == "const":
            return any_of((negate(c), x)) if y.value else all_of((c, x))
    if x.op == "ite" and x.args[0] is c:
        x = x.args[1]
    if y.op == "ite" and y.args[0] is c:
        y = y.args[2]
    if x is y:
        return x
    return _node("ite", (c, x, y), x.sort, min(x.lo, y.lo), max(x.hi, y.hi))


def listed(items: Iterable[Value] | Value, more: tuple[Value, ...]) -> Iterable[Value]:
    """What was given, as a list or one by one."""
    if not more and type(items) is not Expr and isinstance(items, Iterable):
        return items
    return cast("tuple[Value, ...]", (items, *more))


def clamp(a: Value, lo: int, hi: int) -> Expr:
    """An int, held within lo..hi. Raises ModelError if that is no range."""
    if lo > hi:
        raise ModelError(f"`clamp` to {lo}..{hi}: the lower bound comes first")
    x = as_expr(a, INT)
    if x.lo < lo:
        x = _narrow(select(less(x, lo), lo, x), lo, x.hi)
    if x.hi > hi:
        x = _narrow(select(less(hi, x), hi, x), x.lo, hi)
    return x


def _narrow(e: Expr, lo: int, hi: int) -> Expr:
    # The range of an ite is the hull of its arms; a clamp knows better.
    if e.op == "ite":
        e.lo, e.hi = max(e.lo, lo), min(e.hi, hi)
    return e
