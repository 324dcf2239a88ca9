"""The event handlers as they were."""

from __future__ import annotations

from collections.abc import Mapping

from ..environment.objects import Node, Pod, PodObject
from ..language import Expr, Value
from ..scheduler import EventHandlers
from .change import before


@before("drop-assumed-updates", "every update of an assumed pod is dropped", first_in="1.22")
class ComparedAssumedUpdates(EventHandlers):
    """skipPodUpdate: only an update that changed nothing that matters to the assumed copy was dropped."""

    def skips_update(self, pod: Pod, new: PodObject) -> Expr:
        return super().skips_update(pod, new) & self.cache.copy[pod].same_as(new.copy())


@before("node-pre-check", "a new node wakes only the pods that it would admit", first_in="1.22")
class NodesWakeEverybody(EventHandlers):
    """A new node moved every parked pod."""

    def check_admission(self, node: Node) -> None:
        """Nothing was checked."""

    def admissible(self) -> Mapping[Pod, Value] | None:
        return None
