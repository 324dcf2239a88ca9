"""The `scope` section: the fields of the model's Scope, under the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from typing import Any

from ..model.environment.objects import Scope
from .document import Value

MAX_COUNT = 15
_BACKLOGS = ("pod_events", "node_events")


def read_scope(section: Value | None, absent: Mapping[str, Sequence[str]]) -> Scope:
    """The scope that a scenario gives; what it leaves out keeps the model's default.

    `absent` names, by the count that lets them appear, what does not exist at the start. Such a count is by
    default just large enough for all of them, and 0 is refused.
    """
    defaults = {f.name: f.default for f in fields_of(Scope)}
    given = section.fields(tuple(defaults), "a mapping of bounds") if section is not None else {}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(defaults[name], bool):
            values[name] = value.boolean()
        else:
            values[name] = value.integer(1 if name in _BACKLOGS else 0, MAX_COUNT)
    if values.get("fair_flush") and not values.get("flush", defaults["flush"]):
        given["fair_flush"].fail("there is no flush to count on: remove `flush: false` or this")
    for name, entities in absent.items():
        if entities and name not in values:
            values[name] = min(len(entities), MAX_COUNT)
        elif entities and values[name] == 0:
            given[name].fail(
                f"{', '.join(entities)} could never appear: allow at least 1, or remove `exists: false`"
            )
    return Scope(**values)
