"""The scope of a run: how often each fault may happen, how far views may lag, and how the scheduler is configured.

Each bound is one row of `Scope`: its default, its words, and what it needs or excludes. Reader, schema, writer and the page of scenario files are made of these rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from operator import attrgetter
from typing import Any

from ....base.structs import dataclass

RESOURCE_SCORES = ("NodeResourcesFit", "NodeResourcesBalancedAllocation")
"""Those of the score plugins that score by requests, where a scenario has a strategy for that."""

SCORED_RESOURCES = ("cpu", "memory")
"""The resources that both look at by default; each counts once."""

LEAST_ALLOCATED, MOST_ALLOCATED = RESOURCE_STRATEGIES = ("LeastAllocated", "MostAllocated")

SCORE_PLUGINS = (
    "TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", *RESOURCE_SCORES,
)  # fmt: skip
"""The score plugins that are modelled."""


@dataclass(frozen=True, slots=True)
class Config:
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


@dataclass(frozen=True, slots=True)
class Bound:
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
    "cache handler", "node handler", "pod group handler", "volume handler", "volume claim handler", "assume cache",
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


@dataclass(frozen=True, slots=True)
class Facts:
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
@dataclass(frozen=True, slots=True)
class Scope:
    """How often each fault may happen in a run (see `Fault`), how far views may lag behind the API server, and what runs beside the scheduler.

    `aims` says which objects a kind of fault strikes, where it may not be any: the bound, the section of the scenario that has them, and their names. `facts` are not a
    scenario's to say: the model adds them.
    """

    pod_events: int = backlog(4, "how many undelivered events the pod watch may hold. A list after a restart or an interrupted watch takes as many as it needs")
    node_events: int = backlog(2, "the same for nodes")
    claim_events: int = backlog(3, "the same for claims")
    node_deletions: int = fault("nodes", "nodes that go")
    node_creations: int = fault("nodes", "nodes that join, or come back", brings=("nodes with `exists: false`", "`exists: false`"))
    node_updates: int = fault("nodes", "updates of a node's object: it is cordoned, tainted, labelled or resized", brings=("nodes' `updates`", "`updates`"))
    pod_updates: int = fault("pods", "updates of a pod's object: it is labelled, resized, or given tolerations", brings=("pods' `updates`", "`updates`"))
    pod_deletions: int = fault("pods", "pods that users delete")
    pod_creations: int = fault("pods", "pods that users create", brings=("pods with `exists: false`", "`exists: false`"))
    bind_failures: int = fault("pods", "Bindings that fail")
    lost_replies: int = fault("pods", "Bindings that succeed although the reply says otherwise, or that an earlier leader sent")
    late_bindings: int = fault("pods", "Bindings for which an error comes back, as of a time-out, and which the API server executes some time after, or never; of one pod 1 at a time. Refused together with `leader_changes`", excludes=[("leader_changes", "which of two Bindings of a pod is executed late is not told apart: remove this or `leader_changes`")])
    write_failures: int = fault("pods", "evictions that fail, and up to 1.18 writes of a nomination before them")
    status_failures: int = fault("pods", "writes of a pod's status that fail after an attempt: the condition with the nomination, and the withdrawal of a lower nomination")
    assume_expiries: int = fault("pods", "assumed pods that expire in the cache (up to 1.24)")
    plugin_errors: int = fault("pods", "errors of plugins at reserve or preBind (from 1.35 on also where preBind is only asked whether it has work)", needs=[("reserve preBind", "no plugin could do so: give a pod `extensionPoints` with reserve or preBind, or remove the bound")])
    permit_rejections: int = fault("pods", "pods that a permit plugin rejects", needs=[("permit", "no plugin could do so: give a pod `extensionPoints` with permit, or remove the bound")])
    restarts: int = fault("", "restarts of the scheduler: its memory is lost, and it lists everything again", excludes=[_NOT_WITH_GROUPS, _NOT_WITH_EXTENDERS])
    leader_changes: int = fault("", "changes of the leader: a standby goes on with what its informers showed it", excludes=[_NOT_WITH_GROUPS, _NOT_WITH_EXTENDERS])
    external_binds: int = fault("pods", "pods that somebody else binds")
    evictions: int = fault("pods", "pods that somebody evicts by the eviction subresource, as `kubectl drain` does; of one that has succeeded or failed no budget is asked (from 1.13 on). Needs `disruption_controller`", needs=[("disruption_controller", "evictions take from budgets that are kept: add `disruption_controller: true`")])
    scale_downs: int = fault("nodes", "nodes that an autoscaler finds empty, and then takes away; a pod that is nominated to a node counts as being there")
    relists: int = fault("", "interruptions of a watch, of pods or of nodes, whose missed events show only in their outcome", excludes=[_NOT_WITH_GROUPS])
    watch_stalls: int = fault("", "watches, of pods or of nodes, that fall silent: the informer receives nothing more. A restart of the scheduler (`restarts`) or a new list (`relists`) heals that; without these it lasts. See [fairness](model.md#fairness). Refused together with `leader_changes`", excludes=[("leader_changes", "what the watches of a standby show then is not modelled: remove this or `leader_changes`")])
    volume_creations: int = fault("volumes volumeClaims", "volumes and claims that somebody creates", brings=("volumes and claims with `exists: false`", "`exists: false`"))
    volume_deletions: int = fault("volumes volumeClaims", "volumes and claims that somebody deletes: a claim goes once no pod on a node mounts it, a volume only while no claim is bound to it")
    provision_failures: int = fault("volumeClaims", "volumes that cannot be made where the scheduler wants them: the provisioner takes the annotation selected-node away")
    bind_timeouts: int = fault("pods", "bindings that give up waiting: for their volumes, for devices to be ready, or for the informer to deliver a claim that was made")
    claim_creations: int = fault("resourceClaims", "ResourceClaims that users create", brings=("ResourceClaims with `exists: false`", "`exists: false`"))
    claim_deletions: int = fault("resourceClaims", "ResourceClaims that users delete: one that is allocated stays until nobody uses it")
    missed_claim_updates: int = fault("resourceClaims", "changes of ResourceClaims that the scheduler is never notified of, because a list after an interrupted watch shows only how they are by then")
    controller_restarts: int = fault("controllers", "a controller restarts: it has forgotten what it has just done, and knows of pods what its informer has", needs=[("controllers", "there are no controllers to restart: remove `controller_restarts`")])
    device_failures: int = fault("resourceClaims", "devices of which the driver says that they cannot be made ready")
    device_withdrawals: int = fault("devices", "devices that are not published any more, as their driver is stopped or restarted; it publishes them again some time after")
    device_taints: int = fault("devices", "devices that get a taint with NoExecute, for good; the device taint eviction controller deletes the pods that use them (from 1.36 on)")
    extender_failures: int = fault("pods", "calls of an [`extender`](#extender) that fail", needs=[("extender extenders", "there is no extender to fail: remove `extender_failures`")])
    late_answers: int = fault("pods", "answers of an [`extender`](#extender) with `counts: filtered` that come too late: it has counted the pod, and the scheduler has an error", needs=[("extender extenders", "there is no extender to fail: remove `late_answers`")])
    readiness_losses: int = fault("pods", "pods whose readiness probe fails, until somebody mends that; needs `readiness`", needs=[("readiness", "nobody looks whether pods are ready: add `readiness: true`, or remove this")])
    start_failures: int = fault("pods", "pods that are bound and cannot be started, say for want of an image or a volume, until somebody mends that; needs `pod_phases`", needs=[("pod_phases", "no pod has to be started: add `pod_phases: true`, or remove this")])
    heartbeat_losses: int = fault("nodes", "kubelets that are cut off: nothing is heard of them, nor do they hear anything, until they come back, if they do; needs `node_lifecycle`", needs=[("node_lifecycle", "nobody looks at kubelets that fail: add `node_lifecycle: true`, or remove `heartbeat_losses`")])
    node_failures: int = fault("nodes", "nodes of which the kubelet reports that they are not ready, until it reports that they are ready again; needs `node_lifecycle`", needs=[("node_lifecycle", "nobody looks at kubelets that fail: add `node_lifecycle: true`, or remove `node_failures`")])
    disruption_controller: bool = switch("whether budgets are kept: evictions take from them, and the disruption controller counts their pods again; else they stay as they are", needs=[("podDisruptionBudgets", "a disruption controller has nothing to count: add `podDisruptionBudgets`, or remove this")])
    disruption_controller_lags: bool = switch("true: the disruption controller counts the pods that its own informer has, and writes the status some time after, unless an eviction has written it since", quiet=True, needs=[("disruption_controller", "there is no disruption controller: add `disruption_controller: true`, or remove this")])
    readiness: bool = switch("whether of the bound pods of a budget that is kept only those count that are ready: a pod is so some time after it is bound. The eviction subresource asks no budget for one that is not, as `unhealthyPodEvictionPolicy` says. Refused together with `controllers`, and so together with a descheduler", needs=[("disruption_controller", "only budgets that are kept look at it: add `disruption_controller: true`, or remove this")], excludes=[("controllers", "pods that controllers recreate are not asked whether they are ready: remove this or `controllers`")])
    pod_phases: bool = switch("whether a pod of a budget is Pending from when it is bound until its kubelet has started it; only then it may become ready. From 1.19 on the eviction subresource asks no budget for one that is Pending. Needs `readiness`", needs=[("readiness", "a pod that is Pending is one that is not ready: add `readiness: true`, or remove this")])
    kubelet_admission: bool = switch("whether kubelets decide which of their pods they run: one that does not fit next to those that the kubelet is not done with is rejected, and has failed; else they run them all", quiet=True)
    scale_down_looks_again: bool = switch("whether the autoscaler looks once more in the moment in which it takes a node away; else its look may be old", quiet=True, needs=[("scale_downs autoscaler", "there is no autoscaler to look: add `scale_downs: 1`, or remove this")])
    scale_down_taints: bool = switch("true: the autoscaler puts a taint on the node that it has found empty, looks once more, at bound pods, and deletes it some time after. Each node needs an update with the taint `ToBeDeletedByClusterAutoscaler`", quiet=True, needs=[("scale_downs autoscaler", "there is no autoscaler to taint nodes: add `scale_downs: 1`, or remove `scale_down_taints`")], excludes=[("scale_down_looks_again", "the second look comes after the taint: remove `scale_down_looks_again` or `scale_down_taints`")])
    scale_down_waits: bool = switch("true: between taint and look it waits until the scheduler was notified of the taint, and has bound the pods that it tried before; not for plugins at Permit and PreBind", quiet=True, needs=[("scale_down_taints", "nobody waits without the taint: add `scale_down_taints: true`, or remove `scale_down_waits`")])
    scale_down_drains: bool = switch("true: with `scale_down_taints` the autoscaler takes away nodes that are not empty, too, if all their pods belong to `controllers` and fit on other nodes at once, next to those that wait, and budgets allow it. It lists the pods that are bound to the node after the taint, evicts them, and deletes the node once they are gone, or gives up where a budget is against it. Together with budgets it needs `disruption_controller`", quiet=True, needs=[("scale_down_taints", "a node is tainted before it is drained: add `scale_down_taints: true`, or remove `scale_down_drains`")])
    scale_down_until_empty: bool = switch("true: it does not list them once, but evicts all pods on the node until none is left, as Karpenter does", quiet=True, needs=[("scale_down_drains", "nobody is evicted: add `scale_down_drains: true`, or remove `scale_down_until_empty`")])
    scale_down_keeps_room: bool = switch("true: the autoscaler leaves a node alone as long as a pod that waits fits there. So it makes and takes away no node only because the pod has not been tried yet ([consolidated-too-soon](actors.md)), and L-LOOP shows the next loop, if there is one", quiet=True, needs=[("scale_downs autoscaler", "there is no autoscaler to leave nodes alone: add `autoscaler: true`, or remove `scale_down_keeps_room`")])
    autoscaler: bool = switch("true: an autoscaler makes nodes (those with `exists: false`) for pods that fit nowhere, and takes empty ones away, as often as it likes. A node stands for one after the other, as pods of `controllers` do, each with a name of its own: no pod and no volume names one", quiet=True, excludes=[("scale_downs node_creations", "the autoscaler does so as often as it likes: remove `scale_downs` and `node_creations`, or `autoscaler`")])
    autoscaler_nominates: bool = switch("true: the pod for which it makes a node is nominated there (`status.nominatedNodeName`)", quiet=True, needs=[("autoscaler", "there is no autoscaler that makes nodes: add `autoscaler: true`, or remove `autoscaler_nominates`")])
    taint_eviction: bool = switch("whether the taint eviction controller runs: it deletes pods from nodes with NoExecute taints that they do not tolerate", needs=[("NoExecute node_lifecycle", "no node has a taint with the effect NoExecute, at first or by `updates`: give one such a taint, or remove `taint_eviction`")])
    node_lifecycle: bool = switch("whether the node lifecycle controller runs: it makes Ready of nodes that are not heard of Unknown, and sets and removes the taints `node.kubernetes.io/not-ready` and `unreachable`, with NoSchedule and NoExecute, each in its time. A node that joins is not ready until its kubelet says so. `conditions` and `taints` say how a node is at first; `updates` leave Ready and these taints alone", excludes=[("autoscaler scale_down_taints", "how an autoscaler counts nodes that are not ready is not modelled: remove `node_lifecycle`, or `autoscaler` and `scale_down_taints`")])
    bound_finalizers: bool = switch("whether `finalizers` keep the objects of pods that are bound, too: their owner takes them away at any moment after the deletion, or never", needs=[("finalizers", "no pod has finalizers that could keep it: give one `finalizers`, or remove `bound_finalizers`")])
    pod_gc: bool = switch("whether the pod garbage collector runs", True)
    flush: bool = switch("whether long-parked pods are flushed", True)
    backoff: bool = switch("whether a pod that is tried again waits in backoffQ first; without, every backoff is over at once", True)
    fair_flush: bool = switch("whether a liveness may count on that flush", quiet=True, needs=[("flush", "there is no flush to count on: remove `flush: false` or this")])
    time: str = choice("`scales`: the periodic flush of a parked pod comes only after minutes in which nothing shorter was under way; `any`: at any moment. See [scales of time](model.md#scales-of-time)", ANY_TIME, SCALES)
    slow: tuple[str, ...] = selection("with `time: scales`, the actors whose steps may take minutes all the same, as reports name them. See [slow actors](model.md#slow-actors)", *SHORT_ACTORS, needs=[("scales", "with `time: any` every actor may be slow: add `time: scales`, or remove this")])
    file_order: bool = switch("whether pods that wait at the start came to the queue in the order of the file; else [in any order](#which-of-equal-pods-comes-first)")
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
