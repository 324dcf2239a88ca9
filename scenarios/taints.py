"""Taints of nodes, tolerations of pods; the same mistakes are refused as by the API server."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.environment.objects import Taint, Toleration
from .document import Value
from .labels import label_key, label_value

TAINT_FIELDS = ("key", "value", "effect")
TOLERATION_FIELDS = ("key", "operator", "value", "effect")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def read_taints(value: Value | None) -> list[Taint]:
    """The taints of a node."""
    return [] if value is None else [_taint(v) for v in value.elements("a list of taints")]


def _taint(value: Value) -> Taint:
    fields = value.fields(TAINT_FIELDS, "a taint with `key` and `effect`")
    for needed in ("key", "effect"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: a taint needs `key` and `effect`")
    return Taint(label_key(fields["key"]), _value(fields), fields["effect"].one_of(EFFECTS, "an effect"))


def read_tolerations(value: Value | None) -> list[Toleration]:
    """The tolerations of a pod."""
    return [] if value is None else [_toleration(v) for v in value.elements("a list of tolerations")]


def _toleration(value: Value) -> Toleration:
    fields = value.fields(TOLERATION_FIELDS, "a toleration: a mapping with key, operator, value, effect")
    operator = (
        fields["operator"].one_of(("Equal", "Exists"), "an operator") if "operator" in fields else "Equal"
    )
    if operator == "Exists" and "value" in fields:
        fields["value"].fail("Exists compares with nothing: remove `value`, or make the operator Equal")
    if operator == "Equal" and "key" not in fields:
        value.fail("`key` is missing: without it the operator must be Exists, which tolerates every taint")
    return Toleration(
        label_key(fields["key"]) if "key" in fields else "",
        operator,
        _value(fields),
        fields["effect"].one_of(EFFECTS, "an effect") if "effect" in fields else "",
    )


def _value(fields: Mapping[str, Value]) -> str:
    return label_value(fields["value"]) if "value" in fields else ""
