"""The live tree of nodes that a cycle went through from 1.12 to 1.16."""

from __future__ import annotations

from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import Node, Pod
from podrace.model.history import resolve
from podrace.model.scheduler.framework.status import NodeStatus, Phase
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import concrete, nodes, spec


def judged(release: str, prop: str, **scope: Any) -> tuple[str, int | None, int | None]:
    on = (Node(0, "n0", 1), Node(1, "n1", 1, exists=not scope.get("node_creations")))
    cluster = spec([Pod(0, "p", 1)], on, pod_events=2, pod_gc=False, flush=False, **scope)
    (found,) = check(instrument(cluster, resolve(release).classes, [PROPERTIES[prop]]), [prop])
    return found.verdict.name, found.counts.states, None if found.trace is None else len(found.trace.steps)


@pytest.mark.parametrize(
    ("release", "prop", "expected"),
    [
        ("1.9", "S-SNAP", ("VIOLATED", 30, 5)),
        ("1.12", "S-SNAP", ("VIOLATED", 24, 5)),
        ("1.16", "S-SNAP", ("VIOLATED", 24, 5)),
        ("1.17", "S-SNAP", ("HOLDS", 135, None)),
        ("1.12", "S-ERR", ("HOLDS", 152, None)),
        ("1.16", "S-ERR", ("HOLDS", 152, None)),
    ],
)
def test_84014_a_cycle_goes_through_the_nodes_of_its_snapshot(
    release: str, prop: str, expected: tuple[str, int, int | None]
) -> None:
    """Up to 1.16 the tree may have another node by the time that it is asked; an error comes of this no more (see 1.9)."""
    assert judged(release, prop, node_creations=1, node_events=1) == expected


def test_where_nodes_stay_the_tree_costs_nothing() -> None:
    assert judged("1.16", "S-UNIQ")[1] == judged("1.17", "S-UNIQ")[1]


def test_a_node_that_the_snapshot_does_not_have_is_hopeless_and_one_that_is_gone_is_not_tried() -> None:
    on = nodes(2, 2)
    pod = Pod(0, "p", 1)
    model = concrete(spec([pod], on, node_deletions=1), "1.16")
    scheduler, cache = model.part("scheduler"), model.part("cache")
    model.do(lambda: cache.remove_node(on[1]))
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    model.do(lambda: cache.add_node(on[1]))
    model.do(lambda: cache.remove_node(on[0]))
    model.do(lambda: scheduler.list_tree(pod))
    assert model.get(lambda: [model.part("snapshot").listed[n] for n in on]) == [False, True]
    model.do(lambda: scheduler.filter(pod, on[1]))
    assert model.get(lambda: scheduler.verdict[on[1]]) is NodeStatus.UNRESOLVABLE
    assert model.get(lambda: scheduler.phase) is not Phase.SELECT
