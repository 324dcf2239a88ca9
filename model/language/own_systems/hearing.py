"""Code of the user's in which Python would answer for a symbol, made to say so.

The language hears operators, but not `is`, nor what hashes a symbol (`in` a set, a key), writes it as a text, or asks for its type: Python itself
answers, of the symbol and not of what it stands for, mostly False. In code that `hearing` gives, such places look at what they are given.
"""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from ..declarations.views import FifoView, Record, TableView
from ..expressions.errors import ModelError
from ..expressions.expr import Expr
from ..expressions.sorts import Entity

_SYMBOLS = (Expr, FifoView, Record, TableView)

_CALLS = ("str", "repr", "hash", "type", "callable", "format", "ascii", "id", "getattr", "hasattr")
"""Functions of Python's that would answer for a symbol."""
_METHODS = ("is_", "is_not", "format")
"""Methods of Python's that compare what they are given by identity, or write it."""


def _refuse(what: str) -> NoReturn:
    raise ModelError(
        f"{what} says nothing of what a symbolic value holds: compare it by `==`, or with `one_of(...)`"
    )


def _plain(value: Any, what: str) -> Any:
    """A value of Python's own."""
    if isinstance(value, _SYMBOLS):
        _refuse(what)
    return value


def _each(values: Iterable[Any], what: str) -> Iterator[Any]:
    """Values of Python's own."""
    return (_plain(value, what) for value in values)


def _is(one: Any, other: Any) -> bool:
    """`is`, where None is meant as it is asked: no expression but a reference can stand for it."""
    for value, beside in ((one, other), (other, one)):
        refers = isinstance(value, Expr) and value.sort.tag is not None and issubclass(value.sort.tag, Entity)
        if isinstance(value, _SYMBOLS) and (beside is not None or refers):
            _refuse("`is`")
    return one is other


def _isinstance(value: Any, kinds: Any) -> bool:
    """A symbol is asked for by its own type alone."""
    return isinstance(value, kinds) or isinstance(_plain(value, "`isinstance`"), kinds)


def _method(of: Any, name: str) -> Callable[..., Any]:
    """A method; one of Python's own is given no symbols."""
    method: Callable[..., Any] = getattr(of, name)
    if not isinstance(of, str) and of is not operator:
        return method
    return lambda *args, **named: method(*_each(args, f"`{name}`"), **named)


_ASKED = {"plain": _plain, "is": _is, "isinstance": _isinstance, "method": _method}
HEARD: Mapping[str, Callable[..., Any]] = {f"__podrace_{name}__": how for name, how in _ASKED.items()}
"""The names that such code asks, beside those of Python."""


def _hash(symbol: object) -> int:
    """The hash of a symbol, which code of the user's does not get, by whatever container, tuple or function of C it asks."""
    if "__podrace_is__" in sys._getframe(1).f_builtins:
        _refuse("a hash, as of a key or in a set,")
    return object.__hash__(symbol)


def hear_hashes() -> None:
    """From now on symbols look at who hashes them. Before the first file of the user's that would only be slower."""
    for symbol in _SYMBOLS:
        symbol.__hash__ = _hash  # type: ignore[method-assign,assignment]


def hearing(tree: ast.Module) -> ast.Module:
    """The same code, which looks at what it asks."""
    heard = _Hearing().visit(tree)
    assert isinstance(heard, ast.Module)
    return ast.fix_missing_locations(heard)


def _ask(name: str, at: ast.expr, *args: ast.expr | str) -> ast.expr:
    given = [ast.Constant(arg) if isinstance(arg, str) else arg for arg in args]
    asked = ast.Call(ast.Name(f"__podrace_{name}__", ast.Load()), given, [])
    return ast.copy_location(asked, at)


def _plainly(value: ast.expr, what: str) -> ast.expr:
    return value if isinstance(value, (ast.Constant, ast.Starred)) else _ask("plain", value, value, what)


_PARTS = {ast.FormattedValue: ("value", "a text"), ast.Match: ("subject", "`match`")}
"""Of each kind of node the part that is written or asked for its type, in words."""


class _Hearing(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if type(node) in _PARTS:
            part, what = _PARTS[type(node)]
            setattr(node, part, _plainly(getattr(node, part), what))
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if len(sides) == 2 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            same = _ask("is", node, *sides)
            return (
                same
                if isinstance(node.ops[0], ast.Is)
                else ast.copy_location(ast.UnaryOp(ast.Not(), same), node)
            )
        for i, op in enumerate(node.ops):
            if isinstance(op, (ast.Is, ast.IsNot)):
                sides[i : i + 2] = [_plainly(side, "`is`") for side in sides[i : i + 2]]
            elif isinstance(op, (ast.In, ast.NotIn)):
                sides[i] = _plainly(sides[i], "`in`")
        node.left, node.comparators = sides[0], sides[1:]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if (
            isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
        ):
            values = node.right.elts if isinstance(node.right, ast.Tuple) else []
            plain = [_plainly(value, "a text") for value in values]
            node.right = (
                ast.copy_location(ast.Tuple(plain, ast.Load()), node.right)
                if values
                else _plainly(node.right, "a text")
            )
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node.func:
            case ast.Name(id="print"):  # what is shown decides nothing
                return node
            case ast.Name(id="isinstance") if len(node.args) == 2:
                self.generic_visit(node)
                return _ask("isinstance", node, *node.args)
        self.generic_visit(node)
        match node.func:
            case ast.Name(id=name) if name in _CALLS:
                node.args[:1] = [_plainly(arg, f"`{name}`") for arg in node.args[:1]]
            case ast.Attribute(attr=name) if name in _METHODS:
                node.func = _ask("method", node.func, node.func.value, name)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return node
