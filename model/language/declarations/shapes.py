"""Typed state: what a component or a record declares as class attributes.

    place = per(Pod, enum(Place))           a table: one cell per pod
    node = ref(Node)                        an optional reference
    backlog = fifo(4, PodEvent)             a bounded first-in first-out queue

A shape is a description; `allocate` turns it into cells, each with its own state variables.
"""

from collections.abc import Callable, Mapping
from copy import copy
from enum import Enum, Flag
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from ....base.structs import dataclass
from ..expressions.errors import ModelError
from ..expressions.expr import Value, Variable, as_expr
from ..expressions.sorts import BOOL, INT, Entity, Sort, Universe, sort_of_enum, sort_of_ref

Bound = int | Callable[[Any], int]
"""A bound of a shape: a number, or a function that takes it from the universe's scope."""


def _number(bound: Bound, universe: Universe) -> int:
    return bound(universe.scope) if callable(bound) else bound


class Holder(Protocol):
    """What owns declared state: a component, or a record inside one."""

    def read_field(self, name: str) -> Any:
        """The value of a declared field."""

    def write_field(self, name: str, value: Any) -> None:
        """Assign to a declared field."""


class Shape:
    """The type of a piece of state; as a class attribute, a descriptor that reads and writes it."""

    name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        if self.name in ("", name):
            self.name = name
        else:  # `x = y = integer(0, 3)` declares two pieces of state, and so does one that has another name in another class
            own = copy(self)
            own.name = name
            setattr(owner, name, own)

    def __get__(self, holder: Holder | None, owner: type | None = None) -> Any:
        return self if holder is None else holder.read_field(self.name)

    def __set__(self, holder: Holder, value: Any) -> None:
        holder.write_field(self.name, value)

    def __delete__(self, holder: Holder) -> None:
        raise ModelError(f"`del` of `{self.name}`: state stays declared, so assign what it is then")

    def allocate(self, path: str, universe: Universe) -> Any:
        """Cells for this shape, their variables named from `path`."""
        raise NotImplementedError


@dataclass(slots=True)
class ScalarCell:
    """One state variable."""

    variable: Variable
    zero: int


@dataclass(slots=True)
class TableCell:
    """One cell per key, in the kind's order; codes[i] is the code of key i."""

    kind: type
    keys: tuple[Any, ...]
    codes: tuple[int, ...]
    cells: tuple[Any, ...]


@dataclass(slots=True)
class RecordCell:
    """One cell per field of a record class."""

    record: type
    fields: dict[str, Any]


@dataclass(slots=True)
class FifoCell:
    """Slots from the oldest entry on; free slots hold zeros, so that equal queues are equal states."""

    path: str
    slots: tuple[Any, ...]
    length: ScalarCell


class Scalar(Shape):
    """A bool, bounded int, enum member or optional reference."""

    def __init__(self, sort: Sort, lo: int, hi: Bound | None, initial: Value) -> None:
        self.sort, self.lo, self.hi, self.initial = sort, lo, hi, initial

    def allocate(self, path: str, universe: Universe) -> ScalarCell:
        if self.hi is None:
            assert self.sort.tag is not None
            hi = len(universe[self.sort.tag])
        else:
            hi = _number(self.hi, universe)
            if hi < self.lo:
                raise ModelError(f"`{path}` cannot range over {self.lo}..{hi}")
        zero = min(zero_of(self), hi)
        start = zero if self.initial is None else as_expr(self.initial, self.sort).lo
        if not self.lo <= start <= hi:
            raise ModelError(f"`{path}` starts outside its range {self.lo}..{hi}")
        return ScalarCell(Variable(path, self.sort, self.lo, hi, start), zero)


class Table(Shape):
    """One piece of state for each entity of a kind, for each member of an enum, or for each number of a range."""

    def __init__(self, kind: type | range, element: Any) -> None:
        self.numbers = range(0)
        if isinstance(kind, range):
            if not kind or kind.step != 1:
                raise ModelError(f"`per` needs numbers one after the other, not `{kind!r}`")
            self.numbers, kind = kind, int
        elif not (isinstance(kind, type) and issubclass(kind, (Entity, Enum))):
            raise ModelError(f"`per` needs a kind of entity, an enum or a range, not `{kind!r}`")
        self.kind: Any = kind
        self.element = as_shape(element)

    def allocate(self, path: str, universe: Universe) -> TableCell:
        if self.numbers:
            keys: tuple[Any, ...] = tuple(self.numbers)
            names, codes = [str(k) for k in keys], keys
        elif issubclass(self.kind, Enum):
            keys = tuple(self.kind)
            names, codes = [k.name for k in keys], tuple(range(len(keys)))
        else:
            keys = universe[self.kind]
            names, codes = [k.name for k in keys], tuple(k.index + 1 for k in keys)
        cells = tuple(self.element.allocate(f"{path}[{n}]", universe) for n in names)
        return TableCell(self.kind, keys, codes, cells)


class Fifo(Shape):
    """A queue that holds at most `capacity` entries."""

    def __init__(self, capacity: Bound, element: Any) -> None:
        self.capacity, self.element = capacity, as_shape(element)

    def allocate(self, path: str, universe: Universe) -> FifoCell:
        capacity = _number(self.capacity, universe)
        if capacity < 1:
            raise ModelError(f"`{path}` needs a capacity of at least 1, not {capacity}")
        slots = tuple(self.element.allocate(f"{path}[{i}]", universe) for i in range(capacity))
        for scalar in [cell for slot in slots for cell in scalars_of(slot)]:
            scalar.variable.initial = scalar.zero  # a free slot is zero from the start
        length = Variable(f"{path}.length", INT, 0, capacity, 0)
        return FifoCell(path, slots, ScalarCell(length, 0))


class RecordShape(Shape):
    """The fields of a record class, as one piece of state."""

    def __init__(self, record: type) -> None:
        self.record = record

    def allocate(self, path: str, universe: Universe) -> RecordCell:
        shapes = declared(self.record)
        return RecordCell(self.record, {n: s.allocate(f"{path}.{n}", universe) for n, s in shapes.items()})


def zero_of(shape: Any) -> int:
    """The code of a scalar shape that is 0, or as near to it as the range allows."""
    zero = max(0, shape.lo)
    return min(zero, shape.hi) if isinstance(shape.hi, int) else zero


def scalars_of(cell: Any) -> list[ScalarCell]:
    """All state variables of a cell, each with its zero."""
    if isinstance(cell, ScalarCell):
        return [cell]
    if isinstance(cell, TableCell):
        inner = list(cell.cells)
    elif isinstance(cell, RecordCell):
        inner = list(cell.fields.values())
    else:
        assert isinstance(cell, FifoCell)
        inner = [cell.length, *cell.slots]
    return [scalar for part in inner for scalar in scalars_of(part)]


def as_shape(thing: Any) -> Shape:
    """A shape, or the shape of a record class."""
    if isinstance(thing, Shape):
        return thing
    if isinstance(thing, type) and hasattr(thing, "record_fields"):
        return RecordShape(thing)
    raise ModelError(f"`{thing!r}` does not describe state: use boolean(), integer(), enum(), ref(), ...")


# Weak: every system has classes of its own, which go with it.
_declared: WeakKeyDictionary[type, Mapping[str, Shape]] = WeakKeyDictionary()


def declared(owner: type) -> Mapping[str, Shape]:
    """The shapes that a class and its bases declare, bases first."""
    known = _declared.get(owner)
    if known is None:
        found: dict[str, Shape] = {}
        for base in reversed(owner.__mro__):
            found.update({n: s for n, s in vars(base).items() if isinstance(s, Shape)})
        known = _declared[owner] = found
    return known


# The factories return Any so that type checkers accept `self.node[pod] = node`.


def boolean(initial: bool = False, possible: Bound = 1) -> Any:
    """A bool; one that is always False where `possible`, which may come from the scope, is 0."""
    return Scalar(BOOL, 0, possible, initial)


def integer(lo: int, hi: Bound, initial: int | None = None) -> Any:
    """An int in lo..hi; starts at 0, or at the end of the range nearest to 0. `hi` may come from the scope."""
    if not callable(hi) and lo > hi:
        raise ModelError(f"an integer cannot range over {lo}..{hi}")
    if initial is not None and not callable(hi) and not lo <= initial <= hi:
        raise ModelError(f"an integer in {lo}..{hi} cannot start at {initial}")
    return Scalar(INT, lo, hi, initial)


def enum(members: type[Enum], initial: Enum | None = None) -> Any:
    """A member of an Enum class; starts at the first unless told otherwise."""
    if not (isinstance(members, type) and issubclass(members, Enum)):
        raise ModelError(f"`enum` needs an Enum class, not `{members!r}`")
    if issubclass(members, (int, Flag)):
        raise ModelError(
            f"the members of `{members.__name__}` are numbers, or sets, to Python: derive it from Enum alone"
        )
    if not len(members):
        raise ModelError(f"`{members.__name__}` has no members")
    if initial is not None and not isinstance(initial, members):
        raise ModelError(f"`{initial!r}` is no member of {members.__name__}")
    return Scalar(sort_of_enum(members), 0, len(members) - 1, initial)


def ref(kind: type[Entity]) -> Any:
    """An optional reference to an entity; starts as none."""
    if not (isinstance(kind, type) and issubclass(kind, Entity)):
        raise ModelError(f"`ref` needs a kind of entity, not `{kind!r}`")
    return Scalar(sort_of_ref(kind), 0, None, None)


def per(kind: type | range, element: Any) -> Any:
    """A table with one `element` for each entity of `kind` (or each member of an enum, or each number of a range)."""
    return Table(kind, element)


def fifo(capacity: Bound, element: Any) -> Any:
    """A bounded queue of `element`s; pushing to a full one is a bound that a verdict names.

    `capacity` may be a function of the universe's scope.
    """
    return Fifo(capacity, element)


def record(cls: type) -> Any:
    """One record as a piece of state."""
    return RecordShape(cls)
