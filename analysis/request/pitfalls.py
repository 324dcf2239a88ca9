"""What in a Python file of the user's would be a model that says something else than it seems to, without an error.

The language hears every operator, but not the end of a block, nor `is`: a `return` below `with when(...)` ends the method in all states, and
a declared variable is never `None` itself. Nor does it hear what is asked of the symbol: `self.owner.index` is no entity's. Such places are found in the text, and loops that would never end, so that nobody waits for them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
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
_UNSEEN = "what leaves such a block, or stays after it, is found by that"
_ELSEWHERE = "write `with when(...):` where the block begins"
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
    `marked` are those of each class that are steps and properties.
    """

    anywhere: Collection[str] = ()
    of_class: Mapping[str, Collection[str]] = {}
    computed: Mapping[str, Collection[str]] = {}
    marked: Mapping[str, Collection[str]] = {}

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
                yield from ((line, f"{_ELSEWHERE}: {_UNSEEN}") for line in _yields_of(node.body))
            case ast.ImportFrom(names=names):
                for one in names:
                    if one.name in _BLOCKS and one.asname not in (None, one.name):
                        yield node.lineno, f"import `{one.name}` under its own name: {_UNSEEN}"
            case (
                ast.Assign(value=ast.expr() as value)
                | ast.NamedExpr(value=value)
                | ast.Call(args=[value, *_])
                | ast.Return(value=ast.expr() as value)
                | ast.Lambda(body=value)
            ) if _is_block(value) or _is_named(value, tree):
                yield node.lineno, f"{_ELSEWHERE}: {_UNSEEN}"
            case ast.ClassDef():
                yield from _twice(node)
                yield from _unmarked(node, declared.marked.get(node.name))
                yield from _gathered(node)
                yield from _never_taken(node, tree, declared.within(node.name))
                yield from _swallowing(node)
                yield from _unused(node)
            case ast.FunctionDef():
                yield from _symbols_taken_for_values(node, within.get(node, declared))
                yield from _kept_after_blocks(node)
                yield from _otherwise_of_nothing(node)


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


def _unmarked(cls: ast.ClassDef, marked: Collection[str] | None) -> Iterator[Pitfall]:
    """Steps and properties that are none, for the function that a decorator above the mark gives has not that mark."""
    for method in cls.body if marked is not None else ():
        if isinstance(method, ast.FunctionDef) and method.name not in (marked or ()):
            for decorator in method.decorator_list[1:]:
                named = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
                if name in _MARKS:
                    what = (
                        f"the decorator above it loses `@{name}`: write that first, or use `functools.wraps`"
                    )
                    yield decorator.lineno, what


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


def _is_named(value: ast.expr, tree: ast.Module) -> bool:
    """Whether it is a function of blocks itself, which would have another name then, and nothing of the file's own that is called so."""
    if not isinstance(value, ast.Name) or value.id not in _BLOCKS:
        return False
    return all(
        node.arg != value.id
        if isinstance(node, ast.arg)
        else not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == value.id)
        for node in ast.walk(tree)
    )


def _yields_of(body: Sequence[ast.AST]) -> Iterator[int]:
    """Where the statements of a method give the block that they stand in to another, as a context manager of the user's does."""
    for node in body:
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            yield node.lineno
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            yield from _yields_of([*ast.iter_child_nodes(node)])


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


def _otherwise_of_nothing(method: ast.FunctionDef) -> Iterator[Pitfall]:
    """What is left by another block than the one that it seems to follow: that of a loop, of a method called in between, or the outer of two."""
    for node in ast.walk(method):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, ())
            for before, statement in pairwise((None, *(statements if isinstance(statements, list) else ()))):
                if not isinstance(statement, ast.With) or not _is_otherwise(statement):
                    continue
                if not isinstance(before, ast.With) or not _is_block(before.items[0].context_expr):
                    yield (
                        statement.lineno,
                        "`otherwise` must directly follow a `when` block at the same level",
                    )
                elif len(before.items) > 1:
                    what = "`otherwise` looks at the first condition alone: join the conditions above, `with when(a & b):`"
                    yield statement.lineno, what


def _is_otherwise(statement: ast.With) -> bool:
    match statement.items[0].context_expr:
        case ast.Call(func=ast.Name(id="otherwise") | ast.Attribute(attr="otherwise")):
            return True
    return False


def _kept_after_blocks(method: ast.FunctionDef) -> Iterator[Pitfall]:
    """Where a method uses a name to which a block before gave a value: Python gave it in all states."""
    made = {
        target.id
        for node in ast.walk(method)
        if isinstance(node, ast.Assign) and _is_python(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    given = {one.arg for one in (*method.args.args, *method.args.kwonlyargs)} - {"self"}
    yield from _after_blocks(method.body, _Names({}, {}, given | made), made, given)


class _Names(NamedTuple):
    """What is known of a method's names at one place: with the line of the block that gave them a value, those that had another before and
    those that had none; and all that have one.
    """

    unsure: dict[str, int]
    fresh: dict[str, int]
    bound: set[str]

    def copy(self) -> _Names:
        return _Names(dict(self.unsure), dict(self.fresh), set(self.bound))

    def take(self, ways: Sequence[_Names], stays: bool) -> None:
        """Go on after these ways, of which one was taken, or none if it `stays`."""
        if ways and not stays:
            self.unsure.clear()
        for way in ways:
            for mine, theirs in zip(self, way, strict=True):
                mine |= theirs  # type: ignore[operator]

    def next_round(self, before: Mapping[str, int]) -> None:
        """What a block gave in one round of a loop stands in the next, and after the loop; `before` it were those."""
        for name in [name for name, line in self.fresh.items() if before.get(name) != line]:
            self.unsure[name] = self.fresh.pop(name)
            self.bound.discard(name)


def _is_python(value: ast.expr) -> bool:
    """Whether this makes a list, a dict or the like, which no block sees change."""
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in ("list", "dict", "set", "deque", "defaultdict", "Counter", "copy")
        case ast.BinOp(left=left, right=right):
            return _is_python(left) or _is_python(right)
    return isinstance(value, _GATHERING)


def _after_blocks(
    body: Sequence[ast.stmt], names: _Names, made: set[str], given: set[str]
) -> Iterator[Pitfall]:
    """The same below some statements, which change what is known of `names`."""
    for statement in body:
        inner = [statement.body] if isinstance(statement, ast.With) else [s for s, _ in _bodies_of(statement)]
        outside: list[ast.AST] = [statement]
        if inner:
            kinds = (ast.stmt, ast.ExceptHandler, ast.match_case)
            outside = [one for one in ast.iter_child_nodes(statement) if not isinstance(one, kinds)]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            outside.append(ast.Name(statement.target.id, ast.Load()))
        for name in sorted({name for one in outside for name in _loaded(one)} & {*names.unsure}):
            what = (
                f"the block of line {names.unsure[name]} gave `{name}` what it has here, in all states and not only where its "
                "condition holds: use `select(...)`, or assign to declared state"
            )
            yield statement.lineno, what
        for name in {name for one in outside for name in _stored(one)}:
            names.unsure.pop(name, None)
            names.fresh.pop(name, None)
            names.bound.add(name)
        before, ways = set(names.bound), [names.copy() for _ in inner]
        loops = isinstance(statement, (ast.For, ast.While))
        for part, way in zip(inner, ways, strict=True):
            for _ in range(1 + loops):
                yield from _after_blocks(part, way, made, given)
                if loops:
                    way.next_round(names.fresh)
        names.take(ways, loops or isinstance(statement, ast.Match))
        if isinstance(statement, ast.With) and any(_is_block(item.context_expr) for item in statement.items):
            changed = {name for inside in statement.body for name in _stored(inside)}
            for name, how, line in (one for inside in statement.body for one in _changed(inside)):
                if name in made:
                    changed.add(name)
                elif name in given and how in _GROWING:
                    yield line, f"`{name}` changes here in all states: no block sees what Python keeps"
            for name in changed:
                (names.unsure if name in before else names.fresh)[name] = statement.lineno


_GROWING = ("append", "appendleft", "extend", "insert", "setdefault")
_CHANGING = (
    *_GROWING, "add", "update", "remove", "discard", "clear", "pop", "popleft", "popitem", "sort", "reverse",
)  # fmt: skip


def _changed(inside: ast.stmt) -> Iterator[tuple[str, str, int]]:
    """The names below a statement whose lists and the like it changes, if they stand for such; by which method, and in which line."""
    for node in ast.walk(inside):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in _CHANGING:
                yield name, attr, node.lineno
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name, "", node.lineno


def _loaded(node: ast.AST, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names that an expression or a statement uses, but those that it binds itself, as a comprehension does."""
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        bound |= {name for part in node.generators for name in _stored(part.target)}
    elif isinstance(node, (ast.Lambda, ast.FunctionDef)):
        bound |= {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        bound |= {*_stored(node)} if isinstance(node, ast.FunctionDef) else set()
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _loaded(child, bound)


def _stored(node: ast.AST) -> Iterator[str]:
    """The names that a statement binds in its method."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    if not isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _stored(child)


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
