"""What must never happen, what must always be able to happen, and what must not go on indefinitely."""

from .base.instrument import instrument
from .base.property import Property
from .controllers.gates import QuotaIsNotHeldBack
from .controllers.loops import NoMoreThanWanted, NoReplacementForEver
from .controllers.names import (
    BindingsHitTheirPod,
    EvictionsHitTheirPod,
    GrantedEvictionsHitTheirPod,
    SchedulerGoesOn,
    StatusHitsItsPod,
)
from .controllers.scale_downs import EmptyNodesOnly
from .controllers.taints import (
    NamesRunOnce,
    NobodyBeforeReady,
    NobodyLeavesReadyNodes,
    NothingLeftOfWorks,
    OnlyTaintedPodsEvicted,
    TaintedPodsLeave,
    TaintEvictionsHitTheirPod,
)
from .placement.admissions import (
    DeferredResizesKeepNobodyOut,
    EndedPodsKeepNobodyOut,
    NoPodRejected,
    PlacedWhereItMayBe,
    PortsGivenOnce,
    RunningPodsFit,
)
from .placement.bindings import (
    AntiAffinityKept,
    BoundAsAssumed,
    Capacity,
    NoErrorForAbsentNode,
    NoPodLost,
    SpreadKept,
)
from .placement.dead_ends import PlaceableStaysPlaceable
from .placement.groups import (
    DismissedPodsLeave,
    GangBoundAsAWhole,
    GangLetGoAsAWhole,
    GangsAreScheduled,
    GangsDoNotBlockEachOther,
    GangsMakeProgress,
    GroupNominationsRespected,
    GroupStatesAreRight,
    PodsOfGroupsSayThatTheyWait,
)
from .placement.nominations import NominationRespected, NominationsLive, NominationVisible
from .placement.preemptions import (
    BudgetsCounted,
    EvictionsCounted,
    NoLastingInversion,
    NoPreemptionWithoutBenefit,
    OnePreemptionAtATime,
    PreemptionEnds,
    UnhealthyPodsCanGo,
)
from .scheduling.cache_views import CacheFollowsNodeEvents, SnapshotIsTheCache
from .scheduling.conditions import BoundPodsSayScheduled, RejectedPodsSaySo
from .scheduling.liveness import (
    AttemptsEnd,
    NominationsBlockNobodyForEver,
    NotStuck,
    ParkedPodsAreWoken,
    PendingPodsAreScheduled,
    PodsOfRemovedNodesDoNoHarm,
)
from .scheduling.places import (
    BackoffRespected,
    DeletedPodsFreeRoom,
    FlightEnds,
    NoGhostQueued,
    NothingLeftOfGonePods,
    NotQueuedInCycle,
    OnePlace,
    PendingPodsRequeued,
    QueuedAsKnown,
)
from .storage.claims import (
    AssumeCacheGoesForward,
    BoundPodsHoldTheirClaims,
    ClaimsAreWorkedOn,
    DeviceAllocatedOnce,
    FlightsHaveOwners,
    TaintedDevicesAreLeft,
    TolerationsAreHeeded,
)
from .storage.volumes import (
    AssumedVolumesAreKept,
    ExclusiveClaimsHaveOnePod,
    PodsGetTheVolumesTheyWerePlacedBy,
    PodsReachTheirVolumes,
    VolumesAreWorkedOn,
    VolumesHaveOneClaim,
    WrittenVolumesAreNotForgotten,
)

PROPERTIES: dict[str, type[Property]] = {
    cls.id: cls
    for cls in (
        Capacity,
        NominationRespected,
        NominationVisible,
        NominationsLive,
        NoErrorForAbsentNode,
        NoPodLost,
        OnePlace,
        NotQueuedInCycle,
        NoGhostQueued,
        BackoffRespected,
        FlightEnds,
        QueuedAsKnown,
        NothingLeftOfGonePods,
        DeletedPodsFreeRoom,
        PendingPodsRequeued,
        CacheFollowsNodeEvents,
        SnapshotIsTheCache,
        AntiAffinityKept,
        SpreadKept,
        BoundAsAssumed,
        BoundPodsSayScheduled,
        BindingsHitTheirPod,
        EvictionsHitTheirPod,
        GrantedEvictionsHitTheirPod,
        StatusHitsItsPod,
        SchedulerGoesOn,
        NoPreemptionWithoutBenefit,
        OnePreemptionAtATime,
        BudgetsCounted,
        EvictionsCounted,
        EmptyNodesOnly,
        NoMoreThanWanted,
        NoPodRejected,
        RunningPodsFit,
        PortsGivenOnce,
        PlacedWhereItMayBe,
        OnlyTaintedPodsEvicted,
        NobodyLeavesReadyNodes,
        NobodyBeforeReady,
        TaintEvictionsHitTheirPod,
        NothingLeftOfWorks,
        NamesRunOnce,
        DeviceAllocatedOnce,
        BoundPodsHoldTheirClaims,
        FlightsHaveOwners,
        AssumeCacheGoesForward,
        PodsReachTheirVolumes,
        VolumesHaveOneClaim,
        PodsGetTheVolumesTheyWerePlacedBy,
        AssumedVolumesAreKept,
        WrittenVolumesAreNotForgotten,
        ExclusiveClaimsHaveOnePod,
        GangLetGoAsAWhole,
        GroupStatesAreRight,
        DismissedPodsLeave,
        GroupNominationsRespected,
        NotStuck,
        RejectedPodsSaySo,
        TaintedPodsLeave,
        UnhealthyPodsCanGo,
        DeferredResizesKeepNobodyOut,
        EndedPodsKeepNobodyOut,
        QuotaIsNotHeldBack,
        PodsOfRemovedNodesDoNoHarm,
        PendingPodsAreScheduled,
        ParkedPodsAreWoken,
        PlaceableStaysPlaceable,
        AttemptsEnd,
        NominationsBlockNobodyForEver,
        PreemptionEnds,
        NoLastingInversion,
        ClaimsAreWorkedOn,
        TolerationsAreHeeded,
        TaintedDevicesAreLeft,
        VolumesAreWorkedOn,
        NoReplacementForEver,
        GangBoundAsAWhole,
        GangsAreScheduled,
        GangsDoNotBlockEachOther,
        GangsMakeProgress,
        PodsOfGroupsSayThatTheyWait,
    )
}
"""The catalogue, by identifier."""

__all__ = ["PROPERTIES", "Property", "instrument"]
