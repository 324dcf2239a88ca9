"""What steps keep outside of declared state. podrace reads each step once, so it would not see such state; it searches for it before and after it reads the steps."""

from collections import deque
from collections.abc import Collection, Mapping
from enum import Enum
from functools import cached_property
from gc import get_referents
from types import FunctionType, ModuleType
from typing import Any

from ..declarations.component import Component
from ..declarations.shapes import Shape
from ..expressions.errors import ModelError
from ..expressions.expr import Expr
from ..expressions.sorts import Entity
from .asking import place_of


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

_NOT_KEPT = (ModuleType, property, cached_property, classmethod, staticmethod, type, Shape)


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
    elif isinstance(value, FunctionType):
        if value.__module__ in own_modules:
            cells = [kept for cell in value.__closure__ or () for kept in get_referents(cell)]
            inside = [value.__defaults__, value.__kwdefaults__, vars(value), *cells]
    elif _keeps(value) and type(value).__module__ in own_modules:  # a logger, say, may note what it likes
        inside = [part for item in vars(value).items() for part in item]
    # Of anything else it counts which object it is: the symbols of two traces are equal to nothing.
    return _Same(value), [_as_it_is(part, own_modules, seen) for part in inside]


def _keeps(value: Any) -> bool:
    """Whether this is a plain object: no entity, which is looked at by itself, and nothing of the language."""
    return hasattr(value, "__dict__") and not isinstance(value, (Entity, Enum, Expr, Component, *_NOT_KEPT))


def refuse_what_changed(owner: Any, before: Mapping[str, Kept], now: Mapping[str, Kept]) -> None:
    """Raise ModelError for the first thing that `owner` kept otherwise before steps were read than now."""
    for name in [*before, *(name for name in now if name not in before)]:
        if now.get(name, _GONE) != before.get(name, _GONE):
            if isinstance(owner, ModuleType):
                whose, place = "the module", (owner.__file__ or "", 0)
            elif isinstance(owner, type):
                whose, place = owner.__name__, place_of(owner)
            else:
                whose, place = f"a {type(owner).__name__}", place_of(type(owner))
            raise ModelError(
                f"`{name}` of {whose} was changed while steps were read, each of them once: it is no state. Declare what "
                f"steps change, such as `{name} = integer(0, 3)`, or a `per(...)` of it; what never changes is assigned in `setup`",
                place,
            )


_GONE = _Same(None)
