"""What changes in an everyday cluster, one kind at a time: nodes, pods, names, and who else acts. Each makes of a cluster one in which that can happen once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace

from podrace.model.environment.cluster.placement_rules import Selector, Taint, Term, Toleration
from podrace.model.environment.cluster.workloads import OwnerKind, OwnerSpec, StrategyKind, StrategySpec
from podrace.model.environment.objects import ClusterSpec, DisruptionBudget, Node, Pod, Scope
from tests.survey.clusters import bound, spread_over_zones, waiting

Change = Callable[[ClusterSpec], ClusterSpec | None]
"""Gives the changed cluster, without the scope's usual rest; None where the change means nothing."""

LABELS = {"app": "web"}
WEB = Selector(LABELS)
NOT_READY = Taint("node.kubernetes.io/not-ready", "", "NoSchedule")
DEDICATED = Taint("dedicated", "", "NoSchedule")
UNREACHABLE = Taint("node.kubernetes.io/unreachable", "", "NoExecute")


def everyday_clusters() -> Iterator[ClusterSpec]:
    """Those of the survey with one or two pods and without gates, as far as they differ for changes; and three of terms between pods."""
    yield from (waiting(1), waiting(2, 1, above=1), bound(1, 1), bound(1, 2), bound(2, 1, above=1))
    yield spread_over_zones()
    yield of_one_kind("together")
    yield of_one_kind("apart")
    yield of_one_kind("kept apart")


def of_one_kind(how: str) -> ClusterSpec:
    """Two zones of a node each. One pod is bound in the east, and fills it; the other must be with it, or apart; or the first wants to be alone."""
    term = Term(LABELS, "zone", anti=how != "together")
    # Where the pods are to be apart, only the east has room for the second, so that something must change before it fits.
    size = {"together": (1, 1), "apart": (3, 1), "kept apart": (3, 1)}[how]
    east, west = (
        Node(i, n, size[i], labels={"zone": z}) for i, (n, z) in enumerate((("e", "east"), ("w", "west")))
    )
    own, others = ((term,), ()) if how != "kept apart" else ((), (term,))
    asked = 1 if how == "together" else 2
    a = Pod(0, "a", 1, node=east, labels={"app": "web"}, terms=others, graceful=False)
    b = Pod(1, "b", asked, labels={"app": "web"}, terms=own, graceful=False)
    return ClusterSpec(how, (a, b), (east, west))


def changed(cluster: ClusterSpec, change: str) -> ClusterSpec | None:
    """The cluster with this change, two undelivered events, and without the periodic flush; None where the change means nothing."""
    made = CHANGES[change](cluster)
    if made is None:
        return None
    return replace(made, scope=replace(made.scope, pod_events=2, flush=False))


def questions() -> Iterator[tuple[str, ClusterSpec]]:
    """Each change in each cluster in which it means something."""
    for change in CHANGES:
        for cluster in everyday_clusters():
            spec = changed(cluster, change)
            if spec is not None:
                yield change, spec


def question_named(change: str, cluster: str) -> ClusterSpec:
    """The changed cluster of this name."""
    return next(spec for kind, spec in questions() if (kind, spec.name) == (change, cluster))


def taint_goes(cluster: ClusterSpec) -> ClusterSpec:
    """The last node is there with a taint, which goes."""
    return _with_node(cluster, lambda node: _node(node, taints=(NOT_READY,), later={"ready": _node(node)}))


def taint_comes(cluster: ClusterSpec) -> ClusterSpec:
    """The last node gets a taint."""
    return _with_node(cluster, lambda node: _node(node, later={"tainted": _node(node, taints=(NOT_READY,))}))


def cordoned(cluster: ClusterSpec) -> ClusterSpec:
    """The last node is cordoned, and uncordoned."""
    made = _with_node(cluster, lambda node: _node(node, later={"cordoned": _node(node, unschedulable=True)}))
    return replace(made, scope=Scope(node_updates=2))


def label_goes(cluster: ClusterSpec) -> ClusterSpec | None:
    """The first node loses its labels: only where they matter."""
    if "zone" not in cluster.nodes[0].labels:
        return None
    return _with_node(
        cluster, lambda node: _node(node, later={"unlabelled": _node(node, bare=True)}), which=0
    )


def label_goes_in_the_west(cluster: ClusterSpec) -> ClusterSpec | None:
    """The last node loses its labels: only where they matter."""
    if "zone" not in cluster.nodes[0].labels:
        return None
    return _with_node(cluster, lambda node: _node(node, later={"unlabelled": _node(node, bare=True)}))


def node_grows(cluster: ClusterSpec) -> ClusterSpec:
    """The last node has one unit more."""
    return _with_node(cluster, lambda node: _node(node, later={"grown": _node(node, more=1)}))


def node_shrinks(cluster: ClusterSpec) -> ClusterSpec:
    """The last node has one unit less."""
    return _with_node(cluster, lambda node: _node(node, later={"shrunk": _node(node, more=-1)}))


def node_removed(cluster: ClusterSpec) -> ClusterSpec | None:
    """The first node is deleted: only where there are terms between pods, as the other survey has the others."""
    return replace(cluster, scope=Scope(node_deletions=1)) if any(p.terms for p in cluster.pods) else None


def pod_deleted(cluster: ClusterSpec) -> ClusterSpec | None:
    """A user deletes a pod: only where there are terms between pods, as the other survey has the others."""
    return replace(cluster, scope=Scope(pod_deletions=1)) if any(p.terms for p in cluster.pods) else None


def pod_shrinks(cluster: ClusterSpec) -> ClusterSpec | None:
    """The first pod of two units gives one back."""
    if _cpu(cluster.pods[0]) < 2:
        return None
    return _with_pod(cluster, lambda pod: {"smaller": {"_requests": {**pod.requests, "cpu": _cpu(pod) - 1}}})


def pod_grows(cluster: ClusterSpec) -> ClusterSpec:
    """The first pod asks for a unit more."""
    return _with_pod(cluster, lambda pod: {"larger": {"_requests": {**pod.requests, "cpu": _cpu(pod) + 1}}})


def pod_relabelled(cluster: ClusterSpec) -> ClusterSpec | None:
    """The first pod gets another label: only where labels matter."""
    if not cluster.pods[0].labels:
        return None
    return _with_pod(cluster, lambda _: {"batch": {"labels": {"app": "batch"}}})


def pod_tolerates(cluster: ClusterSpec) -> ClusterSpec | None:
    """The last node has a taint, and the last pod is given a toleration for it."""
    last = cluster.pods[-1]
    if last.node is not None:
        return None
    tainted = _with_node(cluster, lambda node: _node(node, taints=(NOT_READY,)))
    made = _with_pod(tainted, lambda _: {"tolerant": {"tolerations": (Toleration(NOT_READY.key),)}}, which=-1)
    return replace(made, scope=Scope(pod_updates=1))


def recreated(cluster: ClusterSpec) -> ClusterSpec:
    """The first pod is deleted, and created again under its name."""
    first = cluster.pods[0]
    again = copy(first)
    again.index, again.name, again.uid = len(cluster.pods), f"{first.name}-again", f"{first.name}-again"
    again.node, again.exists, again.recreates = None, False, first.name
    return replace(cluster, pods=(*cluster.pods, again), scope=Scope(pod_deletions=1, pod_creations=1))


def finishes(cluster: ClusterSpec) -> ClusterSpec:
    """The first pod ends by itself."""
    return _with_first(cluster, finishes=True)


def lingers(cluster: ClusterSpec) -> ClusterSpec:
    """The last pod has a finalizer, and is deleted."""
    last = copy(cluster.pods[-1])
    last.finalizers = True
    return replace(cluster, pods=(*cluster.pods[:-1], last), scope=Scope(pod_deletions=1))


def evicted(cluster: ClusterSpec) -> ClusterSpec:
    """A drain evicts a pod, and a budget that allows one disruption is kept."""
    pods = []
    for pod in cluster.pods:
        with_label = copy(pod)
        with_label.labels = pod.labels or {"app": "web"}
        pods.append(with_label)
    return replace(
        cluster, pods=tuple(pods), budgets=(DisruptionBudget(0, "budget", WEB, 1),), scope=Scope(evictions=1, disruption_controller=True)
    )  # fmt: skip


def scaled_down(cluster: ClusterSpec) -> ClusterSpec:
    """An autoscaler takes away a node that looked empty."""
    return replace(cluster, scope=Scope(scale_downs=1))


def replaced(cluster: ClusterSpec) -> ClusterSpec:
    """A ReplicaSet has the first pod, and makes another one when a user deletes it."""
    return replace(_owned(cluster), scope=Scope(pod_deletions=1))


def descheduled(cluster: ClusterSpec) -> ClusterSpec:
    """A ReplicaSet has the first pod, the last node is tainted, and the descheduler evicts it from there."""
    made = _with_node(
        cluster, lambda node: _node(node, later={"dedicated": _node(node, taints=(DEDICATED,))})
    )
    return replace(_owned(made), strategies=(StrategySpec(StrategyKind.NODE_TAINTS),))


def tainted_out(cluster: ClusterSpec) -> ClusterSpec:
    """The last node gets a taint with NoExecute, and the taint eviction controller has the pods leave."""
    made = _with_node(
        cluster, lambda node: _node(node, later={"cut off": _node(node, taints=(UNREACHABLE,))})
    )
    return replace(made, scope=Scope(node_updates=1, taint_eviction=True))


def of_another_scheduler(cluster: ClusterSpec) -> ClusterSpec:
    """There is a pod of one unit more, which another scheduler places."""
    other = Pod(len(cluster.pods), "other", 1, graceful=False, foreign=True)
    return replace(cluster, pods=(*cluster.pods, other), scope=Scope())


def scaled(cluster: ClusterSpec) -> ClusterSpec | None:
    """An autoscaler makes one more node like the last one, and takes it away again: only where somebody waits for room, and nothing names a node."""
    if cluster.pods[-1].node is not None or any(p.terms or p.spread for p in cluster.pods):
        return None
    more = copy(cluster.nodes[-1])
    more.index, more.name, more.exists = len(cluster.nodes), "more", False
    return replace(cluster, nodes=(*cluster.nodes, more), scope=Scope(autoscaler=True))


ACTORS: dict[str, tuple[Change, tuple[str, ...]]] = {
    "a second scheduler": (of_another_scheduler, ()),
    "taint eviction": (tainted_out, ("S-TAINT", "S-IDTAINT", "S-KEPT", "S-LEAVE")),
    "a controller": (replaced, ("L-LOOP",)),
    "a descheduler": (descheduled, ("L-LOOP",)),
    "an autoscaler that makes nodes": (scaled, ("L-LOOP",)),
}
"""Who else acts, and the properties that are asked of that alone."""

CHANGES: dict[str, Change] = {
    "a taint goes": taint_goes,
    "a taint comes": taint_comes,
    "a node is cordoned": cordoned,
    "the pod's node loses its zone": label_goes,
    "the other node loses its zone": label_goes_in_the_west,
    "a node grows": node_grows,
    "a node shrinks": node_shrinks,
    "a node goes": node_removed,
    "a pod is deleted": pod_deleted,
    "a pod shrinks": pod_shrinks,
    "a pod grows": pod_grows,
    "a pod is relabelled": pod_relabelled,
    "a pod tolerates": pod_tolerates,
    "a pod finishes": finishes,
    "a finalizer": lingers,
    "an autoscaler": scaled_down,
    "a drain": evicted,
    "a name is used again": recreated,
    **{name: change for name, (change, _) in ACTORS.items()},
}
"""In the order in which they are asked: what is quick first."""


def _node(node: Node, *, more: int = 0, bare: bool = False, **fields: object) -> Node:
    other = copy(node)
    other._allocatable = {**node._allocatable, "cpu": node._allocatable["cpu"] + more}  # type: ignore[operator]
    if bare:
        other.labels = {"kubernetes.io/hostname": node.name}
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _with_node(cluster: ClusterSpec, make: Callable[[Node], Node], which: int = -1) -> ClusterSpec:
    """The cluster with another node in the place of one of its own, on which the pods of the old one are."""
    old = cluster.nodes[which]
    new = make(old)
    nodes = tuple(new if node is old else node for node in cluster.nodes)
    pods = []
    for pod in cluster.pods:
        moved = copy(pod)
        moved.node = new if pod.node is old else pod.node
        pods.append(moved)
    return replace(cluster, nodes=nodes, pods=tuple(pods), scope=Scope(node_updates=1))


def _with_pod(
    cluster: ClusterSpec, make: Callable[[Pod], dict[str, dict[str, object]]], which: int = 0
) -> ClusterSpec:
    old = cluster.pods[which]
    new = copy(old)
    new.later = {}
    for number, (word, fields) in enumerate(make(old).items(), start=1):
        version = copy(old)
        version.number = number
        for name, value in fields.items():
            setattr(version, name, value)
        new.later[word] = version
    pods = tuple(new if pod is old else pod for pod in cluster.pods)
    return replace(cluster, pods=pods, scope=Scope(pod_updates=1))


def _owned(cluster: ClusterSpec) -> ClusterSpec:
    """The first pod belongs to a ReplicaSet, which has another one to make in its place."""
    first = cluster.pods[0]
    again = copy(first)
    again.index, again.name, again.uid = len(cluster.pods), f"{first.name}-again", f"{first.name}-again"
    again.node, again.exists = None, False
    owner = OwnerSpec("web", OwnerKind.REPLICA_SET, 1, (("", (first.name, again.name)),))
    return replace(cluster, pods=(*cluster.pods, again), owners=(owner,))


def _with_first(cluster: ClusterSpec, **fields: object) -> ClusterSpec:
    first = copy(cluster.pods[0])
    for name, value in fields.items():
        setattr(first, name, value)
    return replace(cluster, pods=(first, *cluster.pods[1:]))


def _cpu(pod: Pod) -> int:
    amount = pod.requests["cpu"]
    assert isinstance(amount, int)
    return amount
