"""The names that patches and properties of your own import: `from podrace.patching import Pod, Scheduler, before`.

These names are stable: a name keeps its meaning even if its module moves. They are the parts that `podrace new-patch --list` prints,
their enums (phases, sub-queues, events), the objects of a cluster, the modelling language, and `Property`.

    class KeepNomination(before("77990")):    # the nominator as it was before 77990

The language's own `before`, the state that a step began in, is imported from `podrace.model.language`.
"""

from functools import cache
from importlib import import_module
from typing import Any

from ..base.problems import UsageProblem
from ..base.text import known_names, nearest_fixes, one_line

HOMES = {
    "properties": "Property",
    "model.language": (
        "ANYTHING Case Channel Component Entity Expr Fact Fairness Knowledge NOTHING Parameter Reader Record SOMETHING Sentence UNTOLD Value Words all_of any_of as_expr boolean changes clamp "
        "constraint count enum equal fifo finds implies integer largest negate one_of otherwise per record ref require select smallest spoken step tells total when words"
    ),
    "model.scheduler": (
        "APIDispatcher Action AssumeCache AsyncPhase AsyncPreemption Binding BindingPhase Cache ClaimTracker Clock ClusterEvent Code CsiInformers DynamicResources EventHandlers FailureHandler FailurePhase "
        "Filters GangScheduling Hints IncrementalSnapshot NodeInfos NodeStatus NodeTree NodeUpdate NodeUpdates Nominator Phase Placement Plugin PodGroupCycle PodGroupStates PodUpdate PodUpdates "
        "Preemption PriorityQueue Process QueueWithoutHints ResourceScores Sampling Scheduler Scores Snapshot SpreadScores SubQueue VolumeBinding VolumeCache WaitingPods Waking"
    ),
    "model.scheduler.api_dispatcher": "Call CallType Condition Patch Stage",
    "model.scheduler.cache.order": "Zone",
    "model.scheduler.cache.scheduler_cache": "CachedPod",
    "model.scheduler.cycles.binding": "ExtenderAnswer Reply",
    "model.scheduler.cycles.failure": "FailedAttempt",
    "model.scheduler.cycles.sampling": "Walk",
    "model.scheduler.dynamicresources.slice_informer": "SliceInformer",
    "model.scheduler.event_handlers": "Addition Removal",
    "model.scheduler.framework.events": (
        "ANY_EVENT ASSIGNED_POD_ADD ASSIGNED_POD_DELETE ASSIGNED_POD_UPDATE ATTACHMENT_DELETE About CLAIM_UPDATE CSI_NODE_UPDATE DEFAULT_PREEMPTION DYNAMIC_RESOURCES EVENTS EXTENDER GANG_SCHEDULING NODE_ADD "
        "NODE_DECLARED_FEATURES NODE_DELETE NODE_PORTS NODE_VOLUME_LIMITS NOMINATED_POD_GONE PERMIT_PLUGIN POD_GROUP_ADD POD_UPDATE SCHEDULING_GATES UNSCHEDULABLE_TIMEOUT UNSCHEDULED_POD_ADD VOLUME_BINDING "
        "VOLUME_CHANGE VOLUME_CLAIM_ADD VOLUME_CLAIM_UPDATE VOLUME_RESTRICTIONS WAITING_POD_GONE WILDCARD"
    ),
    "model.scheduler.framework.filters": "FilterPlugin",
    "model.scheduler.framework.interface": "CyclePlugin",
    "model.scheduler.framework.resource_scores": "Pair",
    "model.scheduler.framework.scores": "ScorePlugin",
    "model.scheduler.framework.waiting_pods": "PermitAnswer",
    "model.scheduler.other_scheduler": "ForeignPod KnownPod OtherScheduler",
    "model.scheduler.podgroups.pod_group_cycle": "GroupStage Outcome",
    "model.scheduler.queue.moves": "Claimant Mover Nominee",
    "model.scheduler.volumebinding.find_volumes": "VolumeStage",
    "model.environment.actors": "FinalizerOwners PodGC StatefulSets Users",
    "model.environment.api": "APIServer",
    "model.environment.cluster.footprint": "UsedPort",
    "model.environment.cluster.node_health": "Health Mark NO_EXECUTE",
    "model.environment.cluster.node_versions": "NodeChange NodeVersion versions_in",
    "model.environment.cluster.owned_pods": "Owned Owner",
    "model.environment.cluster.placement_rules": "SpreadConstraint",
    "model.environment.cluster.pod_versions": "PodChange PodVersion in_form",
    "model.environment.cluster.workloads": "ExtenderSpec StrategyKind StrategySpec",
    "model.environment.controllers.autoscaler": "Autoscaler TO_BE_DELETED",
    "model.environment.controllers.budgets": "Budgets",
    "model.environment.controllers.descheduler": "Descheduler Strategy",
    "model.environment.controllers.drain": "Drain",
    "model.environment.controllers.gate_keepers": "GateKeepers",
    "model.environment.controllers.node_lifecycle": "NodeLifecycle WatchedNode Worker",
    "model.environment.controllers.replacement": "Controllers",
    "model.environment.controllers.taint_eviction": "Entry Fate SeenNode SeenPod TaintEviction Work fate",
    "model.environment.extender": "Extender HTTPExtender Managed",
    "model.environment.faults": "Fault Faults",
    "model.environment.gates": "Gate GateKeeper",
    "model.environment.kubelet": "Kubelet",
    "model.environment.names": "Recreation",
    "model.environment.objects": (
        "Claim ClusterSpec CsiDriver Device DisruptionBudget EXISTS ExtensionPoint FAILED GATED HostPort NOMINATED NOW Node NodeAffinity NodeTerm ON_NODE OTHERS OWN Operator Pod PodCopy PodGroup PodObject "
        "Quantity READY Requirement Scope Selector StorageClass TERMINATING Taint Term Toleration Volume VolumeClaim node_or_none"
    ),
    "model.environment.pod_groups": "Member PodGroups",
    "model.environment.storage.claim_lives": "ClaimDeletions ClaimMaker TemplateUser",
    "model.environment.storage.claims": "ClaimChange ClaimController ClaimShare ClaimUse ClaimWatch GONE NameOfUser ResourceClaims",
    "model.environment.storage.csi_nodes": "Attachable CsiLimit CsiNodes CsiView",
    "model.environment.storage.device_slices": "DeviceSlice DeviceSlices",
    "model.environment.storage.device_taints": "EVICTING DeviceTaints TaintableDevice",
    "model.environment.storage.devices": "DeviceDriver",
    "model.environment.storage.pv_controller": "PVController Provisioner",
    "model.environment.storage.supply": "Supply",
    "model.environment.storage.volumes": "CountedClaim Storage StorageUsers StorageWatch VolumeClaimObject VolumeObject VolumeUse",
    "model.environment.watch": "Handler NodeWatch PodWatch",
}  # fmt: skip
"""Names by module. podrace imports a module when a program first uses one of its names."""

HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}

__all__ = [*HOME_OF, "before"]


def __getattr__(name: str) -> Any:
    if name not in HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"..{HOME_OF[name]}", __name__), name)


def before(change: str, part: str = "") -> Any:
    """A part of the scheduler as it was before an upstream change, named by its number or its name: a class to derive from.

    If the change has several parts, name the part: `before("134157", "Cache")`. Raises UsageProblem.
    """
    from ..model.history import CHANGES, UnknownName, find_change
    from ..model.language.declarations.component import combine

    try:
        key = find_change(change).key
    except UnknownName as error:
        raise UsageProblem(
            f"before: unknown change `{one_line(change)}`; {nearest_fixes(error.name, error.known)}"
        ) from None
    changed: dict[str, list[Any]] = {}
    for cls in CHANGES[key].classes:
        changed.setdefault(part_of(cls).__name__, []).append(cls)
    if not part and len(changed) > 1:
        raise UsageProblem(
            f'before: {key} changes {", ".join(changed)}: say which, as in before("{key}", "{next(iter(changed))}")'
        )
    if part and part not in changed:
        raise UsageProblem(f"before: {key} does not change `{one_line(part)}`; {known_names(part, changed)}")
    classes = changed[part] if part else next(iter(changed.values()))
    return combine(part_of(classes[0]), classes)


@cache
def parts() -> dict[str, Any]:
    """The classes that a patch may derive from, by their names."""
    from ..model.cluster import Cluster
    from ..model.language.declarations.component import part_classes

    return {cls.__name__: cls for cls in part_classes(Cluster).values()}


def part_of(cls: type) -> Any:
    """The part that a class changes; None if it changes none."""
    return next((part for part in parts().values() if issubclass(cls, part)), None)


def call_of(cls: type) -> str:
    """The call that names a class of a change in a user's file, such as `before("77990")`; empty if no change has the class."""
    from ..model.history import CHANGES

    for change in CHANGES.values():
        if cls in change.classes:
            several = len({part_of(one) for one in change.classes}) > 1
            return (
                f'before("{change.key}", "{part_of(cls).__name__}")' if several else f'before("{change.key}")'
            )
    return ""
