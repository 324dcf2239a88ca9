"""Views: how model code reads and writes cells.

A view stands for one or, behind a symbolic key, for several alternative cells, each with the
condition under which it is meant. Reading selects between them, writing writes under the condition.
A key that is none matches no cell: reading gives the zero of the sort, writing does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NoReturn

from ..expressions.errors import ModelError
from ..expressions.expr import Expr, Value, all_of, as_expr, clamp, const, equal, less, select, true
from ..expressions.sorts import INT, sort_of_enum, sort_of_ref
from .shapes import FifoCell, RecordCell, RecordShape, ScalarCell, TableCell, declared, zero_of
from .tracer import active, constraint, current_path, renewed, where

Alternatives = list[tuple[Expr, Any]]


def view_of(cell: Any) -> Any:
    """What model code sees of one cell."""
    kind = cell.__class__
    if kind is ScalarCell:
        return active().read(cell.variable)
    return cell.record._of_one(cell) if kind is RecordCell else view([(true(), cell)])


def view(alternatives: Alternatives) -> Any:
    """What model code sees of these cells (all of one shape)."""
    condition, cell = alternatives[0]
    kind = cell.__class__
    if len(alternatives) == 1 and condition.op == "const" and condition.value:
        if kind is ScalarCell:
            return active().read(cell.variable)
        if kind is RecordCell:
            return cell.record._of_one(cell)
    if kind is ScalarCell:
        return _read_scalar(alternatives)
    if kind is TableCell:
        return TableView(alternatives)
    if kind is FifoCell:
        return FifoView(alternatives)
    return cell.record._of(alternatives)


def store(alternatives: Alternatives, value: Any) -> None:
    """Assign `value` to these cells, each under its condition."""
    # All reads come first: the value may itself be a view of what is being written.
    cell = alternatives[0][1]
    if isinstance(cell, RecordCell):
        fields = _record_fields(cell, value)
        for name, field in fields.items():
            store([(c, alt.fields[name]) for c, alt in alternatives], field)
    elif isinstance(cell, ScalarCell):
        sort = cell.variable.sort
        new = value if type(value) is Expr and value.sort is sort else as_expr(value, sort)
        for condition, alt in alternatives:
            if condition.op == "const":
                if condition.value:
                    active().write(alt.variable, new)
            else:
                with where(condition):
                    active().write(alt.variable, new)
    elif isinstance(cell, TableCell):
        if not isinstance(value, TableView) or value.kind is not cell.kind or value.cell.keys != cell.keys:
            whole = "of the same numbers" if cell.kind is int else f"per {cell.kind.__name__}"
            raise ModelError(f"only a whole table {whole} can be assigned to this table")
        value.keep_to_now()
        copied = [view([(c, alt.cells[i]) for c, alt in value.alternatives]) for i in range(len(cell.cells))]
        active().renewed += (alt for _, alt in alternatives)
        for i, item in enumerate(copied):
            store([(c, alt.cells[i]) for c, alt in alternatives], item)
    else:
        raise ModelError("a queue is changed with push and pop, not by assignment")


def _read_scalar(alternatives: Alternatives) -> Expr:
    read = active().read
    result: Expr | None = None
    for condition, alt in reversed(alternatives):
        value = read(alt.variable)
        if result is None:
            zero = const(alt.variable.sort, alternatives[0][1].zero)
            always = condition.op == "const" and condition.value
            result = value if always else select(condition, value, zero)
        else:
            result = select(condition, value, result)
    assert result is not None
    return result


class TableView:
    """A table of cells; index it with an entity, an enum member, a number, or a symbolic one of the same kind."""

    __slots__ = ("_is_one", "_since", "alternatives", "cell", "kind")
    cell: TableCell
    kind: Any

    def __init__(self, alternatives: Alternatives) -> None:
        self._since = len(renewed())
        self.alternatives = alternatives
        condition, self.cell = alternatives[0]
        self.kind = self.cell.kind
        self._is_one = len(alternatives) == 1 and condition.op == "const" and condition.value

    def keep_to_now(self) -> None:
        """Raise ModelError if another table was assigned here since this one was read: its old contents are gone."""
        if len(given := renewed()) > self._since:
            mine = {id(alt) for _, alt in self.alternatives}
            if any(id(cell) in mine for cell in given[self._since :]):
                raise ModelError(
                    "another table was assigned to this one since it was read here: assign entry by entry, or read what it held before"
                )

    def _number(self, key: Any) -> int:
        """Which of the cells is that of an entity, or of a member of an enum."""
        try:
            return self.cell.keys.index(key)
        except ValueError:
            if self.kind is int:
                raise ModelError(f"{self._numbers()}, not {key}") from None
            raise ModelError(f"`{key}` is not one of this model's {self.kind.__name__} entities") from None

    def _at(self, key: Any) -> Alternatives:
        kind, cell = self.kind, self.cell
        if isinstance(key, kind):
            i = self._number(key)
            return [(c, alt.cells[i]) for c, alt in self.alternatives]
        sort = INT if kind is int else sort_of_enum(kind) if issubclass(kind, Enum) else sort_of_ref(kind)
        if isinstance(key, Expr) and key.sort is sort:
            if kind is int:
                self._keep_to_numbers(key)
            result: Alternatives = []
            for i, code in enumerate(cell.codes):
                chosen = equal(key, const(sort, code))
                if chosen.op != "const" or chosen.value:
                    result += [(all_of((c, chosen)), alt.cells[i]) for c, alt in self.alternatives]
            if result:
                return [(c, cell) for c, cell in result if c.op != "const" or c.value] or result[:1]
            return [(as_expr(False), cell.cells[0])]
        found = (
            f"{'an' if key.sort is INT else 'a'} {key.sort}"
            if isinstance(key, Expr)
            else f"`{key!r}` ({type(key).__name__})"
        )
        if kind is int:
            raise ModelError(f"{self._numbers()}; it cannot be indexed with {found}")
        raise ModelError(f"this table is per {kind.__name__}; it cannot be indexed with {found}")

    def _numbers(self) -> str:
        return f"this table is for the numbers {self.cell.keys[0]}..{self.cell.keys[-1]}"

    def _keep_to_numbers(self, key: Expr) -> None:
        """Raise ModelError unless every value that the key can have where the step can run is one of the table's numbers."""
        first, last = self.cell.keys[0], self.cell.keys[-1]
        if key.lo < first or key.hi > last:
            found = active().range_here(key, (first, last))
            if found is not None and (found[0] < first or found[1] > last):
                raise ModelError(
                    f"{self._numbers()}, but the index can be {found[0]}..{found[1]}: "
                    "make it longer, `require` first that it cannot, or use `clamp`"
                )

    def __getitem__(self, key: Any) -> Any:
        self.keep_to_now()
        if self._is_one and isinstance(key, self.kind):
            return view_of(self.cell.cells[self._number(key)])
        return view(self._at(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self.keep_to_now()
        store(self._at(key), value)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        raise ModelError("compare tables entry by entry")

    def __iter__(self) -> Any:
        what = "numbers" if self.kind is int else f"{self.kind.__name__} entities"
        raise ModelError(f"loop over the {what}, not over the table")


class Record:
    """A group of named values. Subclasses declare fields as shapes; methods and properties are welcome.

    `MyRecord(a=..., b=...)` makes a value (fields left out are zero). What a table or a component
    gives is a value too, taken when it was read; assigning to one of its fields writes through.
    """

    record_fields = True
    _values: dict[str, Any]
    _behind: Alternatives
    _path: tuple[Expr, ...]

    def __init__(self, **fields: Any) -> None:
        self._check(fields)
        self._values, self._behind, self._path = dict(fields), [], current_path()

    @classmethod
    def _check(cls, fields: Iterable[str]) -> None:
        known = declared(cls)
        for name in fields:
            if name not in known:
                raise ModelError(f"{cls.__name__} has no field `{name}`; its fields: {', '.join(known)}")

    @classmethod
    def _of(cls, alternatives: Alternatives) -> Record:
        names = alternatives[0][1].fields
        return cls._made(
            {n: view([(c, cell.fields[n]) for c, cell in alternatives]) for n in names}, alternatives
        )

    @classmethod
    def _of_one(cls, cell: RecordCell) -> Record:
        return cls._made({n: view_of(field) for n, field in cell.fields.items()}, [(true(), cell)])

    @classmethod
    def _made(cls, values: dict[str, Any], behind: Alternatives) -> Any:
        made = object.__new__(cls)
        own = made.__dict__  # __setattr__ is for model code
        own["_values"], own["_behind"], own["_path"] = values, behind, current_path()
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        # A misspelt field would be lost without a word.
        if name not in Record.__annotations__ and not hasattr(getattr(type(self), name, None), "__set__"):
            self._check([name])
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> Any:
        raise ModelError("compare records with `same_as`, or field by field")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise ModelError(f"a {type(self).__name__} has no truth value: use one of its fields")

    def read_field(self, name: str) -> Any:
        """The field's value; zero where a value was made without it."""
        found = self._values.get(name)
        if found is None:
            shape = declared(type(self))[name]
            if isinstance(shape, RecordShape):
                return shape.record()
            sort = getattr(shape, "sort", None)
            if sort is None:
                raise ModelError(f"field `{name}` of {type(self).__name__} was not given a value")
            return const(sort, zero_of(shape))
        if type(found) is Expr or isinstance(found, (TableView, FifoView, Record)):
            return found
        return as_expr(found)

    def write_field(self, name: str, value: Any) -> None:
        """Assign to a field of the record's place in the state, or of a free-standing value."""
        if self._behind:
            store([(c, cell.fields[name]) for c, cell in self._behind], value)
        path, known = current_path(), len(self._path)
        since = path[known:] if all(a is b for a, b in zip(path, self._path, strict=False)) else path
        # Inside a `when` that began after the record was read, the old value stays where it does not hold.
        self._values[name] = _choose(all_of(since), value, self.read_field(name)) if since else value

    def replace(self, **fields: Any) -> Any:
        """A copy with some fields changed."""
        self._check(fields)
        return self._made({**self._values, **fields}, [])

    __copy__ = __deepcopy__ = lambda self, *_: self.replace()

    def same_as(self, other: Record, but: str = "") -> Expr:
        """Whether all fields are equal, those of records inside as well. `but`: a field that may differ."""
        result = []
        for name in declared(type(self)):
            if name == but:
                continue
            mine, others = self.read_field(name), other.read_field(name)
            if isinstance(mine, (TableView, FifoView)):
                raise ModelError(f"field `{name}` of {type(self).__name__} cannot be compared as a whole")
            result.append(mine.same_as(others) if isinstance(mine, Record) else equal(mine, others))
        return all_of(result)

    @staticmethod
    def choose(condition: Value, a: Any, b: Any) -> Any:
        """`a` where the condition holds, else `b`, field by field."""
        names = declared(type(a))
        return a._made({n: _choose(condition, a.read_field(n), b.read_field(n)) for n in names}, [])


def _choose(condition: Value, a: Any, b: Any) -> Any:
    return Record.choose(condition, a, b) if isinstance(b, Record) else select(condition, a, b)


def _record_fields(cell: RecordCell, value: Any) -> dict[str, Any]:
    if value is None:
        value = cell.record()
    if not isinstance(value, cell.record):
        raise ModelError(f"expected a {cell.record.__name__}, got `{value!r}`")
    assert isinstance(value, Record)
    return {name: value.read_field(name) for name in cell.fields}


class FifoView:
    """A bounded queue: `length`, `is_empty`, `is_full`, `head`, `entry(i)`, `push`, `pop`."""

    def __init__(self, alternatives: Alternatives) -> None:
        self.alternatives = alternatives
        self.capacity = len(alternatives[0][1].slots)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        raise ModelError("compare queues entry by entry")

    def __bool__(self) -> bool:
        raise ModelError("a queue has no truth value: use `is_empty` or `length`")

    def __len__(self) -> int:
        raise ModelError("a queue has no fixed length: use `length`, or `capacity`")

    def __iter__(self) -> NoReturn:
        raise ModelError(
            "loop over positions, `for i in range(q.capacity)`, and ask with `q.length > i` whether one is taken"
        )

    def __getitem__(self, position: Any) -> Any:
        return self.entry(position)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise ModelError(
            f"a queue has no `{name}`: it has capacity, length, is_empty, is_full, head, entry, push, pop and drop"
        )

    @property
    def length(self) -> Expr:
        """How many entries wait."""
        return _read_scalar([(c, cell.length) for c, cell in self.alternatives])

    @property
    def is_empty(self) -> Expr:
        """Whether nothing waits."""
        return equal(self.length, 0)

    @property
    def is_full(self) -> Expr:
        """Whether no further entry has room."""
        return equal(self.length, self.capacity)

    @property
    def head(self) -> Any:
        """The oldest entry (zeros when empty)."""
        return self.entry(0)

    def entry(self, position: int) -> Any:
        """The entry at a position counted from the oldest; zeros beyond the last."""
        if not isinstance(position, int) or not 0 <= position < self.capacity:
            raise ModelError(
                f"the positions of this queue are the numbers 0 to {self.capacity - 1}, counted from the oldest"
            )
        return view([(c, cell.slots[position]) for c, cell in self.alternatives])

    def push(self, value: Any, most: int | None = None) -> None:
        """Append; a full queue stops the step, and the verdict names the queue as a bound. It is full with `most` entries, if that is less than it can hold."""
        most = self.capacity if most is None else most
        for condition, cell in self.alternatives:
            with where(condition):
                length = active().read(cell.length.variable)
                constraint(f"{cell.path} holds at most {most}", less(length, most))
                for i, slot in enumerate(cell.slots):
                    store([(equal(length, i), slot)], value)
                active().write(cell.length.variable, clamp(length + 1, 0, self.capacity))

    def pop(self) -> Any:
        """Remove the oldest entry, and give it (zeros when empty): popping an empty queue does nothing."""
        oldest = _copied(self.head)
        self.drop(as_expr(1))
        return oldest

    def drop(self, number: Expr) -> None:
        """Remove the `number` oldest entries (an int of at least 0), or all if there are fewer."""
        for condition, cell in self.alternatives:
            with where(condition):
                length = active().read(cell.length.variable)
                held = [view_of(slot) for slot in cell.slots]
                for i, slot in enumerate(cell.slots):
                    for by in range(1, self.capacity + 1):
                        with where(equal(clamp(number, 0, self.capacity), by)):
                            if i + by < self.capacity:
                                store([(as_expr(True), slot)], held[i + by])
                            else:
                                _clear(slot)
                active().write(cell.length.variable, clamp(length - number, 0, self.capacity))


def _copied(value: Any) -> Any:
    """What was read, as a value of its own. Tables and queues inside, which are read where they lie, are left out."""
    if not isinstance(value, Record):
        return value
    copy = value.replace()
    fields = ((name, value.read_field(name)) for name in declared(type(value)))
    copy._values = {name: _copied(v) for name, v in fields if not isinstance(v, (TableView, FifoView))}
    return copy


def _clear(cell: Any) -> None:
    if isinstance(cell, ScalarCell):
        active().write(cell.variable, const(cell.variable.sort, cell.zero))
    elif isinstance(cell, RecordCell):
        for field in cell.fields.values():
            _clear(field)
    elif isinstance(cell, TableCell):
        for element in cell.cells:
            _clear(element)
