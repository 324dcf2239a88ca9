"""The whole system: a scheduler, and everything that runs beside it."""

from collections.abc import Sequence
from dataclasses import replace

from . import scheduler as kube
from .environment.actors import FinalizerOwners, PodGC, StatefulSets, Users
from .environment.api import APIServer
from .environment.cluster.derived import Roster
from .environment.cluster.footprint import UsedPort, used_ports_of
from .environment.cluster.node_versions import NodeVersion, versions_of
from .environment.cluster.pod_versions import PodVersion, pod_versions_of
from .environment.cluster.scope import Facts
from .environment.controllers.autoscaler import Autoscaler
from .environment.controllers.budgets import Budgets
from .environment.controllers.descheduler import Descheduler
from .environment.controllers.drain import Drain
from .environment.controllers.gate_keepers import GateKeepers
from .environment.controllers.node_lifecycle import NodeLifecycle
from .environment.controllers.replacement import Controllers
from .environment.controllers.taint_eviction import TaintEviction
from .environment.extender import Extender
from .environment.faults import Faults
from .environment.gates import GateKeeper, most_gates
from .environment.kubelet import Kubelet
from .environment.names import Recreation
from .environment.objects import (
    OTHERS,
    OWN,
    Claim,
    ClusterSpec,
    Device,
    DisruptionBudget,
    ExtensionPoint,
    Node,
    Pod,
    PodGroup,
    Volume,
    VolumeClaim,
)
from .environment.pod_groups import PodGroups
from .environment.storage.claim_lives import ClaimDeletions, ClaimMaker
from .environment.storage.claims import ClaimController, ResourceClaims
from .environment.storage.csi_nodes import CsiNodes
from .environment.storage.device_slices import DeviceSlices
from .environment.storage.device_taints import DeviceTaints
from .environment.storage.devices import DeviceDriver
from .environment.storage.pv_controller import Provisioner, PVController
from .environment.storage.volumes import Storage, StorageUsers
from .environment.watch import NodeWatch, PodWatch
from .language import Component, Entity, Model, Universe, build
from .language.declarations.component import part_classes
from .scheduler.cache.order import Zone, zones_of
from .scheduler.framework.events import (
    NodeUpdate,
    Plugin,
    PodUpdate,
    default_plugins,
    node_updates,
    pod_updates,
)
from .scheduler.other_scheduler import OtherScheduler


class Cluster(Model):
    """A cluster with one kube-scheduler."""

    api: APIServer
    pod_watch: PodWatch
    node_watch: NodeWatch
    pod_groups: PodGroups
    pod_group_states: kube.PodGroupStates
    scheduler: kube.Scheduler
    binding: kube.Binding
    waiting: kube.WaitingPods
    failure: kube.FailureHandler
    api_dispatcher: kube.APIDispatcher
    queue: kube.PriorityQueue
    clock: kube.Clock
    nominator: kube.Nominator
    cache: kube.Cache
    node_infos: kube.NodeInfos
    node_tree: kube.NodeTree
    snapshot: kube.Snapshot
    filters: kube.Filters
    hints: kube.Hints
    scores: kube.Scores
    spread_scores: kube.SpreadScores
    resource_scores: kube.ResourceScores
    sampling: kube.Sampling
    preemption: kube.Preemption
    async_preemption: kube.AsyncPreemption
    handlers: kube.EventHandlers
    updates: kube.NodeUpdates
    pod_updates: kube.PodUpdates
    process: kube.Process
    other_scheduler: OtherScheduler
    faults: Faults
    extender: Extender
    kubelet: Kubelet
    pod_gc: PodGC
    finalizer_owners: FinalizerOwners
    budgets: Budgets
    stateful_sets: StatefulSets
    gate_keepers: GateKeepers
    controllers: Controllers
    descheduler: Descheduler
    autoscaler: Autoscaler
    drain: Drain
    taint_eviction: TaintEviction
    node_lifecycle: NodeLifecycle
    users: Users
    resource_claims: ResourceClaims
    claim_controller: ClaimController
    claim_maker: ClaimMaker
    claim_deletions: ClaimDeletions
    device_driver: DeviceDriver
    device_slices: DeviceSlices
    device_taints: DeviceTaints
    claim_cache: kube.AssumeCache
    claim_tracker: kube.ClaimTracker
    slice_informer: kube.SliceInformer
    dynamic_resources: kube.DynamicResources
    storage: Storage
    storage_users: StorageUsers
    pv_controller: PVController
    provisioner: Provisioner
    volume_cache: kube.VolumeCache
    csi_nodes: CsiNodes
    csi_informers: kube.CsiInformers
    volume_binding: kube.VolumeBinding
    gang_scheduling: kube.GangScheduling
    pod_group_cycle: kube.PodGroupCycle

    view_order = (
        "API server", "lister", "queue", "nominator", "cache", "snapshot", "scheduling cycle", "other goroutines",
    )  # fmt: skip


def features_change(versions: Sequence[NodeVersion]) -> bool:
    """Whether some node declares other features in one version than in another."""
    return any(version.content.features != version.node.features for version in versions)


def _facts_of(
    spec: ClusterSpec, cluster: Roster, pod_versions: Sequence[PodVersion], changes: Sequence[type[Component]]
) -> Facts:
    """What of the cluster decides how wide some of its state is."""
    finishing = (
        spec.scope.kubelet_admission or spec.scope.bound_finalizers or any(pod.finishes for pod in spec.pods)
    )
    generated = any(pod.generated for pod in spec.pods)
    again = any(r.before.generated and r.after.generated for r in cluster[Recreation])
    special = any(claim.special for claim in spec.claims)
    passing = (
        generated or special or bool(spec.scope.claim_deletions) or any(not c.exists for c in spec.claims)
    )
    ending = any(issubclass(change, kube.EventHandlers) and change.end_process for change in changes)
    lists = bool(spec.scope.restarts or spec.scope.relists or ending)
    return Facts(
        gates=int(any(pod.gated for pod in spec.pods)),
        last_gate=most_gates(spec.pods, cluster[GateKeeper]),
        finishing=int(finishing),
        last_version=max((version.number for version in pod_versions), default=spec.scope.facts.last_version),
        last_name=OTHERS if again or special else OWN if generated else 0,
        passing_claims=int(passing),
        conditions=int(any(device.conditions for device in spec.devices)),
        listed_pods=lists * len(spec.pods),
        listed_nodes=lists * len(spec.nodes),
    )


def build_cluster(
    spec: ClusterSpec, changes: Sequence[type[Component]] = (), plugins: Sequence[Plugin] | None = None
) -> Cluster:
    """The model of `spec` with these changes applied (see `build`); `plugins` are by default the model's filters.

    SchedulingGates is among them where a pod has gates, NodePorts where one has host ports, and those that reject an assumed pod where
    one may have to wait for permission: elsewhere they reject nobody.
    """
    gates = any(pod.gated for pod in spec.pods)
    permit = any(ExtensionPoint.PERMIT in pod.extension_points for pod in spec.pods)
    ports = any(pod.host_ports for pod in spec.pods)
    volumes, groups = bool(spec.volume_claims), bool(spec.groups)
    if plugins is None:
        extender = any(pod.extender_selector for pod in spec.pods)
        extender |= any(of.filters for of in spec.extenders)
        features = any(pod.features for pod in spec.pods)
        plugins = default_plugins(
            gates, permit, ports, bool(spec.claims), volumes, groups, extender, features, bool(spec.drivers)
        )
    versions, pod_versions = versions_of(spec.nodes), pod_versions_of(spec.pods)
    described = [*spec.nodes, *(version.content for version in versions)]
    given: dict[type[Entity], Sequence[Entity]] = {
        Pod: spec.pods, Node: spec.nodes, DisruptionBudget: spec.budgets, Device: spec.devices, Claim: spec.claims,
        PodGroup: spec.groups, Volume: spec.volumes, VolumeClaim: spec.volume_claims,
        Plugin: plugins, Zone: zones_of(described), UsedPort: used_ports_of(pod.host_ports for pod in spec.pods),
        PodVersion: pod_versions, PodUpdate: pod_updates() if pod_versions else (),
        NodeVersion: versions, NodeUpdate: node_updates(features_change(versions)) if versions else (),
    }  # fmt: skip
    cluster = Roster(spec, given)
    scope = replace(spec.scope, facts=_facts_of(spec, cluster, pod_versions, changes))
    derived = {kind: cluster[kind] for part in part_classes(Cluster).values() for kind in part.kinds}
    universe = Universe({**given, **derived}, scope)
    return build(Cluster, universe, changes)
