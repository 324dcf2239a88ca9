"""Systems of one's own: entities, state, steps and what must hold in one class, without anything of a scheduler.

    class Philosopher(Entity):
        members = 3

    class Table(System):
        fork = per(Philosopher, boolean())
        ...
        @step(actor="philosopher", each="who")
        def take(self, who: Philosopher) -> None: ...

        @invariant
        def never_two(self, one: Philosopher, other: Philosopher) -> Value: ...

`system_of` makes the transition system of it. A Model of several components works as well: what its components say must hold is asked.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Literal, TypeVar

from .component import Component, Model, build, domains_of, parameter_hints, part_classes
from .errors import ModelError
from .expr import Expr, all_of, any_of, as_expr
from .fairness import Case
from .shapes import Fifo, RecordShape, Scalar, Shape, Table, declared
from .sorts import BOOL, Entity, Universe
from .system import TransitionSystem, trace_system

F = TypeVar("F", bound=Callable[..., Any])

Asked = Literal["invariant", "witness", "resettability", "liveness"]

_MARK = "__podrace_asked__"
MOST_ENTITIES = 64
"""How many entities of a kind there may be."""


class System(Component):
    """A closed system in one class. Its kinds of entities are those that its state and its steps name.

    How many there are of a kind says `members` of the kind: a number, or names.
    """


def _marked(asked: Asked) -> Callable[[F], F]:
    def mark(function: F) -> F:
        setattr(function, _MARK, asked)
        return function

    return mark


def invariant(function: F) -> F:
    """Mark a method whose condition holds in every reachable state, for every combination of its parameters' values."""
    return _marked("invariant")(function)


def witness(function: F) -> F:
    """Mark a method whose condition can come true, for some values of its parameters; where it cannot, HOLDS is vacuous."""
    return _marked("witness")(function)


def resettable(function: F) -> F:
    """Mark a method whose condition fair steps alone can bring about from every reachable state; one property for each binding."""
    return _marked("resettability")(function)


def liveness(function: F) -> F:
    """Mark a method that says what must not go on for ever in a fair run; one property for each binding of its parameters.

    It returns a condition, a Case, or several Cases.
    """
    return _marked("liveness")(function)


def system_of(
    root: type[System] | type[Model], sizes: Mapping[str, int] | None = None, scope: Any = None
) -> TransitionSystem:
    """The transition system of a class of one's own, with what its methods say must hold.

    `sizes` says for kinds of entities, by their names, how many there are, whatever the kind says itself. `scope` is what
    bounds that are functions take their numbers from. Raises ModelError for a mistake in the class.
    """
    classes = part_classes(root) if issubclass(root, Model) else {_snake(root.__name__): root}
    universe = _universe(list(classes.values()), dict(sizes or {}), root.__name__, scope)
    model = build(_model_of(root, classes), universe)
    tables = dict(_tables(model))
    return trace_system(model, root.__name__, **tables)


def words_of(root: type[System] | type[Model]) -> dict[str, str]:
    """What each property and witness says, by the name of its method: its docstring, or nothing."""
    classes = part_classes(root).values() if issubclass(root, Model) else (root,)
    return {name: inspect.getdoc(f) or "" for cls in classes for name, f, _ in _asked(cls)}


def kinds_of(classes: Iterable[type[Component]]) -> list[type[Entity]]:
    """The kinds of entities that these classes name, in the order in which they do."""
    found: dict[type[Entity], None] = {}
    for cls in classes:
        for shape in declared(cls).values():
            found.update(dict.fromkeys(_kinds_in(shape)))
        for _, thing in inspect.getmembers(cls, inspect.isfunction):
            if hasattr(thing, "__podrace_step__") or hasattr(thing, _MARK):
                hints = parameter_hints(thing)
                found.update(
                    {h: None for h in hints.values() if isinstance(h, type) and issubclass(h, Entity)}
                )
    return list(found)


def _kinds_in(shape: Shape) -> Iterator[type[Entity]]:
    if isinstance(shape, Scalar):
        tag = shape.sort.tag
        if tag is not None and issubclass(tag, Entity):
            yield tag
    elif isinstance(shape, Table):
        if issubclass(shape.kind, Entity):
            yield shape.kind
        yield from _kinds_in(shape.element)
    elif isinstance(shape, Fifo):
        yield from _kinds_in(shape.element)
    elif isinstance(shape, RecordShape):
        for field in declared(shape.record).values():
            yield from _kinds_in(field)


def _universe(classes: Sequence[type[Component]], sizes: dict[str, int], name: str, scope: Any) -> Universe:
    kinds = kinds_of(classes)
    unknown = [one for one in sizes if one not in {kind.__name__ for kind in kinds}]
    if unknown:
        known = ", ".join(kind.__name__ for kind in kinds) or "none"
        raise ModelError(
            f"{name} has no kind of entity `{unknown[0]}`; its kinds: {known}", _place(classes[0])
        )
    return Universe({kind: _members(kind, sizes.get(kind.__name__)) for kind in kinds}, scope)


def _members(kind: type[Entity], size: int | None) -> list[Entity]:
    said = kind.members if size is None else size
    if isinstance(said, int):
        if not 1 <= said <= MOST_ENTITIES:
            raise ModelError(
                f"how many {kind.__name__} are there? Write `members = 3`, or their names, in the class: 1 to {MOST_ENTITIES}",
                _place(kind),
            )
        said = [f"{_snake(kind.__name__)}{i + 1}" for i in range(said)]
    return [kind(i, name) for i, name in enumerate(said)]


def _place(cls: type) -> tuple[str, int]:
    try:
        return inspect.getsourcefile(cls) or "", inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):
        return cls.__module__, 0


def _model_of(root: type[Any], classes: Mapping[str, type[Component]]) -> type[Model]:
    if issubclass(root, Model):
        return root
    return type(root.__name__, (Model,), {"__annotations__": dict(classes), "__module__": root.__module__})


def _asked(cls: type[Component]) -> list[tuple[str, Callable[..., Any], Asked]]:
    found: dict[str, Asked] = {}
    for base in reversed(cls.__mro__):
        for name, thing in vars(base).items():
            asked = getattr(thing, _MARK, None)
            if asked is not None:
                found[name] = asked
    return [(name, getattr(cls, name), asked) for name, asked in found.items()]


_PLURAL = {
    "invariant": "invariants",
    "witness": "witnesses",
    "resettability": "resettabilities",
    "liveness": "livenesses",
}


def _tables(model: Model) -> Iterator[tuple[str, dict[str, Callable[[], Any]]]]:
    tables: dict[Asked, dict[str, Callable[[], Any]]] = {
        "invariant": {}, "witness": {}, "resettability": {}, "liveness": {},
    }  # fmt: skip
    for part in model.parts.values():
        for name, function, asked in _asked(type(part)):
            if any(name in table for table in tables.values()):
                raise ModelError(
                    f"two parts say what `{name}` is: give them different names", _line(function)
                )
            domains = domains_of(model.entities, function, f"`{name}`")
            bindings = [
                tuple(zip((n for n, _ in domains), values, strict=True))
                for values in product(*(v for _, v in domains))
            ]
            reads = {_named(name, b): partial(getattr(part, name), **dict(b)) for b in bindings}
            if asked != "liveness":
                reads = {key: partial(_condition, function, read) for key, read in reads.items()}
            if asked == "liveness":
                doc = (inspect.getdoc(function) or name).splitlines()[0].rstrip(".")
                tables[asked] |= {key: partial(_cases, doc, read) for key, read in reads.items()}
            elif asked == "resettability":
                tables[asked] |= reads
            else:
                joined: Callable[[Iterable[Any]], Expr] = all_of if asked == "invariant" else any_of
                tables[asked][name] = partial(_joined, joined, list(reads.values()))
    for asked, table in tables.items():
        yield _PLURAL[asked], table


def _condition(function: Callable[..., Any], read: Callable[[], Any]) -> Expr:
    said = read()
    try:
        return as_expr(said, BOOL)
    except ModelError:
        shown = "nothing" if said is None else f"`{said}`"
        raise ModelError(
            f"`{function.__name__}` returns {shown}: return a condition", _line(function)
        ) from None


def _joined(join: Callable[[Iterable[Any]], Expr], reads: Iterable[Callable[[], Any]]) -> Expr:
    return join(read() for read in reads)


def _cases(doc: str, read: Callable[[], Any]) -> tuple[Case, ...]:
    said = read()
    if isinstance(said, Case):
        return (said,)
    if isinstance(said, (list, tuple)):
        return tuple(said)
    return (Case(doc, said),)


def _named(name: str, binding: Sequence[tuple[str, Any]]) -> str:
    shown = ", ".join(f"{n}={getattr(v, 'name', v)}" for n, v in binding)
    return f"{name}({shown})" if shown else name


def _line(function: Callable[..., Any]) -> tuple[str, int]:
    return function.__code__.co_filename, function.__code__.co_firstlineno


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
