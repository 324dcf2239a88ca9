"""Faults: what may go wrong, or change from outside, and how often it still may. One counter per kind of fault.

A kind that strikes an object can be aimed: then it strikes only those that the scope names.
"""

from collections.abc import Mapping
from enum import Enum

from ..language import UNTOLD, Component, Entity, clamp, constraint, integer, per, require
from .cluster.owned_pods import Owner
from .cluster.scope import BOUNDS
from .objects import Claim, Device, Node, Pod, Volume, VolumeClaim


class Fault(Enum):
    """A kind of fault. The value is the field of the scope that bounds how often it happens."""

    NODE_DELETION = "node_deletions"
    NODE_CREATION = "node_creations"
    NODE_UPDATE = "node_updates"
    POD_UPDATE = "pod_updates"
    POD_DELETION = "pod_deletions"
    POD_CREATION = "pod_creations"
    BIND_FAILURE = "bind_failures"
    LOST_REPLY = "lost_replies"
    LATE_BINDING = "late_bindings"
    WRITE_FAILURE = "write_failures"
    STATUS_FAILURE = "status_failures"
    ASSUME_EXPIRY = "assume_expiries"
    PLUGIN_ERROR = "plugin_errors"
    PERMIT_REJECTION = "permit_rejections"
    RESTART = "restarts"
    LEADER_CHANGE = "leader_changes"
    EXTERNAL_BIND = "external_binds"
    EVICTION = "evictions"
    SCALE_DOWN = "scale_downs"
    RELIST = "relists"
    WATCH_STALL = "watch_stalls"
    VOLUME_CREATION = "volume_creations"
    VOLUME_DELETION = "volume_deletions"
    PROVISION_FAILURE = "provision_failures"
    BIND_TIMEOUT = "bind_timeouts"
    CLAIM_CREATION = "claim_creations"
    CLAIM_DELETION = "claim_deletions"
    MISSED_CLAIM_UPDATE = "missed_claim_updates"
    CONTROLLER_RESTART = "controller_restarts"
    DEVICE_FAILURE = "device_failures"
    DEVICE_WITHDRAWAL = "device_withdrawals"
    DEVICE_TAINT = "device_taints"
    FILTER_TIMEOUT = "filter_timeouts"
    EXTENDER_FAILURE = "extender_failures"
    LATE_ANSWER = "late_answers"
    READINESS_LOSS = "readiness_losses"
    START_FAILURE = "start_failures"
    HEARTBEAT_LOSS = "heartbeat_losses"
    NODE_FAILURE = "node_failures"


SECTIONS: Mapping[str, type[Entity]] = {
    "pods": Pod,
    "nodes": Node,
    "volumes": Volume,
    "volumeClaims": VolumeClaim,
    "resourceClaims": Claim,
    "devices": Device,
    "controllers": Owner,
}
"""Where a scenario has the objects that faults strike."""

STRUCK: Mapping[Fault, tuple[str, ...]] = {kind: BOUNDS[kind.value].strikes for kind in Fault}
"""What each kind of fault strikes, by the section of a scenario that has it; nothing, if it strikes the scheduler or its watch."""


class Faults(Component):
    """The faults. `left[kind]`: how many faults of this kind may still happen in the run."""

    left = per(Fault, integer(0, 15))

    phrases = UNTOLD

    def setup(self) -> None:
        for kind in Fault:
            self.left[kind] = getattr(self.scope, kind.value)

    def spend(self, kind: Fault, struck: Entity | None = None) -> None:
        """Marks the current step as a fault of this kind: the step can run only while one is left, and uses it. `struck` is the affected object."""
        allowed, aims = getattr(self.scope, kind.value), self.scope.aimed(kind.value)
        require(allowed != 0 and (not aims or any(_is_named(struck, *aim) for aim in aims.items())))
        words = kind.value.replace("_", " ")
        of = ", ".join(name for names in aims.values() for name in names)
        constraint(
            f"{words} of {of}: at most {allowed}" if of else f"{words}: at most {allowed}",
            self.left[kind] > 0,
        )
        self.left[kind] = clamp(self.left[kind] - 1, 0, 15)


def _is_named(struck: Entity | None, section: str, names: tuple[str, ...]) -> bool:
    return isinstance(struck, SECTIONS[section]) and struck.name in names
