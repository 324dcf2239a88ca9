"""Cluster events, and which of them each plugin asked for (framework/events.go; ClusterEvent in k8s.io/kube-scheduler/framework, 1.34)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntFlag

from ....base.structs import Data
from ...environment.cluster.node_versions import NodeChange
from ...environment.cluster.pod_versions import PodChange
from ...environment.objects import Node, Pod, PodGroup
from ...environment.storage.claims import ClaimChange
from ...environment.storage.csi_nodes import CsiLimit
from ...environment.storage.volumes import VolumeClaimChange
from ...language import Entity


class Action(IntFlag):
    """What happened to a resource; actions combine."""

    NONE = 0
    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    # An update of a pod that is none of those that the plugins in tree ask for; so it is in none of the following.
    UPDATE_POD_OTHER = 64
    UPDATE = UPDATE_NODE_ALLOCATABLE | UPDATE_NODE_LABEL | UPDATE_NODE_TAINT | UPDATE_NODE_CONDITION
    ALL = ADD | DELETE | UPDATE
    # Kinds of updates of pods, which a plugin registers one by one.
    UPDATE_POD_LABEL = 128
    UPDATE_POD_SCALE_DOWN = 256
    UPDATE_POD_TOLERATION = 512
    UPDATE_CLAIM = 1024
    UPDATE_NODE_FEATURE = 2048


About = Pod | Node | NodeChange | PodChange | ClaimChange | VolumeClaimChange | CsiLimit | PodGroup | None
"""What an event is about; None for nothing in particular."""

WILDCARD = "*"


class ClusterEvent(Data):
    """Something that may make parked pods schedulable. `label` only says what it is called."""

    label: str
    resource: str
    action: Action

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for every event."""
        return self.resource == WILDCARD and self.action == Action.ALL

    def is_among(self, registered: ClusterEvent) -> bool:
        """Whether it is one of the events that a plugin registered with `registered`."""
        same = self.resource == registered.resource and bool(self.action & registered.action)
        return registered.is_wildcard or same


class NodeUpdate(Entity):
    """A kind of change in a node's object of which the queue is told."""

    def __init__(self, index: int, event: ClusterEvent, happens: Callable[[NodeChange], bool]) -> None:
        super().__init__(index, event.label)
        self.event, self.happens = event, happens


def node_updates(features: bool = False) -> tuple[NodeUpdate, ...]:
    """The kinds in the order in which they are told (NodeSchedulingPropertiesChange); a node that becomes unschedulable is none of them.

    Of annotations nothing is known, so that they do not change; that declared features do is among them with `features`. Of conditions the statuses count, not when a kubelet last
    reported them. No plugin in tree asks for the last kind: only who asks for everything hears of it.
    """
    kinds: list[tuple[str, Action, Callable[[NodeChange], bool]]] = [
        (
            "NodeSpecUnschedulableChange",
            Action.UPDATE_NODE_TAINT,
            lambda change: change.old.unschedulable and not change.new.unschedulable,
        ),
        (
            "NodeAllocatableChange",
            Action.UPDATE_NODE_ALLOCATABLE,
            lambda change: change.old.room != change.new.room,
        ),
        ("NodeLabelChange", Action.UPDATE_NODE_LABEL, lambda change: change.old.labels != change.new.labels),
        ("NodeTaintChange", Action.UPDATE_NODE_TAINT, lambda change: change.old.taints != change.new.taints),
        (
            "NodeConditionChange",
            Action.UPDATE_NODE_CONDITION,
            lambda change: change.old.conditions != change.new.conditions,
        ),
    ]
    if features:
        kinds.append(
            (
                "NodeDeclaredFeatureChange",
                Action.UPDATE_NODE_FEATURE,
                lambda change: change.old.features != change.new.features,
            )
        )
    return tuple(
        NodeUpdate(i, ClusterEvent(label, "Node", action), happens)
        for i, (label, action, happens) in enumerate(kinds)
    )


class PodUpdate(Entity):
    """A kind of change in a pod's object of which the queue is told."""

    def __init__(self, index: int, event: ClusterEvent, happens: Callable[[PodChange], bool]) -> None:
        super().__init__(index, event.label)
        self.event, self.happens = event, happens


def pod_updates() -> tuple[PodUpdate, ...]:
    """The kinds in the order in which they are told (PodSchedulingPropertiesChange, 1.32 and later).

    That the last scheduling gate goes is one of them (see `PriorityQueue.sub_queue_after_update`); that a pod asks for more is none.
    """
    kinds: list[tuple[str, Action, Callable[[PodChange], bool]]] = [
        ("PodLabelChange", Action.UPDATE_POD_LABEL, lambda change: change.old.labels != change.new.labels),
        ("PodScaleDown", Action.UPDATE_POD_SCALE_DOWN, is_scaled_down),
        (
            "PodTolerationChange",
            Action.UPDATE_POD_TOLERATION,
            lambda change: change.old.tolerations != change.new.tolerations,
        ),
    ]
    return tuple(
        PodUpdate(i, ClusterEvent(label, "Pod", action), happens)
        for i, (label, action, happens) in enumerate(kinds)
    )


def is_scaled_down(change: PodChange) -> bool:
    """extractPodScaleDown: the pod asks for less of some resource."""
    return any(asked > change.new.requests.get(r, 0) for r, asked in change.old.requests.items())  # type: ignore[operator]


ASSIGNED_POD_ADD = ClusterEvent("AssignedPodAdd", "Pod", Action.ADD)
ASSIGNED_POD_UPDATE = ClusterEvent("AssignedPodUpdate", "Pod", Action.UPDATE)
ASSIGNED_POD_DELETE = ClusterEvent("AssignedPodDelete", "Pod", Action.DELETE)
NOMINATED_POD_GONE = ClusterEvent("NominatedPodGone", "Pod", Action.DELETE)
"""A pod without a node, but with a nomination, was deleted or lost it."""
WAITING_POD_GONE = ClusterEvent("WaitingPodGone", "Pod", Action.DELETE)
"""A pod was deleted that had a node in the scheduler's memory only."""
POD_UPDATE = ClusterEvent("PodUpdate", "Pod", Action.UPDATE_POD_OTHER)
"""A pod was updated, but neither its labels nor its tolerations nor what it requests: only who did not say what it waits for asked for this."""
NODE_ADD = ClusterEvent("NodeAdd", "Node", Action.ADD)
NODE_DELETE = ClusterEvent("NodeDelete", "Node", Action.DELETE)
CLAIM_UPDATE = ClusterEvent("ResourceClaimUpdate", "ResourceClaim", Action.UPDATE_CLAIM)
"""A ResourceClaim changed in the assume cache."""
SLICE_CHANGE = ClusterEvent("ResourceSliceAddOrUpdate", "ResourceSlice", Action.ADD | Action.UPDATE)
UNSCHEDULED_POD_ADD = ClusterEvent("UnscheduledPodAdd", "Pod", Action.ADD)
"""A pod without a node was added: told where groups of pods are scheduled."""
POD_GROUP_ADD = ClusterEvent("PodGroupAdd", "PodGroup", Action.ADD)
ANY_EVENT = ClusterEvent("WildCardEvent", WILDCARD, Action.ALL)
UNSCHEDULABLE_TIMEOUT = ClusterEvent("UnschedulableTimeout", WILDCARD, Action.ALL)

VOLUME_CHANGE = ClusterEvent("PvAddOrUpdate", "PersistentVolume", Action.ADD | Action.UPDATE)
VOLUME_CLAIM_ADD = ClusterEvent("PvcAdd", "PersistentVolumeClaim", Action.ADD)
VOLUME_CLAIM_UPDATE = ClusterEvent("PvcUpdate", "PersistentVolumeClaim", Action.UPDATE)
CSI_NODE_UPDATE = ClusterEvent("CSINodeUpdate", "storage.k8s.io/CSINode", Action.UPDATE)
ATTACHMENT_DELETE = ClusterEvent("VolumeAttachmentDelete", "storage.k8s.io/VolumeAttachment", Action.DELETE)

_OTHER_KINDS = {
    "Pv": "PersistentVolume",
    "Pvc": "PersistentVolumeClaim",
    "StorageClass": "storage.k8s.io/StorageClass",
    "CSINode": "storage.k8s.io/CSINode",
    "CSIDriver": "storage.k8s.io/CSIDriver",
    "CSIStorageCapacity": "storage.k8s.io/CSIStorageCapacity",
    "Service": "Service",
}

EVENTS = {
    event.label: event
    for event in [
        ASSIGNED_POD_ADD,
        ASSIGNED_POD_UPDATE,
        ASSIGNED_POD_DELETE,
        NODE_ADD,
        *[update.event for update in node_updates()],
        *[ClusterEvent(f"{k}Add", kind, Action.ADD) for k, kind in _OTHER_KINDS.items()],
        *[ClusterEvent(f"{k}Update", kind, Action.UPDATE) for k, kind in _OTHER_KINDS.items()],
        ClusterEvent("ServiceDelete", "Service", Action.DELETE),
        ANY_EVENT,
        UNSCHEDULABLE_TIMEOUT,
    ]
}
"""The events that the scheduler knows, by label."""


class Plugin(Entity):
    """A plugin that can reject pods, and the events after which a pod that it rejected may fit."""

    def __init__(self, index: int, name: str, events: Sequence[ClusterEvent] = ()) -> None:
        super().__init__(index, name)
        self.events = tuple(events)

    def asked_for(self, event: ClusterEvent) -> bool:
        """Whether the plugin registered this event."""
        return any(event.is_among(registered) for registered in self.events)


SCHEDULING_GATES = "SchedulingGates"
"""The plugin whose PreEnqueue holds back a pod with scheduling gates."""

PERMIT_PLUGIN = "PermitPlugin"
EXTENDER = "Extender"
"""The name under which rejections by extenders are recorded (framework.ExtenderName, 1.29)."""
"""The Permit plugin of the model, one out of tree. It does not say which events it asks for, so that every event counts, and has no hint."""

NODE_PORTS = "NodePorts"
"""The plugin that keeps a pod from a node where a host port of its is taken."""

DYNAMIC_RESOURCES = "DynamicResources"
"""The plugin that finds devices for the claims of a pod."""

NODE_DECLARED_FEATURES = "NodeDeclaredFeatures"
"""The plugin that keeps a pod from nodes which do not declare a feature that it needs."""

VOLUME_RESTRICTIONS = "VolumeRestrictions"
"""The plugin that keeps a pod out as long as another one uses a claim that only one pod may use."""

NODE_VOLUME_LIMITS = "NodeVolumeLimits"
"""The plugin that keeps a pod from nodes which take no more volumes of a CSI driver."""

VOLUME_BINDING = "VolumeBinding"
"""The plugin that finds volumes for the claims of a pod."""

GANG_SCHEDULING = "GangScheduling"
"""The plugin that holds back the pods of a gang until there are enough of them, and has them wait for each other."""

DEFAULT_PREEMPTION = "DefaultPreemption"
"""The plugin that rejects a waiting pod which is a victim."""


def default_plugins(
    gates: bool = False,
    permit: bool = False,
    ports: bool = False,
    claims: bool = False,
    volumes: bool = False,
    gangs: bool = False,
    extender: bool = False,
    features: bool = False,
    limits: bool = False,
) -> tuple[Plugin, ...]:
    """The plugins of the model's filters, in the order in which they run, with what they register upstream.

    With `volumes` VolumeRestrictions and VolumeBinding, with `limits` NodeVolumeLimits between them, with `claims` DynamicResources after the filters. With `ports` NodePorts among them; what else it asks for where hints are off is in `model/history`.
    With `gangs` GangScheduling, and DefaultPreemption, which can stop a pod that waits for its gang.
    With `gates` SchedulingGates after them, which asked for updates of pods. It has not since 1.29, but since then no pod that
    left activeQ keeps the record of having been gated either, and to one that is gated only its own update matters.
    With `permit` those that can reject a pod that has a node already. Neither said which events it asked for up to 1.31, which
    counts as all (defaultEnqueueExtension); what DefaultPreemption says since then is in `Hints`. With `extender` the name that stands for extenders, which
    count like that in all releases. With `features` NodeDeclaredFeatures after the other filters; that it also hears of updates of the pod makes no difference, as what a pod needs stays.
    """
    taints = (
        ClusterEvent("NodeAddOrTaint", "Node", Action.ADD | Action.UPDATE_NODE_TAINT),
        ClusterEvent("PodToleration", "Pod", Action.UPDATE_POD_TOLERATION),
    )
    fit = (
        ClusterEvent("PodDeleteOrScaleDown", "Pod", Action.DELETE | Action.UPDATE_POD_SCALE_DOWN),
        ClusterEvent("NodeAddOrAllocatable", "Node", Action.ADD | Action.UPDATE_NODE_ALLOCATABLE),
    )
    selection = (ClusterEvent("NodeAddOrLabel", "Node", Action.ADD | Action.UPDATE_NODE_LABEL),)
    of_pods = Action.ALL | Action.UPDATE_POD_LABEL
    affinity = (ClusterEvent("PodAll", "Pod", of_pods), *selection)
    spread = (
        ClusterEvent("PodAll", "Pod", of_pods | Action.UPDATE_POD_TOLERATION),
        ClusterEvent(
            "NodeAddDeleteLabelOrTaint",
            "Node",
            Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
        ),
    )
    free_ports = (
        ClusterEvent("PodDelete", "Pod", Action.DELETE),
        ClusterEvent("NodeAdd", "Node", Action.ADD),
    )
    registered: dict[str, tuple[ClusterEvent, ...]] = {
        "NodeUnschedulable": taints,
        "TaintToleration": taints,
        "NodeAffinity": selection,
        **({NODE_PORTS: free_ports} if ports else {}),
        "NodeResourcesFit": fit,
        "PodTopologySpread": spread,
        "InterPodAffinity": affinity,
    }
    if features:
        registered[NODE_DECLARED_FEATURES] = (
            ClusterEvent("NodeAddOrDeclaredFeature", "Node", Action.ADD | Action.UPDATE_NODE_FEATURE),
        )
    if volumes:
        registered[VOLUME_RESTRICTIONS] = (
            ClusterEvent("PodDelete", "Pod", Action.DELETE),
            ClusterEvent("NodeAdd", "Node", Action.ADD),
            VOLUME_CLAIM_ADD,
        )
        if limits:
            registered[NODE_VOLUME_LIMITS] = (
                CSI_NODE_UPDATE,
                ClusterEvent("PodDelete", "Pod", Action.DELETE),
                VOLUME_CLAIM_ADD,
                ATTACHMENT_DELETE,
            )
        registered[VOLUME_BINDING] = (
            ClusterEvent("PvcAddOrUpdate", "PersistentVolumeClaim", Action.ADD | Action.UPDATE),
            VOLUME_CHANGE,
            ClusterEvent("NodeAddOrLabel", "Node", Action.ADD | Action.UPDATE_NODE_LABEL),
        )
    if claims:
        registered[DYNAMIC_RESOURCES] = (
            ClusterEvent(
                "NodeAddLabelOrAllocatable",
                "Node",
                Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE,
            ),
            CLAIM_UPDATE,
            SLICE_CHANGE,
        )
    if gates:
        registered[SCHEDULING_GATES] = (ClusterEvent("PodUpdate", "Pod", Action.UPDATE),)
    if permit:
        registered |= {PERMIT_PLUGIN: (ANY_EVENT,), DEFAULT_PREEMPTION: (ANY_EVENT,)}
    if gangs:
        registered[GANG_SCHEDULING] = (ClusterEvent("PodAdd", "Pod", Action.ADD), POD_GROUP_ADD)
        registered.setdefault(DEFAULT_PREEMPTION, (ANY_EVENT,))
    if extender:
        registered[EXTENDER] = (ANY_EVENT,)
    return tuple(Plugin(i, name, events) for i, (name, events) in enumerate(registered.items()))
