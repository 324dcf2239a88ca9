"""`dataclass` of the standard library in a tenth of the time that it takes to make a class, for what every command imports.

The standard one writes and compiles six functions for each class while it is imported, for a hundred classes a fifth of all that is
imported. Here these are closures, and only `__init__` is compiled, when the class has more than a few instances or somebody asks for
its signature. Fields, `replace`, `asdict`, patterns and pickles are as ever: the standard library makes the class itself. A class with an
option that is not known here is made by the standard library as a whole.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, **others):
        """As `dataclasses.dataclass`."""

        def made(cls):
            if others or "__init__" in vars(cls):
                return dataclasses.dataclass(cls, frozen=frozen, slots=slots, eq=eq, **others)
            return _made(cls, frozen, slots, eq)

        return made if cls is None else made(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class _DataType(type):
    def __new__(
        mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], slots: bool = True, **others: Any
    ) -> Any:
        cls = super().__new__(mcs, name, bases, body, **others)
        # A class with slots is Data itself, or the copy with slots that the standard library makes of a class.
        return cls if "__slots__" in body else dataclass(frozen=True, slots=slots)(cls)


class Data(metaclass=_DataType):
    """What derives from it is a `dataclass`, frozen and with slots; with `slots=False` it can remember what it has worked out."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


def _made(cls: Any, frozen: bool, slots: bool, eq: bool) -> Any:
    own = {**vars(cls)}
    # Python itself writes None where a class has only __eq__.
    has_hash = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
    # A class that is not frozen cannot be derived from one that is: so the standard library is to know what these are.
    derived = any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:])
    made = dataclasses.dataclass(
        cls, slots=slots, init=False, repr=False, eq=False, frozen=frozen and derived
    )
    made.__dataclass_params__.frozen = frozen
    if "__repr__" not in own:
        made.__repr__ = _repr
    if eq and "__eq__" not in own:
        made.__eq__ = _eq_of(tuple(f.name for f in fields(made) if f.compare))
    if eq and not has_hash:
        hashed = tuple(f.name for f in fields(made) if (f.compare if f.hash is None else f.hash))
        made.__hash__ = _hash_of(hashed) if frozen else None
    if frozen and slots:
        made.__getstate__, made.__setstate__ = _state, _restore
    made.__init__ = _Later(made, frozen, slots)
    if frozen:
        made.__setattr__, made.__delattr__ = _refusals_of(made)
    return made


FEW = 6
"""Of most classes there are no more instances, and to fill these one by one is done sooner than to compile what does it."""


class _Later:
    """Stands for `__init__` until somebody looks at it, or has made a few instances."""

    def __init__(self, cls: Any, frozen: bool, slots: bool) -> None:
        self._cls, self._frozen, self._slots, self._made = cls, frozen, slots, 0

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._made += 1
        if instance is not None and self._made <= FEW:
            return partial(self._fill, instance)
        init = self._written()
        return init if instance is None else init.__get__(instance)

    def _written(self) -> Any:
        init = self._cls.__init__ = _init_of(self._cls, self._frozen, self._slots)
        return init

    def _fill(self, instance: Any, /, *args: Any, **named: Any) -> None:
        """What the written function does; what it would refuse is left to it."""
        known = fields(self._cls)
        given = [field.name for field in known if field.init and not field.kw_only]
        values = {**dict(zip(given, args, strict=False)), **named}
        found = {}
        for field in known:
            name = field.name
            if field.init and name in values:
                found[name] = values.pop(name)
            elif field.default_factory is not MISSING:
                found[name] = field.default_factory()
            elif field.default is not MISSING:
                if field.init or self._slots:
                    found[name] = field.default
            elif field.init:
                values["a value is missing"] = field
        if values or len(args) + len(named) != len({*given[: len(args)], *named}):
            self._written()(instance, *args, **named)
            return
        put = object.__setattr__ if self._frozen else setattr
        for name, value in found.items():
            put(instance, name, value)
        if hasattr(self._cls, "__post_init__"):
            instance.__post_init__()


def _init_of(cls: Any, frozen: bool, slots: bool) -> Any:
    """The function that the standard library would write."""
    names: dict[str, Any] = {"_missing": MISSING, "_set": object.__setattr__}
    given: list[str] = ["self"]
    named: list[str] = []
    body = []
    for number, field in enumerate(fields(cls)):
        name, value = field.name, field.name
        names[f"_default{number}"], names[f"_factory{number}"] = field.default, field.default_factory
        if field.default_factory is not MISSING:
            default, value = "=_missing", f"_factory{number}() if {name} is _missing else {name}"
        else:
            default = "" if field.default is MISSING else f"=_default{number}"
        if field.init:
            (named if field.kw_only else given).append(f"{name}{default}")
        elif field.default_factory is not MISSING:
            value = f"_factory{number}()"
        elif slots and field.default is not MISSING:
            value = f"_default{number}"
        else:
            continue  # what the class has, or nothing
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = ", ".join([*given, *(["*", *named] if named else [])])
    text = f"def __init__({arguments}):\n " + "\n ".join(body or ["pass"])
    exec(compile(text, f"<the __init__ of {cls.__qualname__}>", "exec"), names)
    init = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {f.name: f.type for f in fields(cls) if f.init} | {"return": None}
    return init


def _values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)


def _eq_of(names: tuple[str, ...]) -> Any:
    values = _values_of(names)

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash_of(names: tuple[str, ...]) -> Any:
    values = _values_of(names)

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _refusals_of(cls: Any) -> tuple[Any, Any]:
    known = frozenset(f.name for f in fields(cls))

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in known:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in known:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
