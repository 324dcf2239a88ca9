"""Rows of upstream's own tests of queueing hints (1.32.13 to 1.36.3), restated as facts: what NodeResourcesFit, PodTopologySpread and InterPodAffinity say of an event.

A row says which pod the plugin has rejected, and which other pod or node came, went (`old` alone) or changed. Left out are objects of a wrong type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from podrace.model.environment.cluster.node_versions import NodeChange
from podrace.model.environment.cluster.pod_versions import PodChange
from podrace.model.environment.objects import Node, Pod
from podrace.model.language import Expr, as_expr
from podrace.model.scheduler.framework.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
    NOMINATED_POD_GONE,
    UNSCHEDULED_POD_ADD,
    WAITING_POD_GONE,
    About,
    ClusterEvent,
    Plugin,
    node_updates,
    pod_updates,
)
from tests.conformance.cases.case_cluster import make_node, make_pod
from tests.conformance.cases.cases import applies
from tests.model.clusters import concrete, spec

Facts = Mapping[str, Any]

ROWS: list[Facts] = json.loads((Path(__file__).parent / "hint_rows.json").read_text(encoding="utf-8"))
RELEASES = ("1.32.13", "1.33.6", "1.34.4", "1.35.4", "1.36.3", "1.37")


@dataclass
class Told:
    """What the queue is told: an object, and the events of it, none if it is told nothing."""

    about: About
    events: Sequence[ClusterEvent]
    pods: Sequence[Pod] = ()
    nodes: Sequence[Node] = ()


def a_pod(index: int, facts: Facts) -> Pod:
    return make_pod(index, f"p{index}", facts, {}, {}, queued=True)


def of_pod(old: Facts | None, new: Facts | None, target: Pod) -> Told:
    known = new or old or {}
    on_node, nominated = "nodeName" in known, "nominatedNodeName" in known
    if old and new:
        change = PodChange(a_pod(1, old), a_pod(1, new), on_node)
        own = known.get("uid") == target.uid
        return Told(change, [u.event for u in pod_updates() if u.happens(change) and (on_node or own)])
    other = a_pod(1, known)
    if new:
        return Told(other, [ASSIGNED_POD_ADD if on_node else UNSCHEDULED_POD_ADD], [other])
    gone = ASSIGNED_POD_DELETE if on_node else NOMINATED_POD_GONE if nominated else WAITING_POD_GONE
    return Told(other, [gone], [other])


def of_node(old: Facts | None, new: Facts | None) -> Told:
    if old and new:
        change = NodeChange(make_node(0, old), make_node(0, new))
        return Told(change, [u.event for u in node_updates() if u.happens(change)], nodes=[change.new])
    node = make_node(0, new or old or {})
    return Told(node, [NODE_ADD if new else NODE_DELETE], nodes=[node])


@pytest.mark.parametrize(
    "release", [pytest.param(r, marks=pytest.mark.ci) for r in RELEASES[:-2]] + list(RELEASES[-2:])
)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_hint(row: Facts, release: str) -> None:
    if not applies(row, release):
        pytest.skip(f"not in {release}")
    pod = a_pod(0, row["pod"])
    told = (
        of_pod(row["other"].get("old"), row["other"].get("new"), pod)
        if "other" in row
        else of_node(row["node"].get("old"), row["node"].get("new"))
    )
    cluster = spec([pod, *told.pods], tuple(told.nodes) or (Node(0, "n", 0),))
    model = concrete(cluster, release)
    hints = model.part("hints")
    (plugin,) = [p for p in hints.universe[Plugin] if p.name == row["plugin"]]

    def wakes(event: ClusterEvent) -> Expr:
        return as_expr(hints.hears(plugin, event)) & hints.wakes(plugin, pod, event, told.about)

    found = [model.get(partial(wakes, event)) for event in told.events]
    assert any(found) is (row["expected"] == "Queue")


def test_how_many_rows_there_are() -> None:
    plugins = [row["plugin"] for row in ROWS]
    counts = {name: plugins.count(name) for name in dict.fromkeys(plugins)}
    assert counts == {"InterPodAffinity": 44, "PodTopologySpread": 34, "NodeResourcesFit": 14}
    assert all({"old", "new"} >= set(row.get("other", row.get("node"))) for row in ROWS)
