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
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property, partial
from itertools import product
from types import FunctionType, ModuleType
from typing import Any, Literal, TypeVar

from .component import Component, Model, build, domains_of, parameter_hints, part_classes
from .errors import ModelError
from .expr import Expr, all_of, any_of, as_expr
from .fairness import Case
from .graph import topological
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
    if issubclass(root, Model):
        _refuse_what_only_parts_have(root)
    classes = part_classes(root) if issubclass(root, Model) else {_snake(root.__name__): root}
    for cls in classes.values():
        _refuse_what_nothing_comes_of(cls)
    universe = _universe(list(classes.values()), dict(sizes or {}), root.__name__, scope)
    model = build(_model_of(root, classes), universe)
    tables = dict(_tables(model))
    kinds = list(universe.kinds())
    seen = [
        *classes.values(),
        *kinds,
        *(entity for kind in kinds for entity in universe[kind]),
        *_modules_of(classes, kinds),
    ]
    own = {thing.__name__ for thing in seen if isinstance(thing, ModuleType)}
    held: list[tuple[Any, dict[str, Kept]]] = []
    system = trace_system(
        model,
        root.__name__,
        **tables,
        started=lambda: held.extend((thing, kept_by(thing, own)) for thing in seen),
    )
    for thing, before in held:
        _refuse_what_changed(thing, before, kept_by(thing, own))
    _refuse_what_is_too_wide(system, root)
    return system


def _refuse_what_only_parts_have(root: type[Model]) -> None:
    """A Model names parts; what else stands in it nobody would look at."""
    for base in root.__mro__:
        if base in (Model, object):
            continue
        for name, thing in vars(base).items():
            marked = hasattr(thing, "__podrace_step__") or hasattr(thing, _MARK) or name == "setup"
            if marked or isinstance(thing, Shape):
                raise ModelError(
                    f"`{name}` stands in the Model {base.__name__}, which only names parts: write it into one of these, "
                    "or into a Component of its own, which sees the others by their names",
                    _line(thing) if inspect.isfunction(thing) else _place(base),
                )


def _modules_of(classes: Mapping[str, type], kinds: Sequence[type]) -> list[ModuleType]:
    """The modules of one's own that these classes, and those that they derive from, stand in."""
    names = {
        base.__module__ for cls in (*classes.values(), *kinds) for base in cls.__mro__ if base is not object
    }
    return [
        sys.modules[name] for name in sorted(names) if name in sys.modules and not name.startswith("podrace.")
    ]


def _refuse_what_nothing_comes_of(cls: type[Component]) -> None:
    """Classes that Python takes, and that could not be built, or would say something else."""
    if "__dataclass_fields__" in vars(cls):
        raise ModelError(
            f"{cls.__name__} is a dataclass: take `@dataclass` away, its state is declared", _place(cls)
        )
    for name in declared(cls):
        if name in _OF_THE_LANGUAGE:
            raise ModelError(
                f"`{name}` of {cls.__name__} is a name of the language itself: give the state another",
                _place(cls),
            )
    for base in cls.__mro__:
        for name, thing in vars(base).items():
            if isinstance(thing, cached_property) or hasattr(thing, "cache_info"):
                raise ModelError(
                    f"`{name}` of {base.__name__} is computed once, and state changes: write `@property`, or nothing",
                    _place(base),
                )
    code = getattr(cls.setup, "__code__", None)
    if code is not None and code.co_argcount - len(cls.setup.__defaults__ or ()) > 1:
        raise ModelError(
            "`setup` has one parameter, `self`: loop over `self.universe[Kind]` for each entity",
            _line(cls.setup),
        )
    for kind in kinds_of([cls]):
        for name in declared(kind):
            raise ModelError(
                f"`{name}` is state, and stands in {kind.__name__}: write `{name} = per({kind.__name__}, ...)` into {cls.__name__}",
                _place(kind),
            )


_OF_THE_LANGUAGE = (
    "universe", "setup", "observe", "explains", "read_field", "write_field", "phrases", "knowledge", "channels", "reads",
    "bookkeeping", "name",
)  # fmt: skip


class _Same:
    """An object that is equal to itself alone, whatever its class says of equality."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


Kept = Any
"""What something kept, in a form that is equal to another only if nothing of it was changed."""

_NOT_KEPT = (FunctionType, ModuleType, property, cached_property, classmethod, staticmethod, type, Shape)


def kept_by(owner: Any, own_modules: Collection[str]) -> dict[str, Kept]:
    """What a class and its bases, an entity or a module keeps beside declared state; in objects of one's own modules, too. What an entity
    computes once and for all is none of it.
    """
    if isinstance(owner, type):
        own = [dict(vars(base)) for base in reversed(owner.__mro__) if base is not object]
    else:
        computed = {n for n in vars(owner) if isinstance(getattr(type(owner), n, None), cached_property)}
        own = [{n: v for n, v in vars(owner).items() if n not in computed}]
    found = {n: v for names in own for n, v in names.items() if not isinstance(v, _NOT_KEPT)}
    return {
        name: _as_it_is(value, own_modules, {}) for name, value in found.items() if not name.startswith("__")
    }


def _as_it_is(value: Any, own_modules: Collection[str], seen: dict[int, int]) -> Kept:
    """`seen`: which objects were met on the way, and as the how many-th; what is met again is only named."""
    if isinstance(value, (bool, int, str, bytes)):
        return value
    if id(value) in seen:
        return "again", seen[id(value)]
    seen[id(value)] = len(seen)
    inside: list[Any] = []
    if isinstance(value, dict):
        inside = [part for item in value.items() for part in item]
    elif isinstance(value, (list, tuple, deque, bytearray)):
        inside = list(value)
    elif isinstance(value, (set, frozenset)):
        return _Same(value), {_Same(one) for one in value}
    elif _keeps(value) and type(value).__module__ in own_modules:  # a logger, say, may note what it likes
        inside = [part for item in vars(value).items() for part in item]
    # Of anything else it counts which object it is: the symbols of two traces are equal to nothing.
    return _Same(value), [_as_it_is(part, own_modules, seen) for part in inside]


def _keeps(value: Any) -> bool:
    """Whether this is a plain object: no entity, which is looked at by itself, and nothing of the language."""
    return hasattr(value, "__dict__") and not isinstance(value, (Entity, Enum, Expr, Component, *_NOT_KEPT))


def _refuse_what_changed(owner: Any, before: Mapping[str, Kept], now: Mapping[str, Kept]) -> None:
    for name in [*before, *(name for name in now if name not in before)]:
        if now.get(name, _GONE) != before.get(name, _GONE):
            if isinstance(owner, ModuleType):
                whose, place = "the module", (owner.__file__ or "", 0)
            elif isinstance(owner, type):
                whose, place = owner.__name__, _place(owner)
            else:
                whose, place = f"a {type(owner).__name__}", _place(type(owner))
            raise ModelError(
                f"`{name}` of {whose} was changed while steps were read, each of them once: it is no state. Declare what "
                f"steps change, such as `{name} = integer(0, 3)`, or a `per(...)` of it; what never changes is assigned in `setup`",
                place,
            )


_GONE = _Same(None)


WIDEST = 62
"""How many bits a number may have, beside its sign: engines compute with 64."""


def _refuse_what_is_too_wide(system: TransitionSystem, root: type) -> None:
    for v in system.variables:
        if not -(2**WIDEST) <= v.lo <= v.hi < 2**WIDEST:
            raise ModelError(
                f"`{v.name}` ranges over {v.lo}..{v.hi}: numbers have up to {WIDEST} bits", _place(root)
            )
    for e in topological(system.roots()):
        if not -(2**WIDEST) <= e.lo <= e.hi < 2**WIDEST:
            raise ModelError(
                f"this can be {e.lo}..{e.hi}: numbers have up to {WIDEST} bits, whatever a guard says. Give what it is computed of smaller ranges, or `clamp` it",
                e.location,
            )


def words_of(root: type[System] | type[Model]) -> dict[str, str]:
    """What each property and witness says, by the name of its method: its docstring, or nothing."""
    classes = part_classes(root) if issubclass(root, Model) else {"": root}
    named = _names_of_properties(classes)
    return {
        named[part, name]: inspect.getdoc(f) or ""
        for part, cls in classes.items()
        for name, f, _ in _asked(cls)
    }


def _names_of_properties(classes: Mapping[str, type[Component]]) -> dict[tuple[str, str], str]:
    """The name of each part's properties: with the part's own where several parts have one of that name."""
    parts: dict[str, list[str]] = {}
    for part, cls in classes.items():
        for name, _, _ in _asked(cls):
            parts.setdefault(name, []).append(part)
    return {(p, n): n if len(some) == 1 else f"{p}.{n}" for n, some in parts.items() for p in some}


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
    if (
        not isinstance(said, (list, tuple))
        or not 1 <= len(said) <= MOST_ENTITIES
        or not all(isinstance(name, str) and name for name in said)
        or len(set(said)) < len(said)
    ):
        raise ModelError(
            f"`members` of {kind.__name__} is `{said!r}`: write a number, or up to {MOST_ENTITIES} different names, such as ('left', 'right')",
            _place(kind),
        )
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
    named = _names_of_properties({name: type(part) for name, part in model.parts.items()})
    for part in model.parts.values():
        for method, function, asked in _asked(type(part)):
            name = named[part.name, method]
            domains = domains_of(model.entities, function, f"`{name}`")
            bindings = [
                tuple(zip((n for n, _ in domains), values, strict=True))
                for values in product(*(v for _, v in domains))
            ]
            reads = {_named(name, b): partial(getattr(part, method), **dict(b)) for b in bindings}
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
        cases = [one if isinstance(one, Case) else Case(doc, one) for one in said]
        named = Counter(case.name for case in cases)
        # A run is held to its case by the name of that.
        return tuple(
            case if named[case.name] == 1 else replace(case, name=f"{case.name} ({number})")
            for number, case in enumerate(cases, 1)
        )
    return (Case(doc, said),)


def _named(name: str, binding: Sequence[tuple[str, Any]]) -> str:
    shown = ", ".join(f"{n}={getattr(v, 'name', v)}" for n, v in binding)
    return f"{name}({shown})" if shown else name


def _line(function: Callable[..., Any]) -> tuple[str, int]:
    return function.__code__.co_filename, function.__code__.co_firstlineno


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
