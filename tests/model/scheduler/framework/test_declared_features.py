"""NodeDeclaredFeatures: who is rejected, what wakes it, and from which release on."""

from __future__ import annotations

from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.environment.cluster.node_versions import NodeChange
from podrace.model.environment.objects import Node, Pod
from podrace.model.history import resolve
from podrace.model.scheduler.framework.events import NODE_ADD, NodeUpdate, Plugin
from podrace.model.scheduler.framework.status import Code
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.reader.scenario_reader import parse_scenario
from tests.model.clusters import concrete, spec

NEEDS = ("a", "b")


def said(needs: tuple[str, ...], declares: tuple[str, ...], release: str = "1.36") -> Code:
    on = (Node(0, "n", 2, features=declares),)
    pods = [Pod(0, "p", 1, features=needs), Pod(1, "q", 1, features=["a"])]
    model = concrete(spec(pods, on), release)
    filters, snapshot = model.part("filters"), model.part("snapshot")
    model.do(snapshot.update)
    found: Code = model.get(lambda: filters.run(pods[0], on[0], snapshot.placement()))
    return found


@pytest.mark.parametrize(
    ("needs", "declares", "release", "code"),
    [
        (NEEDS, ("a", "b", "c"), "1.36", Code.SUCCESS),
        (NEEDS, ("a",), "1.36", Code.UNRESOLVABLE),
        ((), (), "1.36", Code.SUCCESS),
        (NEEDS, (), "1.35", Code.SUCCESS),
    ],
)
def test_the_node_declares_all_that_the_pod_needs(
    needs: tuple[str, ...], declares: tuple[str, ...], release: str, code: Code
) -> None:
    assert said(needs, declares, release) is code


def declaring(release: str = "1.36") -> tuple[Any, Pod, Node, Node]:
    node = Node(0, "n", 2)
    node.later = {"declared": Node(0, "n", 2, features=["a"])}
    pod = Pod(0, "p", 1, features=["a"])
    return concrete(spec([pod], (node,), node_updates=1), release), pod, node, node.later["declared"]


@pytest.mark.parametrize(("release", "told"), [("1.35", []), ("1.36", ["NodeDeclaredFeatureChange"])])
def test_the_queue_is_told_of_changed_features(release: str, told: list[str]) -> None:
    model, _, old, new = declaring(release)
    updates = model.part("updates")
    assert [kind.name for kind in updates.told_kinds(NodeChange(old, new))] == told


def test_hints_look_whether_the_features_changed_and_not_whether_they_are_enough() -> None:
    """isSchedulableAfterNodeChange."""
    model, pod, old, new = declaring()
    hints = model.part("hints")
    (plugin,) = (p for p in hints.universe[Plugin] if p.name == "NodeDeclaredFeatures")
    (kind,) = (k for k in hints.universe[NodeUpdate] if k.name == "NodeDeclaredFeatureChange")
    (label,) = (k for k in hints.universe[NodeUpdate] if k.name == "NodeLabelChange")

    def wakes(event: Any, about: Any) -> bool:
        found: bool = model.get(lambda: hints.wakes(plugin, pod, event, about))
        return found

    assert wakes(kind.event, NodeChange(new, old))
    assert not wakes(kind.event, NodeChange(old, old))
    assert not wakes(label.event, NodeChange(old, new))
    assert wakes(NODE_ADD, old)


def test_where_no_node_changes_its_features_there_is_no_such_kind_of_change() -> None:
    node = Node(0, "n", 2, features=["a"])
    node.later = {"larger": Node(0, "n", 3, features=["a"])}
    model = concrete(spec([Pod(0, "p", 1, features=["a"])], (node,), node_updates=1), "1.36")
    kinds = [kind.name for kind in model.part("hints").universe[NodeUpdate]]
    assert "NodeDeclaredFeatureChange" not in kinds


SCENARIO = """
release: "1.36.0"
properties: [S-STUCK]
nodes:
  n1: {cpu: 1, updates: {declared: {declaredFeatures: [GuaranteedQoSPodCPUResize]}}}
pods:
  p: {cpu: 1, requiredFeatures: [GuaranteedQoSPodCPUResize]}
scope: {pod_events: 2, flush: false}
"""


@pytest.mark.parametrize(("release", "states"), [("1.36", 183), ("1.35", 67)])
def test_a_node_that_declares_its_features_after_it_has_joined_wakes_who_needs_them(
    release: str, states: int
) -> None:
    scenario = parse_scenario(SCENARIO)
    system = instrument(scenario.spec, resolve(release).classes, [PROPERTIES["S-STUCK"]])
    (found,) = check(system, ["S-STUCK"])
    assert (found.verdict.name, found.counts.states) == ("HOLDS", states)
