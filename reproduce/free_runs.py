"""Free runs asked for: a cluster, what may happen to it, and a seed, as the driver's recorder takes them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..checker.core.trace import plain_value
from ..model.history import Composition
from ..model.history.versions import exact
from ..model.language import TransitionSystem
from ..scenarios import Scenario
from .case import Case, initial_order, real_gates, type_order, variables_of_model
from .objects import objects_of

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


class FreeCase(Case, frozen=True, kw_only=True):
    """A case that has no steps: everything is left to chance."""

    free: Freedom


def free_case(
    scenario: Scenario,
    composition: Composition,
    system: TransitionSystem,
    seed: int,
    turns: int,
    holdless: float,
) -> FreeCase:
    """A free run of a scenario's cluster."""
    spec, scope = scenario.spec, scenario.spec.scope
    objects = objects_of(spec)
    own = variables_of_model(system)
    initial = {
        name: plain_value(value) for name, value in system.describe(system.initial).items() if name in own
    }
    return FreeCase(
        id=f"{scenario.name}-{seed}",
        release=exact(composition.release),
        property="",
        nodes=list(objects.nodes),
        pods=list(objects.pods),
        budgets=list(objects.budgets),
        absent_nodes=[node.name for node in spec.nodes if not node.exists],
        absent_pods=[pod.name for pod in spec.pods if not pod.exists],
        order=initial_order(spec, initial),
        points={
            pod.name: [point.name for point in type_order(pod)] for pod in spec.pods if pod.extension_points
        },
        gates=real_gates(composition),
        backoff=scope.backoff,
        scored=scope.config.scored,
        initial=initial,
        steps=[],
        epilogue=False,
        free=Freedom(seed, turns, {name: getattr(scope, name) for name in BOUNDED}, scope.pod_gc, holdless),
    )
