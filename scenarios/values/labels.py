"""Names of objects, the sections of a file that map names to objects, labels, and selectors of labels."""

import re
from collections.abc import Collection, Iterable, Mapping

from ...base.structs import Data
from ...base.text import known_names
from ...model.environment.objects import Operator
from .yaml_values import Value

MAX_ENTITIES = 16

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?", re.ASCII)
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_NAME_WORDS = "a name of at most 63 lower-case letters, digits, `-` and `.`"


class Member(Data):
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
    section: Value | None, kind: str, known: tuple[str, ...], example: str = "{cpu: 2}"
) -> dict[str, Member]:
    """The objects of a section by name, none without it; `kind` says in the plural what they are, `example` what one looks like."""
    members: dict[str, Member] = {}
    if section is None:
        return members
    for key, value in section.items(f"a mapping from names to {kind}"):
        fields = value.fields(known, f"a mapping such as {example}")
        members[read_object_name(key, kind != "nodes")] = Member(value, fields)
    if len(members) > MAX_ENTITIES:
        section.fail(
            f"{len(members)} {kind} are more than an exhaustive search can cover: at most {MAX_ENTITIES}"
        )
    return members


def known(value: Value, names: Collection[str], what: str) -> str:
    """The name that a value is, if there is `what` of that name."""
    name = value.scalar(f"the name of a {what}")
    if name not in names:
        value.fail(f"there is no {what} {value.described}; {known_names(name, names)}")
    return name


def refuse_fields(fields: Mapping[str, Value], names: Iterable[str], problem: str) -> None:
    """Refuse each of these fields that is given; `problem` has {} for its name."""
    for name in names:
        if name in fields:
            fields[name].fail(problem.format(name))


_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII
)
_KEY_WORDS = "a label key such as app or example.com/zone"
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_VALUE_WORDS = "a label value of at most 63 letters, digits, `-`, `_` and `.`, a letter or digit at both ends"

OF_LABELS = (Operator.IN, Operator.NOT_IN, Operator.EXISTS, Operator.DOES_NOT_EXIST)
"""The operators of label selectors; node affinity has all."""


def read_labels(fields: Mapping[str, Value], name: str = "labels") -> dict[str, str]:
    """A mapping from label keys to label values; empty if the field is not there."""
    return labels_in(fields[name]) if name in fields else {}


def labels_in(value: Value) -> dict[str, str]:
    """A mapping from label keys to label values."""
    pairs = value.items("a mapping from label keys to label values")
    return {label_key(key): label_value(value) for key, value in pairs}


def label_key(value: Value) -> str:
    """A label's key."""
    written = value.scalar(_KEY_WORDS)
    if not _KEY.fullmatch(written) or len(written) > 317:
        value.expect(_KEY_WORDS)
    return written


def is_label_value(text: str) -> bool:
    """Whether a label may have this value."""
    return _VALUE.fullmatch(text) is not None


def label_value(value: Value) -> str:
    """A label's value."""
    written = value.text("a label value")
    if not is_label_value(written):
        value.expect(_VALUE_WORDS)
    return written
