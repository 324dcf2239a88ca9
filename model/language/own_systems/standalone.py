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

import inspect
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import ModuleType
from typing import Any

from ..declarations.component import Component, Model, build, domains_of, part_classes
from ..declarations.fairness import Case
from ..expressions.errors import ModelError
from ..expressions.expr import Expr, all_of, any_of, as_expr
from ..expressions.sorts import BOOL, Entity, Universe
from ..systems.system import TransitionSystem, trace_system
from .asking import Asked, System, asked_by, kinds_of, line_of, names_of_properties, place_of
from .kept import Kept, kept_by, refuse_what_changed
from .refusals import refuse_what_is_too_wide, refuse_what_nothing_comes_of, refuse_what_only_parts_have

MOST_ENTITIES = 64
"""How many entities of a kind there may be."""


def system_of(
    root: type[System] | type[Model], sizes: Mapping[str, int] | None = None, scope: Any = None
) -> TransitionSystem:
    """The transition system of a class of one's own, with what its methods say must hold.

    `sizes` says for kinds of entities, by their names, how many there are, whatever the kind says itself. `scope` is what
    bounds that are functions take their numbers from. Raises ModelError for a mistake in the class.
    """
    if issubclass(root, Model):
        refuse_what_only_parts_have(root)
    classes = part_classes(root) if issubclass(root, Model) else {_snake(root.__name__): root}
    for cls in classes.values():
        refuse_what_nothing_comes_of(cls)
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
    chance: list[object] = []

    def started() -> None:
        held.extend((thing, kept_by(thing, own)) for thing in seen)
        chance.append(random.getstate())

    system = trace_system(model, root.__name__, **tables, started=started, twice=True)
    if random.getstate() != chance[0]:
        raise ModelError(
            "a step or a property asks `random`, once, when it is read: write a parameter for what chance decides, and "
            "`@step(..., random=True)`",
            place_of(root),
        )
    for thing, before in held:
        refuse_what_changed(thing, before, kept_by(thing, own))
    refuse_what_is_too_wide(system, root)
    return system


def _modules_of(classes: Mapping[str, type], kinds: Sequence[type]) -> list[ModuleType]:
    """The modules of one's own that these classes, and those that they derive from, stand in."""
    names = {
        base.__module__ for cls in (*classes.values(), *kinds) for base in cls.__mro__ if base is not object
    }
    return [
        sys.modules[name] for name in sorted(names) if name in sys.modules and not name.startswith("podrace.")
    ]


def _universe(classes: Sequence[type[Component]], sizes: dict[str, int], name: str, scope: Any) -> Universe:
    kinds = kinds_of(classes)
    unknown = [one for one in sizes if one not in {kind.__name__ for kind in kinds}]
    if unknown:
        known = ", ".join(kind.__name__ for kind in kinds) or "none"
        raise ModelError(
            f"{name} has no kind of entity `{unknown[0]}`; its kinds: {known}", place_of(classes[0])
        )
    return Universe({kind: _members(kind, sizes.get(kind.__name__)) for kind in kinds}, scope)


def _members(kind: type[Entity], size: int | None) -> list[Entity]:
    said = kind.members if size is None else size
    if isinstance(said, int):
        if not 1 <= said <= MOST_ENTITIES:
            raise ModelError(
                f"how many {kind.__name__} are there? Write `members = 3`, or their names, in the class: 1 to {MOST_ENTITIES}",
                place_of(kind),
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
            place_of(kind),
        )
    return [kind(i, name) for i, name in enumerate(said)]


def _model_of(root: type[Any], classes: Mapping[str, type[Component]]) -> type[Model]:
    if issubclass(root, Model):
        return root
    return type(root.__name__, (Model,), {"__annotations__": dict(classes), "__module__": root.__module__})


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
    named = names_of_properties({name: type(part) for name, part in model.parts.items()})
    for part in model.parts.values():
        for method, function, asked in asked_by(type(part)):
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
            f"`{function.__name__}` returns {shown}: return a condition", line_of(function)
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


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
