"""Topology spread constraints of pods."""

from __future__ import annotations

from ..model.environment.spread import SpreadConstraint
from .document import Value
from .labels import SELECTOR_FIELDS, label_key, label_value, read_selector, selector_in

SPREAD_FIELDS = ("maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", *SELECTOR_FIELDS, "others")
MAX_SKEW = 1 << 31
MAX_OTHERS = 1_000_000


def read_spread(value: Value | None) -> list[SpreadConstraint]:
    """The hard constraints of a pod."""
    return [] if value is None else [_constraint(v) for v in value.elements("a list of constraints")]


def _constraint(value: Value) -> SpreadConstraint:
    fields = value.fields(SPREAD_FIELDS, "a constraint with `maxSkew` and `topologyKey`")
    for needed in ("maxSkew", "topologyKey"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: a constraint needs `maxSkew` and `topologyKey`")
    if "whenUnsatisfiable" in fields:
        said = fields["whenUnsatisfiable"]
        if said.one_of(("DoNotSchedule", "ScheduleAnyway"), "what to do") == "ScheduleAnyway":
            said.fail("ScheduleAnyway is a score that the model does not have: remove the constraint")
    beside = next((name for name in SELECTOR_FIELDS if name in fields), None)
    if "labelSelector" not in fields and beside is None:
        value.fail("`matchLabels` is missing: give the labels of the pods that are counted")
    if "labelSelector" in fields and beside is not None:
        fields[beside].fail(f"`labelSelector` is there, too: move `{beside}` into it")
    selector = read_selector(fields["labelSelector"]) if "labelSelector" in fields else selector_in(fields)
    return SpreadConstraint(
        label_key(fields["topologyKey"]),
        selector,
        fields["maxSkew"].integer(1, MAX_SKEW),
        _others(fields["others"]) if "others" in fields else {},
    )


def _others(value: Value) -> dict[str, int]:
    pairs = value.items("a mapping from values of the topology key to numbers of pods")
    return {label_value(domain): number.integer(0, MAX_OTHERS) for domain, number in pairs}
