"""Names under which patches of users may still import parts of the model: `podrace.model.scheduler.schedule_one`.

A patch is a subclass of a part of the scheduler, so what is around it is kept here, too: `podrace.model.environment.claims`.
"""

from __future__ import annotations

import sys
from types import ModuleType

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


def keep_old_names() -> None:
    """Have each module found beside its room, where it was before, too: it is the same module."""
    for module in MOVED:
        above, _, name = module.__name__.rpartition(".")
        sys.modules.setdefault(f"{above.rpartition('.')[0]}.{name}", module)
