"""Names of objects, and the sections of a file that map names to objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .document import Value

MAX_ENTITIES = 16

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?", re.ASCII)
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_NAME_WORDS = "a name of at most 63 lower-case letters, digits, `-` and `.`"


@dataclass(frozen=True, slots=True)
class Member:
    """An object of a section: where it is written, and its fields."""

    place: Value
    fields: Mapping[str, Value]

    @property
    def exists(self) -> bool:
        """Whether it is there at the start."""
        return self.fields["exists"].boolean() if "exists" in self.fields else True


Members = Mapping[str, Member]


def read_name(value: Value) -> str:
    """The name of an object."""
    written = value.scalar(_NAME_WORDS)
    if not _NAME.fullmatch(written):
        value.expect(_NAME_WORDS)
    return written


def read_object_name(value: Value, qualified: bool = False) -> str:
    """The name of an object: up to 253 characters; if `qualified`, its namespace and a slash may stand before it."""
    written = value.scalar(_NAME_WORDS)
    namespace, slash, name = written.rpartition("/") if qualified else ("", "", written)
    if not _OBJECT.fullmatch(name) or (slash and not _NAME.fullmatch(namespace)):
        value.expect(_NAME_WORDS)
    return written


def read_members(
    section: Value, kind: str, known: tuple[str, ...], example: str = "{cpu: 2}"
) -> dict[str, Member]:
    """The objects of a section by name; `kind` says in the plural what they are, `example` what one looks like."""
    members = {}
    for key, value in section.items(f"a mapping from names to {kind}"):
        fields = value.fields(known, f"a mapping such as {example}")
        members[read_object_name(key, kind != "nodes")] = Member(value, fields)
    if len(members) > MAX_ENTITIES:
        section.fail(
            f"{len(members)} {kind} are more than an exhaustive search can cover: at most {MAX_ENTITIES}"
        )
    return members
