"""Manifests are read as Kubernetes means them."""

from __future__ import annotations

import io
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podrace.base.problems import Problem
from podrace.manifests import Inventory, read_manifests
from podrace.manifests.reading.resource_amounts import parse_quantity, write_amount
from podrace.manifests.situation import Situation
from podrace.scenarios.values.resources import kind_of
from tests.manifests.manifest_objects import objects, spec, text_of


def inventory(folder: Path, *some: dict[str, Any]) -> Inventory:
    file = folder / "m.yaml"
    file.write_text(text_of(list(some)))
    return read_manifests([str(file)])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2", Fraction(2)), ("500m", Fraction(1, 2)), (".5", Fraction(1, 2)), ("1.", Fraction(1)), ("+3", Fraction(3)),
        ("1e3", Fraction(1000)), ("1E3", Fraction(1000)), ("1E", Fraction(10**18)), ("2Ei", Fraction(2 << 60)),
        ("1.5Gi", Fraction(3 << 29)), ("100n", Fraction(1, 10**7)), ("3u", Fraction(3, 10**6)), ("5e-1", Fraction(1, 2)),
        ("-1", None), ("", None), (".", None), ("m", None), ("1mi", None), ("0x10", None), ("1 ", None), ("٣", None),
        (".nan", None), ("1e", None), ("Ki", None), ("1_000", None),
    ],
)  # fmt: skip
def test_quantities(text: str, number: Fraction | None) -> None:
    assert parse_quantity(text) == number


@pytest.mark.parametrize(("written", "number"), [("110", 110), (110, 110), ("1e2", 100), ("1k", 1000)])
def test_how_many_pods_a_node_admits_is_a_quantity(tmp_path: Path, written: str | int, number: int) -> None:
    (node,) = objects("node")
    node["status"]["allocatable"]["pods"] = written
    assert inventory(tmp_path, node).nodes[0].pods == number


@given(st.sampled_from(["cpu", "memory", "example.com/gpu"]), st.integers(0, 1_000_000))
def test_amounts_are_written_as_scenarios_read_them(resource: str, amount: int) -> None:
    """Nothing is lost between the manifest and the scenario."""
    read = kind_of(resource).parse(str(write_amount(resource, amount)))
    assert read == (Fraction(amount, 1000) if resource == "cpu" else amount)


@given(st.integers(0, 1 << 40), st.sampled_from(["", "Ki", "Mi", "k", "M"]))
def test_whole_quantities_are_exact(number: int, suffix: str) -> None:
    scale = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "k": 1000, "M": 10**6}[suffix]
    assert parse_quantity(f"{number}{suffix}") == number * scale


def container(cpu: str, **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("pod", "cpu"),
    [
        ({"containers": [container("1"), container("500m")]}, 1500),
        ({"containers": [container("1")], "initContainers": [container("3"), container("2")]}, 3000),
        ({"containers": [container("1")], "initContainers": [container("500m")], "overhead": {"cpu": "250m"}}, 1250),
        ({"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]}, 2000),
        ({"containers": [{"name": "c"}]}, 0),
        ({"containers": [container("1")], "initContainers": [container("2", restartPolicy="Always")]}, 3000),
        (
            {"containers": [container("1")], "initContainers": [container("2", restartPolicy="Always"), container("4")]},
            6000,
        ),
        (
            {"containers": [container("1")], "initContainers": [container("4"), container("2", restartPolicy="Always")]},
            4000,
        ),
        ({"containers": [container("1u")]}, 1),  # rounded up to a thousandth
        ({"containers": [container("1")], "resources": {"requests": {"cpu": "5"}}}, 5000),
        # A limit of the pod as a whole is a request where no container asks.
        ({"containers": [container("1"), container("2")], "resources": {"limits": {"cpu": "5"}}}, 3000),
        ({"containers": [{"name": "c"}], "resources": {"limits": {"cpu": "5"}}}, 5000),
        ({"containers": [container("1")], "resources": {"requests": {"memory": "1Gi"}, "limits": {"cpu": "5"}}}, 1000),
    ],
)  # fmt: skip
def test_requests(tmp_path: Path, pod: dict[str, Any], cpu: int) -> None:
    rival = {**objects("rival")[0], "spec": pod}
    (found,) = inventory(tmp_path, *objects("node"), rival).pending
    assert found.requests.get("cpu", 0) == cpu


@pytest.mark.parametrize(
    ("fields", "default", "priority", "preempts"),
    [
        ({}, False, 0, True),
        ({}, True, 1000, True),
        ({"priorityClassName": "high"}, False, 1000, True),
        ({"priorityClassName": "high", "priority": 7}, False, 7, True),
        ({"priorityClassName": "system-node-critical"}, False, 2_000_001_000, True),
        ({"priorityClassName": "gone", "priority": 7}, False, 7, True),
        ({"preemptionPolicy": "Never"}, True, 1000, False),
    ],
)  # fmt: skip
def test_priorities(
    tmp_path: Path, fields: dict[str, Any], default: bool, priority: int, preempts: bool
) -> None:
    node, high, rival = objects("node", "class", "rival")
    high["globalDefault"] = default
    rival["spec"] = spec("1", **fields)
    (found,) = inventory(tmp_path, node, high, rival).pending
    assert (found.priority, found.preempts) == (priority, preempts)


def test_the_least_of_several_default_classes_counts(tmp_path: Path) -> None:
    node, high, rival = objects("node", "class", "rival")
    low = {
        **high,
        "metadata": {"name": "low"},
        "value": 5,
        "globalDefault": True,
        "preemptionPolicy": "Never",
    }
    del rival["spec"]["priority"]
    (found,) = inventory(tmp_path, node, {**high, "globalDefault": True}, low, rival).pending
    assert (found.priority, found.preempts) == (5, False)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"status": {"phase": "Succeeded"}}, "finished"),
        ({"status": {"phase": "Failed"}}, "finished"),
        ({"spec": spec("1", schedulingGates=[{"name": "wait"}])}, "held by a scheduling gate"),
        ({"spec": spec("1", schedulerName="mine")}, "left to another scheduler"),
        ({"spec": spec("1", nodeName="n7")}, "on a node that is not among the objects"),
    ],
)
def test_pods_that_do_not_count(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    found = inventory(tmp_path, *objects("node", "class", "preemptor"), {**objects("rival")[0], **change})
    assert [p.name for p in found.pending] == ["shop/api-1"]
    assert found.set_aside == {reason: 1}


def test_what_controllers_still_owe(tmp_path: Path) -> None:
    """The ReplicaSet has its pod, the Deployment wants two, the Job two of the three that it has left."""
    found = inventory(tmp_path, *objects("node", "replicaset", "deployment", "job", "victim"))
    names = [p.name for p in found.pending]
    assert names == ["shop/web-new-1", "shop/web-new-2", "shop/report-new-1", "shop/report-new-2"]
    assert {p.owner for p in found.pending} == {"Deployment/shop/web", "Job/shop/report"}


def test_a_stateful_set_numbers_its_pods_and_huge_ones_cost_nothing(tmp_path: Path) -> None:
    (big,) = objects("replicaset")
    big |= {"kind": "StatefulSet"}
    big["spec"] |= {"replicas": 2_000_000_000, "podManagementPolicy": "Parallel"}
    found = inventory(tmp_path, *objects("node"), big).pending
    assert [p.name for p in found] == [f"shop/batch-{i}" for i in range(8)]
    assert sum(p.stands_for for p in found) == 2_000_000_000


@pytest.mark.parametrize("deployment_has_sets", [True, False])
def test_a_deployment_leaves_its_pods_to_its_replica_sets(tmp_path: Path, deployment_has_sets: bool) -> None:
    node, deployment, sets, pod = objects("node", "deployment", "replicaset", "rival")
    owner = {"kind": "Deployment", "name": "web", "uid": "uid-web", "controller": True}
    sets["metadata"] |= {"name": "web-1", "ownerReferences": [owner]}
    sets["spec"] = {**deployment["spec"], "replicas": 3}
    pod["metadata"] |= {"labels": {"app": "web"}}
    pod["metadata"]["ownerReferences"] = [{**owner, "kind": "ReplicaSet", "name": "web-1"}]
    some = [node, deployment, pod, *([sets] if deployment_has_sets else [])]
    names = [p.name for p in inventory(tmp_path, *some).pending]
    assert names == [
        "shop/search-1",
        *(["shop/web-1-new-1", "shop/web-1-new-2"] if deployment_has_sets else ["shop/web-new-1"]),
    ]


def test_every_form_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents, a List, typed lists, JSON, a directory, the standard input, and a text that begins with a mark."""
    some = objects("node", "class", "victim", "preemptor", "rival")
    several = {"kind": "List", "apiVersion": "v1", "items": some}
    lists = [
        {"kind": f"{kind}List", "apiVersion": "v1", "items": [{k: v for k, v in o.items() if k not in ("kind", "apiVersion")} for o in some if o["kind"] == kind]}
        for kind in ("Node", "Pod")
    ]  # fmt: skip
    nested = {"kind": "List", "apiVersion": "v1", "items": some[:1]}
    texts = {
        "documents.yaml": text_of(some), "list.yaml": yaml.safe_dump(several), "list.json": json.dumps(several),
        "compact.json": json.dumps(several, separators=(",", ":")), "typed.yaml": text_of([*lists, some[1]]),
        "mark.yaml": "\ufeff" + text_of(some), "crlf.yaml": text_of(some).replace("\n", "\r\n"),
        "mixed.yaml": text_of([nested, *some[1:]]), "tabs.json": json.dumps(several, indent="\t"),
    }  # fmt: skip
    found = set()
    for name, text in texts.items():
        (tmp_path / name).write_text(text, newline="")
        read = read_manifests([str(tmp_path / name)])
        found.add((tuple(p.name for p in read.bound), tuple((p.name, p.priority) for p in read.pending)))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(texts["documents.yaml"].encode())))
    read = read_manifests(["-"])
    found.add((tuple(p.name for p in read.bound), tuple((p.name, p.priority) for p in read.pending)))
    assert found == {(("shop/batch-1",), (("shop/api-1", 1000), ("shop/search-1", 1000)))}


def test_directories(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.yml").write_text(text_of(objects("node", "class")))
    (tmp_path / "deep" / "b.yaml").write_text(text_of(objects("rival")))
    (tmp_path / "notes.txt").write_text("not YAML: : :")
    assert len(read_manifests([str(tmp_path)], recursive=True).pending) == 1
    assert not read_manifests([str(tmp_path)]).pending
    (tmp_path / "a.yml").unlink()
    with pytest.raises(Problem, match=r"ends in \.yaml, \.yml, \.json; -R looks into the directories below"):
        read_manifests([str(tmp_path)])


def test_unknown_kinds_are_left_out_or_refused(tmp_path: Path) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": 3}
    foreign = {"apiVersion": "example.com/v1", "kind": "Node", "metadata": {"name": "n2"}}
    found = inventory(tmp_path, *objects("node", "rival"), service, service, foreign)
    file = tmp_path / "m.yaml"
    assert found.remarks == [
        f"objects of kind Service say nothing to the scheduler's model: left out ({file}, {file})",
        f"objects of kind Node say nothing to the scheduler's model: left out ({file})",
    ]
    with pytest.raises(
        Problem, match=r"m\.yaml:\d+: kind: podrace knows no kind `Service` of v1; known: Pod, Node"
    ):
        read_manifests([str(file)], strict=True)


@pytest.mark.parametrize(
    ("plugin", "point", "fits"),
    [("TaintToleration", "filter", True), ("NodeAffinity", "filter", False), ("*", "filter", True), ("TaintToleration", "multiPoint", True)],
)  # fmt: skip
def test_disabled_plugins(tmp_path: Path, plugin: str, point: str, fits: bool) -> None:
    """The node's taint is not tolerated."""
    node, config, rival = objects("node", "config", "rival")
    rival["spec"] = spec("1")
    config["profiles"] = [{"plugins": {point: {"disabled": [{"name": plugin}]}}}]
    read = inventory(tmp_path, node, config, rival)
    assert Situation(read).fits(read.pending[0], read.nodes[0]) == fits


NONE: dict[str, Any] = {"disabled": [{"name": "*"}]}


@pytest.mark.parametrize(
    ("plugins", "fits", "preempts"),
    [
        ({"multiPoint": NONE}, True, False),
        ({"multiPoint": NONE, "filter": {"enabled": [{"name": "TaintToleration"}]}}, False, False),
        ({"multiPoint": {**NONE, "enabled": [{"name": "TaintToleration"}, {"name": "DefaultPreemption"}]}}, False, True),
        ({"multiPoint": {"enabled": [{"name": "TaintToleration"}]}, "filter": NONE}, True, True),
        ({"filter": {**NONE, "enabled": [{"name": "TaintToleration"}]}}, False, True),
        ({"multiPoint": NONE, "postFilter": {"enabled": [{"name": "DefaultPreemption"}]}}, True, True),
        ({"preFilter": NONE}, False, True),
        ({"score": NONE, "filter": {"disabled": [{"name": "NodeName"}]}}, False, True),
    ],
)  # fmt: skip
def test_a_plugin_runs_where_its_point_or_all_points_say(
    tmp_path: Path, plugins: dict[str, Any], fits: bool, preempts: bool
) -> None:
    """The node's taint is not tolerated. What a point enables by itself is on, whatever multiPoint switches off."""
    node, config, rival = objects("node", "config", "rival")
    rival["spec"] = spec("1")
    config["profiles"] = [{"plugins": plugins}]
    read = inventory(tmp_path, node, config, rival)
    assert Situation(read).fits(read.pending[0], read.nodes[0]) == fits
    assert read.pending[0].preempts == preempts


def test_a_filter_without_its_pre_filter_is_told(tmp_path: Path) -> None:
    node, config, rival = objects("node", "config", "rival")
    config["profiles"] = [{"plugins": {"preFilter": {"disabled": [{"name": "NodeResourcesFit"}]}}}]
    (remark,) = (r for r in inventory(tmp_path, node, config, rival).remarks if "preFilter" in r)
    assert remark.endswith("it is taken to have both (NodeResourcesFit)")


def test_without_preemption_nobody_preempts(tmp_path: Path) -> None:
    node, config, rival = objects("node", "config", "rival")
    config["profiles"] = [{"plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}]
    assert not inventory(tmp_path, node, config, rival).pending[0].preempts


def test_remarks_on_what_is_not_modelled(tmp_path: Path) -> None:
    node, config, rival, budget = objects("node", "config", "rival", "budget")
    config["profiles"] = [{"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": {}}}]}]
    del config["percentageOfNodesToScore"]
    rival["spec"] |= {
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}
        ],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    }
    rival["status"] = {"phase": "Pending", "nominatedNodeName": "n1"}
    budget["spec"] = {}
    assert [line.partition(":")[0] for line in inventory(tmp_path, node, config, rival, budget).remarks] == [
        "addedAffinity is not modelled",
        "a budget without a selector protects no pod",
        "the pod is nominated already",
        "claims of volumes are not among the objects, and taken to fit everywhere",
    ]


def test_what_is_ignored_is_said_by_pods_and_templates(tmp_path: Path) -> None:
    pod, made = objects("victim", "deployment")
    (node,) = objects("node")
    pod["metadata"]["annotations"] = {
        "podrace.io/ignore": "S-NOM: because\n  S-UNIQ:too \n",
        "other": "S-CAP",
    }
    made["spec"]["template"]["metadata"]["annotations"] = {"podrace.io/ignore": "L-PEND: it may wait: 5 min"}
    read = inventory(tmp_path, node, pod, made)
    assert [dict(p.ignored) for p in read.bound] == [{"S-NOM": "because", "S-UNIQ": "too"}]
    assert [dict(p.ignored) for p in read.pending] == [{"L-PEND": "it may wait: 5 min"}] * 2
    assert list(read.remarks) == []


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([], "no Kubernetes object in it"),
        (["Service"], "no object in it is of a kind that is read: 1 of kind Service"),
        (
            ["Secret", "Service", "ConfigMap", "DaemonSet", "Service", "\x1b[31m"],
            "no object in it is of a kind that is read: 2 of kind Service, 1 of kind \N{REPLACEMENT CHARACTER}[31m, 1 of kind ConfigMap and 2 more",
        ),
    ],
)
def test_a_dump_of_which_nothing_is_read_says_what_is_there(
    tmp_path: Path, kinds: list[str], expected: str
) -> None:
    items = [
        {"apiVersion": "apps/v1" if k == "DaemonSet" else "v1", "kind": k, "metadata": {"name": f"o{i}"}}
        for i, k in enumerate(kinds)
    ]
    file = tmp_path / "m.yaml"
    file.write_text(text_of([{"apiVersion": "v1", "kind": "List", "items": items}]))
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert str(caught.value) == (
        f"{file}: {expected}: give what kubectl get nodes,pods,pdb,priorityclass,pvc,pv,storageclass,csinode,csidriver,volumeattachment -A -o yaml prints"
    )
