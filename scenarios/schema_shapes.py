"""The shapes of which the JSON Schema of scenario files is made: mappings, lists, numbers and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Schema = dict[str, Any]


def mapping(fields: Mapping[str, Schema], required: Iterable[str] = (), about: str = "") -> Schema:
    """A mapping with these fields and no others."""
    needed = list(required)
    return {
        "type": "object",
        **({"description": about} if about else {}),
        "additionalProperties": False,
        "properties": dict(fields),
        **({"required": needed} if needed else {}),
    }


def table(inner: Schema, least: int = 0, most: int | None = None) -> Schema:
    """A mapping from names to what is alike."""
    return {
        "type": "object",
        "additionalProperties": inner,
        **({"minProperties": least} if least else {}),
        **({"maxProperties": most} if most is not None else {}),
    }


def listed(inner: Schema, least: int = 0) -> Schema:
    """A list of what is alike."""
    return {"type": "array", "items": inner, **({"minItems": least} if least else {})}


def whole(lo: int, hi: int) -> Schema:
    """A whole number."""
    return {"type": "integer", "minimum": lo, "maximum": hi}


def whole_or_range(lo: int, hi: int) -> Schema:
    """A whole number, or a range such as 0..10."""
    return {
        "type": ["integer", "string"],
        "minimum": lo,
        "maximum": hi,
        "pattern": r"^-?[0-9]{1,19}\.\.-?[0-9]{1,19}$" if lo < 0 else r"^[0-9]{1,19}\.\.[0-9]{1,19}$",
    }


def word(known: Iterable[str]) -> Schema:
    """One of these words."""
    return {"enum": list(known)}


def part(name: str) -> Schema:
    """What is described under this name."""
    return {"$ref": f"#/$defs/{name}"}


def about(schema: Schema, text: str) -> Schema:
    """The same with words for whoever points at it."""
    return {**schema, "description": text}
