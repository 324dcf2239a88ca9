"""What must never happen, what must always be able to happen, and what must not go on indefinitely."""

from .base.instrument import instrument
from .base.property import Property
from .controllers import gates, loops, names, scale_downs, taints
from .placement import admissions, bindings, dead_ends, groups, nominations, preemptions
from .scheduling import cache_views, conditions, liveness, places
from .storage import claims, limits, volumes

_FILES = (
    admissions, bindings, cache_views, claims, conditions, dead_ends, gates, groups, limits, liveness, loops, names, nominations, places,
    preemptions, scale_downs, taints, volumes,
)  # fmt: skip

_ORDER = (
    "S-CAP", "S-NOM", "S-NOMVIS", "S-NOMLIVE", "S-ERR", "S-CONS", "S-UNIQ", "S-CYCLE", "S-GHOST", "S-BACKOFF",
    "S-FLIGHT", "S-FRESH", "S-LEAK", "S-ROOM", "S-REQUEUE", "S-CACHE", "S-SNAP", "S-AFF", "S-SPREAD", "S-BIND",
    "S-COND", "S-IDENT", "S-IDVICTIM", "S-IDEVICT", "S-IDSTATUS", "S-EXIT", "S-GAIN", "S-ONCE", "S-PDB",
    "S-EVICT", "S-SCALE", "S-MANY", "S-ADMIT", "S-RUN", "S-PORT", "S-SUIT", "S-TAINT", "S-BACK", "S-READY",
    "S-IDTAINT", "S-KEPT", "S-TWIN", "S-DEV", "S-RESV", "S-INFLIGHT", "S-ASSUME", "S-VOL", "S-PV", "S-PLACED",
    "S-HELD", "S-WRITTEN", "S-LIMIT", "S-RWOP", "S-QUORUM", "S-GROUPSTATE", "S-DISMISSED", "S-NOMGROUP", "S-DOMAIN", "S-STUCK",
    "S-TOLD", "S-LEAVE", "S-DRAIN", "S-DEFER", "S-LINGER", "S-QUOTA", "L-ISO", "L-PEND", "L-WAKE", "L-PLACE",
    "L-PROG", "L-NOM", "L-OVER", "L-INV", "L-CLAIM", "S-DTAINT", "L-DTAINT", "L-VOL", "L-LOOP", "L-WHOLE",
    "L-GANG", "L-DEADLOCK", "L-LIVELOCK", "L-TOLD",
)  # fmt: skip
"""The identifiers in the order in which they are shown; a property that is not among them is an error at once."""

_CLASSES = {
    thing
    for file in _FILES
    for thing in vars(file).values()
    if isinstance(thing, type) and issubclass(thing, Property) and "id" in vars(thing)
}

PROPERTIES: dict[str, type[Property]] = {
    cls.id: cls for cls in sorted(_CLASSES, key=lambda cls: _ORDER.index(cls.id))
}
"""The catalogue, by identifier."""

__all__ = ["PROPERTIES", "Property", "instrument"]
