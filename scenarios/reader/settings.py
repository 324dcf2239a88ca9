"""The `config` section: the fields of the scheduler's configuration that an explored cycle heeds.

The `scope` section: the fields of the model's Scope, under the same names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields as fields_of
from typing import Any

from ...model.environment.objects import DEFAULTS, Config, ExtensionPoint, Scope
from .document import Value

NUMBERS: Mapping[str, tuple[str, int]] = {
    "hardPodAffinityWeight": ("hard_affinity_weight", 100),
    "minCandidateNodesPercentage": ("min_candidates_percentage", 100),
    "minCandidateNodesAbsolute": ("min_candidates", 1000),
}
"""For each field that is a number: its name in the model, and the greatest value."""

SWITCHES = {"scored": "scored", "ignorePreferredTermsOfExistingPods": "ignore_preferred_of_existing"}
CONFIG_FIELDS = (*SWITCHES, *NUMBERS)

_OF_SCORES = ("hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods")
_IDLE = {
    "percentageOfNodesToScore": "below 100 nodes every node is examined, whatever this says: remove it",
}


def read_config(section: Value | None) -> Config:
    """The configuration; what is left out keeps the model's default."""
    if section is None:
        return DEFAULTS
    given = section.fields((*CONFIG_FIELDS, *_IDLE), "a mapping of settings")
    for name, reason in _IDLE.items():
        if name in given:
            given[name].fail(reason)
    values: dict[str, Any] = {SWITCHES[n]: v.boolean() for n, v in given.items() if n in SWITCHES}
    values |= {NUMBERS[n][0]: v.integer(0, NUMBERS[n][1]) for n, v in given.items() if n in NUMBERS}
    config = Config(**values)
    for name in _OF_SCORES:
        if name in given and not config.scored:
            given[name].fail("without scores this decides nothing: add `scored: true`, or remove it")
    if not config.min_candidates_percentage and not config.min_candidates:
        section.fail(
            "no candidate would ever be enough: let minCandidateNodesPercentage or "
            "minCandidateNodesAbsolute be at least 1"
        )
    return config


MAX_COUNT = 15

# The configuration has a section of its own.
_DEFAULTS = {f.name: f.default for f in fields_of(Scope) if f.name != "config"}
SCOPE_FIELDS = tuple(_DEFAULTS)

_BACKLOGS = ("pod_events", "node_events")
_OF_PLUGINS = {
    "plugin_errors": (ExtensionPoint.RESERVE, ExtensionPoint.PRE_BIND),
    "permit_rejections": (ExtensionPoint.PERMIT,),
}


BOUNDS: Mapping[str, int | None] = {
    name: None if isinstance(default, bool) else int(name in _BACKLOGS) for name, default in _DEFAULTS.items()
}
"""The least value of each count; None for what is on or off."""


def read_scope(
    section: Value | None, absent: Mapping[str, Sequence[str]], points: Collection[ExtensionPoint]
) -> Scope:
    """The scope that a scenario gives; what it leaves out keeps the model's default.

    `absent` names, by the count that lets them appear, what does not exist at the start. Such a count is by
    default just large enough for all of them, and 0 is refused. `points` are the extension points that some pod has.
    """
    given = section.fields(SCOPE_FIELDS, "a mapping of bounds") if section is not None else {}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(_DEFAULTS[name], bool):
            values[name] = value.boolean()
        else:
            values[name] = value.integer(BOUNDS[name] or 0, MAX_COUNT)
    if values.get("fair_flush") and not values.get("flush", _DEFAULTS["flush"]):
        given["fair_flush"].fail("there is no flush to count on: remove `flush: false` or this")
    for name, entities in absent.items():
        if entities and name not in values:
            values[name] = min(len(entities), MAX_COUNT)
        elif entities and values[name] == 0:
            given[name].fail(
                f"{', '.join(entities)} could never appear: allow at least 1, or remove `exists: false`"
            )
    for name, needed in _OF_PLUGINS.items():
        if values.get(name) and not any(point in points for point in needed):
            words = " or ".join(point.value for point in needed)
            given[name].fail(
                f"no plugin could do so: give a pod `extensionPoints` with {words}, or remove the bound"
            )
    return Scope(**values)
