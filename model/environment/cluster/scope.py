"""The scope of a run: how often each fault may happen, how far views may lag, and how the scheduler is configured.

Each bound is one row of `Scope`: its default, its words, and what it needs or excludes. Reader, schema, writer and the page of scenario files are made of these rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from operator import attrgetter
from typing import Any

from ....base.structs import Data

RESOURCE_SCORES = ("NodeResourcesFit", "NodeResourcesBalancedAllocation")
"""Those of the score plugins that score by requests, where a scenario has a strategy for that."""

SCORED_RESOURCES = ("cpu", "memory")
"""The resources that both look at by default; each counts once."""

LEAST_ALLOCATED, MOST_ALLOCATED = RESOURCE_STRATEGIES = ("LeastAllocated", "MostAllocated")

SCORE_PLUGINS = (
    "TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", *RESOURCE_SCORES,
)  # fmt: skip
"""The score plugins that are modelled."""


class Config(Data):
    """What the scheduler's configuration says of scoring, sampling and preemption.

    `scored`: of the feasible nodes only those with the best score may win. Without it each may: the scenario then
    stands for whatever scores a real scheduler computes. `score_weights` are those of score plugins that the profile sets, by name; 0 is for one
    that it disables. Others have the weights that they have by default. `scoring_strategy`, of NodeResourcesFit, is LeastAllocated or MostAllocated where resources
    are scored, too; else the nodes are such that they tell none apart.
    """

    scored: bool = False
    scoring_strategy: str = ""
    score_weights: tuple[tuple[str, int], ...] = ()
    hard_affinity_weight: int = 1
    ignore_preferred_of_existing: bool = False
    percentage_of_nodes: int = 0
    min_candidates_percentage: int = 10
    min_candidates: int = 100


DEFAULTS = Config()


Clause = tuple[str, str]
"""Names of bounds or sections of a scenario, with blanks between, and what is wrong where none of them is there (`needs`), or any (`excludes`); `{}` stands for the bound."""

MAX_COUNT = 15


class Bound(Data):
    """What a row of the scope says of a bound beside its default.

    `least` is its least value, None for one that is on or off. `strikes` are the sections of a scenario that have what the fault strikes. `brings` says, of a bound that is
    by default as large as the cluster needs, what that is and by which word objects need it. `quiet`: worth a word in a verdict only where it is on. `choices` are the words that it may be, where it is neither a count nor on or off; `several`: any of them.
    """

    words: str
    least: int | None
    strikes: tuple[str, ...] = ()
    brings: Clause | None = None
    needs: Sequence[Clause] = ()
    excludes: Sequence[Clause] = ()
    quiet: bool = False
    choices: tuple[str, ...] = ()
    several: bool = False


def backlog(default: int, words: str) -> Any:
    """How many undelivered events one watch may hold: a full backlog stops API writes, and a verdict names it."""
    return field(default=default, metadata={"bound": Bound(words, 1)})


def fault(strikes: str, words: str, **others: Any) -> Any:
    """How often a fault may happen in a run; the sections of a scenario that have what it strikes."""
    return field(default=0, metadata={"bound": Bound(words, 0, tuple(strikes.split()), **others)})


def switch(words: str, default: bool = False, **others: Any) -> Any:
    """What is on or off."""
    return field(default=default, metadata={"bound": Bound(words, None, **others)})


def choice(words: str, *choices: str) -> Any:
    """What is one of several; the first is the default."""
    return field(default=choices[0], metadata={"bound": Bound(words, None, quiet=True, choices=choices)})


def selection(words: str, *choices: str, **others: Any) -> Any:
    """Any of these words; by default none."""
    bound = Bound(words, None, quiet=True, choices=choices, several=True, **others)
    return field(default=(), metadata={"bound": bound})


ANY_TIME, SCALES = "any", "scales"
SHORT_ACTORS = (
    "scheduler", "binding cycle", "failure handler", "requeue goroutine", "preemption goroutine", "API dispatcher", "queue timers", "pod informer",
    "second pod informer", "node informer", "pod group informer", "claim informer", "slice informer", "volume informer", "volume claim informer", "queue handler",
    "cache handler", "node handler", "pod group handler", "volume handler", "volume claim handler", "assume cache", "CSINode informer", "VolumeAttachment informer",
)  # fmt: skip
"""Whose steps are done before minutes have passed, by scales of time."""

_NOT_WITH_GROUPS = (
    "podGroups",
    "with groups of pods this is not modelled: remove `{}` from `scope`, or the groups",
)
_NOT_WITH_EXTENDERS = (
    "extender extenders",
    "what a new process makes of calls under way is not modelled: remove `{}` or `extender`",
)


class Facts(Data):
    """What follows from the cluster, and decides which state is kept at all: elsewhere, its place in an object costs nothing.

    `gates`, `finishing`, `passing_claims`, `conditions`: whether a pod may have scheduling gates, whether one may finish, whether claims come and go, whether a device has binding conditions.
    `last_gate`: how many gates a pod may have lost that has another. `last_version`: the highest version of a pod's object. `last_name`: the last of what a pod's status may
    name: nothing, its own claims, those of the pod that had its name before. `latest_deadline`: the end of time, where time is measured. `listed_pods`, `listed_nodes`: so many
    events a list gives at most, where informers list amid a run.
    """

    gates: int = 0
    last_gate: int = 0
    finishing: int = 0
    last_version: int = 0
    last_name: int = 0
    passing_claims: int = 0
    conditions: int = 0
    latest_deadline: int = 0
    listed_pods: int = 0
    listed_nodes: int = 0


NO_FACTS = Facts()


# fmt: off
class Scope(Data):
    """How often each fault may happen in a run (see `Fault`), how far views may lag behind the API server, and what runs beside the scheduler.

    `aims` says which objects a kind of fault strikes, where it may not be any: the bound, the section of the scenario that has them, and their names. `facts` are not a
    scenario's to say: the model adds them.
    """

    pod_events: int = backlog(4, "how many undelivered events the pod watch can hold; a list after a restart or an interrupted watch can have more events")
    node_events: int = backlog(2, "how many undelivered events the node watch can hold")
    claim_events: int = backlog(3, "how many undelivered events the watch of claims can hold")
    node_deletions: int = fault("nodes", "deletions of nodes")
    node_creations: int = fault("nodes", "nodes that join, for the first time or again", brings=("nodes with `exists: false`", "`exists: false`"))
    node_updates: int = fault("nodes", "updates of a node's object: it is cordoned, tainted, labelled or resized", brings=("nodes' `updates`", "`updates`"))
    pod_updates: int = fault("pods", "updates of a pod's object: it is labelled, resized, or given tolerations", brings=("pods' `updates`", "`updates`"))
    pod_deletions: int = fault("pods", "pods that users delete")
    pod_creations: int = fault("pods", "pods that users create", brings=("pods with `exists: false`", "`exists: false`"))
    bind_failures: int = fault("pods", "Bindings that fail")
    lost_replies: int = fault("pods", "Bindings that succeed although the scheduler gets an error, and Bindings of an earlier leader that succeed later")
    late_bindings: int = fault("pods", "Bindings for which the scheduler gets an error, such as a time-out, although the API server may still execute them later. At most one at a time for each pod. Not together with `leader_changes`", excludes=[("leader_changes", "which of two Bindings of a pod is executed late is not told apart: remove this or `leader_changes`")])
    write_failures: int = fault("pods", "failed evictions, and, up to 1.18, failed writes of the nominations that precede the evictions")
    status_failures: int = fault("pods", "failed writes of a pod's status after an attempt. The write sets the condition with the nomination, or removes a nomination of lower priority")
    assume_expiries: int = fault("pods", "assumed pods that expire in the cache (up to 1.24)")
    plugin_errors: int = fault("pods", "errors of plugins at Reserve or PreBind (from 1.35 on also at PreBindPreFlight)", needs=[("reserve preBind", "no plugin could do so: give a pod `extensionPoints` with reserve or preBind, or remove the bound")])
    permit_rejections: int = fault("pods", "pods that a permit plugin rejects", needs=[("permit", "no plugin could do so: give a pod `extensionPoints` with permit, or remove the bound")])
    restarts: int = fault("", "restarts of the scheduler: it loses its memory, and lists everything again", excludes=[_NOT_WITH_GROUPS, _NOT_WITH_EXTENDERS])
    leader_changes: int = fault("", "changes of the leader: a standby becomes the scheduler, with the state of its own informers", excludes=[_NOT_WITH_GROUPS, _NOT_WITH_EXTENDERS])
    external_binds: int = fault("pods", "pods that another client binds")
    evictions: int = fault("pods", "evictions through the eviction subresource, such as those of `kubectl drain`. From 1.13 on, the eviction of a pod that has succeeded or failed ignores budgets. Needs `disruption_controller`", needs=[("disruption_controller", "evictions take from budgets that are kept: add `disruption_controller: true`")])
    scale_downs: int = fault("nodes", "nodes that an autoscaler finds empty, and then deletes. A node is not empty if a pod is nominated to it")
    relists: int = fault("", "interruptions of the watch of pods or of nodes: the next list shows the informer only the result of the missed events", excludes=[_NOT_WITH_GROUPS])
    watch_stalls: int = fault("", "watches of pods or of nodes that stall: the informer receives nothing until the scheduler restarts (`restarts`) or lists again (`relists`). See [fairness](model.md#fairness). Not together with `leader_changes`", excludes=[("leader_changes", "what the watches of a standby show then is not modelled: remove this or `leader_changes`")])
    volume_creations: int = fault("volumes volumeClaims", "volumes and claims that somebody creates", brings=("volumes and claims with `exists: false`", "`exists: false`"))
    volume_deletions: int = fault("volumes volumeClaims", "volumes and claims that a user deletes. A claim is removed when no pod on a node mounts it. A volume is removed only while no claim is bound to it")
    provision_failures: int = fault("volumeClaims", "volumes that the provisioner cannot create on the chosen node: it removes the annotation selected-node")
    bind_timeouts: int = fault("pods", "bindings that time out while they wait for volumes, for ready devices, or for the claim that the scheduler created")
    claim_creations: int = fault("resourceClaims", "ResourceClaims that users create", brings=("ResourceClaims with `exists: false`", "`exists: false`"))
    claim_deletions: int = fault("resourceClaims", "ResourceClaims that users delete: an allocated claim stays until no pod uses it")
    missed_claim_updates: int = fault("resourceClaims", "changes of ResourceClaims that the scheduler misses: its watch is interrupted, and the next list shows only the result")
    controller_restarts: int = fault("controllers", "restarts of a controller: it forgets its last writes, and knows only the pods in its informer", needs=[("controllers", "there are no controllers to restart: remove `controller_restarts`")])
    device_failures: int = fault("resourceClaims", "devices whose driver reports that they cannot become ready")
    device_withdrawals: int = fault("devices", "devices that are no longer published, because their driver stops or restarts; it publishes them again later")
    device_taints: int = fault("devices", "devices that get a permanent taint with NoExecute; the device taint eviction controller deletes the pods that use them (from 1.36 on)")
    filter_timeouts: int = fault("pods", "Filter calls whose search for devices takes too long (from 1.34 on)", needs=[("devices", "no pod looks for devices: remove `filter_timeouts`")])
    extender_failures: int = fault("pods", "calls of an [`extender`](#extender) that fail", needs=[("extender extenders", "there is no extender to fail: remove `extender_failures`")])
    late_answers: int = fault("pods", "answers of an [`extender`](#extender) with `counts: filtered` that come too late: the extender has counted the pod, but the scheduler gets an error", needs=[("extender extenders", "there is no extender to fail: remove `late_answers`")])
    readiness_losses: int = fault("pods", "pods whose readiness probe fails, until a user repairs them; needs `readiness`", needs=[("readiness", "nobody looks whether pods are ready: add `readiness: true`, or remove this")])
    start_failures: int = fault("pods", "bound pods that cannot start, for example without an image or a volume, until a user repairs them; needs `pod_phases`", needs=[("pod_phases", "no pod has to be started: add `pod_phases: true`, or remove this")])
    heartbeat_losses: int = fault("nodes", "kubelets that lose the connection. They report and receive nothing until they are connected again, which may never happen. Needs `node_lifecycle`", needs=[("node_lifecycle", "nobody looks at kubelets that fail: add `node_lifecycle: true`, or remove `heartbeat_losses`")])
    node_failures: int = fault("nodes", "nodes that are not ready, as their kubelets report, until a kubelet reports the node as ready again. Needs `node_lifecycle`", needs=[("node_lifecycle", "nobody looks at kubelets that fail: add `node_lifecycle: true`, or remove `node_failures`")])
    disruption_controller: bool = switch("true: an eviction lowers `disruptionsAllowed`, and the disruption controller counts the budget's pods again. false: the status of budgets does not change", needs=[("podDisruptionBudgets", "a disruption controller has nothing to count: add `podDisruptionBudgets`, or remove this")])
    disruption_controller_lags: bool = switch("true: the disruption controller counts the pods in its own informer. It writes the budget's status later, unless an eviction has changed the status since the count", quiet=True, needs=[("disruption_controller", "there is no disruption controller: add `disruption_controller: true`, or remove this")])
    readiness: bool = switch("true: only ready pods count for a budget. A bound pod becomes ready at some later moment. `unhealthyPodEvictionPolicy` says when an eviction of a pod that is not ready ignores the budget. Not together with `controllers` or a descheduler", needs=[("disruption_controller", "only budgets that are kept look at it: add `disruption_controller: true`, or remove this")], excludes=[("controllers", "pods that controllers recreate are not asked whether they are ready: remove this or `controllers`")])
    pod_phases: bool = switch("true: a bound pod of a budget is Pending until its kubelet has started it. Only then can it become ready. From 1.19 on, an eviction of a Pending pod ignores the budget. Needs `readiness`", needs=[("readiness", "a pod that is Pending is one that is not ready: add `readiness: true`, or remove this")])
    kubelet_admission: bool = switch("true: a kubelet rejects a pod that does not fit next to the pods that it still runs; the pod fails. false: kubelets run all pods", quiet=True)
    scale_down_looks_again: bool = switch("true: the autoscaler checks that a node is empty at the moment at which it deletes the node. false: its check can be older", quiet=True, needs=[("scale_downs autoscaler", "there is no autoscaler to look: add `scale_downs: 1`, or remove this")])
    scale_down_taints: bool = switch("true: the autoscaler taints an empty node, checks again that no pod is bound there, and deletes the node later. Each node needs an update with the taint `ToBeDeletedByClusterAutoscaler`", quiet=True, needs=[("scale_downs autoscaler", "there is no autoscaler to taint nodes: add `scale_downs: 1`, or remove `scale_down_taints`")], excludes=[("scale_down_looks_again", "the second look comes after the taint: remove `scale_down_looks_again` or `scale_down_taints`")])
    scale_down_waits: bool = switch("true: after the taint, the autoscaler waits until the scheduler has received the taint, and has bound the pods whose attempts began before. It does not wait for plugins at Permit and PreBind", quiet=True, needs=[("scale_down_taints", "nobody waits without the taint: add `scale_down_taints: true`, or remove `scale_down_waits`")])
    scale_down_drains: bool = switch("true: the autoscaler also drains a node that is not empty, if its pods belong to `controllers` and fit on other nodes together with the waiting pods, and budgets allow it. The autoscaler taints the node, lists its pods, evicts them, and deletes the node when they are gone. If a budget forbids an eviction, the autoscaler gives up. Needs `scale_down_taints`, and with budgets `disruption_controller`", quiet=True, needs=[("scale_down_taints", "a node is tainted before it is drained: add `scale_down_taints: true`, or remove `scale_down_drains`")])
    scale_down_until_empty: bool = switch("true: a draining autoscaler evicts pods until none is left on the node, as Karpenter does. false: it lists the pods only once", quiet=True, needs=[("scale_down_drains", "nobody is evicted: add `scale_down_drains: true`, or remove `scale_down_until_empty`")])
    scale_down_keeps_room: bool = switch("true: the autoscaler keeps a node while a waiting pod fits there. Then L-LOOP finds other loops, but not the loop of [consolidated-too-soon](actors.md), but only other loops", quiet=True, needs=[("scale_downs autoscaler", "there is no autoscaler to leave nodes alone: add `autoscaler: true`, or remove `scale_down_keeps_room`")])
    autoscaler: bool = switch("true: an autoscaler creates nodes (those with `exists: false`) for pods that fit nowhere, and deletes empty ones, any number of times. A node of the file represents many nodes, one after the other, each with its own name. So no pod or volume can name such a node", quiet=True, excludes=[("scale_downs node_creations", "the autoscaler does so as often as it likes: remove `scale_downs` and `node_creations`, or `autoscaler`")])
    autoscaler_nominates: bool = switch("true: the autoscaler nominates the pod for which it creates a node (`status.nominatedNodeName`)", quiet=True, needs=[("autoscaler", "there is no autoscaler that makes nodes: add `autoscaler: true`, or remove `autoscaler_nominates`")])
    taint_eviction: bool = switch("true: the taint eviction controller deletes a pod from a node with a NoExecute taint that the pod does not tolerate", needs=[("NoExecute node_lifecycle", "no node has a taint with the effect NoExecute, at first or by `updates`: give one such a taint, or remove `taint_eviction`")])
    node_lifecycle: bool = switch("true: the node lifecycle controller runs. If a kubelet does not report, the controller sets Ready to Unknown. It adds and removes the taints `node.kubernetes.io/not-ready` and `unreachable`, with NoSchedule and NoExecute, each in its own step. A node that joins is not ready until its kubelet reports. `conditions` and `taints` are those at the start; `updates` cannot change Ready and these taints", excludes=[("autoscaler scale_down_taints", "how an autoscaler counts nodes that are not ready is not modelled: remove `node_lifecycle`, or `autoscaler` and `scale_down_taints`")])
    bound_finalizers: bool = switch("true: `finalizers` also keep the object of a deleted bound pod. Their owner removes them at any moment after the deletion, or never", needs=[("finalizers", "no pod has finalizers that could keep it: give one `finalizers`, or remove `bound_finalizers`")])
    pod_gc: bool = switch("whether the pod garbage collector runs", True)
    flush: bool = switch("whether long-parked pods are flushed", True)
    backoff: bool = switch("true: a pod waits in backoffQ before it is tried again. false: every backoff ends immediately", True)
    fair_flush: bool = switch("true: liveness properties assume that the periodic flush happens", quiet=True, needs=[("flush", "there is no flush to count on: remove `flush: false` or this")])
    time: str = choice("`any`: the periodic flush of a parked pod can happen at any moment. `scales`: it happens only after minutes without shorter work. See [scales of time](model.md#scales-of-time)", ANY_TIME, SCALES)
    slow: tuple[str, ...] = selection("with `time: scales`, the actors whose steps can still take minutes. Use their names in reports. See [slow actors](model.md#slow-actors)", *SHORT_ACTORS, needs=[("scales", "with `time: any` every actor may be slow: add `time: scales`, or remove this")])
    file_order: bool = switch("true: the pods that wait at the start entered the queue in the order of the file. false: [in any order](#which-of-equal-pods-comes-first)")
    aims: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    config: Config = field(default_factory=lambda: DEFAULTS)
    facts: Facts = field(default_factory=lambda: NO_FACTS)

    def aimed(self, name: str) -> dict[str, tuple[str, ...]]:
        """The objects that this kind of fault strikes, by the section of the scenario that has them; empty if it may be any."""
        return {section: names for kind, section, names in self.aims if kind == name}
# fmt: on


BOUNDS: Mapping[str, Bound] = {f.name: f.metadata["bound"] for f in fields(Scope) if f.metadata}
"""The bounds by name, in the order of the rows."""

# What the sizes of state are made of, as declarations take it.
gates_possible, last_gate, finishing_possible = map(
    attrgetter, ("facts.gates", "facts.last_gate", "facts.finishing")
)
last_version, last_name = map(attrgetter, ("facts.last_version", "facts.last_name"))
passing_claims, conditions_possible = map(attrgetter, ("facts.passing_claims", "facts.conditions"))
latest_deadline = attrgetter("facts.latest_deadline")


def bound_finalizers_possible(scope: Scope) -> int:
    """Whether finalizers keep the objects of pods that are bound."""
    return int(scope.bound_finalizers)
