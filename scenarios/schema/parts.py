"""The small parts: names, numbers, quantities, labels, lists and mappings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..reader.expectations import MAX_REASON

Schema = dict[str, Any]

NAME: Schema = {"$ref": "#/$defs/name"}
LABELS: Schema = {"$ref": "#/$defs/labels"}
LABEL_KEY: Schema = {"$ref": "#/$defs/labelKey"}
LABEL_VALUE: Schema = {"$ref": "#/$defs/labelValue"}
FLAG: Schema = {"type": "boolean"}
IGNORED: Schema = {
    "type": "object",
    "additionalProperties": {"type": "string", "minLength": 1, "maxLength": MAX_REASON},
}
# What is read as it is written may look like something else: 1.13, 72259, true.
WORD: Schema = {"type": ["string", "number", "boolean"]}

SHARED: Mapping[str, Schema] = {
    "name": {
        "description": "A name of at most 63 lower-case letters, digits, `-` and `.`.",
        "type": ["string", "number", "boolean"],
        "pattern": "^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$",
    },
    "labelKey": {"type": ["string", "number", "boolean"], "maxLength": 317},
    "labelValue": {"type": "string", "maxLength": 63},
    "labels": {"type": "object", "additionalProperties": {"$ref": "#/$defs/labelValue"}},
    "cpu": {
        "description": "CPU, such as 2, 0.5 or 500m; or a range such as 1..4 or 500m..2000m.",
        "type": ["string", "number"],
        "pattern": r"^([0-9]{1,9}(\.[0-9]{1,9})?m?|[0-9]{1,9}m?\.\.[0-9]{1,9}m?)$",
        "minimum": 0,
    },
    "bytes": {
        "description": "Bytes, such as 1000, 128Mi, 1.5G or 1e9; or a range such as 1Gi..4Gi.",
        "type": ["string", "number"],
        "pattern": r"^[0-9]{1,19}(\.[0-9]{1,9})?([KMGTP]i|[kMGTP]|[eE][0-9]{1,2})?$"
        r"|^[0-9]{1,19}([KMGTP]i|[kMGTP])?\.\.[0-9]{1,19}([KMGTP]i|[kMGTP])?$",
        "minimum": 0,
    },
}
"""Parts that many fields refer to."""


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
