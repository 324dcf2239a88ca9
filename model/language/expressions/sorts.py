"""Sorts of symbolic values, and the entities (pods, nodes) that a model ranges over.

Every value is encoded as an integer with a finite range: a bool as 0 or 1, an enum member by its
position, a reference as 0 for none and i + 1 for the entity with index i.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, TypeVar, cast

from ....base.structs import dataclass
from .errors import ModelError


class Entity:
    """One individual of a kind that the model ranges over; subclasses are the kinds.

    `about` is how a sentence calls an individual, with its name for the {}. `members` is how many there are, or their names,
    where a system of one's own makes them (`system_of`).
    """

    about = "{}"
    members: ClassVar[int | Sequence[str]] = 0

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name

    def __repr__(self) -> str:
        return self.name


E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True, eq=False)
class Sort:
    """The type of an expression. `tag` is an Enum class, an Entity class, or None for bool and int.

    There is one object for each sort, in every process: so `is` compares, and a sort costs nothing as part of a key.
    """

    name: str
    tag: type | None = None

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _the_sort, (self.name, self.tag)


BOOL = Sort("bool")
INT = Sort("int")
_cache: dict[type, Sort] = {}


def _the_sort(name: str, tag: type | None) -> Sort:
    return _cache.setdefault(tag, Sort(name, tag)) if tag is not None else BOOL if name == BOOL.name else INT


def sort_of_enum(members: type[Enum]) -> Sort:
    """The sort of an Enum class."""
    return _cache.get(members) or _the_sort(members.__name__, members)


def sort_of_ref(kind: type[Entity]) -> Sort:
    """The sort of optional references to entities of `kind`."""
    return _cache.get(kind) or _the_sort(f"ref {kind.__name__}", kind)


class Universe:
    """The finitely many entities of each kind, in index order, and the bounds that a model is built with.

    `scope` is whatever object the model's shapes and steps take their bounds from. Raises ModelError if
    indices or names of one kind are not unique and consecutive.
    """

    def __init__(self, entities: Mapping[type[Entity], Sequence[Entity]], scope: Any = None) -> None:
        self.scope = scope
        self._entities = {kind: tuple(members) for kind, members in entities.items()}
        for kind, members in self._entities.items():
            if [e.index for e in members] != list(range(len(members))):
                raise ModelError(f"the {kind.__name__} entities must be numbered from 0 in order")
            if len({e.name for e in members}) != len(members):
                raise ModelError(f"two {kind.__name__} entities have the same name")

    def __getitem__(self, kind: type[E]) -> tuple[E, ...]:
        members = self._entities.get(kind)
        if members is None:
            raise ModelError(f"this model has no entities of kind {kind.__name__}")
        return cast(tuple[E, ...], members)

    def kinds(self) -> Iterator[type[Entity]]:
        """The kinds, in the order given."""
        return iter(self._entities)

    def decode(self, sort: Sort, code: int) -> Any:
        """The Python value that `code` stands for: bool, int, enum member, entity, or None."""
        if sort.tag is None:
            return bool(code) if sort is BOOL else code
        if issubclass(sort.tag, Enum):
            return list(sort.tag)[code]
        return None if code == 0 else self._entities[cast(type[Entity], sort.tag)][code - 1]
