"""Limits of volumes before the changes of NodeVolumeLimits since 1.32 (framework/plugins/nodevolumelimits)."""

from ....scheduler import ClusterEvent, Filters, Hints, Plugin
from ....scheduler.framework.events import ATTACHMENT_DELETE, CSI_NODE_UPDATE, NODE_VOLUME_LIMITS
from ...registry.change import before, no

_ATTACHED = "a volume that is attached to a node counts on this node, even if no pod uses it any more"


@before("127757", _ATTACHED, first_in="1.32", issues=(126502,))
class AttachedVolumesForgotten(Filters):
    """Only the volumes of the pods in the NodeInfo counted."""

    counts_attachments = no


@before("127757", _ATTACHED, first_in="1.32", issues=(126502,), after=("127220",))
class DetachedVolumesUnheard(Hints):
    """The plugin did not ask for events of VolumeAttachments."""

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        unheard = plugin.name == NODE_VOLUME_LIMITS and event is ATTACHMENT_DELETE
        return not unheard and super().hears(plugin, event)


@before("csi-node-updates", "a limit of volumes that grows wakes pods", first_in="1.33")
class GrowingLimitsUnheard(Hints):
    """The plugin asked for CSINodes that are added only."""

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        unheard = plugin.name == NODE_VOLUME_LIMITS and event is CSI_NODE_UPDATE
        return not unheard and super().hears(plugin, event)


@before(
    "140612",
    "pods wait for a missing CSI driver if its CSIDriver has preventPodSchedulingIfMissing",
    first_in="1.37",
    gate="VolumeLimitScaling",
    gated_in="1.36",
)
class DriversNotAwaited(Filters):
    """Of a node without the driver nothing was known, so that it took any number of volumes."""

    waits_for_drivers = no
