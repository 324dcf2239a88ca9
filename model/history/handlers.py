"""Event handlers as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.objects import Node, Pod
from ..language import any_of, require, step
from ..scheduler import EventHandlers
from ..scheduler.queue import Place
from .change import before

if TYPE_CHECKING:
    from ..environment.api import APIServer


@before(
    "70366",
    "a node update wakes parked pods only if something changed that they may wait for",
    first_in="1.13",
)
class EveryNodeUpdateWakes(EventHandlers):
    """Every update of a node woke every parked pod, also the kubelet's status update every few seconds (1.9)."""

    api: APIServer

    @step(actor="node handler")
    def handle_heartbeat(self, node: Node) -> None:
        """A status update of a node that changes nothing else: all parked pods are moved."""
        require(self.api.node_exists[node])
        require(any_of(self.queue.place[pod] == Place.UNSCHEDULABLE for pod in self.universe[Pod]))
        self.queue.move_all()
