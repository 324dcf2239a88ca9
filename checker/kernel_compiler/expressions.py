"""The expressions of kernels, as `translation` describes them."""

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .body import Body
from .kinds import Array, Group, KernelVariable, Number, NumberKind, Untranslatable, Value, common, literal

Intrinsic = Callable[[Body, Sequence[Value]], Value]
"""Writes the instructions of a word that only kernels can use, for these arguments."""


class Expressions:
    """Writes the code of expressions into a body; `call` writes the body of a kernel that is called."""

    def __init__(self, body: Body, call: Callable[[Callable[..., Any], Sequence[Value]], Value]) -> None:
        self.body, self.out, self.do = body, body.out, body.do
        self._call = call

    def value(self, node: ast.expr) -> Value:
        """Any value."""
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool):
                return Number("true" if node.value else "false", NumberKind.TRUTH)
            if isinstance(node.value, int):
                return literal(node.value)
        elif isinstance(node, ast.BinOp):
            return self.do.arithmetic(node.op, self.number(node.left), self.number(node.right))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self.do.compare(node.ops[0], self.number(node.left), self.number(node.comparators[0]))
        elif isinstance(node, ast.BoolOp):
            return self._chain(node)
        elif isinstance(node, ast.UnaryOp):
            methods = {ast.Not: self.do.denied, ast.Invert: self.do.inverted, ast.USub: self.do.negated}
            return methods[type(node.op)](self.number(node.operand))
        elif isinstance(node, ast.IfExp):
            return self._choice(node)
        elif isinstance(node, ast.Subscript):
            return self._item(node)
        elif isinstance(node, ast.Tuple):
            return Group(tuple(self._items(node.elts)))
        elif isinstance(node, ast.Attribute):
            return self._attribute(node)
        elif isinstance(node, ast.Call):
            return self._called(node)
        raise Untranslatable(f"there is no code for `{ast.unparse(node)}`")

    def number(self, node: ast.expr) -> Number:
        """A number or a truth."""
        value = self.value(node)
        if not isinstance(value, Number):
            raise Untranslatable(f"`{ast.unparse(node)}` is no number")
        return value

    def array(self, node: ast.expr) -> Array:
        """An array."""
        value = self.value(node)
        if not isinstance(value, Array):
            raise Untranslatable(f"`{ast.unparse(node)}` is no array")
        return value

    def _items(self, nodes: Sequence[ast.expr]) -> Iterator[Value]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                group = self.value(node.value)
                if not isinstance(group, Group):
                    raise Untranslatable(f"`{ast.unparse(node.value)}` is no tuple")
                yield from group.items
            else:
                yield self.value(node)

    def _name(self, name: str) -> Value:
        known = self.body.scope.names.get(name)
        if isinstance(known, KernelVariable):
            return self.body.read(known)
        if known is not None:
            return known
        value = self.body.scope.function.__globals__.get(name)
        if isinstance(value, np.uint64):
            return Number(literal(int(value)).text, NumberKind.UNSIGNED)
        if isinstance(value, np.unsignedinteger):
            return Number(str(int(value)), NumberKind.SMALL)
        if isinstance(value, int):
            return literal(value)
        raise Untranslatable(f"`{name}` has no value that a kernel can use")

    def _chain(self, node: ast.BoolOp) -> Number:
        """`and` and `or`: the rest is not evaluated when the first decides."""
        decides = isinstance(node.op, ast.Or)
        result = self.body.new_variable(NumberKind.TRUTH)
        after = self.out.new_label("after")
        for i, part in enumerate(node.values):
            truth = self.do.as_truth(self.number(part))
            self.out.do(f"store i1 {truth.text}, ptr {result.slot}")
            if i == len(node.values) - 1:
                self.body.go(after)
            else:
                more = self.out.new_label("more")
                targets = (after, more) if decides else (more, after)
                self.out.do(f"br i1 {truth.text}, label %{targets[0]}, label %{targets[1]}")
                self.body.begin(more)
        self.body.begin(after)
        return self.body.read(result)

    def _choice(self, node: ast.IfExp) -> Number:
        condition = self.do.as_truth(self.number(node.test))
        a, b = (self.number(n) for n in (node.body, node.orelse))
        kind = common(a.kind, b.kind)
        if kind is None:
            raise Untranslatable(f"`{ast.unparse(node)}` is {a.kind.value} or {b.kind.value}")
        texts = [self.do.as_number(n).text for n in (a, b)]
        return Number(self.out.value(f"select i1 {condition.text}, i64 {texts[0]}, i64 {texts[1]}"), kind)

    def _item(self, node: ast.Subscript) -> Value:
        value = self.value(node.value)
        if isinstance(value, Array):
            return self.do.load(value, self.index(value, node.slice))
        if isinstance(value, Group):
            at = self.number(node.slice).constant
            if at is not None:
                return value.items[at]
        raise Untranslatable(f"there is no code for `{ast.unparse(node)}`")

    def index(self, array: Array, node: ast.expr) -> str:
        """The position of an element, from its index or indices."""
        if isinstance(node, ast.Tuple) and array.columns is not None:
            row, column = (self.do.as_number(self.number(e)).text for e in node.elts)
            start = self.out.value(f"mul i64 {row}, {array.columns}")
            return self.out.value(f"add i64 {start}, {column}")
        if isinstance(node, ast.Tuple) or array.columns is not None:
            raise Untranslatable(f"the array has another number of dimensions than `{ast.unparse(node)}`")
        return self.do.as_number(self.number(node)).text

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr == "data" and isinstance(node.value, ast.Attribute) and node.value.attr == "ctypes":
            return Number(self.array(node.value.value).address, NumberKind.SIGNED)
        group = self.value(node.value)
        if isinstance(group, Group) and node.attr in group.names:
            return group.items[group.names.index(node.attr)]
        raise Untranslatable(f"there is no code for `{ast.unparse(node)}`")

    def _called(self, node: ast.Call) -> Value:
        arguments = list(self._items(node.args))
        if isinstance(node.func, ast.Attribute):  # np.uint64 and the like
            return self.do.read_as(_only_number(arguments), node.func.attr)
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        target = self.body.scope.function.__globals__.get(name, getattr(builtins, name, None))
        function = getattr(target, "kernel", None)
        if function is not None:
            return self._call(function, arguments)
        intrinsic: Intrinsic | None = getattr(target, "intrinsic", None)
        if intrinsic is not None:
            return intrinsic(self.body, arguments)
        if name == "len":
            (value,) = arguments
            if isinstance(value, Group):
                return literal(len(value.items))
            if isinstance(value, Array):
                return Number(value.length, NumberKind.SIGNED)
        if name in ("min", "max"):
            a, b = arguments
            if isinstance(a, Number) and isinstance(b, Number):
                return self.do.extreme(name, a, b)
        return self.do.read_as(_only_number(arguments), name)


def _only_number(values: Sequence[Value]) -> Number:
    if len(values) == 1 and isinstance(values[0], Number):
        return values[0]
    raise Untranslatable("a conversion takes one number")
