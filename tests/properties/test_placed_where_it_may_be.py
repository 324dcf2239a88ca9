"""S-SUIT: a pod is bound where the snapshot says that it may be; and a filter that is blind is found."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope, Taint, Toleration
from podrace.model.history import resolve
from podrace.model.language import Component, Expr, as_expr
from podrace.model.scheduler import Filters
from podrace.model.scheduler.framework.placement import Placement
from podrace.model.scheduler.framework.status import Code
from podrace.properties import PROPERTIES, instrument


class TaintBlind(Filters):
    def taints_tolerated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        return as_expr(Code.SUCCESS)


class LabelBlind(Filters):
    def node_affinity(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        return as_expr(Code.SUCCESS)


class CordonBlind(Filters):
    def node_schedulable(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        return as_expr(Code.SUCCESS)


def cluster() -> ClusterSpec:
    """p, which is gated, and is to go to ssd when its gates go; a node that becomes what it asks for, and is tainted or cordoned."""
    ssd = {"disk": "ssd"}
    n0 = Node(0, "n0", 2, ssd)
    n0.later = {
        "tainted": Node(0, "n0", 2, ssd, taints=[Taint("k")]),
        "cordoned": Node(0, "n0", 2, ssd, unschedulable=True),
        "plain": Node(0, "n0", 2),
    }
    p = Pod(0, "p", 1, gated=True, later={"narrowed": Pod(0, "p", 1, gated=True, node_selector=ssd)})
    return ClusterSpec("suits", (p,), (n0,), Scope(node_updates=1, pod_updates=1, pod_events=2, flush=False))


@pytest.mark.parametrize(
    ("release", "changes", "verdict", "states", "steps"),
    [
        ("1.27", (), "HOLDS", 837, None),
        ("1.36", (), "HOLDS", 448, None),
        ("1.36", (TaintBlind,), "VIOLATED", 287, 11),
        ("1.36", (LabelBlind,), "VIOLATED", 374, 14),
        ("1.36", (CordonBlind,), "VIOLATED", 288, 11),
    ],
)
def test_a_blind_filter_is_found(
    release: str, changes: tuple[type[Component], ...], verdict: str, states: int, steps: int | None
) -> None:
    system = instrument(cluster(), (*changes, *resolve(release).classes), [PROPERTIES["S-SUIT"]])
    (found,) = check(system, ["S-SUIT"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


def test_a_toleration_is_enough() -> None:
    on = (Node(0, "n0", 2, taints=[Taint("k")], unschedulable=True),)
    pods = (Pod(0, "p", 1, tolerations=[Toleration(operator="Exists")]),)
    spec = ClusterSpec("tolerated", pods, on, Scope(pod_events=2, flush=False))
    (found,) = check(instrument(spec, resolve("1.36").classes, [PROPERTIES["S-SUIT"]]), ["S-SUIT"])
    assert (found.verdict.name, found.vacuous) == ("HOLDS", True)
