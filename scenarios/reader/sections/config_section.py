"""The `config` section: the fields of the scheduler's configuration that an explored cycle heeds, and what of a pod only scores."""

from collections.abc import Sequence
from dataclasses import replace

from ....model.environment.cluster.scope import RESOURCE_SCORES, SCORED_RESOURCES
from ....model.environment.objects import DEFAULTS, Config, Node, Pod
from ....model.language import as_expr
from ...tables.file import CONFIG
from ...values.yaml_values import Value
from .draft import Draft

MAX_SOFT = 3
_OF_SCORES = (
    "hardPodAffinityWeight",
    "ignorePreferredTermsOfExistingPods",
    "scoreWeights",
    "scoringStrategy",
)
_IDLE = {"percentageOfNodesToScore": "below 100 nodes every node is examined, whatever this says: remove it"}


def read_config(draft: Draft) -> None:
    """The configuration; what is left out keeps the model's default."""
    section = draft.sections.get("config")
    draft.scope = replace(draft.scope, config=DEFAULTS if section is None else _config(section))


def _config(section: Value) -> Config:
    given = section.fields((*CONFIG.names, *_IDLE), "a mapping of settings")
    for name, reason in _IDLE.items():
        if name in given:
            given[name].fail(reason)
    config = Config(**CONFIG.read(given))
    for name in _OF_SCORES:
        if name in given and not config.scored:
            given[name].fail("without scores this decides nothing: add `scored: true`, or remove it")
    if not config.min_candidates_percentage and not config.min_candidates:
        section.fail(
            "no candidate would ever be enough: let minCandidateNodesPercentage or "
            "minCandidateNodesAbsolute be at least 1"
        )
    return config


def refuse_unscored(draft: Draft) -> None:
    """Refuse resources that cannot be scored, and weights for scores that nobody gives."""
    section, config = draft.sections.get("config"), draft.config
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
        **{f"node {node.name}": [node, *node.later.values()] for node in draft.nodes.values()},
        **{f"pod {pod.name}": [pod, *pod.later.values()] for pod in draft.pods},
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


def refuse_wishes(draft: Draft) -> None:
    """Refuse what only scores where nothing is scored, and more of it than scores are computed for."""
    members, pods, config = draft.pod_members, draft.pods, draft.config
    for pod in pods:
        forms = (pod, *pod.later.values())
        place = members[pod.name].place
        if not config.scored and any(
            form.wishes.spread or form.wishes.nodes or not all(term.required for term in form.terms)
            for form in forms
        ):
            place.fail(
                "without scores, ScheduleAnyway, preferred nodes and preferred pods decide nothing: add `config: {scored: true}`, or remove them"
            )
        if len(pod.wishes.spread) > MAX_SOFT:
            place.fail(
                f"{len(pod.wishes.spread)} constraints are soft: {MAX_SOFT} are scored, remove the others"
            )
