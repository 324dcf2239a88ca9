"""The `config` section: the fields of the scheduler's configuration that an explored cycle heeds, and what of a pod only scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....model.environment.cluster.scope import (
    RESOURCE_SCORES,
    RESOURCE_STRATEGIES,
    SCORE_PLUGINS,
    SCORED_RESOURCES,
)
from ....model.environment.objects import DEFAULTS, Config, Node, Pod
from ....model.language import as_expr
from ..values.labels import Members
from ..values.yaml_values import Value

NUMBERS: Mapping[str, tuple[str, int]] = {
    "hardPodAffinityWeight": ("hard_affinity_weight", 100),
    "minCandidateNodesPercentage": ("min_candidates_percentage", 100),
    "minCandidateNodesAbsolute": ("min_candidates", 1000),
}
"""For each field that is a number: its name in the model, and the greatest value."""

SWITCHES = {"scored": "scored", "ignorePreferredTermsOfExistingPods": "ignore_preferred_of_existing"}
CONFIG_FIELDS = (*SWITCHES, *NUMBERS, "scoreWeights", "scoringStrategy")

MAX_WEIGHT = 100
MAX_SOFT = 3
_OF_SCORES = (
    "hardPodAffinityWeight",
    "ignorePreferredTermsOfExistingPods",
    "scoreWeights",
    "scoringStrategy",
)
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
    if "scoreWeights" in given:
        weights = given["scoreWeights"].fields(SCORE_PLUGINS, "a mapping from score plugins to weights")
        values["score_weights"] = tuple((n, v.integer(0, MAX_WEIGHT)) for n, v in weights.items())
    if "scoringStrategy" in given:
        values["scoring_strategy"] = given["scoringStrategy"].one_of(RESOURCE_STRATEGIES, "a strategy")
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


def refuse_unscored(
    section: Value | None, nodes: Iterable[Node], pods: Iterable[Pod], config: Config
) -> None:
    """Refuse resources that cannot be scored, and weights for scores that nobody gives."""
    if section is None:
        return
    if not config.scoring_strategy:
        for name, weight in config.score_weights:
            if name in RESOURCE_SCORES and weight:
                section.fail(
                    f"{name} scores where there is a strategy: add `scoringStrategy`, or remove its weight"
                )
        return
    everybody: dict[str, Sequence[Node] | Sequence[Pod]] = {
        **{f"node {node.name}": [node, *node.later.values()] for node in nodes},
        **{f"pod {pod.name}": [pod, *pod.later.values()] for pod in pods},
    }
    for name, forms in everybody.items():
        for form, resource in ((form, resource) for form in forms for resource in SCORED_RESOURCES):
            given = form.allocatable(resource) if isinstance(form, Node) else form.request(resource)
            amount = as_expr(given)
            if not amount.is_const:
                section.fail(f"what {name} has of {resource} is a range, which is not scored: give a number")
            if not amount.value:
                section.fail(
                    f"{name} has no {resource}: where resources are scored, each node and each pod needs an amount of cpu and memory"
                )


def refuse_wishes(members: Members, pods: Iterable[Pod], config: Config) -> None:
    """Refuse what only scores where nothing is scored, and more of it than scores are computed for."""
    for pod in pods:
        forms = (pod, *pod.later.values())
        place = members[pod.name].place
        if not config.scored and any(form.wishes.spread or form.wishes.nodes for form in forms):
            place.fail(
                "without scores, ScheduleAnyway and preferred nodes decide nothing: add `config: {scored: true}`, or remove them"
            )
        if len(pod.wishes.spread) > MAX_SOFT:
            place.fail(
                f"{len(pod.wishes.spread)} constraints are soft: {MAX_SOFT} are scored, remove the others"
            )
