"""Names of objects, the sections of a file that map names to objects, labels, and selectors of labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ....base.structs import dataclass
from ....model.environment.cluster.placement_rules import whole_number
from ....model.environment.objects import Operator, Requirement, Selector
from .yaml_values import Value

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


REQUIREMENT_FIELDS = ("key", "operator", "values")
SELECTOR_FIELDS = ("matchLabels", "matchExpressions")

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
    if name not in fields:
        return {}
    pairs = fields[name].items("a mapping from label keys to label values")
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


def limit(value: Value, operator: Operator) -> str:
    """What Gt and Lt compare with."""
    written = value.text("a whole number")
    if whole_number(written) is None:
        value.expect("a whole number")
    if not written[0].isdigit():
        value.fail(
            f"a number with a sign is no label value, so {operator.value} would match no node: write one without a sign"
        )
    return written


def read_selector(value: Value) -> Selector:
    """A label selector; an empty one matches everything."""
    return selector_in(value.fields(SELECTOR_FIELDS, "a selector with `matchLabels` or `matchExpressions`"))


def selector_in(fields: Mapping[str, Value]) -> Selector:
    """The label selector whose two fields are among these."""
    return Selector(
        read_labels(fields, "matchLabels"), read_requirements(fields.get("matchExpressions"), OF_LABELS)
    )


def read_requirements(
    value: Value | None,
    operators: Sequence[Operator],
    key_of: Callable[[Value], str] = label_key,
    value_of: Callable[[Value], str] = label_value,
    limit_of: Callable[[Value, Operator], str] = limit,
) -> tuple[Requirement, ...]:
    """A list of matchExpressions or matchFields; none if the field is not there."""
    if value is None:
        return ()
    elements = value.elements("a list of requirements with `key` and `operator`")
    return tuple(_requirement(element, operators, key_of, value_of, limit_of) for element in elements)


def _requirement(
    value: Value,
    operators: Sequence[Operator],
    key_of: Callable[[Value], str],
    value_of: Callable[[Value], str],
    limit_of: Callable[[Value, Operator], str],
) -> Requirement:
    fields = value.fields(REQUIREMENT_FIELDS, "a requirement with `key` and `operator`")
    for needed in ("key", "operator"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: a requirement needs `key` and `operator`")
    key = key_of(fields["key"])
    operator = Operator(fields["operator"].one_of([o.value for o in operators], "an operator"))
    given = fields["values"].elements("a list of label values") if "values" in fields else []
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        if given:
            fields["values"].fail(f"{operator.value} compares with nothing: remove `values`")
        return Requirement(key, operator)
    if operator in (Operator.GREATER, Operator.LESS):
        if len(given) != 1:
            value.fail(f"{operator.value} compares with one number: give exactly one in `values`")
        return Requirement(key, operator, (limit_of(given[0], operator),))
    if not given:
        value.fail(f"`values` is missing: {operator.value} needs at least one")
    return Requirement(key, operator, tuple(value_of(v) for v in given))


def node_name(value: Value) -> str:
    """The name of a node, which may be longer than a label value."""
    value.text("the name of a node")
    return read_object_name(value)
