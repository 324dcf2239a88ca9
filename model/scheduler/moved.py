"""Names under which patches of users may still import parts of the scheduler: `podrace.model.scheduler.schedule_one`."""

from __future__ import annotations

import sys
from types import ModuleType

from .cycles import binding, failure, sampling, schedule_one
from .dynamicresources import dynamic_resources
from .podgroups import gang_scheduling, pod_group_cycle
from .volumebinding import find_volumes, volume_binding

MOVED: tuple[ModuleType, ...] = (
    binding, dynamic_resources, failure, find_volumes, gang_scheduling, pod_group_cycle, sampling, schedule_one, volume_binding,
)  # fmt: skip


def keep_old_names() -> None:
    """Have each module found beside the rooms, where it was before, too: it is the same module."""
    package = __name__.rpartition(".")[0]
    for module in MOVED:
        sys.modules.setdefault(f"{package}.{module.__name__.rpartition('.')[2]}", module)
