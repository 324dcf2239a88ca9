"""Steps within which time passes: somebody waits in them until a time-out of the scheduler's is over.

The other steps take no time. What comes after such a one comes that much later: the backoffs and flushes of the meantime are the queue's.
"""

from ...model.environment.storage.claims import THERE, ClaimUse
from ...model.language import State, Transition, TransitionSystem

DEVICES, VOLUMES = 10 * 60, 10 * 60
"""BindingTimeout of DynamicResources, and BindTimeoutSeconds of VolumeBinding."""

DELIVERY = 2 * 60
"""AssumeExtendedResourceTimeoutDefaultSeconds: how long PreBind waits for the informer to deliver the claim that it has made."""

_ALWAYS = {
    ("dynamic_resources", "tire_of_waiting"): DELIVERY,
    ("dynamic_resources", "tire_of_devices"): DEVICES,
    ("volume_binding", "time_out"): VOLUMES,
}
_ASSUMES = {
    ("dynamic_resources", "assume_claim"),
    ("dynamic_resources", "assume_unwritten"),
    ("dynamic_resources", "lose_name"),
}
_SLACK = 3
"""Seconds by which the driver may notice late that a wait is over."""


class LongSteps:
    """How long the steps of a system last."""

    def __init__(self, system: TransitionSystem) -> None:
        self._place = {variable.name: i for i, variable in enumerate(system.variables)}

    def seconds(self, transition: Transition, before: State) -> int:
        """How many seconds a step may last; 0 for most."""
        name = (transition.part, transition.step)
        lasts = _ALWAYS.get(name, 0)
        if name in _ASSUMES and self._is_missed(transition, before):
            lasts = DELIVERY
        return lasts + _SLACK if lasts else 0

    def _is_missed(self, transition: Transition, before: State) -> bool:
        """Whether PreBind waits for a claim that it has made, and that is gone by now."""
        use = dict(transition.args).get("use")
        if not isinstance(use, ClaimUse) or not use.claim.special:
            return False
        life = self._place.get(f"resource_claims.object[{use.claim.name}].life")
        return life is not None and before[life] != THERE
