"""What in a Python file of the user's would be a model that says something else than it seems to, without an error.

The language hears every operator, but not the end of a block, nor `is`: a `return` below `with when(...)` ends the method in all states, and
a declared variable is never `None` itself. Nor does it hear what is asked of the symbol: `self.owner.index` is no entity's. Such places are found in the text, and loops that would never end, so that nobody waits for them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

_BLOCKS = ("when", "otherwise")
_BROAD = ("Exception", "BaseException", "ModelError")
_PURE = (
    "select",
    "any_of",
    "all_of",
    "as_expr",
    "negate",
    "count",
    "total",
    "smallest",
    "largest",
    "clamp",
    "node_or_none",
)
"""Functions of the language that do nothing but give an expression."""
_LEAVING = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}

_STATE = ("boolean", "integer", "enum", "ref", "per", "fifo", "record")
"""Functions of the language that declare state."""
_MARKS = ("step", "invariant", "witness", "resettable", "liveness")
"""Functions of the language that mark methods."""
_GATHERING = (
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)

_OF_SYMBOLS = ("index", "name", "value", "lo", "hi")
"""What a symbolic value has as well, and says nothing of what it stands for."""

Pitfall = tuple[int, str]
"""A line, and what is wrong with it."""


class States(NamedTuple):
    """The names of state that a file can mean: in any class that it names, and in each of its own, with what that inherits.

    `computed` are the names by which a method of each class finds something else: its properties, such as the `nodes` of a Property.
    """

    anywhere: Collection[str] = ()
    of_class: Mapping[str, Collection[str]] = {}
    computed: Mapping[str, Collection[str]] = {}

    def within(self, cls: str) -> States:
        """The same as a method of this class sees it: what it finds at itself is its own."""
        own, computed = self.of_class.get(cls, self.anywhere), self.computed.get(cls, ())
        return States(self.anywhere, {"": own}, {"": computed})

    def named(self, chain: Sequence[str]) -> str:
        """The last name of state in `self.a.b`, given as `b, a`; or nothing."""
        *further, first = chain
        if first in self.computed.get("", ()):
            return ""
        later = next((name for name in further if name in self.anywhere), "")
        return later or (first if first in self.of_class.get("", self.anywhere) else "")


def pitfalls_of(tree: ast.Module, declared: States) -> Iterator[Pitfall]:
    """The pitfalls of a file, of which `declared` are the names of state."""
    last = set(_last_anyway(tree))
    within = {
        method: declared.within(cls.name)
        for cls in ast.walk(tree)
        if isinstance(cls, ast.ClassDef)
        for method in ast.walk(cls)
        if isinstance(method, ast.FunctionDef)
    }
    for node in ast.walk(tree):
        match node:
            case ast.With() if any(_is_block(item.context_expr) for item in node.items):
                yield from ((line, what) for at, line, what in _leaving(node.body, False) if at not in last)
            case ast.ClassDef():
                yield from _twice(node)
                yield from _gathered(node)
                yield from _never_taken(node, tree, declared.within(node.name))
                yield from _swallowing(node)
                yield from _unused(node)
            case ast.FunctionDef():
                yield from _symbols_taken_for_values(node, within.get(node, declared))


def _twice(cls: ast.ClassDef) -> Iterator[Pitfall]:
    """Methods and state whose names the body of a class gives to something else later: they would be gone, without a word."""
    lost: dict[str, int] = {}
    for statement in cls.body:
        match statement:
            case ast.FunctionDef():
                names, kept = [statement.name], list[ast.expr](statement.decorator_list)
            case ast.Assign():
                names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
                kept = [statement.value]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                names, kept = [name], [value]
            case _:
                continue
        # `@name.setter`, `@overload`, and `name = step(...)(name)` build on the one before.
        builds_on = {node.id for part in kept for node in ast.walk(part) if isinstance(node, ast.Name)}
        marks = {node.attr for part in kept for node in ast.walk(part) if isinstance(node, ast.Attribute)}
        for name in names:
            if name in lost and name not in builds_on and not {"overload", "register"} & (builds_on | marks):
                yield (
                    statement.lineno,
                    f"`{name}` stands twice in {cls.name}: the one of line {lost[name]} would be lost; give them different names",
                )
            if name != "_" and (isinstance(statement, ast.FunctionDef) or any(map(_declares, kept))):
                lost[name] = statement.lineno


def _declares(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in (*_STATE, *_MARKS)
    return False


def endless_loops_of(tree: ast.Module) -> Iterator[Pitfall]:
    """The loops of a file that never end once they have begun: nothing in them leaves them, or changes what they wait for."""
    guarded = {inner for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.While) and node not in guarded and _goes_on(node):
            yield (
                node.lineno,
                "this `while` would never end: nothing in it leaves it, or changes what it waits for",
            )


def _goes_on(loop: ast.While) -> bool:
    asked = list(ast.walk(loop.test))
    if any(isinstance(part, (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr)) for part in asked):
        return False
    if isinstance(loop.test, ast.Constant) and not loop.test.value:
        return False
    inside = [part for statement in loop.body for part in ast.walk(statement)]
    if any(
        isinstance(part, (ast.Return, ast.Raise, ast.Break, ast.Yield, ast.YieldFrom, ast.Assert))
        for part in inside
    ):
        return False
    names = {part.id for part in asked if isinstance(part, ast.Name)}
    return not any(
        isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)) and part.id in names
        for part in inside
    )


def _is_block(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _BLOCKS
    return False


def _last_anyway(tree: ast.AST) -> Iterator[ast.stmt]:
    """A `return` without a value after which its method has nothing more to do, and a `continue` after which its loop has not: they change nothing."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from (s for s in _ends_of(node.body) if isinstance(s, ast.Return) and s.value is None)
            case ast.For() | ast.While():
                yield from (s for s in _ends_of(node.body) if isinstance(s, ast.Continue))


def _ends_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that may be the last of a body."""
    match body[-1]:
        case ast.With() as last:
            yield from _ends_of(last.body)
        case ast.If() as last:
            yield from _ends_of(last.body)
            yield from _ends_of(last.orelse) if last.orelse else ()
        case ast.Match() as last:
            for case in last.cases:
                yield from _ends_of(case.body)
        case last:
            yield last


def _leaving(body: Sequence[ast.stmt], loop: bool) -> Iterator[tuple[ast.stmt, int, str]]:
    """What leaves a block; in a `loop` of the block's own, only a return does. A block below it is looked at by itself."""
    for statement in body:
        word = _LEAVING.get(type(statement))
        if word == "return" or (word and not loop):
            what = (
                f"`{word}` in a `with when(...)` block leaves it in all states, not only where the condition holds: "
                "put what follows into `with otherwise():`"
            )
            yield statement, statement.lineno, what
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


def _unused(node: ast.ClassDef) -> Iterator[Pitfall]:
    """Expressions that are statements of their own, and so change nothing."""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Expr) or not any(isinstance(p, ast.Name) for p in ast.walk(inner)):
            continue
        match inner.value:
            case value if _is_block(value):
                yield inner.lineno, "a condition by itself changes nothing: write `with when(...):`"
            case ast.Compare():
                yield inner.lineno, "a comparison by itself changes nothing: write `=`, or `require(...)`"
            case ast.Call(func=ast.Name(id=name)) if name in _PURE:
                yield inner.lineno, f"what `{name}` gives is not used: assign it, return it, or `require` it"
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp():
                yield inner.lineno, "this expression is not used: assign it, return it, or `require` it"


def _gathered(node: ast.ClassDef) -> Iterator[Pitfall]:
    """State that a class declares within a list or the like: of that, nothing is state."""
    for statement in node.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, _GATHERING):
            for inner in ast.walk(statement.value):
                match inner:
                    case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _STATE:
                        what = f"`{name}(...)` in a list, tuple or dict is no state: write `per(range(N), {name}(...))`, or one name for each"
                        yield inner.lineno, what
                        break


def _never_taken(node: ast.ClassDef, tree: ast.Module, declared: States) -> Iterator[Pitfall]:
    """What looks like a step of a system of one's own, and is none, nor called by one."""
    if not any(isinstance(base, ast.Name) and base.id == "System" for base in node.bases):
        return
    named = {part.attr for part in ast.walk(tree) if isinstance(part, ast.Attribute)}
    named |= {
        part.value
        for part in ast.walk(tree)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    for method in node.body:
        if (
            not isinstance(method, ast.FunctionDef)
            or method.decorator_list
            or method.name in {"setup", *named}
        ):
            continue
        if method.name not in _inherited_from(tree, node) and any(
            _acts(part, declared) for part in ast.walk(method)
        ):
            yield (
                method.lineno,
                f"`{method.name}` looks like a step, and nobody calls it: mark it with `@step(actor=...)`",
            )


def _inherited_from(tree: ast.Module, node: ast.ClassDef) -> set[str]:
    """The methods of the other classes of the file that a class names as its bases."""
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    return {
        method.name
        for other in ast.walk(tree)
        if isinstance(other, ast.ClassDef) and other.name in bases
        for method in other.body
        if isinstance(method, ast.FunctionDef)
    }


def _acts(part: ast.AST, declared: States) -> bool:
    """Whether this does what only steps do: assign to state, or require something."""
    match part:
        case ast.Assign(targets=targets):
            return any(_state_in(target, declared, {}) for target in targets)
        case ast.AugAssign(target=target):
            return bool(_state_in(target, declared, {}))
        case ast.Call(func=ast.Name(id="require")):
            return True
        case ast.Call(func=ast.Attribute(value=queue, attr="push" | "pop")):
            return bool(_state_in(queue, declared, {}))
    return False


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


def _symbols_taken_for_values(method: ast.FunctionDef, declared: States) -> Iterator[Pitfall]:
    """Where a method asks what its state holds of the symbol that stands for it."""
    known = _names_of_state(method, declared)
    called = {node.func for node in ast.walk(method) if isinstance(node, ast.Call)}  # as `index` of a queue
    for node in ast.walk(method):
        match node:
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                sides = (node.left, *node.comparators)
                if name := next(filter(None, (_state_in(side, declared, known) for side in sides)), ""):
                    what = f"`is` does not look at what `{name}` holds: write `.is_none`, `.is_some` or `==`"
                    yield node.lineno, what
            case ast.Attribute(attr=attr, ctx=ast.Load()) if (
                attr in _OF_SYMBOLS and attr not in declared.anywhere and node not in called
            ):
                if name := _state_in(node.value, declared, known):
                    what = f"`.{attr}` says nothing of what `{name}` holds: compare it by `==`, or with `one_of(...)`"
                    yield node.lineno, what


def _names_of_state(method: ast.FunctionDef, declared: States) -> dict[str, str]:
    """The local names that stand for state wherever they are bound, and for which."""
    bound: Counter[str] = Counter()
    assigned: dict[str, list[str]] = {}
    for node in ast.walk(method):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                assigned.setdefault(name, []).append(_state_in(value, declared, {}))
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
    return {
        name: states[0] for name, states in assigned.items() if all(states) and len(states) == bound[name]
    }


def _state_in(side: ast.expr, declared: States, known: Mapping[str, str]) -> str:
    """The state that an expression names below `self`, or by a name that is known to stand for it; or nothing."""
    root, names = side, []
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        if isinstance(root, ast.Attribute):
            names.append(root.attr)
        root = root.value
    if not isinstance(root, ast.Name):
        return ""
    if root.id == "self" and names:
        return declared.named(names)
    return known.get(root.id, "")
