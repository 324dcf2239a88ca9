"""A table of fields: a row says how a field is called, what it may be, what it means, and which attribute of the model it is."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...base.structs import Data
from ..values.yaml_values import Value
from .kinds import Kind, Schema

_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


class Field(Data, slots=False):
    """A field of a section.

    `default` is in words what is so without it; `required` if it cannot be left out, and `missing` is what is said then. `attribute` is what it is called in the
    model, where it can be read alone: as `kind` is, or by `read`. `say` gives what the file says of an object of the model; without it, what the attribute is.
    """

    name: str
    kind: Kind
    default: str
    words: str
    attribute: str = ""
    read: Callable[[Value], Any] | None = None
    say: Callable[[Any], Any] | None = None
    missing: str = ""
    needed: bool | None = None

    @property
    def is_needed(self) -> bool:
        """Whether the schema wants it; the reader may also take another field in its place."""
        return self.default == "required" if self.needed is None else self.needed

    @property
    def schema(self) -> Schema:
        """The field in the schema, with its words."""
        return {**self.kind.schema, "description": _LINK.sub(r"\1", self.words)}

    def value(self, value: Value) -> Any:
        """What the model is given."""
        return (self.read or self.kind.read)(value)

    def said(self, of: Any) -> Any:
        """What the file says."""
        if self.say is not None:
            return self.say(of)
        found = getattr(of, self.attribute)
        if isinstance(found, Mapping):
            return dict(found)
        return list(found) if isinstance(found, tuple) else found or None


class Table:
    """The fields of a section. `heading` is where docs/scenarios.md has them, `part` how the schema calls them."""

    def __init__(self, heading: str, part: str, rows: Sequence[Field], about: str = "") -> None:
        self.heading, self.part, self.rows, self.about = heading, part, tuple(rows), about
        self.names = tuple(row.name for row in rows)
        self._by_name = dict(zip(self.names, rows, strict=True))

    def __getitem__(self, name: str) -> Field:
        return self._by_name[name]

    def fields(self, value: Value, wanted: str) -> dict[str, Value]:
        """The fields that are given, of which none may be unknown or missing."""
        found = value.fields(self.names, wanted)
        self.require(value, found)
        return found

    def require(self, place: Value, given: Mapping[str, Value]) -> None:
        """Refuse a field that is missing."""
        for row in self.rows:
            if row.missing and row.name not in given:
                place.fail(f"`{row.name}` is missing: {row.missing}")

    def read(self, given: Mapping[str, Value]) -> dict[str, Any]:
        """What the model is given, by its attributes; what is left out has the model's default."""
        return {
            row.attribute: row.value(given[row.name])
            for row in self.rows
            if row.attribute and row.name in given
        }

    def say(self, of: Any) -> dict[str, Any]:
        """What the file says of an object of the model, by field; None or empty for what it need not say."""
        return {row.name: row.said(of) for row in self.rows if row.attribute or row.say}

    @property
    def schema(self) -> Schema:
        """The section in the schema."""
        needed = [row.name for row in self.rows if row.is_needed]
        return {
            "type": "object",
            **({"description": self.about} if self.about else {}),
            "additionalProperties": False,
            "properties": {row.name: row.schema for row in self.rows},
            **({"required": needed} if needed else {}),
        }

    @property
    def page(self) -> str:
        """The table of docs/scenarios.md."""
        cells = [(f"`{row.name}`", row.kind.words, row.default, row.words) for row in self.rows]
        lines = [("Field", "Type", "Default", "Meaning"), *cells]
        told = [f"| {' | '.join(line)} |" for line in lines]
        return "\n".join([told[0], "|---|---|---|---|", *told[1:]])


def plain(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is said, without what need not be."""
    return {name: value for name, value in found.items() if value not in (None, {}, [])}
