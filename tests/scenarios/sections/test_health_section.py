"""What a scenario may say of kubelets that fail, and of the node lifecycle controller."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.model.environment.cluster.node_health import health_of
from podrace.scenarios import Scenario, parse_scenario

HEAD = """
nodes:
  n1: {NODE}
pods:
  p: {cpu: 1}
scope: {SCOPE}
"""


def read(node: str, scope: str) -> Scenario:
    return parse_scenario(HEAD.replace("NODE", node).replace("SCOPE", scope))


@pytest.mark.parametrize(
    ("node", "scope", "said"),
    [
        ("cpu: 1", "heartbeat_losses: 1", "scope.heartbeat_losses: nobody looks at kubelets that fail: add `node_lifecycle: true`, or remove `heartbeat_losses`"),
        ("cpu: 1", "node_failures: 1", "scope.node_failures: nobody looks at kubelets that fail: add `node_lifecycle: true`, or remove `node_failures`"),
        ("cpu: 1, exists: false", "node_lifecycle: true, autoscaler: true",
         "scope.node_lifecycle: how an autoscaler counts nodes that are not ready is not modelled: remove `node_lifecycle`, or `autoscaler` and `scale_down_taints`"),
        ("cpu: 1..2", "node_lifecycle: true", "nodes.n1: the controller updates the node, and a node with updates has no ranges: give one amount"),
        ("cpu: 1, exists: false, conditions: {Ready: Unknown}", "node_lifecycle: true",
         "nodes.n1.conditions: a node joins as its kubelet makes it: not ready, with the taint of the API server: leave out Ready and its taints"),
        ("cpu: 1, exists: false, taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]", "node_lifecycle: true",
         "nodes.n1.taints: a node joins as its kubelet makes it: not ready, with the taint of the API server: leave out Ready and its taints"),
        ("cpu: 1, updates: {off: {conditions: {Ready: Unknown}}}", "node_lifecycle: true, heartbeat_losses: 1",
         "nodes.n1.updates: the node lifecycle controller decides on Ready and its taints: leave both out of `updates`, or remove `node_lifecycle`"),
    ],
)  # fmt: skip
def test_mistakes(node: str, scope: str, said: str) -> None:
    with pytest.raises(Problem) as found:
        read(node, scope)
    assert str(found.value).endswith(said)


def test_without_failures_a_node_stays_as_it_is() -> None:
    (node,) = read("cpu: 1", "node_lifecycle: true").spec.nodes
    assert node.later == {}


def test_versions_of_a_node_that_may_fail_and_be_cordoned() -> None:
    scenario = read(
        "cpu: 1, updates: {cordoned: {unschedulable: true}}",
        "node_lifecycle: true, node_failures: 1, heartbeat_losses: 1",
    )
    (node,) = scenario.spec.nodes
    assert scenario.spec.scope.node_updates == 1
    assert len(node.later) == 2 * 3 * 16 - 1
    assert {health_of(v).status for v in node.later.values()} == {"True", "False", "Unknown"}
