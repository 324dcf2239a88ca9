"""Patches for ResourceSlices that come and go (docs/claims.md)."""

from __future__ import annotations

from podrace.model.scheduler.framework.events import SLICE_CHANGE
from podrace.patching import Autoscaler, ClusterEvent, Expr, Hints, Node, Plugin, Pod


class SlicesAwaited(Autoscaler):
    """A node whose drivers have not published their devices yet counts with the devices that it is to have (autoscaler 8109)."""

    def fits(self, pod: Pod, node: Node, content: Node) -> Expr:
        there = super(Autoscaler, self).fits(pod, node, content)
        return there & self.device_slices.could_have(pod, node, to_come=True)


class SlicesUnheard(Hints):
    """A control: DynamicResources does not ask for events of ResourceSlices."""

    def hears(self, plugin: Plugin, event: ClusterEvent) -> bool:
        return event is not SLICE_CHANGE and super().hears(plugin, event)
