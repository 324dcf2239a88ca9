"""What must never happen, what must always be able to happen, and what must not go on for ever."""

from .bindings import AntiAffinityKept, BoundAsAssumed, BoundPodsSayScheduled
from .instrument import instrument
from .inversion import NoLastingInversion, PreemptionEnds
from .liveness import AttemptsEnd, NominationsBlockNobodyForEver, ParkedPodsAreWoken, PendingPodsAreScheduled
from .nominations import NominationRespected, NominationsLive, NominationVisible
from .places import (
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
from .preemption import BudgetsCounted, NoPreemptionWithoutBenefit, OnePreemptionAtATime
from .progress import NotStuck, PodsOfRemovedNodesDoNoHarm
from .property import Property
from .safety import Capacity, NoErrorForAbsentNode, NoPodLost
from .views import CacheFollowsNodeEvents, SnapshotIsTheCache

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
        BoundAsAssumed,
        BoundPodsSayScheduled,
        NoPreemptionWithoutBenefit,
        OnePreemptionAtATime,
        BudgetsCounted,
        NotStuck,
        PodsOfRemovedNodesDoNoHarm,
        PendingPodsAreScheduled,
        ParkedPodsAreWoken,
        AttemptsEnd,
        NominationsBlockNobodyForEver,
        PreemptionEnds,
        NoLastingInversion,
    )
}
"""The catalogue, by identifier."""

__all__ = ["PROPERTIES", "Property", "instrument"]
