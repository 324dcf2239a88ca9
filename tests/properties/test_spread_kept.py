"""S-SPREAD: a pod is bound where its hard topology spread constraints let it be; a filter that is blind is found, and so is a pod that the snapshot lacked."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.environment.cluster.placement_rules import Selector, SpreadConstraint
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.model.history import resolve
from podrace.model.language import Component, Expr, as_expr
from podrace.model.scheduler import Filters
from podrace.model.scheduler.framework.placement import Placement
from podrace.model.scheduler.framework.status import Code
from podrace.properties import PROPERTIES, instrument

WEB = {"app": "web"}
EVEN = SpreadConstraint("zone", Selector(WEB))
EAST, WEST = Node(0, "e", 4, labels={"zone": "east"}), Node(1, "w", 4, labels={"zone": "west"})


class SpreadBlind(Filters):
    def topology_spread(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        return as_expr(Code.SUCCESS)


def cluster(bound: bool = True, **scope: int) -> ClusterSpec:
    """a in the east, or pending; b, and both are to be spread over the zones."""
    pods = (
        Pod(0, "a", 1, labels=WEB, spread=[EVEN], node=EAST if bound else None, graceful=False),
        Pod(1, "b", 1, labels=WEB, spread=[EVEN], graceful=False),
    )
    bounds = Scope(pod_events=2, flush=False, **scope)  # type: ignore[arg-type]
    return ClusterSpec("spread", pods, (EAST, WEST), bounds)


@pytest.mark.parametrize(
    ("spec", "release", "changes", "verdict", "states", "steps"),
    [
        (cluster(), "1.37.2", (), "HOLDS", 13, None),
        (cluster(False), "1.37.2", (), "HOLDS", 391, None),
        (cluster(pod_deletions=1), "1.37.2", (), "HOLDS", 315, None),
        (cluster(node_deletions=1, node_creations=1), "1.37.2", (), "HOLDS", 1417, None),
        (cluster(False, external_binds=1), "1.37.2", (), "VIOLATED", 687, 8),
        (cluster(False, restarts=1), "1.37.2", (), "HOLDS", 784, None),
        (cluster(False, restarts=1), "1.22", (), "VIOLATED", 6463, 19),
        (cluster(False, leader_changes=1), "1.37.2", (), "VIOLATED", 1136, 15),
        (cluster(False, lost_replies=1), "1.22", (), "VIOLATED", 4771, 16),
        (cluster(False, assume_expiries=1), "1.22", (), "VIOLATED", 1619, 16),
        (cluster(), "1.37.2", (SpreadBlind,), "VIOLATED", 12, 7),
    ],
    ids=[
        "bound",
        "pending",
        "a pod goes",
        "a node goes",
        "bound by others",
        "restart",
        "restart before handlers",
        "hand-over",
        "lost reply",
        "expiry",
        "blind",
    ],
)
def test_a_placement_against_a_constraint_is_found(
    spec: ClusterSpec,
    release: str,
    changes: tuple[type[Component], ...],
    verdict: str,
    states: int,
    steps: int | None,
) -> None:
    system = instrument(spec, (*changes, *resolve(release).classes), [PROPERTIES["S-SPREAD"]])
    (found,) = check(system, ["S-SPREAD"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


def test_a_release_that_looks_at_no_constraints_is_not_blamed() -> None:
    (found,) = check(instrument(cluster(), resolve("1.17").classes, [PROPERTIES["S-SPREAD"]]), ["S-SPREAD"])
    assert (found.verdict.name, found.vacuous) == ("HOLDS", True)
