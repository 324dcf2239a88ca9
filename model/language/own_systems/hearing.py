"""User code in which Python itself would answer for a symbol: it is made to ask podrace.

The language sees operators. It does not see code that hashes a symbol (`in` a set, a key), writes it as a text, or asks for its type.
There Python itself answers for the symbol, and not for its value, mostly False. So symbols check who asks. Code that asks no symbol, such as `is`, is compiled to ask here.
"""

import ast
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any, NoReturn, get_args

from ..declarations.views import FifoView, Record, TableView
from ..expressions.errors import ModelError
from ..expressions.expr import Expr, negate
from ..expressions.sorts import Entity

_SYMBOLS = (Expr, FifoView, Record, TableView)
_TEXT = "a text"
_CONDITIONS = ("any_of", "all_of")
_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")


def _refuse(what: str, at: FrameType | None = None) -> NoReturn:
    raise ModelError(
        f"{what} says nothing of what a symbolic value holds: compare it by `==`, or with `one_of(...)`",
        None if at is None else (at.f_code.co_filename, at.f_lineno),
    )


def _plain(value: Any, what: str) -> Any:
    """A value of Python's own."""
    if isinstance(value, _SYMBOLS):
        _refuse(what)
    return value


def _is(one: Any, other: Any) -> bool:
    """`is`, where None is meant as it is asked: no expression but a reference can stand for it."""
    for value, beside in ((one, other), (other, one)):
        refers = isinstance(value, Expr) and value.sort.tag is not None and issubclass(value.sort.tag, Entity)
        if isinstance(value, _SYMBOLS) and (beside is not None or refers):
            _refuse("`is`")
    return one is other


class _Only:
    """None, True or False in a `case`, which Python finds by `is`."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return _is(other, self.value)

    def __repr__(self) -> str:
        return f"case {self.value}"


def _isinstance(value: Any, kinds: Any) -> bool:
    """A symbol is asked for by its own type alone."""
    if type(value) is Expr and Expr not in (
        kinds if isinstance(kinds, tuple) else get_args(kinds) or (kinds,)
    ):
        _refuse("`isinstance`")
    return isinstance(value, kinds)


def _of_python(value: Any, name: str) -> Any:
    if isinstance(value, Expr):
        _refuse(f"`{name}`")
    return value


def _asking(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python's that would answer for an expression, and does not."""
    return lambda value, *more: function(_of_python(value, function.__name__), *more)


HEARD: Mapping[str, Any] = {
    "__podrace_is__": _is,
    "__podrace_plain__": _plain,
    "__podrace_only__": SimpleNamespace(**{f"of_{value}": _Only(value) for value in (None, True, False)}),
    "isinstance": _isinstance,
    **{function.__name__: _asking(function) for function in (callable, getattr, id)},
}
"""What such code finds among the names of Python."""


OPERATOR = ModuleType(f"{__package__}.operator", operator.__doc__)
"""What such code imports as `operator`: `is_` asks here."""
vars(OPERATOR).update(
    {name: value for name, value in vars(operator).items() if not name.startswith("__")},
    is_=_is,
    is_not=lambda one, other: not _is(one, other),
)
sys.modules[OPERATOR.__name__] = OPERATOR


def name_of_code(file: str, module: str) -> str:
    """What tells the code of a file from all other: what was generated, as a data class's methods, has no file of its own."""
    return f"{module} {file}" if file.startswith("<") else file


def _name_of(frame: FrameType) -> str:
    return name_of_code(frame.f_code.co_filename, str(frame.f_globals.get("__name__")))


def _asks(frame: FrameType | None) -> FrameType | None:
    """The user's frame that asks, if need be by the standard library; None if podrace does."""
    while frame is not None:
        if _name_of(frame) in _shown:
            return frame
        if str(frame.f_globals.get("__name__")).startswith("podrace."):
            return None
        frame = frame.f_back
    return None


def hear_symbols() -> None:
    """From now on symbols look at who asks. Before the first file of the user's that would only be slower."""
    if "__getattr__" in vars(Expr):
        return
    for symbol in _SYMBOLS:
        kind: Any = symbol
        kind.__hash__ = _heard(kind.__hash__, "a hash, as of a key or in a set,")
        kind.__repr__ = _heard(kind.__repr__, _TEXT)
    Expr.__dir__ = _heard(Expr.__dir__, "`dir`")  # type: ignore[method-assign,assignment]
    Expr.__getattr__ = _lacking  # type: ignore[attr-defined]
    vars(Expr)["__class__"].__init__(_heard(type, "its class"))


def _heard(answer: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    graph = negate.__globals__

    def asked(symbol: Any) -> Any:
        frame = sys._getframe(1)
        if frame.f_globals is not graph:  # which asks by far the most
            theirs = _asks(frame)
            if theirs is not None and not (what is _TEXT and _is_shown(theirs)):
                _refuse(what, theirs)
        return answer(symbol)

    return asked


def _lacking(symbol: Expr, name: str) -> NoReturn:
    if not name.startswith("__") and (frame := _asks(sys._getframe(1))) is not None:
        _refuse(f"`.{name}`", frame)
    raise AttributeError(f"an expression has no `{name}`")


_Span = tuple[tuple[int, int], tuple[int, int]]
_shown: dict[str, list[_Span]] = {}
"""Of each file, where texts decide nothing: in what it prints, logs or raises."""


def _is_shown(frame: FrameType) -> bool:
    first, last, begin, end = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    if first is None or last is None or begin is None or end is None:
        return False
    spans = _shown.get(_name_of(frame), ())
    return any(a <= (first, begin) and (last, end) <= b for a, b in spans)


def hearing(tree: ast.Module, name: str) -> ast.Module:
    """The same code, which asks here what it asks no symbol, by the name that `name_of_code` gives it. It is changed in place, for expressions may be deep."""
    _shown[name] = list(_shown_in(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                _ask_here(node)
            case ast.Match():
                node.subject = _ask("plain", node.subject, ast.Constant("`match`"))
            case ast.MatchSingleton(value=value):
                only = ast.copy_location(ast.Name("__podrace_only__", ast.Load()), node)
                node.__class__ = ast.MatchValue  # type: ignore[assignment]
                named = ast.Attribute(only, f"of_{value}", ast.Load())
                node.value = ast.copy_location(named, node)  # type: ignore[assignment]
            case ast.ImportFrom(module="operator" | "_operator", level=0):
                node.module = OPERATOR.__name__
            case ast.Import(names=names):
                for one in names:
                    if one.name in ("operator", "_operator"):
                        one.name, one.asname = OPERATOR.__name__, one.asname or one.name
            case ast.Call(func=ast.Name(id="type"), args=[_]):
                node.args = [_ask("plain", node.args[0], ast.Constant("`type`"))]
            case ast.Call(func=ast.Name(id=name), args=[ast.Set() | ast.SetComp() as some]) if (
                name in _CONDITIONS
            ):
                some.__class__ = ast.List if isinstance(some, ast.Set) else ast.ListComp  # type: ignore[assignment]
                some.ctx = ast.Load()  # type: ignore[union-attr]
    return tree


def _shown_in(tree: ast.Module) -> Iterator[_Span]:
    for node in ast.walk(tree):
        match node:
            case ast.Raise() | ast.Call(func=ast.Name(id="print")):
                shows = True
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=log, attr=level))) if level in _LEVELS:
                shows = "log" in ast.unparse(log).lower()
            case _:
                shows = False
        if shows and not any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            yield (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _ask(name: str, at: ast.expr, *more: ast.expr) -> ast.expr:
    asked = ast.Call(ast.Name(f"__podrace_{name}__", ast.Load()), [at, *more], [])
    for new in (asked, asked.func, *(one for one in more if isinstance(one, ast.Constant))):
        ast.copy_location(new, at)
    return asked


def _ask_here(node: ast.Compare) -> None:
    """`a is b` asks here, and whether that is True."""
    sides = [node.left, *node.comparators]
    if len(sides) == 2 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        sides = [_ask("is", *sides), ast.copy_location(ast.Constant(True), node)]
    for i, op in enumerate(node.ops if len(node.ops) > 1 else ()):
        if isinstance(op, (ast.Is, ast.IsNot)):
            sides[i : i + 2] = [_ask("plain", side, ast.Constant("`is`")) for side in sides[i : i + 2]]
    node.left, node.comparators = sides[0], sides[1:]
