"""Scheduling gates, and what came before them."""

from __future__ import annotations

from ..environment.api import APIServer
from ..environment.objects import Pod
from .change import before


@before(
    "scheduling-gates",
    "a pod with scheduling gates is not tried until they are removed (PodSchedulingReadiness)",
    first_in="1.27",
)
class GatesDropped(APIServer):
    """The API server dropped the field of a new pod (it was alpha in 1.26, and off)."""

    def has_gates(self, pod: Pod) -> bool:
        return False
