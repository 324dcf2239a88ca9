"""What a scope says of autoscalers, and what names nodes that one makes again: what is said of mistakes."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.scenarios import parse_scenario

NODES = "nodes: {n: {cpu: 2}, m: {cpu: 2, exists: false}}\n"
POD = "pods: {p: {cpu: 1%s}}\n"
ON = "scope: {autoscaler: true}\n"
VOLUME = "storageClasses: {local: {}}\nvolumes: {v: {storageClassName: local%s}}\nvolumeClaims: {c: {storageClassName: local}}\n"
NAMED = "p names a node, and each node that an autoscaler makes has a name of its own: ask for other labels, or remove `autoscaler`"


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ("scale_down_taints: true", "there is no autoscaler to taint nodes: add `scale_downs: 1`, or remove `scale_down_taints`"),
        ("scale_downs: 1, scale_down_waits: true", "nobody waits without the taint: add `scale_down_taints: true`, or remove `scale_down_waits`"),
        (
            "scale_down_keeps_room: true",
            "there is no autoscaler to leave nodes alone: add `autoscaler: true`, or remove `scale_down_keeps_room`",
        ),
        ("scale_downs: 1, scale_down_taints: true, scale_down_looks_again: true", "the second look comes after the taint: remove `scale_down_looks_again` or `scale_down_taints`"),
        ("scale_downs: 1, scale_down_drains: true", "a node is tainted before it is drained: add `scale_down_taints: true`, or remove `scale_down_drains`"),
        ("scale_downs: 1, scale_down_taints: true, scale_down_until_empty: true", "nobody is evicted: add `scale_down_drains: true`, or remove `scale_down_until_empty`"),
        ("autoscaler_nominates: true", "there is no autoscaler that makes nodes: add `autoscaler: true`, or remove `autoscaler_nominates`"),
        ("autoscaler: true, scale_downs: 1", "the autoscaler does so as often as it likes: remove `scale_downs` and `node_creations`, or `autoscaler`"),
        ("scale_downs: 1, scale_down_taints: true", "or remove `scale_down_taints`"),
    ],
)  # fmt: skip
def test_bounds_of_which_there_is_nothing_to_bound(scope: str, message: str) -> None:
    with pytest.raises(Problem) as error:
        parse_scenario(NODES + POD % "" + f"scope: {{{scope}}}\n")
    assert str(error.value).endswith(message)


def test_a_drain_beside_budgets_that_stay_as_they_are() -> None:
    """It could evict nobody, and would never end."""
    budget = "podDisruptionBudgets: {b: {selector: {matchLabels: {a: b}}}}\n"
    with pytest.raises(Problem) as error:
        parse_scenario(
            NODES
            + POD % ""
            + budget
            + "scope: {scale_downs: 1, scale_down_taints: true, scale_down_drains: true}\n"
        )
    assert str(error.value).endswith(
        "evictions take from budgets that are kept: add `disruption_controller: true`"
    )


@pytest.mark.parametrize(
    "asks",
    [
        "nodeSelector: {kubernetes.io/hostname: m}",
        "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [n]}]}]}}",
        "nodeAffinity: {required: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [m]}]}]}}",
        "extenderSelector: {kubernetes.io/hostname: m}",
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, matchLabels: {a: b}, others: {m: 1}}]",
        "schedulingGates: [{name: g}], updates: {u: {nodeSelector: {kubernetes.io/hostname: m}}}",
    ],
)
def test_a_pod_that_names_a_node_which_may_be_made_again(asks: str) -> None:
    text = NODES + POD % f", {asks}"
    parse_scenario(text)
    with pytest.raises(Problem) as error:
        parse_scenario(text + ON)
    assert str(error.value).endswith(NAMED)


def test_labels_that_every_node_may_have_are_no_names() -> None:
    spread = (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, matchLabels: {a: b}}]"
    )
    for asks in ("nodeSelector: {disk: ssd}", spread):
        assert parse_scenario(NODES + POD % f", {asks}" + ON).spec.scope.autoscaler


def test_the_pods_of_a_daemon_set_are_made_for_each_node_anew() -> None:
    agents = "controllers: {agent: {kind: DaemonSet, pods: {n: [p]}}}\n"
    assert parse_scenario(NODES + POD % "" + agents + ON).spec.owners


def test_a_volume_that_is_tied_to_nodes() -> None:
    text = NODES + POD % ", volumes: [c]" + VOLUME
    assert parse_scenario(text % "" + ON).spec.volumes
    with pytest.raises(Problem) as error:
        parse_scenario(text % ", nodes: [m]" + ON)
    assert str(error.value).endswith(
        "volume v is tied to nodes by their names, and each node that an autoscaler makes has a name of its own: remove `nodes` or `autoscaler`"
    )
