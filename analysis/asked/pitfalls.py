"""What in a Python file of the user's would be a model that says something else than it seems to, without an error.

The language hears every operator, but not the end of a block, nor `is`: a `return` below `with when(...)` ends the method in all states, and
a declared variable is never `None` itself. Such places are found in the text.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

_BLOCKS = ("when", "otherwise")
_BROAD = ("Exception", "BaseException", "ModelError")
_LEAVING = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}

Pitfall = tuple[int, str]
"""A line, and what is wrong with it."""


def pitfalls_of(tree: ast.Module, declared: Collection[str] = ()) -> Iterator[Pitfall]:
    """The pitfalls of a file, of which `declared` are the names of state."""
    for node in ast.walk(tree):
        match node:
            case ast.With() if any(_is_block(item.context_expr) for item in node.items):
                yield from _leaving(node.body, False)
            case ast.ClassDef():
                yield from _swallowing(node)
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                if name := _state_in((node.left, *node.comparators), declared):
                    what = f"`is` does not look at what `{name}` holds: write `.is_none`, `.is_some` or `==`"
                    yield node.lineno, what


def _is_block(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _BLOCKS
    return False


def _leaving(body: Sequence[ast.stmt], loop: bool) -> Iterator[Pitfall]:
    """What leaves a block; in a `loop` of the block's own, only a return does. A block below it is looked at by itself."""
    for statement in body:
        word = _LEAVING.get(type(statement))
        if word == "return" or (word and not loop):
            what = (
                f"`{word}` in a `with when(...)` block leaves it in all states, not only where the condition holds: "
                "put what follows into `with otherwise():`"
            )
            yield statement.lineno, what
        for inside, inner in _bodies_of(statement):
            yield from _leaving(inside, loop or inner)


def _bodies_of(statement: ast.stmt) -> Iterator[tuple[Sequence[ast.stmt], bool]]:
    """The statements in a statement of the same method, and whether they are a loop's."""
    match statement:
        case ast.For() | ast.While():
            yield statement.body, True
            yield statement.orelse, False
        case ast.If():
            yield statement.body, False
            yield statement.orelse, False
        case ast.With() if not any(_is_block(item.context_expr) for item in statement.items):
            yield statement.body, False
        case ast.Try():
            yield [*statement.body, *statement.orelse, *statement.finalbody], False
            for handler in statement.handlers:
                yield handler.body, False
        case ast.Match():
            for case in statement.cases:
                yield case.body, False


def _swallowing(node: ast.ClassDef) -> Iterator[Pitfall]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.ExceptHandler):
            kinds = inner.type.elts if isinstance(inner.type, ast.Tuple) else [inner.type]
            names = {kind.id for kind in kinds if isinstance(kind, ast.Name)}
            if inner.type is None or names & set(_BROAD):
                yield (
                    inner.lineno,
                    "this `except` would hide mistakes that the modelling language finds: name the exceptions that are meant",
                )


def _state_in(sides: tuple[ast.expr, ...], declared: Collection[str]) -> str:
    """The state that one side of a comparison names below `self`, or nothing."""
    for side in sides:
        at = side.value if isinstance(side, ast.Subscript) else side
        root = at
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(at, ast.Attribute) and at.attr in declared:
            if isinstance(root, ast.Name) and root.id == "self":
                return at.attr
    return ""
