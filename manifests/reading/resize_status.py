"""What a pod's status says of a resize: with it, a container counts for more than its specification asks for (component-helpers resource.PodRequests, 1.36)."""

from collections.abc import Mapping
from dataclasses import field

from ...base.structs import Data
from .manifest_values import Fields
from .resource_amounts import Amounts, read_amounts


class ResizeStatus(Data, slots=False):
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


def read_resize(status: Fields) -> ResizeStatus:
    """The status of the containers that say what they run with; all others count for what they ask for."""
    held: dict[str, Amounts] = {}
    for name in ("containerStatuses", "initContainerStatuses"):
        for element in status.elements(name, "a list of container statuses"):
            given = element.mapping("a container status")
            if "name" not in given or "resources" not in given:
                continue
            runs = given.below("resources", "a mapping with `requests`")
            actual = read_amounts(runs.get("requests"))
            allocated = read_amounts(given.get("allocatedResources"))
            most = {r: max(actual.get(r, 0), allocated.get(r, 0)) for r in {**actual, **allocated}}
            held[given.scalar("name", "the name of a container")] = most
    return ResizeStatus(held, _pending(status))


def _pending(status: Fields) -> str:
    """The reason of the condition PodResizePending."""
    for element in status.elements("conditions", "a list of conditions"):
        given = element.mapping("a condition")
        if given.scalar("type", "a type") == "PodResizePending":
            return given.scalar("reason", "a reason")
    return ""
