"""Free runs asked for: a cluster, what may happen to it, and a seed, as the driver's recorder takes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from podrace.checker.trace.execution import replay
from podrace.model.history import Composition
from podrace.reproduce.case import Case, case_of_run, in_order_of_start
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.random_runs.varied_clusters import varied_cluster

BACKLOG = "pod_events: 9, node_events: 9"
"""How far the views may lag: a real watch has no bound, so the model needs one that no free run meets."""

BOUNDED = (
    "node_deletions", "node_creations", "node_updates", "pod_deletions", "pod_creations", "bind_failures", "lost_replies", "write_failures",
    "status_failures", "plugin_errors", "permit_rejections", "restarts", "external_binds",
)  # fmt: skip
"""What the recorder can do, by the scope's names."""


CLEARED_WHEN_BOUND = "132443"
"""The change from which on a Binding clears the nomination."""


class Freedom(msgspec.Struct, frozen=True):
    """How a free run is chosen: by its seed, so many turns. `left` bounds users and faults; nobody is held at the share `holdless` of the points.

    `keeps_nominations`: the API server is of a release in which a nomination outlives the Binding.
    """

    seed: int
    turns: int
    left: Mapping[str, int]
    pod_gc: bool
    keeps_nominations: bool
    holdless: float = msgspec.field(default=0.0, name="pass")


class FreeRun(msgspec.Struct, frozen=True):
    """A free run that is asked for: a case without steps, and how it is chosen."""

    case: Case
    free: Freedom


NEVER = re.compile(r", (?:leader_changes|relists): [0-9]+")
"""What the recorder does not do: without it the model is smaller."""


def model_for(cluster: int, composition: Composition) -> Model:
    """The model of the random cluster of this number, with views that may lag as far as they like."""
    text = re.sub("pod_events: [0-9]+, node_events: [0-9]+", BACKLOG, varied_cluster(cluster, rarer=False))
    return Model.of(NEVER.sub("", text), composition)


def free_run(model: Model, name: str, seed: int, turns: int, holdless: float) -> FreeRun:
    """A free run of a cluster."""
    spec, system = model.scenario.spec, model.system
    case = in_order_of_start(case_of_run(name, "", spec, model.composition, system, replay(system, ())))
    left = {bound: getattr(spec.scope, bound) for bound in BOUNDED}
    keeps = CLEARED_WHEN_BOUND in {change.key for change in model.composition.missing}
    return FreeRun(case, Freedom(seed, turns, left, spec.scope.pod_gc, keeps, holdless))
