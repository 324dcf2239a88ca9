"""Nodes and pods of the cluster as the reduction compares them: resolved, with a profile's plugins already switched off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..model.environment.objects import NATIVE, Node, NodeAffinity, Pod, Taint, Term, Toleration
from ..scenarios.reader.pods import NAMESPACE_NAME
from .asked import UNSCHEDULABLE, repels
from .configuration import Configuration
from .nodes import NodeObject
from .pods import PodSpec, WrittenPod
from .policies import Priorities
from .quantities import Amounts
from .remarks import Remarks
from .spread import Spread


@dataclass(frozen=True, slots=True, eq=False)
class ClusterNode:
    """A node. `entity` is it as the model knows it."""

    name: str
    allocatable: Amounts
    pods: int | None
    taints: tuple[Taint, ...]
    unschedulable: bool
    labels: Mapping[str, str]
    entity: Node

    @property
    def repelling(self) -> tuple[Taint, ...]:
        """The taints that keep pods away; an unschedulable node keeps them away like its taint."""
        own = tuple(t for t in self.taints if repels(t))
        return (*own, UNSCHEDULABLE) if self.unschedulable else own

    def resized(self, room: Amounts, pods: int | None, labels: Mapping[str, str]) -> Node:
        """It as the model knows it, with so much room for so many pods, and with more labels."""
        return Node(
            0, self.name, labels={**self.labels, **labels}, pods=pods, taints=self.taints,
            unschedulable=self.unschedulable, **_sizes(room),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ClusterPod:
    """A pod. `owner` is its controller as Kind/namespace/name; `stands_for` is how many such pods a controller owes.

    `entity` is it as the model knows it. A pod that does not `exists`
    is one that its controller would create if another were gone. `ignored` are properties with reasons. `spread` are its hard
    topology spread constraints.
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

    @property
    def terms(self) -> Sequence[Term]:
        """The required affinity terms, each with its namespaces filled in."""
        return self.entity.terms

    def again(self) -> ClusterPod:
        """The pod that the controller creates when this one is gone."""
        return replace(
            self,
            name=f"{self.name}-again",
            node=None,
            start=None,
            exists=False,
            terminating=False,
            stands_for=1,
        )


class Maker:
    """Makes members of objects."""

    def __init__(
        self,
        priorities: Priorities,
        namespaces: Mapping[str, Mapping[str, str]],
        configuration: Configuration,
        nodes: Sequence[NodeObject],
        remarks: Remarks,
    ) -> None:
        self.priorities, self.namespaces, self.configuration = priorities, namespaces, configuration
        self.remarks = remarks
        # Without the filter TaintToleration a pod is kept away by none of the taints; spec.unschedulable has a filter of
        # its own, and so has the taint that goes with it.
        taints = dict.fromkeys(t for n in nodes for t in n.taints if t.key != UNSCHEDULABLE.key)
        self.all_tolerations = tuple(Toleration(t.key, "Exists", "", t.effect) for t in taints)
        profiles = list(configuration.profiles.values())
        self.off = frozenset.intersection(*(p.without for p in profiles))
        for profile in profiles:
            for plugin in sorted(profile.without - self.off):
                if plugin in ("NodeUnschedulable", "InterPodAffinity", "NodeResourcesFit"):
                    remarks.add(
                        f"{plugin} is switched off for some profiles only: it is kept for all", profile.name
                    )

    def node(self, node: NodeObject) -> ClusterNode:
        """A node."""
        unschedulable = node.unschedulable and "NodeUnschedulable" not in self.off
        entity = Node(
            0, node.name, labels=node.labels, pods=node.pods, taints=node.taints, unschedulable=unschedulable,
            **_sizes(node.allocatable),
        )  # fmt: skip
        return ClusterNode(
            node.name, node.allocatable, node.pods, node.taints, unschedulable, node.labels, entity
        )

    def pod(self, pod: WrittenPod) -> ClusterPod:
        """A pod that is there."""
        meta = pod.meta
        owner = f"{meta.owner.kind}/{meta.namespace}/{meta.owner.name}" if meta.owner else ""
        if pod.nominated and pod.spec.node is None:
            self.remarks.add("the pod is nominated already: the model begins without nominations", meta.shown)
        if meta.deleted and pod.spec.node is not None:
            self.remarks.add("the pod is being deleted: it keeps its room and is nobody's victim", meta.shown)
        made = self.of(meta.name, meta.namespace, meta.labels, pod.spec, owner)
        start = pod.start if pod.spec.node else None
        return replace(made, start=start, terminating=meta.deleted, ignored=meta.ignored)

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
            self.remarks.add(
                "NodeAffinity or TaintToleration is switched off, but says which nodes a topology spread constraint counts: "
                "all are counted, and the verdict is not about that", f"Pod/{name}",
            )  # fmt: skip
        preempts = preempts and "DefaultPreemption" not in off
        requests = {} if "NodeResourcesFit" in self.off else spec.requests
        tolerations = spec.tolerations
        if "TaintToleration" in off:
            tolerations = (*tolerations, *self.all_tolerations)
        entity = Pod(
            0, name, priority=priority, labels=labels, namespace=namespace, preempts=preempts, tolerations=tolerations,
            namespace_labels={NAMESPACE_NAME: namespace, **self.namespaces.get(namespace, {})},
            terms=() if "InterPodAffinity" in self.off else spec.terms,
            node_selector=selector, node_affinity=affinity, **_sizes(requests),
        )  # fmt: skip
        return ClusterPod(
            name, namespace, labels, requests, priority, preempts, owner, spec.scheduler, spec.node, None, spec.grace, False,
            tolerations, selector, affinity, entity, spread=spread,
        )  # fmt: skip


def _sizes(amounts: Amounts) -> dict[str, Any]:
    """The amounts as the model's constructors take them."""
    return {
        "cpu": amounts.get("cpu", 0),
        "memory": amounts.get("memory", 0),
        "ephemeral": amounts.get("ephemeral-storage", 0),
        "extended": {r: amount for r, amount in amounts.items() if r not in NATIVE},
    }
