"""Nodes and pods of the cluster as the reduction compares them: resolved, with a profile's plugins already switched off.

Among the pods are those that controllers still owe: replicas that are wanted and not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count, islice
from typing import Any

from ..model.environment.cluster.node_health import NOT_READY, UNREACHABLE
from ..model.environment.objects import (
    NATIVE,
    HostPort,
    Node,
    NodeAffinity,
    Pod,
    Selector,
    Taint,
    Term,
    Toleration,
)
from ..scenarios.reader.sections.pod_section import NAMESPACE_NAME
from .backed_resources import BackedResources
from .pod_claims import ClusterClaims, PodClaims
from .reading.cluster_objects import NodeObject, Priorities
from .reading.group_objects import GroupObject
from .reading.manifest_files import Remarks
from .reading.pod_objects import PodSpec, Spread, Workload, WrittenPod
from .reading.resource_amounts import Amounts
from .reading.scheduler_configuration import Configuration
from .request import UNSCHEDULABLE, repels

HEALTH = (NOT_READY, UNREACHABLE)
"""The taints that the node lifecycle controller gives a node that is not ready."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusterNode:
    """A node. `entity` is it as the model knows it, `source` file and line of its object. `deleted`: somebody has deleted it, and something keeps its object."""

    name: str
    allocatable: Amounts
    pods: int | None
    taints: tuple[Taint, ...]
    unschedulable: bool
    labels: Mapping[str, str]
    entity: Node
    source: tuple[str, int] | None = None
    ready: str = "True"
    features: frozenset[str] = frozenset()
    deleted: bool = False

    @property
    def ails(self) -> bool:
        """Whether its kubelet does not report that it is ready, or it has a taint which says so still."""
        return self.ready != "True" or any(t.key in HEALTH for t in self.taints)

    @property
    def to_come(self) -> tuple[Taint, ...]:
        """The taints that the node lifecycle controller may give it."""
        marks = (Taint(key, "", effect) for key in HEALTH for effect in ("NoSchedule", "NoExecute"))
        return tuple(m for m in marks if m not in self.taints) if self.ails else ()

    @property
    def repelling(self) -> tuple[Taint, ...]:
        """The taints that keep pods away; an unschedulable node keeps them away like its taint."""
        own = tuple(t for t in self.taints if repels(t))
        return (*own, UNSCHEDULABLE) if self.unschedulable else own

    @property
    def executing(self) -> tuple[Taint, ...]:
        """The taints that have pods leave, now or later."""
        return tuple(t for t in (*self.taints, *self.to_come) if t.effect == "NoExecute")

    def resized(self, room: Amounts, pods: int | None, labels: Mapping[str, str]) -> Node:
        """It as the model knows it, with so much room for so many pods, and with more labels."""
        return Node(
            0, self.name, labels={**self.labels, **labels}, pods=pods, taints=self.taints,
            unschedulable=self.unschedulable, features=self.features, **_sizes(room),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ClusterPod:
    """A pod. `owner` is its controller as Kind/namespace/name; `stands_for` is how many such pods a controller owes.

    `entity` is it as the model knows it. A pod that does not `exists`
    is one that its controller would create if another were gone. `ignored` are properties with reasons. `spread` are its hard
    topology spread constraints. `unstarted`: it is Pending on its node. `group` is as of `group_key`. `source` is file and line of its object, or of the workload's that owes it.
    """

    name: str
    namespace: str
    labels: Mapping[str, str]
    requests: Amounts
    priority: int
    preempts: bool
    owner: str
    scheduler: str
    node: str | None
    start: datetime | None
    grace: int
    terminating: bool
    tolerations: tuple[Toleration, ...]
    node_selector: Mapping[str, str]
    node_affinity: NodeAffinity | None
    entity: Pod = field(repr=False)
    exists: bool = True
    stands_for: int = 1
    ignored: Mapping[str, str] = field(default_factory=dict)
    spread: tuple[Spread, ...] = ()
    source: tuple[str, int] | None = None
    claims: PodClaims = field(default_factory=PodClaims)
    ready: bool = True
    unstarted: bool = False
    finalizers: tuple[str, ...] = ()
    group: str = ""

    @property
    def host_ports(self) -> Sequence[HostPort]:
        """The ports of its node that it occupies."""
        return self.entity.host_ports

    @property
    def features(self) -> frozenset[str]:
        """The features that its node has to declare."""
        return self.entity.features

    @property
    def terms(self) -> Sequence[Term]:
        """The required affinity terms, each with its namespaces filled in."""
        return self.entity.terms

    @property
    def is_static(self) -> bool:
        """Whether a kubelet runs the pod from a file of its own: the object is a mirror, and deleting it stops nothing."""
        return self.owner.startswith("Node/")

    def again(self) -> ClusterPod:
        """The pod that the controller creates when this one is gone."""
        return replace(
            self,
            name=f"{self.name}-again",
            node=None,
            start=None,
            exists=False,
            terminating=False,
            ready=True,
            unstarted=False,
            finalizers=(),
            stands_for=1,
            claims=self.claims.again(),
        )


def keys_of_selector(selector: Selector) -> Iterator[str]:
    """The label keys that a selector asks for."""
    yield from selector.match_labels
    yield from (e.key for e in selector.expressions)


def asked_of_nodes(pods: Iterable[ClusterPod]) -> set[str]:
    """The keys of node labels that these pods select by, or that make domains for them."""
    some = list(pods)
    by_term = {t.topology_key for pod in some for t in pod.terms}
    return selected_of_nodes(some) | by_term | {c.topology_key for pod in some for c in pod.spread}


def selected_of_nodes(pods: Iterable[ClusterPod]) -> set[str]:
    """The keys of node labels that these pods select by."""
    found: set[str] = set()
    for pod in pods:
        found.update(pod.node_selector)
        for term in pod.node_affinity.terms if pod.node_affinity else ():
            found.update(e.key for e in term.expressions)
    return found


def group_key(named: Sequence[str], namespace: str) -> str:
    """The group that a pod of this namespace names, as its object is known: by kind, namespace and names; empty for none."""
    return "/".join((named[0], namespace, *named[1:])) if named else ""


class Maker:
    """Makes members of objects."""

    def __init__(
        self,
        priorities: Priorities,
        namespaces: Mapping[str, Mapping[str, str]],
        configuration: Configuration,
        nodes: Sequence[NodeObject],
        claims: ClusterClaims,
        backed: BackedResources,
        remarks: Remarks,
        groups: Mapping[str, GroupObject],
    ) -> None:
        self.groups = groups
        self.priorities, self.namespaces, self.configuration = priorities, namespaces, configuration
        self.claims, self.backed, self.remarks = claims, backed, remarks
        # Without the filter TaintToleration a pod is kept away by none of the taints; spec.unschedulable has a filter of
        # its own, and so has the taint that goes with it.
        taints = dict.fromkeys(t for n in nodes for t in n.taints if t.key != UNSCHEDULABLE.key)
        self.all_tolerations = tuple(Toleration(t.key, "Exists", "", t.effect) for t in taints)
        profiles = list(configuration.profiles.values())
        self.off = frozenset.intersection(*(p.without for p in profiles))
        for profile in profiles:
            for plugin in sorted(profile.without - self.off):
                if plugin in ("NodeUnschedulable", "InterPodAffinity", "NodePorts", "NodeResourcesFit"):
                    remarks.doubt(
                        f"{plugin} is switched off for some profiles only: it is kept for all", profile.name
                    )

    def node(self, node: NodeObject) -> ClusterNode:
        """A node."""
        unschedulable = node.unschedulable and "NodeUnschedulable" not in self.off
        pods = None if "NodeResourcesFit" in self.off else node.pods  # it counts them, too
        entity = Node(
            0, node.name, labels=node.labels, pods=pods, taints=node.taints, unschedulable=unschedulable,
            features=node.features, **_sizes(node.allocatable),
        )  # fmt: skip
        return ClusterNode(
            node.name,
            node.allocatable,
            pods,
            node.taints,
            unschedulable,
            node.labels,
            entity,
            node.meta.source,
            node.ready,
            node.features,
            node.meta.deleted,
        )

    def pod(self, pod: WrittenPod) -> ClusterPod:
        """A pod that is there."""
        meta = pod.meta
        owner = f"{meta.owner.kind}/{meta.namespace}/{meta.owner.name}" if meta.owner else ""
        if pod.nominated and pod.spec.node is None:
            self.remarks.doubt(
                "the pod is nominated already: the model begins without nominations",
                meta.shown,
            )
        if meta.deleted and pod.spec.node is not None:
            self.remarks.add(
                "the pod is being deleted: it is nobody's victim, and keeps its room where it is left out",
                meta.shown,
            )
        if pod.target and not meta.deleted and not pod.finished:
            self.remarks.doubt(
                f"the pod has the condition DisruptionTarget ({pod.target}): that its setter deletes it is not in the scenario", meta.shown
            )  # fmt: skip
        made = self.of(meta.name, meta.namespace, meta.labels, pod.spec, owner)
        start = pod.start if pod.spec.node else None
        claims = self.claims.of(
            meta.name, pod.spec.mounts, pod.spec.claims, pod.made, group=self.groups.get(made.group)
        )
        claims = self.backed.added(claims, meta.name, pod.spec.requests, pod.special)
        return replace(
            made,
            start=start,
            terminating=meta.deleted,
            ignored=meta.ignored,
            source=meta.source,
            claims=claims,
            ready=pod.ready,
            unstarted=pod.unstarted,
            finalizers=meta.finalizers,
        )

    def of(
        self, name: str, namespace: str, labels: Mapping[str, str], spec: PodSpec, owner: str
    ) -> ClusterPod:
        """A pod with this specification."""
        priority, preempts = self.priorities.of(spec)
        profile = self.configuration.of(spec.scheduler)
        off = profile.without if profile else frozenset()
        free = "NodeAffinity" in off
        selector, affinity = ({}, None) if free else (spec.node_selector, spec.node_affinity)
        spread = tuple(c.of(labels) for c in spec.spread) if "PodTopologySpread" not in off else ()
        asked = (
            free and any(c.honors_affinity for c in spread) and (spec.node_selector or spec.node_affinity)
        ) or ("TaintToleration" in off and any(c.honors_taints for c in spread))
        if asked:
            self.remarks.doubt(
                "NodeAffinity or TaintToleration is switched off, but says which nodes a topology spread constraint counts: "
                "all are counted, and the verdict is not about that", f"Pod/{name}",
            )  # fmt: skip
        preempts = preempts and "DefaultPreemption" not in off
        requests = {} if "NodeResourcesFit" in self.off else self._counted(spec.requests, f"Pod/{name}")
        tolerations = spec.tolerations
        if "TaintToleration" in off:
            tolerations = (*tolerations, *self.all_tolerations)
        entity = Pod(
            0, name, priority=priority, labels=labels, namespace=namespace, preempts=preempts, tolerations=tolerations,
            namespace_labels={NAMESPACE_NAME: namespace, **self.namespaces.get(namespace, {})},
            terms=() if "InterPodAffinity" in self.off else tuple(t.of(labels) for t in spec.terms),
            node_selector=selector, node_affinity=affinity, host_ports=() if "NodePorts" in self.off else spec.host_ports,
            features=spec.features, **_sizes(requests),
        )  # fmt: skip
        return ClusterPod(
            name, namespace, labels, requests, priority, preempts, owner, spec.scheduler, spec.node, None, spec.grace, False,
            tolerations, selector, affinity, entity, spread=spread, group=group_key(spec.group, namespace),
        )  # fmt: skip

    def _counted(self, requests: Amounts, owner: str) -> Amounts:
        """What of a pod's requests the scheduler looks for on a node."""
        asked = self.backed.of_nodes(requests)
        profiles = self.configuration.profiles.values()
        ignored = {r for r, amount in asked.items() if amount and any(p.ignores(r) for p in profiles)}
        for resource in sorted(ignored):
            if not all(p.ignores(resource) for p in profiles):
                self.remarks.doubt(
                    f"{resource} is among the ignoredResources of some profiles only: it counts for all",
                    owner,
                )
                ignored.discard(resource)
        return {r: amount for r, amount in asked.items() if r not in ignored}


def _sizes(amounts: Amounts) -> dict[str, Any]:
    """The amounts as the model's constructors take them."""
    return {
        "cpu": amounts.get("cpu", 0),
        "memory": amounts.get("memory", 0),
        "ephemeral": amounts.get("ephemeral-storage", 0),
        "extended": {r: amount for r, amount in amounts.items() if r not in NATIVE},
    }


NAMED = 8
"""So many missing pods of one workload are told apart; no representative needs more of one kind."""


def owed_pods(
    workloads: Sequence[Workload], pods: Sequence[WrittenPod], make: Maker, taken: set[str]
) -> Iterator[ClusterPod]:
    """The missing pods of every workload; the last that is named stands for those beyond it.

    A Deployment with ReplicaSets among the objects leaves its pods to them. Of an ordered StatefulSet no more than the next pod
    can wait, and not while another one does. Names are those that the controller would
    give where it numbers pods, and otherwise the workload's with `-new-1` and so on.
    """
    parents = {_owner_of(w) for w in workloads if _owner_of(w)}
    for workload in workloads:
        shown = workload.meta.shown
        if shown in parents or workload.meta.deleted:
            continue
        if workload.meta.kind == "StatefulSet":
            missing, unlimited = _of_stateful_set(workload, pods, make.remarks)
        else:
            counted = _is_not_over if workload.waits_for_end else _is_of
            missing = workload.wanted - sum(counted(pod, workload) for pod in pods)
            unlimited = (f"{workload.meta.name}-new-{i}" for i in count(1))
        if missing <= 0:
            continue
        for what, keys in workload.spec.label_keys.items():
            if keys <= workload.labels.keys():
                continue
            make.remarks.doubt(
                f"{what} names a label that only the controller sets: it is left out "
                "for the pods that are owed, and the verdict is not about which revision these belong to",
                shown,
            )
        free = (
            name for name in unlimited if workload.meta.kind == "StatefulSet" or f"Pod/{name}" not in taken
        )
        group_of = _group_of(workload, pods, make)
        for i, name in enumerate(islice(free, min(missing, NAMED))):
            pod = make.of(name, workload.meta.namespace, workload.labels, workload.spec, shown)
            stands_for = missing - NAMED + 1 if i == NAMED - 1 else 1
            pod = replace(pod, group=group_of)
            group = make.groups.get(group_of)
            claims = make.claims.of(
                name, workload.spec.mounts, workload.spec.claims, {}, workload.claims, group
            )
            claims = make.backed.added(claims, name, workload.spec.requests)
            yield replace(
                pod,
                node=None,
                stands_for=stands_for,
                ignored=workload.ignored,
                source=workload.meta.source,
                claims=claims,
            )


def _group_of(workload: Workload, pods: Sequence[WrittenPod], make: Maker) -> str:
    """The group of the pods that a workload owes: as its template says, or as its controller gives its other pods (a Job's does so from 1.36 on)."""
    shown, namespace = workload.meta.shown, workload.meta.namespace
    if workload.spec.group:
        return group_key(workload.spec.group, namespace)
    found = {group_key(pod.spec.group, namespace) for pod in pods if _belongs(pod, workload)} - {""}
    found |= {group.key for group in make.groups.values() if shown in group.owners}
    if len(found) > 1:
        make.remarks.doubt(
            "the pods of a workload are in several groups: those that are owed are taken into one of them",
            f"the pods of {shown}",
        )
    return min(found, default="")


def _of_stateful_set(
    workload: Workload, pods: Sequence[WrittenPod], remarks: Remarks
) -> tuple[int, Iterator[str]]:
    """How many pods a StatefulSet makes now, and their names (processReplica in statefulset/stateful_set_control.go, 1.36).

    It makes no pod anew before the last of that name is gone; one that has finished it takes away itself. An ordered one makes the next pod only
    once all before it are there and ready.
    """
    shown, first = workload.meta.shown, workload.first
    there = {pod.meta.name: pod for pod in pods if _is_not_over(pod, workload)}
    numbered = (f"{workload.meta.name}-{i}" for i in range(first, first + workload.wanted))
    if not workload.ordered:
        within = _numbers(there, workload)
        return workload.wanted - within, (name for name in numbered if name not in there)
    for name in numbered:
        pod = there.get(name)
        if pod is None:
            if workload.wanted - _numbers(there, workload) > 1:
                remarks.add(
                    "OrderedReady: the StatefulSet creates its missing pods one after the other, so only the first of them waits",
                    shown,
                )
            return 1, iter([name])
        if pod.spec.node is None or pod.meta.deleted or not pod.ready:
            if workload.wanted > _numbers(there, workload):
                why = (
                    "waits"
                    if pod.spec.node is None
                    else "is being deleted"
                    if pod.meta.deleted
                    else "is not ready"
                )
                remarks.add(f"OrderedReady: while a pod of the StatefulSet {why}, it creates no other", shown)
            return 0, iter(())
    return 0, iter(())


def _numbers(there: Mapping[str, WrittenPod], workload: Workload) -> int:
    """How many of the pods that a StatefulSet wants are there."""
    numbers = (name.removeprefix(f"{workload.meta.name}-") for name in there)
    wanted = range(workload.first, workload.first + workload.wanted)
    return sum(number.isdecimal() and int(number) in wanted for number in numbers)


def _owner_of(workload: Workload) -> str:
    owner = workload.meta.owner
    return f"{owner.kind}/{workload.meta.namespace}/{owner.name}" if owner else ""


def _is_of(pod: WrittenPod, workload: Workload) -> bool:
    """Whether a pod counts as one of the workload's."""
    return not pod.meta.deleted and _is_not_over(pod, workload)


def _is_not_over(pod: WrittenPod, workload: Workload) -> bool:
    """Whether a pod is one of the workload's, though it may be going."""
    return not pod.finished and _belongs(pod, workload)


def _belongs(pod: WrittenPod, workload: Workload) -> bool:
    meta, owner = pod.meta, pod.meta.owner
    if owner is None or meta.namespace != workload.meta.namespace:
        return False
    if owner.kind == workload.meta.kind:
        return f"{meta.namespace}/{owner.name}" == workload.meta.name
    # Its ReplicaSets are not among the objects.
    by_set = workload.meta.kind == "Deployment" and owner.kind == "ReplicaSet"
    return by_set and workload.selector is not None and workload.selector.matches(meta.labels)
