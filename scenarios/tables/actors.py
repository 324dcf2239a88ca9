"""Those who act beside the scheduler: controllers, the descheduler, gate keepers, extenders."""

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
    Field("kind", one_of([kind.value for kind in OwnerKind], "a controller"), "required", "the kind of the controller. It creates deleted pods again; a Deployment does this through its ReplicaSet", missing="a controller has a `kind` and `pods`"),
    Field("pods", OWNED, "required", "the pods that it can create, all from one template; for a StatefulSet, in the order of its ordinals", missing="a controller has a `kind` and `pods`"),
    Field("replicas", whole(1, MAX_REPLICAS), "1", "how many pods a ReplicaSet or Deployment wants"),
    Field("completions", whole(1, MAX_REPLICAS), "1", "how many pods of a Job must succeed; the Job runs all its pods at the same time"),
    Field("podReplacementPolicy", REPLACEMENT, "TerminatingOrFailed", "Failed: a Job's pod is replaced when it is gone, not when it begins to terminate", attribute="waits_for_end", read=lambda value: REPLACEMENT.read(value) == "Failed", say=lambda of: "Failed" if of.waits_for_end else None),
    Field("podManagementPolicy", MANAGEMENT, "OrderedReady", "Parallel: a StatefulSet creates a pod without waiting for the pods before it", attribute="parallel", read=lambda value: MANAGEMENT.read(value) == "Parallel", say=lambda of: "Parallel" if of.parallel else None),
])

DESCHEDULER = Table("`descheduler`", "descheduler", [
    Field("RemovePodsViolatingNodeTaints", refers("arguments", "deschedulerPlugin"), "not enabled", "evicts a pod if its node has a NoSchedule taint that the pod does not tolerate"),
    Field("RemovePodsViolatingNodeAffinity", refers("arguments", "deschedulerPlugin"), "not enabled", "evicts a pod that requires another node, or that prefers another node (`prefers`)"),
    Field("RemovePodsViolatingTopologySpreadConstraint", refers("arguments", "deschedulerPlugin"), "not enabled", "evicts a pod if its domain has more pods than another domain, by more than `maxSkew`"),
    Field("RemoveDuplicates", refers("arguments", "deschedulerPlugin"), "not enabled", "evicts a pod if its node has more than an equal share of the pods of one owner"),
    Field("LowNodeUtilization", refers("arguments", "deschedulerPlugin"), "not enabled", "evicts a pod if its node is overutilized while another node is underutilized"),
], about="The plugins of the descheduler that are enabled.")

PLUGINS = Table("Plugins of the descheduler", "deschedulerPlugin", [
    Field("nodeFit", FLAG, "false", "true: only pods that fit on another node are evicted (nodeFit of the DefaultEvictor; for the spread, topologyBalanceNodeFit)", attribute="node_fit"),
    Field("prefers", LABELS, "none", "for RemovePodsViolatingNodeAffinity: the labels of the nodes that pods prefer (preferredDuringSchedulingIgnoredDuringExecution). For the scheduler, the preference is only a score: any feasible node can win", attribute="prefers"),
    Field("topologyKey", LABEL_KEY, "required", "for the spread: the label of nodes whose values are the domains", needed=False, attribute="topology_key"),
    Field("maxSkew", whole(1, 8), "1", "for the spread: how many more pods one domain may have than another", attribute="max_skew"),
    Field("matchLabels", LABELS, "none", "for the spread: only pods with an owner and with these labels are counted"),
    Field("matchExpressions", list_of("list of requirements", refers("", "requirement")), "none", "for the spread: requirements that the counted pods meet, in place of `matchLabels`"),
    Field("thresholds", whole(1, 100), "required", "for LowNodeUtilization: a node is underutilized if its pods request a lower percentage of its CPU", needed=False, attribute="low"),
    Field("targetThresholds", whole(1, 100), "required", "for LowNodeUtilization: a node is overutilized if its pods request a higher percentage of its CPU", needed=False, attribute="high"),
])

KEEPERS = Table("`gateKeepers`", "gateKeeper", [
    Field("gate", LABEL_KEY, "required", "the scheduling gate that the keeper removes from all pods that have this gate", missing="say which scheduling gate it takes away", say=lambda of: of.gate),
    Field("quota", whole(1, 8, "1 to 8"), "none", "the largest number of pods from which the keeper may remove its gate, not counting pods that no longer exist", attribute="quota"),
    Field("waitsFor", list_of("list of label keys", LABEL_KEY), "none", "other gates that must be removed before the keeper handles a pod. By default, the keeper considers only its own gate", say=lambda of: list(of.waits_for)),
    Field("directs", DIRECTS, "none", "for each pod, which of its `updates` the keeper applies when it removes the gate. If the API server refuses the write because of a conflict, the keeper tries again", say=lambda of: list(of.directs)),
    Field("apart", FLAG, "false", "true: the keeper first writes the update of `directs`, and then removes the gate in a second write", attribute="apart"),
])

EXTENDERS = Table("`extender`", "extender", [
    Field("resource", LABEL_KEY.called("name of an extended resource"), "none", "the resource that the extender counts. The scheduler calls the extender only for pods that request this resource (managedResources)", say=lambda of: of.resource),
    Field("ignoredByScheduler", FLAG, "false", "true: NodeResourcesFit does not look at the resource", attribute="ignored_by_scheduler"),
    Field("verbs", VERBS, "required", "the calls that the extender answers: filter rejects nodes, prioritize scores nodes, bind sends the Binding, preempt rejects nodes for preemption. Victims that an extender adds or spares are not modelled", missing="say what the extender is called for", say=_verbs_in_words),
    Field("ignorable", FLAG, "false", "true: if a call fails, the scheduler continues without the extender", attribute="ignorable"),
    Field("counts", COUNTS, "heard", "when the extender counts a pod. heard: when its informer shows the pod on a node. bound: when the extender binds the pod. filtered: when the extender answers the filter call, with one node", attribute="noting", read=lambda value: Noting(COUNTS.read(value)), say=lambda of: None if of.noting is Noting.HEARD else of.noting.value),
    Field("nodes", list_of("list of nodes", NAME), "all", "the nodes that the extender accepts", say=lambda of: None if of.nodes is None else sorted(of.nodes)),
    Field("unresolvable", FLAG, "false", "true: the extender's rejections in the filter call are unresolvable, so preemption does not try the rejected nodes (from 1.21 on)", attribute="unresolvable"),
    Field("scores", table_of("nodes to numbers up to 10", SCORE.schema, 0, MAX_ENTITIES), "with `prioritize` required", "the extender's score of each node, 0 by default. With `scored: true`, ten times this score times `weight` is added to the scores of the plugins", say=lambda of: dict(of.scores)),
    Field("weight", whole(1, 100, "number up to 100"), "1", "the weight of the extender's scores", attribute="weight", say=lambda of: None if of.weight == 1 else of.weight),
], about="An extender of the scheduler, with a view of its own.")
