"""Names under which patches of users may still import parts of the model: `podrace.model.scheduler.schedule_one`.

A patch is a subclass of a part of the scheduler, so what is around it is kept here, too: `podrace.model.environment.claims`.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ..environment import objects
from ..environment.controllers import autoscaler, budgets
from ..environment.storage import claim_lives, claims, pv_controller, volumes
from .cycles import binding, failure, sampling, schedule_one
from .dynamicresources import dynamic_resources
from .podgroups import gang_scheduling, pod_group_cycle
from .volumebinding import find_volumes, volume_binding

MOVED: tuple[ModuleType, ...] = (
    binding, dynamic_resources, failure, find_volumes, gang_scheduling, pod_group_cycle, sampling, schedule_one, volume_binding,
    autoscaler, budgets, claim_lives, claims, pv_controller, volumes,
)  # fmt: skip

MOVED_CLASSES: tuple[tuple[ModuleType, type], ...] = (
    (objects, claims.ClaimChange),
    (objects, volumes.VolumeClaimChange),
)
"""Classes that have a module of their own now, each with the one in which it was."""


def keep_old_names() -> None:
    """Have each module found beside its room, and each class in the module, where it was before, too: it is the same."""
    for module, moved in MOVED_CLASSES:
        setattr(module, moved.__name__, moved)
    for module in MOVED:
        above, _, name = module.__name__.rpartition(".")
        sys.modules.setdefault(f"{above.rpartition('.')[0]}.{name}", module)
