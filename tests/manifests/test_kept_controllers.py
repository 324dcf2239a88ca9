"""Controllers of kept pods: who is made anew, as what, and why others are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from podrace.checker.search import check
from podrace.manifests import Representative, Size, read_manifests, represent
from podrace.manifests.telling.scenario_text import scenario_of
from podrace.manifests.telling.summary import account_of
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario
from tests.kubectl_dump import dump
from tests.manifests.manifest_objects import REQUIRED, owned, spec, text_of

NODE = {
    "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1", "disk": "ssd"}},
    "spec": {"taints": [{"key": "team", "value": "shop", "effect": "NoSchedule"}]}, "status": {"allocatable": {"cpu": "2", "pods": "110"}},
}  # fmt: skip
TOLERATES = {"tolerations": [{"key": "team", "operator": "Exists"}]}
URGENT = {
    "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "urgent", "namespace": "shop"}, "spec": spec("2", priority=10, **TOLERATES),
}  # fmt: skip


def pod(name: str, owner: list[dict[str, Any]], cpu: str = "1", **more: Any) -> dict[str, Any]:
    about = {"name": name, "namespace": "shop", "labels": {"app": "web"}, "ownerReferences": owner}
    asked = spec(cpu, nodeName="n1", nodeSelector={"disk": "ssd"}, **TOLERATES, **more)
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": asked,
        "status": {"phase": "Running", "startTime": "2026-01-02T03:04:05Z"},
    }  # fmt: skip


def workload(kind: str, name: str, group: str = "apps/v1", **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": "shop"},
        "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": spec("1")}, **more},
    }  # fmt: skip


def kept(folder: Path, *some: dict[str, Any], controllers: bool = True, pods: int = 4) -> Representative:
    file = folder / "m.yaml"
    file.write_text(text_of([NODE, URGENT, *some]))
    return represent(read_manifests([str(file)]), Size(pods, 2, controllers))


def written(found: Representative) -> dict[str, Any]:
    """The scenario, which must be one that podrace reads."""
    text = scenario_of(found, "x", "", [])
    parse_scenario(text)
    read: dict[str, Any] = yaml.safe_load(text)
    return read


def said(found: Representative) -> list[str]:
    """What the account says of controllers."""
    lines = account_of(found)
    start = next(i for i, line in enumerate(lines) if line.startswith("controllers"))
    return [lines[start], *(line for line in lines[start + 1 :] if line.startswith("  "))]


def test_a_replica_set_makes_its_evicted_pod_anew_as_its_template_says(tmp_path: Path) -> None:
    found = kept(tmp_path, pod("web-a", owned("ReplicaSet", "web"), "2"))
    scenario = written(found)
    template = {"cpu": 2, "priority": 0, "labels": {"app": "web"}, "tolerations": [{"key": "team", "operator": "Exists"}]}  # fmt: skip
    template["nodeSelector"] = {"disk": "ssd"}
    assert scenario["pods"]["shop/web-a"] == {**template, "nodeName": "n1"}
    assert scenario["pods"]["shop/web-a-again"] == {**template, "exists": False}
    assert scenario["controllers"] == {
        "web": {"kind": "ReplicaSet", "replicas": 1, "pods": ["shop/web-a", "shop/web-a-again"]}
    }
    assert scenario["nodes"]["n1"]["labels"] == {"disk": "ssd"}
    assert scenario["properties"][-1] == "L-LOOP"
    assert said(found) == [
        "controllers that recreate kept pods: 1",
        "  ReplicaSet/shop/web keeps 1 pod, as shop/web-a and shop/web-a-again",
        "  not recreated: shop/urgent: it has no controller",
    ]


def test_what_is_checked_of_it(tmp_path: Path) -> None:
    """The pod that is evicted is made anew, and has to wait."""
    found = kept(tmp_path, pod("web-a", owned("ReplicaSet", "web"), "2"))
    of = parse_scenario(scenario_of(found, "x", "", [])).spec
    small = replace(of, scope=replace(of.scope, pod_events=1, flush=False))
    classes = resolve("1.36").classes
    (result,) = check(instrument(small, classes, [PROPERTIES["S-MANY"]]), ["S-MANY"])
    assert (result.verdict.name, result.counts.states, result.vacuous) == ("HOLDS", 12525, False)


def test_without_the_option_no_controller_acts(tmp_path: Path) -> None:
    found = kept(tmp_path, pod("web-a", owned("ReplicaSet", "web"), "2"), controllers=False)
    scenario = written(found)
    assert "controllers" not in scenario
    assert "startTime" in scenario["pods"]["shop/web-a"]
    assert not [line for line in account_of(found) if line.startswith("controllers")]


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_pods_of_a_stateful_set_stand_for_themselves(policy: str, tmp_path: Path) -> None:
    db = workload("StatefulSet", "db", replicas=2, podManagementPolicy=policy)
    some = [pod(f"db-{i}", owned("StatefulSet", "db")) for i in (1, 0)]
    scenario = written(kept(tmp_path, db, *some))
    wanted = {"kind": "StatefulSet", "pods": ["shop/db-0", "shop/db-1"]}
    more = {"podManagementPolicy": "Parallel"} if policy == "Parallel" else {}
    assert scenario["controllers"] == {"db": {**wanted, **more}}
    assert set(scenario["pods"]) == {"shop/urgent", "shop/db-0", "shop/db-1"}


def test_a_set_that_is_not_there_is_said_to_be_taken_for_a_usual_one(tmp_path: Path) -> None:
    found = kept(tmp_path, pod("db-0", owned("StatefulSet", "db"), "2"))
    assert said(found)[1] == (
        "  StatefulSet/shop/db keeps 1 pod, as shop/db-0 (its object is not there: taken for one with the default policy)"
    )


def test_a_job_may_wait_until_its_pod_has_ended(tmp_path: Path) -> None:
    job = workload("Job", "work", "batch/v1", podReplacementPolicy="Failed")
    scenario = written(kept(tmp_path, job, pod("work-a", owned("Job", "work"), "2")))
    assert scenario["controllers"]["work"] == {
        "kind": "Job", "completions": 1, "podReplacementPolicy": "Failed", "pods": ["shop/work-a", "shop/work-a-again"],
    }  # fmt: skip


def test_pods_of_a_daemon_set_are_for_their_nodes(tmp_path: Path) -> None:
    name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    disk = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{**name, **disk}]}}}
    scenario = written(kept(tmp_path, pod("agent-x", owned("DaemonSet", "agent"), "2", affinity=affinity)))
    assert scenario["controllers"] == {"agent": {"kind": "DaemonSet", "pods": {"n1": ["shop/agent-x"]}}}
    assert scenario["pods"]["shop/agent-x"]["nodeAffinity"]["required"]["nodeSelectorTerms"] == [disk]


def _deleted(found: dict[str, Any]) -> dict[str, Any]:
    found["metadata"] |= {"deletionTimestamp": "2026-01-02T03:04:05Z", "deletionGracePeriodSeconds": 30}
    return found


def _ignoring(found: dict[str, Any]) -> dict[str, Any]:
    found["metadata"]["annotations"] = {"podrace.io/ignore": "S-CAP: known"}
    return found


WEB = owned("ReplicaSet", "web")


@pytest.mark.parametrize(
    ("some", "why"),
    [
        ([pod("web-a", owned("Rollout", "web"), "2")], "shop/web-a and shop/web-a-again: the controller of a Rollout is not modelled"),
        ([pod("web-a", WEB), pod("web-b", WEB, terminationGracePeriodSeconds=0)],
         "shop/web-a, shop/web-b and shop/web-a-again: the kept pods of its controller differ, and a controller has one template"),
        ([_ignoring(pod("web-a", WEB, "2"))], "shop/web-a and shop/web-a-again: an annotation ignores properties of it, and the next pod is another one"),
        ([pod(f"web-{i}", owned("DaemonSet", "web")) for i in "ab"],
         "shop/web-a and shop/web-b: its controller has two pods for one node, and wants one (a rolling update with maxSurge)"),
    ],
)  # fmt: skip
def test_why_a_pod_is_not_made_anew(some: list[dict[str, Any]], why: str, tmp_path: Path) -> None:
    found = kept(tmp_path, *some)
    assert f"  not recreated: {why}" in said(found)
    assert "controllers" not in written(found)


def test_pods_that_nobody_takes_away_need_no_controller(tmp_path: Path) -> None:
    waits = pod("urgent-2", WEB, "2", priority=10)
    del waits["spec"]["nodeName"], waits["status"]
    found = kept(tmp_path, pod("web-a", owned("ReplicaSet", "low"), "2"), waits)
    assert (
        "  not recreated: shop/urgent-2: nobody takes it away: no more important pod is kept, and no kept node has a taint with NoExecute"
        in said(found)
    )


def test_a_whole_dump_with_its_controllers_is_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text(dump())
    for pods in (3, 5, 8):
        found = represent(read_manifests([str(file)]), Size(pods, 2, True))
        scenario = written(found)
        assert found.makers is not None
        assert len(scenario.get("controllers", {})) == len(found.makers.controllers)
        assert {p.name for p in found.pods} == set(scenario["pods"])
        named = {p.name for c in found.makers.controllers for p in c.pods}
        assert named | set(found.makers.left_out) == set(scenario["pods"])
