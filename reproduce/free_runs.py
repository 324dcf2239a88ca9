"""Free runs asked for: a cluster, what may happen to it, and a seed, as the driver's recorder takes them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..checker.trace.execution import replay
from ..model.history import Composition
from ..model.language import TransitionSystem
from ..scenarios import Scenario
from .case import Case, case_of_run

BOUNDED = (
    "node_deletions", "node_creations", "pod_deletions", "pod_creations", "bind_failures", "lost_replies", "write_failures",
    "status_failures", "plugin_errors", "permit_rejections",
)  # fmt: skip
"""What the recorder can do, by the scope's names."""


class Freedom(msgspec.Struct, frozen=True):
    """How a free run is chosen: by its seed, so many turns. `left` bounds users and faults; nobody is held at the share `holdless` of the points."""

    seed: int
    turns: int
    left: Mapping[str, int]
    pod_gc: bool
    holdless: float = msgspec.field(default=0.0, name="pass")


class FreeRun(msgspec.Struct, frozen=True):
    """A free run that is asked for: a case without steps, and how it is chosen."""

    case: Case
    free: Freedom


def free_run(
    scenario: Scenario,
    composition: Composition,
    system: TransitionSystem,
    seed: int,
    turns: int,
    holdless: float,
) -> FreeRun:
    """A free run of a scenario's cluster."""
    spec, scope = scenario.spec, scenario.spec.scope
    case = case_of_run(f"{scenario.name}-{seed}", "", spec, composition, system, replay(system, ()))
    left = {name: getattr(scope, name) for name in BOUNDED}
    return FreeRun(case, Freedom(seed, turns, left, scope.pod_gc, holdless))
