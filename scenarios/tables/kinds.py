"""What a field may be: in words, as a schema, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...base.structs import Data
from ..values.labels import MAX_ENTITIES, label_key, label_value, labels_in, read_name
from ..values.ranges import integer_or_range
from ..values.yaml_values import Value

Schema = dict[str, Any]


def _elsewhere(value: Value) -> Any:
    raise NotImplementedError(f"{value.path} is read with what is next to it")


class Kind(Data, slots=False):
    """What a field may be. `read` refuses what the schema does, with a line that says what is expected."""

    words: str
    schema: Schema
    read: Callable[[Value], Any] = _elsewhere

    def called(self, words: str) -> Kind:
        """The same under another name."""
        return replace(self, words=words)


def part(name: str) -> Schema:
    """What the schema describes under this name."""
    return {"$ref": f"#/$defs/{name}"}


def refers(words: str, name: str, read: Callable[[Value], Any] = _elsewhere) -> Kind:
    """What has a part of the schema of its own."""
    return Kind(words, part(name), read)


# What is read as it is written may look like something else: 1.13, 72259, true.
WORD: Schema = {"type": ["string", "number", "boolean"]}
FLAG = Kind("bool", {"type": "boolean"}, Value.boolean)
NAME = refers("name", "name", read_name)
LABEL_KEY = refers("label key", "labelKey", label_key)
LABEL_VALUE = refers("label value", "labelValue", label_value)
LABELS = refers("labels", "labels", labels_in)


def text(words: str, wanted: str = "") -> Kind:
    """A word as it is written."""
    return Kind(words, WORD, lambda value: value.scalar(wanted or f"the {words}"))


def whole(lo: int, hi: int, words: str = "whole number") -> Kind:
    """A whole number."""
    schema = {"type": "integer", "minimum": lo, "maximum": hi}
    return Kind(words, schema, lambda value: value.integer(lo, hi))


def ranged(lo: int, hi: int) -> Kind:
    """A whole number, or a range such as 0..10."""
    number = "-?[0-9]{1,19}" if lo < 0 else "[0-9]{1,19}"
    schema = {
        "type": ["integer", "string"],
        "minimum": lo,
        "maximum": hi,
        "pattern": rf"^{number}\.\.{number}$",
    }
    return Kind("whole number or range", schema, lambda value: integer_or_range(value, lo, hi))


def one_of(known: Sequence[str], what: str, words: str = "") -> Kind:
    """One of these words; `what` they are, with an article."""
    listed = f"{', '.join(known[:-1])} or {known[-1]}"
    return Kind(words or listed, {"enum": list(known)}, lambda value: value.one_of(known, what))


def list_of(words: str, inner: Kind, least: int = 0, wanted: str = "") -> Kind:
    """A list of what is alike."""
    schema = {"type": "array", "items": inner.schema, **({"minItems": least} if least else {})}
    return Kind(words, schema, lambda value: [inner.read(e) for e in value.elements(wanted or f"a {words}")])


def table_of(words: str, inner: Schema, least: int = 0, most: int | None = None) -> Kind:
    """A mapping from names to what is alike."""
    return Kind(
        words,
        {
            "type": "object",
            "additionalProperties": inner,
            **({"minProperties": least} if least else {}),
            **({"maxProperties": most} if most is not None else {}),
        },
    )


def object_of(fields: Mapping[str, Schema], needed: Sequence[str] = ()) -> Schema:
    """A mapping that has these fields, and no others."""
    schema = {"type": "object", "additionalProperties": False, "properties": fields}
    return {**schema, "required": list(needed)} if needed else schema


def names_to(words: str, name: str, least: int = 0, most: int | None = MAX_ENTITIES) -> Kind:
    """The objects of a section by their names."""
    return table_of(words, part(name), least, most)
