"""Required affinity in manifests: a term without a selector, keys that the API server writes into it, and values for nodes that the scheduler cannot parse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.api import check
from podrace.base.problems import Problem
from podrace.manifests import Inventory, read_manifests, represent
from podrace.manifests.situation import Situation
from podrace.manifests.telling.scenario_text import scenario_of
from podrace.model.environment.objects import NodeAffinity, NodeTerm, Operator, Requirement
from podrace.scenarios import parse_scenario
from tests.manifests.manifest_objects import REQUIRED, objects, text_of
from tests.manifests.test_representative import node, pod

HOST = "kubernetes.io/hostname"
REMARK = (
    "matchLabelKeys and mismatchLabelKeys of an affinity term are heeded as by default from 1.31 on: "
    "a verdict on an older release is not about what that one makes of it"
)
OWED = (
    "matchLabelKeys or mismatchLabelKeys of an affinity term names a label that only the controller sets: it is left out for the pods that "
    "are owed, and the verdict is not about which revision these belong to (Deployment/shop/web)"
)


def affinity(kind: str, selector: Any, **more: Any) -> dict[str, Any]:
    said = {"topologyKey": HOST, **more}
    term = said if selector is None else {**said, "labelSelector": selector}
    return {"affinity": {kind: {REQUIRED: [term]}}}


def labelled(made: dict[str, Any], revision: str) -> dict[str, Any]:
    made["metadata"]["labels"] = {"app": "web", "rev": revision}
    return made


def read(folder: Path, *some: dict[str, Any]) -> Inventory:
    file = folder / "m.yaml"
    file.write_text(text_of(list(some)))
    return read_manifests([str(file)])


def fits(found: Inventory) -> bool:
    (waiting,), (place,) = found.pending, found.nodes
    return Situation(found).fits(waiting, place)


@pytest.mark.parametrize(
    ("kind", "selector", "expected"),
    [
        ("podAntiAffinity", None, True),  # keeps away from nobody
        ("podAntiAffinity", {}, False),
        ("podAffinity", None, False),  # nobody is meant, not even the pod itself
        ("podAffinity", {}, True),
    ],
)
def test_without_a_selector_a_term_means_nobody_and_with_an_empty_one_everybody(
    tmp_path: Path, kind: str, selector: Any, expected: bool
) -> None:
    found = read(
        tmp_path,
        node("n1"),
        pod("there", "1", on="n1"),
        pod("p", "1", **affinity(kind, selector)),
    )
    assert fits(found) is expected
    assert list(found.remarks) == []


MEANT = {"matchLabels": {"app": "web"}}


@pytest.mark.parametrize(
    ("given", "there", "expected"),
    [
        ({"matchLabelKeys": ["rev"]}, "2", False),
        ({"matchLabelKeys": ["rev"]}, "1", True),
        ({"mismatchLabelKeys": ["rev"]}, "2", True),
        ({"mismatchLabelKeys": ["rev"]}, "1", False),
        ({"matchLabelKeys": ["no-such-label"]}, "1", False),  # a key that the pod does not have says nothing
    ],
)
def test_keys_are_compared_with_the_pods_own_labels(
    tmp_path: Path, given: dict[str, Any], there: str, expected: bool
) -> None:
    found = read(
        tmp_path,
        node("n1"),
        labelled(pod("there", "1", on="n1"), there),
        labelled(pod("p", "1", **affinity("podAntiAffinity", MEANT, **given)), "2"),
    )
    assert fits(found) is expected
    assert list(found.remarks) == [f"{REMARK} (Pod/shop/p)"]


@pytest.mark.parametrize(
    ("given", "operator"),
    [({"matchLabelKeys": ["rev"]}, Operator.IN), ({"mismatchLabelKeys": ["rev"]}, Operator.NOT_IN)],
)
def test_what_the_api_server_has_written_stays_though_the_label_changed(
    tmp_path: Path, given: dict[str, Any], operator: Operator
) -> None:
    merged = {**MEANT, "matchExpressions": [{"key": "rev", "operator": operator.value, "values": ["1"]}]}
    found = read(
        tmp_path,
        node("n1"),
        labelled(pod("p", "1", **affinity("podAntiAffinity", merged, **given)), "2"),
    )
    assert [t.expressions for t in found.pending[0].terms] == [(Requirement("rev", operator, ("1",)),)]
    assert list(found.remarks) == []


def test_keys_need_a_selector(tmp_path: Path) -> None:
    lonely = affinity("podAffinity", None, matchLabelKeys=["rev"])
    with pytest.raises(Problem) as problem:
        read(tmp_path, node("n1"), pod("p", "1", **lonely))
    assert str(problem.value).endswith(
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: "
        "without `labelSelector` it says nothing: add one, or remove it"
    )


def test_of_a_key_that_only_the_controller_sets_a_remark_tells(tmp_path: Path) -> None:
    (made,) = objects("deployment")
    made["spec"]["template"]["spec"] |= affinity(
        "podAntiAffinity", MEANT, matchLabelKeys=["pod-template-hash"]
    )
    assert list(read(tmp_path, node("n1"), made).remarks) == [
        f"{REMARK} (Deployment/shop/web)",
        OWED,
    ]


def to_nodes(*terms: tuple[str, str]) -> dict[str, Any]:
    """Node affinity of a term for each of these, an operator and a value for the label `generation`."""
    listed = [
        {"matchExpressions": [{"key": "generation", "operator": operator, "values": [value]}]}
        for operator, value in terms
    ]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": listed}}}}


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("Gt", "+5"), ("Gt", "-5"), ("Lt", "+9"), ("Gt", "x"), ("Lt", ""), ("Gt", "5 "), ("Gt", "0x1"), ("Lt", "9223372036854775808"),
        ("Gt", "1" * 5000), ("In", "a b"), ("NotIn", "a b"), ("NotIn", "x" * 64),
    ],
)  # fmt: skip
def test_a_term_that_the_scheduler_cannot_parse_matches_no_node_and_others_count(
    tmp_path: Path, operator: str, value: str
) -> None:
    at = node("n1", "4")
    at["metadata"]["labels"] = {"generation": "6"}
    alone = read(tmp_path, at, pod("p", "1", 0, **to_nodes((operator, value))))
    assert not fits(alone)
    (remark,) = alone.remarks
    assert remark.startswith("a term of node affinity compares with `")
    assert remark.endswith("`, which the scheduler cannot parse: the term matches no node (Pod/shop/p)")
    assert fits(read(tmp_path, at, pod("p", "1", 0, **to_nodes((operator, value), ("Gt", "5")))))
    assert not fits(read(tmp_path, at, pod("p", "1", 0, **to_nodes((operator, value), ("Gt", "6")))))


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ({"key": "k", "operator": "in", "values": ["a b"]}, "operator: there is no such operator: `in`"),
        ({"key": "k", "values": ["a b"]}, "`operator` is missing"),
        ({"key": "a b", "operator": "In", "values": ["a b"]}, "key: expected a label key"),
        ({"key": "k", "operator": "Exists", "values": ["a b"]}, "values: Exists compares with nothing"),
        ({"key": "k", "operator": "Gt", "values": ["1", "x"]}, "Gt compares with one number"),
        ({"key": "k", "operator": "In", "values": []}, "`values` is missing"),
    ],
)
def test_what_else_is_wrong_in_such_a_term_is_refused(
    tmp_path: Path, requirement: dict[str, Any], words: str
) -> None:
    """As the API server refuses it: nobody has such a pod."""
    rule = to_nodes(("Gt", "x"))
    listed = rule["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"][0]["matchExpressions"]
    for together in ([requirement], [*listed, requirement]):
        rule["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"][0]["matchExpressions"] = together
        with pytest.raises(Problem) as caught:
            read(tmp_path, node("n1", "4"), pod("p", "1", 0, **rule))
        assert words in str(caught.value)


def test_a_kept_pod_has_the_term_still_that_matches_no_node(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    made = pod("p", "1", 0, **to_nodes(("Gt", "+5"), ("NotIn", "7")))
    file.write_text(text_of([node("n1", "4"), made]))
    text = scenario_of(represent(read_manifests([str(file)])), "m", "m", [])
    (waiting,) = parse_scenario(text).spec.pods
    assert waiting.node_affinity == NodeAffinity(
        (NodeTerm(), NodeTerm((Requirement("generation", Operator.NOT_IN, ("7",)),)))
    )


def test_a_pod_on_a_node_without_the_key_meets_no_term(tmp_path: Path) -> None:
    """It counts in no domain, so the pod that waits is the first of its kind, until another is placed (filtering.go, 1.36: `update`): L-PLACE HELD, without the term."""
    anybody = {"labelSelector": {}, "namespaceSelector": {}, "topologyKey": "zone"}
    file = tmp_path / "m.yaml"
    nodes = [node("n0", "3", zone="b"), node("n2", "4", zone="a"), node("n1", "2")]
    nodes[2]["spec"] = {"unschedulable": True}
    waits = pod("a", "2", 10, affinity={"podAffinity": {REQUIRED: [anybody]}})
    file.write_text(text_of([*nodes, waits, pod("b", "2", 10), pod("x", "1", 100, "n1")]))
    (found,) = check(filename=str(file), release="1.36.3", property="L-PLACE", cache=False)
    assert (found.verdict, found.states) == ("VIOLATED", 1344)
