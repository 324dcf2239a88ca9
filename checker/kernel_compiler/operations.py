"""Expressions of kernels to LLVM instructions, for `translation`."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from ..llvm.text import Assembly
from .kinds import Array, Element, Number, NumberKind, Untranslatable, common, literal

_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
}
_KNOWN: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


class Operations:
    """Writes instructions on numbers and elements of arrays; one for each call."""

    def __init__(self, out: Assembly) -> None:
        self.out = out

    def as_number(self, value: Number) -> Number:
        """The value as an i64: a truth as 0 or 1."""
        if value.kind is not NumberKind.TRUTH:
            return value
        if value.constant is not None:
            return literal(value.constant)
        return Number(self.out.value(f"zext i1 {value.text} to i64"), NumberKind.LITERAL)

    def as_truth(self, value: Number) -> Number:
        """The value as an i1: whether it is not 0."""
        if value.kind is NumberKind.TRUTH:
            return value
        if value.constant is not None:
            return Number("true" if value.constant else "false", NumberKind.TRUTH)
        return Number(self.out.value(f"icmp ne i64 {value.text}, 0"), NumberKind.TRUTH)

    def read_as(self, value: Number, name: str) -> Number:
        """What `int`, `np.int64`, `np.uint64`, `np.uint32` or `bool` makes of a number."""
        if name == "bool":
            return self.as_truth(value)
        text = self.as_number(value).text
        if name in ("int", "int64"):
            return Number(text, NumberKind.SIGNED)
        if name == "uint64":
            return Number(text, NumberKind.UNSIGNED)
        if name == "uint32":
            return Number(self.out.value(f"and i64 {text}, {2**32 - 1}"), NumberKind.SMALL)
        raise Untranslatable(f"there is no conversion `{name}`")

    def arithmetic(self, operation: ast.operator, a: Number, b: Number) -> Number:
        """a + b and its like. A quotient or remainder of signed numbers is that of nonnegative ones."""
        kind = common(a.kind, b.kind)
        if kind is None:
            raise Untranslatable(f"{a.kind.value} meets {b.kind.value}: convert one of them")
        if (
            isinstance(operation, ast.BitAnd | ast.BitOr | ast.BitXor)
            and a.kind is b.kind is NumberKind.TRUTH
        ):
            return Number(
                self.out.value(f"{_ARITHMETIC[type(operation)]} i1 {a.text}, {b.text}"), NumberKind.TRUTH
            )
        x, y = self.as_number(a), self.as_number(b)
        name = _ARITHMETIC.get(type(operation))
        if name in _KNOWN and x.constant is not None and y.constant is not None:
            return Number(literal(_KNOWN[name](x.constant, y.constant)).text, kind)
        if name is None:
            # Only nonnegative numbers are divided or shifted to the right.
            names: dict[type[ast.operator], str] = {ast.RShift: "lshr", ast.FloorDiv: "udiv", ast.Mod: "urem"}
            name = names.get(type(operation))
            if name is None:
                raise Untranslatable(f"there is no operation {type(operation).__name__}")
        return Number(self.out.value(f"{name} i64 {x.text}, {y.text}"), kind)

    def compare(self, operation: ast.cmpop, a: Number, b: Number) -> Number:
        """a < b and its like."""
        kind = common(a.kind, b.kind)
        if kind is None:
            raise Untranslatable(f"{a.kind.value} is compared with {b.kind.value}: convert one of them")
        name = _COMPARISONS.get(type(operation))
        if name is None:
            raise Untranslatable(f"there is no comparison {type(operation).__name__}")
        x, y = self.as_number(a), self.as_number(b)
        if x.constant is not None and y.constant is not None:
            known = getattr(operator, name)(x.constant, y.constant)
            return Number("true" if known else "false", NumberKind.TRUTH)
        if name not in ("eq", "ne"):
            name = ("u" if kind is NumberKind.UNSIGNED else "s") + name
        return Number(self.out.value(f"icmp {name} i64 {x.text}, {y.text}"), NumberKind.TRUTH)

    def inverted(self, value: Number) -> Number:
        """~value."""
        return Number(self.out.value(f"xor i64 {self.as_number(value).text}, -1"), value.kind)

    def negated(self, value: Number) -> Number:
        """-value."""
        number = self.as_number(value)
        if number.constant is not None:
            return Number(literal(-number.constant).text, number.kind)
        return Number(self.out.value(f"sub i64 0, {number.text}"), number.kind)

    def denied(self, value: Number) -> Number:
        """not value."""
        truth = self.as_truth(value)
        if truth.constant is not None:
            return Number("false" if truth.constant else "true", NumberKind.TRUTH)
        return Number(self.out.value(f"xor i1 {truth.text}, true"), NumberKind.TRUTH)

    def extreme(self, name: str, a: Number, b: Number) -> Number:
        """min(a, b) or max(a, b)."""
        less = self.compare(ast.Lt(), a, b).text
        x, y = (a, b) if name == "min" else (b, a)
        chosen = f"select i1 {less}, i64 {self.as_number(x).text}, i64 {self.as_number(y).text}"
        kind = common(a.kind, b.kind)
        assert kind is not None
        return Number(self.out.value(chosen), kind)

    def place(self, array: Array, index: str) -> str:
        """The address of an element; no index is checked."""
        return self.out.value(
            f"getelementptr inbounds i{array.element.bits}, ptr {array.pointer}, i64 {index}"
        )

    def load(self, array: Array, index: str, how: str = "load", suffix: str = "") -> Number:
        """An element."""
        bits = array.element.bits
        raw = self.out.value(f"{how} i{bits}, ptr {self.place(array, index)}{suffix}")
        return self.widened(raw, array.element)

    def store(self, array: Array, index: str, value: Number) -> None:
        """Write an element: the low bits of the value."""
        self.out.do(
            f"store i{array.element.bits} {self.narrowed(value, array.element)}, ptr {self.place(array, index)}"
        )

    def widened(self, raw: str, element: Element) -> Number:
        """What was read from an array as a number."""
        if element.truth:
            return Number(self.out.value(f"icmp ne i8 {raw}, 0"), NumberKind.TRUTH)
        if element.bits < 64:
            raw = self.out.value(f"{'sext' if element.signed else 'zext'} i{element.bits} {raw} to i64")
        return Number(raw, element.kind)

    def narrowed(self, value: Number, element: Element) -> str:
        """A number as an array keeps it."""
        text = self.as_number(value).text
        if element.bits == 64:
            return text
        return self.out.value(f"trunc i64 {text} to i{element.bits}")


def element_of(dtype: Any) -> Element:
    """The type of the elements of a numpy array."""
    if dtype.kind == "b":
        return Element(8, signed=False, truth=True)
    if dtype.kind in "iu":
        return Element(8 * dtype.itemsize, signed=dtype.kind == "i")
    raise Untranslatable(f"an array of {dtype} cannot be given to a kernel")
