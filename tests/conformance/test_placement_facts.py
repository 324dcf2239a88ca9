"""What a case says of where a pod may go: nothing of it is passed over."""

from typing import Any

import pytest

from tests.conformance.registry import run_case

NODES = [{"name": name, "labels": {"zone": name}} for name in ("a", "b")]


def reached(pod: dict[str, Any], plugin: str, *there: dict[str, Any], expected: list[str]) -> None:
    case = {
        "id": "c", "kind": "schedule", "nodes": NODES, "pods": [{"name": f"e{i}", **p} for i, p in enumerate(there)],
        "pod": {"name": "p", **pod}, "filters": [plugin], "expected_any_of": expected,
    }  # fmt: skip
    assert run_case(case, "t", "1.36").status == "PASS"
    other = [node["name"] for node in NODES if node["name"] not in expected]
    assert run_case(case | {"expected_any_of": other}, "t", "1.36").status == "FAIL"


@pytest.mark.parametrize(
    ("mine", "theirs", "meet"),
    [
        ({"port": 80}, {"port": 80}, True),
        ({"port": 80}, {"port": 81}, False),
        ({"port": 80, "protocol": "UDP"}, {"port": 80}, False),
        ({"port": 80, "ip": "10.0.0.1"}, {"port": 80, "ip": ""}, True),
        ({"port": 80, "ip": "10.0.0.1"}, {"port": 80, "ip": "10.0.0.2"}, False),
        ({"port": 0}, {"port": 0}, False),
    ],
)
def test_ports_of_the_node(mine: dict[str, Any], theirs: dict[str, Any], meet: bool) -> None:
    bound = {"nodeName": "a", "hostPorts": [theirs]}
    reached({"hostPorts": [mine]}, "NodePorts", bound, expected=["b"] if meet else ["a", "b"])


def test_terms_of_node_affinity() -> None:
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    zoned = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
    reached({"nodeAffinity": {"nodeSelectorTerms": [named]}}, "NodeAffinity", expected=["a"])
    reached({"nodeAffinity": {"nodeSelectorTerms": [named, zoned]}}, "NodeAffinity", expected=["a", "b"])
    reached({"nodeAffinity": {"nodeSelectorTerms": [named | zoned]}}, "NodeAffinity", expected=[])
    reached({"nodeAffinity": zoned["matchExpressions"]}, "NodeAffinity", expected=["b"])


def test_labels_whose_own_values_are_counted() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
    bound = {"nodeName": "a", "labels": {"app": "x", "rev": "1"}}
    for keys, expected in (([], ["b"]), (["rev"], ["a", "b"]), (["none"], ["b"])):
        pod = {
            "labels": {"app": "x", "rev": "2"},
            "topologySpreadConstraints": [constraint | {"matchLabelKeys": keys}],
        }
        reached(pod, "PodTopologySpread", bound, expected=expected)
