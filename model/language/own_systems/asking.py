"""The properties of a user's class: its marked methods, and their names."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar

from ..declarations.component import Component, Model, parameter_hints, part_classes
from ..declarations.shapes import Fifo, RecordShape, Scalar, Shape, Table, declared
from ..expressions.sorts import Entity

F = TypeVar("F", bound=Callable[..., Any])

Asked = Literal["invariant", "witness", "resettability", "liveness"]

MARK = "__podrace_asked__"


class System(Component):
    """A closed system in one class. Its kinds of entities are those that its state and its steps name.

    `members` of a kind, a number or names, says how many entities the kind has.
    """


def _marked(asked: Asked) -> Callable[[F], F]:
    def mark(function: F) -> F:
        setattr(function, MARK, asked)
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
    """Mark a method that says what must not go on indefinitely in a fair run; one property for each binding of its parameters.

    It returns a condition, a Case, or several Cases.
    """
    return _marked("liveness")(function)


def words_of(root: type[System] | type[Model]) -> dict[str, str]:
    """What each property and witness says, by the name of its method: its docstring, or nothing."""
    classes = part_classes(root) if issubclass(root, Model) else {"": root}
    named = names_of_properties(classes)
    return {
        named[part, name]: inspect.getdoc(f) or ""
        for part, cls in classes.items()
        for name, f, _ in asked_by(cls)
    }


def names_of_properties(classes: Mapping[str, type[Component]]) -> dict[tuple[str, str], str]:
    """The name of each part's properties: with the part's own where several parts have one of that name."""
    parts: dict[str, list[str]] = {}
    for part, cls in classes.items():
        for name, _, _ in asked_by(cls):
            parts.setdefault(name, []).append(part)
    return {(p, n): n if len(some) == 1 else f"{p}.{n}" for n, some in parts.items() for p in some}


def asked_by(cls: type[Component]) -> list[tuple[str, Callable[..., Any], Asked]]:
    """The methods of a class and its bases that have a mark, by their names, and which; the lowest class decides."""
    found: dict[str, Asked] = {}
    for base in reversed(cls.__mro__):
        for name, thing in vars(base).items():
            asked = getattr(thing, MARK, None)
            if asked is not None:
                found[name] = asked
    return [(name, getattr(cls, name), asked) for name, asked in found.items()]


def kinds_of(classes: Iterable[type[Component]]) -> list[type[Entity]]:
    """The kinds of entities that these classes name, in the order in which they do."""
    found: dict[type[Entity], None] = {}
    for cls in classes:
        for shape in declared(cls).values():
            found.update(dict.fromkeys(_kinds_in(shape)))
        for _, thing in inspect.getmembers(cls, inspect.isfunction):
            if hasattr(thing, "__podrace_step__") or hasattr(thing, MARK):
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


def place_of(cls: type) -> tuple[str, int]:
    """File and line of a class; its module, where there is no file."""
    try:
        return inspect.getsourcefile(cls) or "", inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):
        return cls.__module__, 0


def line_of(function: Callable[..., Any]) -> tuple[str, int]:
    """File and line of a function."""
    return function.__code__.co_filename, function.__code__.co_firstlineno
