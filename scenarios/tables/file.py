"""The file as a whole, and its sections that are about no object: configuration, scope, what is expected, the race that it shows."""

from collections.abc import Callable
from typing import Any

from ...model.environment.cluster.scope import BOUNDS, MAX_COUNT, RESOURCE_STRATEGIES, SCORE_PLUGINS, Bound
from ...model.environment.objects import DEFAULTS, Config, Scope
from ..values.yaml_values import Value
from .actors import MAX_EXTENDERS
from .kinds import (
    FLAG,
    NAME,
    WORD,
    Kind,
    list_of,
    names_to,
    object_of,
    one_of,
    part,
    refers,
    table_of,
    text,
    whole,
)
from .objects import MAX_SHARE
from .resources import REASONS
from .table import Field, Table

EXPECTED = ("holds", "violated")
ANSWERS = ("possible", "impossible")
MAX_STEPS = 100_000

GATES = table_of("names to true or false", FLAG.schema)
PROPERTIES = list_of("list", Kind("", {"type": "string"}))
_ONE, _MANY = (
    {**part("verdicts"), "minProperties": 1},
    {"type": "array", "items": part("expectation"), "minItems": 1},
)
EXPECT = Kind("mapping or list", {"anyOf": [_ONE, _MANY]})
ASKED = Kind("list", {"type": "array", "items": part("ask"), "minItems": 1})
WEIGHT = whole(0, 100)


def _weights(value: Value) -> tuple[tuple[str, int], ...]:
    weights = value.fields(SCORE_PLUGINS, "a mapping from score plugins to weights")
    return tuple((name, WEIGHT.read(weight)) for name, weight in weights.items())


WEIGHTS = Kind("score plugins to 0 to 100", object_of(dict.fromkeys(SCORE_PLUGINS, WEIGHT.schema)), _weights)


def _unless_default(attribute: str) -> Callable[[Config], Any]:
    def say(config: Config) -> Any:
        found = getattr(config, attribute)
        return None if found == getattr(DEFAULTS, attribute) else found

    return say


_USUAL = Scope()


def _bound(name: str, bound: Bound) -> Field:
    """A bound of the scope: on or off, or a count; of faults that strike objects, also with the names of these."""
    default = str(getattr(_USUAL, name)).lower()
    if bound.several:
        actors = list_of("list of actors", one_of(bound.choices, "an actor"))
        return Field(name, actors, "none", bound.words)
    if bound.choices:
        return Field(name, one_of(bound.choices, "a scale of time"), default, bound.words)
    if bound.least is None:
        return Field(name, FLAG, default, bound.words)
    if bound.least:
        return Field(
            name, whole(bound.least, MAX_COUNT, f"{bound.least} to {MAX_COUNT}"), default, bound.words
        )
    count = whole(bound.least, MAX_COUNT)
    struck = {section: {"type": "array", "items": WORD, "minItems": 1} for section in bound.strikes}
    aimed = {
        "type": "object", "description": "How many, and which objects they strike.", "additionalProperties": False,
        "properties": {"count": whole(1, MAX_COUNT).schema, **struck},
    }  # fmt: skip
    schema = {"anyOf": [count.schema, aimed]} if struck else count.schema
    words = f"count or {', '.join(f'`{section}`' for section in struck)}" if struck else "count"
    return Field(name, Kind(words, schema), bound.brings[0] if bound.brings else default, bound.words)


SCOPE = Table(
    "`scope`",
    "scope",
    [_bound(name, bound) for name, bound in BOUNDS.items()],
    about="How often what may happen, and how far views may lag.",
)


# fmt: off
FILE = Table("The file", "", [
    Field("name", NAME, "the file's name", "the scenario's name"),
    Field("title", Kind("one line of text", {**WORD, "maxLength": 200}), "none", "what the scenario shows"),
    Field("race", refers("mapping", "race"), "none", "the upstream race in it, see [`race`](#race)"),
    Field("release", text("text"), "the newest version", "the version to check, such as `\"1.34.4\"`; `\"1.34\"` is the newest patch version of 1.34"),
    Field("featureGates", GATES, "as the release has them", "settings of the scheduler's gates, such as `{SchedulerAsyncPreemption: false}`; `--gate` overrides them ([gates](notebook/gates.md)). `podrace check --release R` without a name skips a scenario if R does not have its gates"),
    Field("properties", PROPERTIES, "all", "the properties to check, such as `[S-CAP]`"),
    Field("also", PROPERTIES, "none", "other relevant properties"),
    Field("expect", EXPECT, "none", "the expected verdicts, for `podrace test`, see [`expect`](#expect)"),
    Field("ask", ASKED, "none", "orders of steps, each with the expected answer, for `podrace test`, see [`ask`](#ask)"),
    Field("ignore", REASONS, "none", "properties that podrace does not check, each with a reason. Reports show the properties and the reasons"),
    Field("nodes", names_to("names to nodes", "node", 1, 16), "required", "1 to 16 nodes"),
    Field("pods", names_to("names to pods", "pod", 1, 16), "required", "1 to 16 pods"),
    Field("namespaces", names_to("names to namespaces", "namespace", 0, None), "none", "the labels of namespaces"),
    Field("podDisruptionBudgets", names_to("names to budgets", "podDisruptionBudget", 0, 16), "none", "budgets, with the status that the disruption controller last wrote"),
    Field("devices", names_to("names to devices", "device", 0, 16), "none", "the devices that drivers have published, see [`devices`](#devices)"),
    Field("sharedCounters", table_of("names to whole numbers", whole(1, MAX_SHARE).schema, 0, 16), "none", "counters that the partitions of a device share, and the amount of each counter; see [`sharedCounters`](#sharedcounters)"),
    Field("resourceClaims", names_to("names to claims", "resourceClaim", 0, 16), "none", "ResourceClaims"),
    Field("resourceClaimTemplates", names_to("names to templates", "resourceClaimTemplate", 0, 16), "none", "ResourceClaimTemplates"),
    Field("deviceClasses", names_to("names to classes", "deviceClass", 0, 16), "none", "DeviceClasses that back extended resources, see [`deviceClasses`](#deviceclasses)"),
    Field("csiDrivers", names_to("names to drivers", "csiDriver", 0, 4), "none", "CSI drivers and their limits, see [`csiDrivers`](#csidrivers)"),
    Field("storageClasses", names_to("names to classes", "storageClass", 0, 16), "none", "StorageClasses"),
    Field("volumes", names_to("names to volumes", "volume", 0, 16), "none", "PersistentVolumes, see [`volumes`](#volumes)"),
    Field("volumeClaims", names_to("names to claims", "volumeClaim", 0, 16), "none", "PersistentVolumeClaims"),
    Field("podGroups", names_to("names to groups", "podGroup", 0, 16), "none", "groups of pods, see [`podGroups`](#podgroups)"),
    Field("controllers", names_to("names to controllers", "controller", 0, 16), "none", "controllers, which create deleted pods again, see [`controllers`](#controllers)"),
    Field("descheduler", Kind("plugins to arguments", {**part("descheduler"), "minProperties": 1}), "none", "the plugins of a descheduler, which evicts pods, see [`descheduler`](#descheduler)"),
    Field("gateKeepers", names_to("names to keepers", "gateKeeper", 1, 16), "none", "controllers that remove scheduling gates one by one, see [`gateKeepers`](#gatekeepers)"),
    Field("extender", refers("mapping", "extender"), "none", "an extender of the scheduler, with its own view of the cluster, see [`extender`](#extender)"),
    Field("extenders", names_to("names to extenders", "extender", 1, MAX_EXTENDERS), "none", "several extenders. The scheduler calls them in this order, but ignorable extenders last (up to 1.14, it calls all of them in this order)"),
    Field("scope", refers("mapping", "scope"), "see [`scope`](#scope)", "which events can happen, and how often"),
    Field("config", refers("mapping", "config"), "see [`config`](#config)", "the scheduler's configuration"),
])

CONFIG = Table("`config`", "config", [
    Field("scored", FLAG, "false", "true: only the feasible nodes with the best score can win. The score is the weighted sum of TaintToleration (taints with PreferNoSchedule), NodeAffinity, PodTopologySpread (ScheduleAnyway), InterPodAffinity and [extenders](#extender). ImageLocality and the scores of volumes and claims are not modelled: podrace assumes that they are the same for all nodes. false: any feasible node can win", attribute="scored"),
    Field("ignorePreferredTermsOfExistingPods", FLAG, "false", "true: preferred terms of existing pods do not count for the score of InterPodAffinity; only with `scored`, in every release", attribute="ignore_preferred_of_existing"),
    Field("hardPodAffinityWeight", whole(0, 100, "0 to 100"), "1", "the weight that a required affinity term of another pod has in the score of InterPodAffinity; only with `scored`", attribute="hard_affinity_weight", say=_unless_default("hard_affinity_weight")),
    Field("minCandidateNodesPercentage", whole(0, 100, "0 to 100"), "10", "how many candidates preemption looks for, in percent of the nodes; in every release", attribute="min_candidates_percentage", say=_unless_default("min_candidates_percentage")),
    Field("minCandidateNodesAbsolute", whole(0, 1000, "0 to 1000"), "100", "the smallest number of candidates that preemption looks for, even if the percentage gives fewer; in every release", attribute="min_candidates", say=_unless_default("min_candidates")),
    Field("scoreWeights", WEIGHTS, "those of the release", "the weight of each score plugin, 0 if it is off (`plugins.score` of the profile); only with `scored`. The default is 1, with these exceptions: from 1.23 on, 3 for TaintToleration, and 2 for NodeAffinity, PodTopologySpread and InterPodAffinity; from 1.19 to 1.22, 2 for PodTopologySpread", attribute="score_weights", say=lambda config: dict(config.score_weights)),
    Field("scoringStrategy", one_of(RESOURCE_STRATEGIES, "a strategy"), "none", "adds the scores of NodeResourcesFit (with this strategy) and NodeResourcesBalancedAllocation. Each node and each pod then needs cpu and memory. Only with `scored`", attribute="scoring_strategy"),
], about="The scheduler's configuration.")

EXPECTATIONS = Table("`expect`", "expectation", [
    Field("release", text("text"), "that of the scenario", "the release to check"),
    Field("with_fixes", list_of("list of changes", text("")), "none", "upstream changes that are added"),
    Field("without_fixes", list_of("list of changes", text("")), "none", "upstream changes that are removed"),
    Field("featureGates", GATES, "those of the scenario", "gates in addition to those of the scenario"),
    Field("verdicts", refers("properties to verdicts", "verdicts"), "required", "the expected verdict of each property", missing="say which verdict is expected of which property"),
])

VERDICTS = Table("`verdicts`", "verdict", [
    Field("verdict", one_of(EXPECTED, "a verdict"), "required", "the verdict", missing="write holds or violated"),
    Field("steps", whole(0, MAX_STEPS), "any", "violated only: the length of the shortest counterexample"),
])

QUESTIONS = Table("`ask`", "ask", [
    Field("question", list_of("list of steps", text("step", "a step"), 1), "required", "steps in their order, as in `podrace ask`; `then:`, `not:`, `never:` or `end:` can stand before a step", missing="write the steps that are asked about"),
    Field("answer", one_of(ANSWERS, "an answer"), "required", "whether the steps are possible in this order", missing="write possible or impossible"),
    Field("steps", whole(0, MAX_STEPS), "any", "possible only: the length of the shortest run"),
    Field("release", text("text"), "that of the scenario", "the release that the question is about"),
], about="A question as `podrace ask` has it, and its answer ([ask](ask.md)).")

RACE = Table("`race`", "race", [
    Field("issue", whole(1, 10000000, "number"), "required", "the issue in kubernetes/kubernetes", missing="give the number(s) in kubernetes/kubernetes"),
    Field("fixes", list_of("list of changes", text(""), 1), "required", "the upstream changes that fix it", missing="give the number(s) in kubernetes/kubernetes"),
    Field("beside", list_of("list of changes", text(""), 1), "none", "changes of later releases that podrace adds to both runs, with and without the fix, so that only this race is visible"),
    Field("seed", FLAG, "false", "whether `podrace check` without arguments runs it"),
    Field("residual", refers("mapping", "residual"), "none", "the part of the race that is still open after the fixes"),
], about="The upstream race that the scenario shows.")

RESIDUAL = Table("`residual`", "residual", [
    Field("property", Kind("property", {"type": "string"}), "required", "the property that is still violated after the fixes", missing="name the property that still fails and what closes it"),
    Field("closed_by", list_of("list of changes", text(""), 1), "required", "the further changes that close the rest of the race", missing="name the property that still fails and what closes it"),
])
