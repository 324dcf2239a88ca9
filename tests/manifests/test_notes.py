"""What is left out of a cluster's objects, or only partly understood, is said, and said rightly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.manifests import read_manifests
from podrace.manifests.left_out import remarks_of
from podrace.manifests.situation import Situation
from podrace.manifests.telling.summary import account_of
from tests.manifests.manifest_objects import REQUIRED, objects, owned, spec, text_of
from tests.manifests.test_manifests import inventory
from tests.manifests.test_representative import kept, node, pod


def test_a_pod_that_never_preempts_is_not_told_that_it_would_not_help(tmp_path: Path) -> None:
    victim = pod("v", "2", 0, "n1")
    never = pod("p", "2", 10, preemptionPolicy="Never")
    with pytest.raises(Problem) as caught:
        kept(tmp_path, node("n1", "2"), victim, never, focus="shop/p")
    assert (
        "shop/p fits no node, and nobody is evicted for shop/p (its preemptionPolicy is Never): nothing"
        in str(caught.value)
    )
    with pytest.raises(Problem) as caught:
        kept(tmp_path, node("n1", "2"), pod("v", "2", 50, "n1"), never, pod("q", "2", 10))
    assert (
        "every pod that waits, such as shop/p, fits no node, and evicting pods of lower priority would not help, and nobody is "
        "evicted for shop/p (its preemptionPolicy is Never): nothing"
    ) in str(caught.value)


def test_the_account_says_who_evicts_nobody(tmp_path: Path) -> None:
    some = [
        node("n1", "2"),
        pod("v", "2", 0, "n1"),
        pod("p", "2", 10),
        pod("never", "2", 10, preemptionPolicy="Never"),
    ]
    lines = account_of(kept(tmp_path, *some))
    assert "  no room, and nobody is evicted for it (its preemptionPolicy is Never): shop/never" in lines
    assert not any("no room, and evicting pods of lower priority would not help" in line for line in lines)


def test_without_the_plugin_nobody_is_evicted(tmp_path: Path) -> None:
    (config,) = objects("config")
    config["profiles"] = [{"plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}]
    with pytest.raises(Problem, match=r"nobody is evicted for shop/p \(DefaultPreemption is switched off\)"):
        kept(tmp_path, node("n1", "2"), pod("v", "2", 0, "n1"), pod("p", "2", 10), config)


def daemon(name: str, on: str) -> dict[str, Any]:
    found = pod(name, "1", 10, on)
    found["metadata"]["ownerReferences"] = owned("DaemonSet", "agent")
    return found


def test_daemon_sets_would_preempt(tmp_path: Path) -> None:
    made = {
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "shop"},
        "spec": {"template": {"spec": spec("1", priority=10)}},
    }  # fmt: skip
    words = (
        "pods that a DaemonSet still owes are left out, though they would wait for their nodes and could preempt there; "
        "those among the objects count (DaemonSet/shop/agent)"
    )
    assert inventory(tmp_path, *objects("node"), made).remarks == [words]
    with pytest.raises(Problem) as caught:
        kept(tmp_path, node("n1"), daemon("agent-1", "n1"))
    assert (
        "no pod waits to be scheduled, and no controller but DaemonSets, whose pods are tied to their nodes, would create one"
        in str(caught.value)
    )
    batch = pod("b", "1", 0, "n1")
    batch["metadata"]["ownerReferences"] = owned("ReplicaSet", "b")
    assert (
        "  not asked about: 1 pod of DaemonSets, which come back to their own nodes and may preempt there"
    ) in account_of(kept(tmp_path, node("n1"), daemon("agent-1", "n1"), batch))


def test_claims_of_devices_and_ephemeral_volumes(tmp_path: Path) -> None:
    (rival,) = objects("rival")
    rival["spec"] |= {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
        "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}],
    }
    assert inventory(tmp_path, *objects("node"), rival).remarks == [
        (
            "a claim of devices is left out, and taken to be free on every node: it is not among the objects (dump resourceclaims and "
            "resourceclaimtemplates, too) (shop/search-1-gpu of shop/search-1)"
        ),
        (
            "the claim is not bound, and StorageClasses are not among the objects: it is taken to fit everywhere; dump storageclass, too "
            "(PersistentVolumeClaim/shop/search-1-v)"
        ),
    ]


def stateful(replicas: int, **more: Any) -> dict[str, Any]:
    (found,) = objects("replicaset")
    found |= {"kind": "StatefulSet"}
    found["spec"] |= {"replicas": replicas, **more}
    return found


def test_an_ordered_stateful_set_creates_one_pod_at_a_time(tmp_path: Path) -> None:
    found = inventory(tmp_path, *objects("node"), stateful(3))
    assert [(p.name, p.stands_for) for p in found.pending] == [("shop/batch-0", 1)]
    words = "OrderedReady: the StatefulSet creates its missing pods one after the other, so only the first of them waits"
    assert found.remarks == [f"{words} (StatefulSet/shop/batch)"]
    found = inventory(tmp_path, *objects("node"), stateful(3, podManagementPolicy="Parallel"))
    assert [p.name for p in found.pending] == ["shop/batch-0", "shop/batch-1", "shop/batch-2"]
    assert found.remarks == []


def test_while_a_pod_of_it_waits_it_creates_none(tmp_path: Path) -> None:
    waiting = pod("batch-0", "1")
    waiting["metadata"]["ownerReferences"] = owned("StatefulSet", "batch")
    found = inventory(tmp_path, *objects("node"), stateful(3), waiting)
    assert [p.name for p in found.pending] == ["shop/batch-0"]
    assert found.remarks == [
        "OrderedReady: while a pod of the StatefulSet waits, it creates no other (StatefulSet/shop/batch)"
    ]


def test_an_unknown_policy_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(text_of([*objects("node"), stateful(3, podManagementPolicy="Random")]))
    with pytest.raises(Problem, match=r"podManagementPolicy.*OrderedReady"):
        read_manifests([str(file)])


def test_directories_that_are_passed_over_are_said(tmp_path: Path) -> None:
    below = tmp_path / "below" / "deeper"
    below.mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.yaml").write_text(text_of([node("n1", "2"), pod("p", "1")]), encoding="utf-8")
    said = "directories below those of -f were not looked into, -R does so"
    (below / "notes.txt").write_text("nothing", encoding="utf-8")
    assert not any(said in remark for remark in read_manifests([str(tmp_path)]).remarks)
    (below / "b.yaml").write_text(text_of([node("n2", "2")]), encoding="utf-8")
    assert f"{said} ({tmp_path / 'below'})" in read_manifests([str(tmp_path)]).remarks
    assert not any(said in remark for remark in read_manifests([str(tmp_path)], recursive=True).remarks)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "metadata:\n  name: {{ .Release.Name }}\n",
            "2: expected a name before the colon, not a mapping or a list",
        ),
        ("{{- if .Values.on }}\nkind: Pod\n", "1: not a YAML that podrace reads: "),
    ],
)
def test_a_template_has_a_remedy(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert str(caught.value).startswith(f"{file}:{problem}")
    assert str(caught.value).endswith("; it has {{ as a template does: give what `helm template` prints")
    file.write_text("kind: [\n", encoding="utf-8")
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert "helm" not in str(caught.value)


def test_tolerations_that_compare_numbers_tolerate_nothing(tmp_path: Path) -> None:
    tainted = node("n1")
    tainted["spec"] = {"taints": [{"key": "sla", "value": "900", "effect": "NoSchedule"}]}
    said = [
        {"key": "sla", "operator": "Gt", "value": "750"},
        {"key": "sla", "operator": "Equal", "value": "1"},
    ]
    found = inventory(tmp_path, tainted, pod("p", "1", tolerations=said))
    assert [t.operator for t in found.pending[0].tolerations] == ["Equal"]
    assert not Situation(found).fits(found.pending[0], found.nodes[0])
    (remark,) = found.remarks
    assert "(Lt, Gt) tolerates nothing here, as by default" in remark
    assert remark.endswith("TaintTolerationComparisonOperators (Pod/shop/p)")


def test_less_than_no_time_is_none(tmp_path: Path) -> None:
    """As to the API server, which takes any number."""
    said = [{"key": "x", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1}]
    found = inventory(tmp_path, node("n1"), pod("p", "1", tolerations=said))
    assert found.pending[0].tolerations[0].seconds == 0


def test_disks_that_pods_name_themselves(tmp_path: Path) -> None:
    disks = [
        {"name": "d", "gcePersistentDisk": {"pdName": "x"}},
        {"name": "e", "iscsi": {"iqn": "y"}},
        {"name": "f", "emptyDir": {}},
    ]
    found = inventory(tmp_path, node("n1"), pod("p", "1", volumes=disks))
    assert [remark.partition(" keeps")[0] for remark in found.remarks] == [
        f"a disk that is named in the pod itself ({kind})" for kind in ("gcePersistentDisk", "iscsi")
    ]


@pytest.mark.parametrize(
    ("selector", "known", "told"),
    [
        ({"matchLabels": {"team": "a"}}, False, True),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, False, True),
        ({"matchLabels": {"kubernetes.io/metadata.name": "shop"}}, False, False),
        ({}, False, False),
        ({"matchLabels": {"team": "a"}}, True, False),
    ],
)
def test_labels_of_namespaces_that_nobody_knows(
    tmp_path: Path, selector: dict[str, Any], known: bool, told: bool
) -> None:
    keeps_away = [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}, "namespaceSelector": selector}
    ]
    shy = pod("p", "1", affinity={"podAntiAffinity": {REQUIRED: keeps_away}})
    found = inventory(tmp_path, node("n1"), shy, *(objects("namespace") if known else []))
    assert [remark for remark in found.remarks if "dump namespaces, too (Pod/shop/p)" in remark] == (
        list(found.remarks) if told else []
    )
    assert bool(found.remarks) == told


@pytest.mark.parametrize(
    "text", ["kind: KubeSchedulerConfiguration\n", '{"kind": "KubeSchedulerConfiguration"}']
)
def test_a_configuration_in_a_config_map_is_told(tmp_path: Path, text: str) -> None:
    held = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scheduler"},
        "data": {"config.yaml": "apiVersion: x\n" * text.startswith("kind") + text, "other": "kind: Other\n"},
    }  # fmt: skip
    left_out, told = inventory(tmp_path, node("n1"), pod("p", "1"), held).remarks
    assert left_out.startswith("objects of kind ConfigMap")
    assert told.startswith("a KubeSchedulerConfiguration that lies in another object is not read")
    assert "(config.yaml at " in told


def test_a_pod_that_is_resized_as_a_whole(tmp_path: Path) -> None:
    smaller = pod("p", "1", 0, "n1", resources={"requests": {"cpu": "1"}})
    has: dict[str, Any] = {"resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "1"}}
    since, remark = inventory(tmp_path, node("n1"), smaller | {"status": has}).remarks
    assert since.startswith("resources of the pod as a whole count as by default from 1.34 on")
    assert remark.startswith("a resize of the pod as a whole is not over")
    has["resources"]["requests"] = {"cpu": "1000m"}
    assert inventory(tmp_path, node("n1"), smaller | {"status": has}).remarks == [since]


def test_a_node_that_has_said_nothing_yet(tmp_path: Path) -> None:
    """A node of a cluster that has just been made has an empty status; one that somebody writes needs its room."""
    new = node("n2")
    new["metadata"]["uid"], new["status"] = "uid-n2", {}
    found = inventory(tmp_path, node("n1"), new, pod("p", "0"))
    assert [Situation(found).fits(found.pending[0], n) for n in found.nodes] == [True, False]
    assert found.remarks == [
        "the node has not said yet what it can allocate: it has room for nobody (Node/n2)"
    ]
    del new["metadata"]["uid"]
    with pytest.raises(Problem, match=r"`status\.allocatable` is missing"):
        inventory(tmp_path, node("n1"), new, pod("p", "0"))


@pytest.mark.parametrize("uid", ["", "u"])
def test_a_node_that_does_not_say_how_many_pods_it_admits(tmp_path: Path, uid: str) -> None:
    """To kube-scheduler it admits none; who writes one by hand means that this is no matter."""
    silent = node("n1", "4")
    del silent["status"]["allocatable"]["pods"]
    silent["metadata"]["uid"] = uid
    found = inventory(tmp_path, silent, pod("p", "1"))
    assert Situation(found).fits(found.pending[0], found.nodes[0]) is not bool(uid)
    told = ["the node does not say how many pods it admits: as to kube-scheduler, none (Node/n1)"]
    assert found.remarks == (told if uid else [])


def test_what_pods_get_when_they_are_created(tmp_path: Path) -> None:
    owing = stateful(1)
    owing["spec"]["template"]["spec"]["runtimeClassName"] = "kata"
    (remark,) = inventory(tmp_path, *objects("node"), owing).remarks
    assert remark.startswith("a RuntimeClass gives overhead")
    assert remark.endswith("(StatefulSet/shop/batch)")


@pytest.mark.parametrize(("kind", "said"), [("StatefulSet", True), ("ReplicaSet", False)])
def test_that_a_name_is_used_again_is_not_in_the_scenario(tmp_path: Path, kind: str, said: bool) -> None:
    """The pod in place of a StatefulSet's victim is another one with another name."""
    victim = pod("db-0", "2", 0, "n1")
    victim["metadata"]["ownerReferences"] = owned(kind, "db")
    found = list(remarks_of(kept(tmp_path, node("n1", "2"), victim, pod("p", "2", 10))))
    words = "a StatefulSet makes its pod again under the same name: that names are used again is not in the scenario (Pod/shop/db-0-again)"
    assert (words in found) == said
