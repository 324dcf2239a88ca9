"""What must never happen, what must always be able to happen, and what must not go on for ever."""

from .instrument import instrument
from .liveness import (
    AttemptsEnd,
    NominationsBlockNobodyForEver,
    ParkedPodsAreWoken,
    PendingPodsAreScheduled,
)
from .nominations import NominationRespected, NominationsLive, NominationVisible
from .progress import NotStuck, PodsOfRemovedNodesDoNoHarm
from .property import Property
from .safety import Capacity, NoErrorForAbsentNode, NoPodLost

PROPERTIES: dict[str, type[Property]] = {
    cls.id: cls
    for cls in (
        Capacity,
        NominationRespected,
        NominationVisible,
        NominationsLive,
        NoErrorForAbsentNode,
        NoPodLost,
        NotStuck,
        PodsOfRemovedNodesDoNoHarm,
        PendingPodsAreScheduled,
        ParkedPodsAreWoken,
        AttemptsEnd,
        NominationsBlockNobodyForEver,
    )
}
"""The catalogue, by identifier."""

__all__ = ["PROPERTIES", "Property", "instrument"]
