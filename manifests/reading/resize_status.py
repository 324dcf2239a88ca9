"""What a pod's status says of a resize: with it, a container counts for more than its specification asks for (component-helpers resource.PodRequests, 1.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .manifest_files import Manifest
from .resource_amounts import Amounts, read_amounts


@dataclass(frozen=True)
class ResizeStatus:
    """What containers have, by name: what was allocated to them, and what they run with. `pending` is why what is asked for is not allocated yet: it is Deferred, or Infeasible and never will be."""

    held: Mapping[str, Amounts] = field(default_factory=dict)
    pending: str = ""

    def counted(self, name: str, asked: Amounts) -> Amounts:
        """What a container counts for that asks for this much (determineEffectiveRequests)."""
        held = self.held.get(name)
        if held is None:
            return asked
        wanted = {} if self.pending == INFEASIBLE else asked
        return {r: max(wanted.get(r, 0), held.get(r, 0)) for r in {**wanted, **held}}


INFEASIBLE, DEFERRED = "Infeasible", "Deferred"
NO_RESIZE = ResizeStatus()


def read_resize(status: Mapping[str, Manifest]) -> ResizeStatus:
    """The status of the containers that say what they run with; all others count for what they ask for."""
    held: dict[str, Amounts] = {}
    for name in ("containerStatuses", "initContainerStatuses"):
        for element in status[name].elements("a list of container statuses") if name in status else ():
            given = element.fields(("name", "resources", "allocatedResources"), "a container status")
            if "name" not in given or "resources" not in given:
                continue
            runs = given["resources"].fields(("requests",), "a mapping with `requests`")
            actual, allocated = (
                read_amounts(runs.get("requests")),
                read_amounts(given.get("allocatedResources")),
            )
            most = {r: max(actual.get(r, 0), allocated.get(r, 0)) for r in {**actual, **allocated}}
            held[given["name"].scalar("the name of a container")] = most
    return ResizeStatus(held, _pending(status))


def _pending(status: Mapping[str, Manifest]) -> str:
    """The reason of the condition PodResizePending."""
    for element in status["conditions"].elements("a list of conditions") if "conditions" in status else ():
        given = element.fields(("type", "reason"), "a condition")
        if "type" in given and given["type"].scalar("a type") == "PodResizePending":
            return given["reason"].scalar("a reason") if "reason" in given else ""
    return ""
