"""The `config` section: the fields of the scheduler's configuration that an explored cycle heeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.environment.objects import DEFAULTS, Config
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
