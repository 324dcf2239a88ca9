"""Those who act beside the scheduler: controllers, the descheduler, gate keepers, extenders."""

from __future__ import annotations

from ...model.environment.cluster.workloads import ExtenderSpec, Noting, OwnerKind
from ..values.labels import MAX_ENTITIES
from .kinds import FLAG, LABEL_KEY, LABELS, NAME, WORD, Kind, list_of, one_of, refers, table_of, whole
from .table import Field, Table

MAX_REPLICAS, MAX_EXTENDERS = 8, 3
REPLACEMENT = one_of(("TerminatingOrFailed", "Failed"), "a policy")
MANAGEMENT = one_of(("OrderedReady", "Parallel"), "a policy")
_NAMES = {"type": "array", "items": WORD, "minItems": 1}
OWNED = Kind(
    "list of pods; of a DaemonSet, nodes to lists of pods",
    {"anyOf": [_NAMES, table_of("", _NAMES, 1).schema]},
)
DIRECTS = table_of("pods to updates", WORD)
VERB = one_of(("filter", "prioritize", "bind", "preempt"), "a verb")
VERBS = list_of("list of filter, prioritize, bind, preempt", VERB, 1, "a list of verbs")
COUNTS = one_of([noting.value for noting in Noting], "a moment")
SCORE = whole(0, 10)


def _verbs_in_words(of: ExtenderSpec) -> list[str]:
    verbs = {"filter": of.filters, "prioritize": bool(of.scores), "bind": of.binds, "preempt": of.preempts}
    return [verb for verb, has in verbs.items() if has]


# fmt: off
CONTROLLERS = Table("`controllers`", "controller", [
    Field("kind", one_of([kind.value for kind in OwnerKind], "a controller"), "required", "what creates the pods again; a Deployment does by its ReplicaSet", missing="a controller has a `kind` and `pods`"),
    Field("pods", OWNED, "required", "the pods of `pods` that it may make, all from one template. Those of a StatefulSet are its ordinals, in order", missing="a controller has a `kind` and `pods`"),
    Field("replicas", whole(1, MAX_REPLICAS), "1", "how many pods a ReplicaSet or Deployment wants"),
    Field("completions", whole(1, MAX_REPLICAS), "1", "how many pods of a Job are to succeed; it runs them all at once"),
    Field("podReplacementPolicy", REPLACEMENT, "TerminatingOrFailed", "Failed: a Job's pod is replaced when it is gone, not when it begins to terminate", attribute="waits_for_end", read=lambda value: REPLACEMENT.read(value) == "Failed", say=lambda of: "Failed" if of.waits_for_end else None),
    Field("podManagementPolicy", MANAGEMENT, "OrderedReady", "Parallel: a StatefulSet makes a pod whether those before it run or not", attribute="parallel", read=lambda value: MANAGEMENT.read(value) == "Parallel", say=lambda of: "Parallel" if of.parallel else None),
])

DESCHEDULER = Table("`descheduler`", "descheduler", [
    Field("RemovePodsViolatingNodeTaints", refers("arguments", "deschedulerPlugin"), "not enabled", "the node has a taint with NoSchedule that the pod does not tolerate"),
    Field("RemovePodsViolatingNodeAffinity", refers("arguments", "deschedulerPlugin"), "not enabled", "the pod requires another node, or `prefers` another"),
    Field("RemovePodsViolatingTopologySpreadConstraint", refers("arguments", "deschedulerPlugin"), "not enabled", "the pod's domain has too many more pods than another"),
    Field("RemoveDuplicates", refers("arguments", "deschedulerPlugin"), "not enabled", "the node has more pods of the owner than its share"),
    Field("LowNodeUtilization", refers("arguments", "deschedulerPlugin"), "not enabled", "the node is used too much while another is used too little"),
], about="The plugins of the descheduler that are enabled.")

PLUGINS = Table("Plugins of the descheduler", "deschedulerPlugin", [
    Field("nodeFit", FLAG, "false", "true: only pods that fit on another node are evicted (nodeFit of the DefaultEvictor; of the spread, topologyBalanceNodeFit)", attribute="node_fit"),
    Field("prefers", LABELS, "none", "of RemovePodsViolatingNodeAffinity: the labels of the nodes that pods prefer (preferredDuringSchedulingIgnoredDuringExecution). The scheduler takes that for a score, and any feasible node may win", attribute="prefers"),
    Field("topologyKey", LABEL_KEY, "required", "of the spread: the label of nodes whose values are the domains", needed=False, attribute="topology_key"),
    Field("maxSkew", whole(1, 8), "1", "of the spread: how many more pods one domain may have than another", attribute="max_skew"),
    Field("matchLabels", LABELS, "none", "of the spread: the labels of the pods that count, of those with an owner"),
    Field("matchExpressions", list_of("list of requirements", refers("", "requirement")), "none", "the same, by requirements"),
    Field("thresholds", whole(1, 100), "required", "of LowNodeUtilization: a node of whose CPU less is requested, in per cent, is used too little", needed=False, attribute="low"),
    Field("targetThresholds", whole(1, 100), "required", "of LowNodeUtilization: one of whose CPU more is requested is used too much", needed=False, attribute="high"),
])

KEEPERS = Table("`gateKeepers`", "gateKeeper", [
    Field("gate", LABEL_KEY, "required", "the scheduling gate that it takes away, of all pods that have it", missing="say which scheduling gate it takes away", say=lambda of: of.gate),
    Field("quota", whole(1, 8, "1 to 8"), "none", "of so many pods at once it may have taken its gate away, until they are gone", attribute="quota"),
    Field("waitsFor", list_of("list of label keys", LABEL_KEY), "none", "gates that have to be gone before it looks at a pod; without, it looks at its own gate alone", say=lambda of: list(of.waits_for)),
    Field("directs", DIRECTS, "none", "what it updates a pod to, by the name of one of the pod's `updates`: the update that takes the gate away says so, too. One that the API server refuses, because another has written what does not go with it, is tried again", say=lambda of: list(of.directs)),
    Field("apart", FLAG, "false", "true: it writes that in an update of its own, and takes the gate away after that", attribute="apart"),
])

EXTENDERS = Table("`extender`", "extender", [
    Field("resource", LABEL_KEY.called("name of an extended resource"), "none", "what it keeps count of, and by which it knows the pods that it is asked about (managedResources)", say=lambda of: of.resource),
    Field("ignoredByScheduler", FLAG, "false", "true: NodeResourcesFit does not look at the resource", attribute="ignored_by_scheduler"),
    Field("verbs", VERBS, "required", "what it is called for: which nodes are left, how it scores them, to send the Binding, on which nodes evicting the victims would help; it can rule nodes out, and victims that an extender adds or spares are left out", missing="say what the extender is called for", say=_verbs_in_words),
    Field("ignorable", FLAG, "false", "true: where a call fails the scheduler goes on without it", attribute="ignorable"),
    Field("counts", COUNTS, "heard", "when it begins to count a pod: when its informer shows the pod on a node, when it binds it itself, or with its answer in the filter call, which then names one node", attribute="noting", read=lambda value: Noting(COUNTS.read(value)), say=lambda of: None if of.noting is Noting.HEARD else of.noting.value),
    Field("nodes", list_of("list of nodes", NAME), "all", "the nodes that it lets through", say=lambda of: None if of.nodes is None else sorted(of.nodes)),
    Field("unresolvable", FLAG, "false", "true: what it rejects in the filter call it calls unresolvable, so that preemption leaves it alone (from 1.21 on)", attribute="unresolvable"),
    Field("scores", table_of("nodes to numbers up to 10", SCORE.schema, 0, MAX_ENTITIES), "with `prioritize` required", "the score that it gives each node, 0 where there is none; with `scored: true`, ten times as much, times `weight`, is added to what the plugins say", say=lambda of: dict(of.scores)),
    Field("weight", whole(1, 100, "number up to 100"), "1", "how much its scores count", attribute="weight", say=lambda of: None if of.weight == 1 else of.weight),
], about="An extender of the scheduler, with a view of its own.")
