"""What a dump says of pods that are not ready or being deleted, of finalizers, and of nodes that fail: it is in the scenario, or said to be left out, with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.manifests import Representative, Size, read_manifests, represent
from podrace.manifests.kept_lives import Lives
from podrace.manifests.reading.manifest_files import placed
from podrace.manifests.telling.summary import account_of
from tests.manifests.manifest_objects import text_of
from tests.manifests.node_objects import tainted, tolerating
from tests.manifests.test_representative import kept, node, pod, written

UNREACHABLE = "node.kubernetes.io/unreachable"
KUBELET = {
    "apiVersion": "v1", "manager": "kubelet", "operation": "Update", "subresource": "status", "time": "2026-01-01T00:00:00Z",
    "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {"f:conditions": {'k:{"type":"Ready"}': {".": {}, "f:status": {}}}}},
}  # fmt: skip
"""An entry of managedFields, as kubectl prints it on demand: nobody reads it."""


def in_status(made: dict[str, Any], phase: str = "Running", **conditions: str) -> dict[str, Any]:
    """The pod with a status as its kubelet writes it."""
    found = [{"type": kind, "status": status, "lastProbeTime": None} for kind, status in conditions.items()]
    made["status"] = {"phase": phase, "qosClass": "Burstable", "conditions": found}
    made["metadata"]["managedFields"] = [KUBELET]
    return made


def budget(current: int, desired: int, **more: Any) -> dict[str, Any]:
    status = {
        "currentHealthy": current,
        "desiredHealthy": desired,
        "expectedPods": 3,
        "observedGeneration": 1,
    }
    return {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": desired, **more},
        "status": {**status, "disruptionsAllowed": max(0, current - desired)},
    }  # fmt: skip


# --- readiness -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "ready", "said", "line"),
    [
        ("Running", "True", {}, ""),
        ("Running", "False", {"ready": False}, "not ready"),
        ("Pending", "False", {"ready": False, "phase": "Pending"}, "Pending"),
    ],
)
def test_budgets_count_pods_that_are_ready(
    tmp_path: Path, phase: str, ready: str, said: dict[str, Any], line: str
) -> None:
    victim = in_status(pod("v", "2", 0, "n1", "web"), phase, Ready=ready)
    other = in_status(pod("w", "2", 0, "n2", "web"), Ready="True")
    found = kept(tmp_path, node("n1"), node("n2"), victim, other, pod("p", "4", 10), budget(1, 1))
    scenario = written(found)
    assert {k: v for k, v in scenario["pods"]["shop/v"].items() if k in ("ready", "phase")} == said
    assert "ready" not in scenario["pods"].get("shop/w", {})
    scope = scenario["scope"]
    assert scope.get("readiness") == scope.get("disruption_controller") == (True if said else None)
    assert scope.get("pod_phases") == (True if phase == "Pending" else None)
    assert ("S-DRAIN" in scenario["properties"]) == bool(said)
    told = f"    {line}: its budget does not count it, and it stays so until somebody mends it"
    assert account_of(found).count(told) == (1 if said else 0)


@pytest.mark.parametrize(
    ("current", "desired", "kept_budget"),
    [
        # Of three pods two are kept, and one of these is ready: the third one, which is, goes on being so.
        (2, 1, {"disruptionsAllowed": 1, "minAvailable": 0}),
        (2, 2, {"disruptionsAllowed": 0, "minAvailable": 1}),
        (2, 3, {"disruptionsAllowed": 0, "minAvailable": 2}),
    ],
)
def test_a_budget_wants_as_many_of_the_kept_pods_as_are_not_left_out(
    tmp_path: Path, current: int, desired: int, kept_budget: dict[str, int]
) -> None:
    pods = [
        in_status(pod("v", "2", 0, "n1", "web"), Ready="False"),
        in_status(pod("w", "2", 0, "n1", "web"), Ready="True"),
        in_status(pod("x", "4", 99, "n2", "web"), Ready="True"),
    ]
    found = kept(tmp_path, node("n1"), node("n2"), *pods, pod("p", "4", 10), budget(current, desired))
    assert [p.name for p in found.pods] == ["shop/p", "shop/v", "shop/w"]
    scenario = written(found)
    of = scenario["podDisruptionBudgets"]["shop/web"]
    assert {k: v for k, v in of.items() if k != "selector"} == kept_budget


def surplus(*more: dict[str, Any], status: dict[str, int] | None = None) -> list[dict[str, Any]]:
    """A pod that is not ready, of a budget that allows two to go, because two of its pods are healthy and it wants none; one of these is on a node of its own."""
    made = budget(2, 0)
    made["status"] |= status or {}
    return [
        node("n1"), node("n2"), made, pod("p", "4", 10), *more,
        in_status(pod("v", "2", 0, "n1", "web"), Ready="False"),
        in_status(pod("w", "2", 0, "n1", "web"), Ready="True"),
        in_status(pod("x", "4", 99, "n2", "web"), Ready="True"),
    ]  # fmt: skip


def budget_of(found: Representative) -> dict[str, Any]:
    """What the scenario says of the budget, but for the selector."""
    return {k: v for k, v in written(found)["podDisruptionBudgets"]["shop/web"].items() if k != "selector"}


def test_a_budget_never_allows_less_than_its_status_says(tmp_path: Path) -> None:
    """Of the two that may go one is left out: if the kept ones were counted, only one might."""
    found = kept(tmp_path, *surplus(), nodes=1)
    assert budget_of(found) == {"disruptionsAllowed": 2}
    scenario = written(found)
    assert scenario["scope"] == {"pod_events": 3}
    assert "S-DRAIN" not in scenario["properties"]
    assert "ready" not in scenario["pods"]["shop/v"]
    (remark,) = Lives(found).remarks()
    assert remark == (
        "the budget allows 2 to go, and 1 of the healthy pods that it can spare is left out, which a scenario that counts pods cannot say "
        "(a larger --pods or --nodes may keep them); it stays as its status says: that shop/v is not ready is not looked at, and S-DRAIN is not asked "
        "(PodDisruptionBudget/shop/web)"
    )
    lines = account_of(found)
    assert "  shop/web: 3 pods, 2 disruptions allowed; kept" in lines
    assert "    not ready, which is not looked at: its budgets stay as their status says" in lines


def test_healthy_pods_that_a_budget_needs_are_kept_where_there_is_room(tmp_path: Path) -> None:
    found = kept(tmp_path, *surplus(pod("q", "4", 10), pod("r", "4", 10)), pods=5)
    assert [p.name for p in found.pods] == ["shop/p", "shop/v", "shop/w", "shop/q", "shop/x"]
    assert [n.name for n in found.nodes] == ["n1", "n2"]
    assert budget_of(found) == {"disruptionsAllowed": 2, "minAvailable": 0}
    assert written(found)["scope"]["readiness"] is True
    assert list(Lives(found).remarks()) == []


def test_a_budget_whose_status_is_old_stays_as_it_says(tmp_path: Path) -> None:
    found = kept(tmp_path, *surplus(status={"disruptionsAllowed": 0}), pods=4)
    assert budget_of(found) == {"disruptionsAllowed": 0}
    (remark,) = Lives(found).remarks()
    assert remark == (
        "disruptionsAllowed of the budget is 0, and currentHealthy and desiredHealthy leave 2, so that it is still to be counted again; "
        "it stays as its status says: that shop/v is not ready is not looked at, and S-DRAIN is not asked (PodDisruptionBudget/shop/web)"
    )


def test_the_policy_of_a_budget_is_kept_where_it_matters(tmp_path: Path) -> None:
    always = budget(0, 1, unhealthyPodEvictionPolicy="AlwaysAllow")
    for ready, policy in (("False", "AlwaysAllow"), ("True", None)):
        victim = in_status(pod("v", "4", 0, "n1", "web"), Ready=ready)
        scenario = written(kept(tmp_path, node("n1"), victim, pod("p", "4", 10), always))
        assert scenario["podDisruptionBudgets"]["shop/web"].get("unhealthyPodEvictionPolicy") == policy


def test_a_pod_without_a_budget_is_as_ready_as_any(tmp_path: Path) -> None:
    victim = in_status(pod("v", "4", 0, "n1"), Ready="False")
    scenario = written(kept(tmp_path, node("n1"), victim, pod("p", "4", 10)))
    assert "readiness" not in scenario["scope"]
    assert "ready" not in scenario["pods"]["shop/v"]


def test_beside_controllers_readiness_is_left_out_with_the_line_of_the_pod(tmp_path: Path) -> None:
    victim = in_status(pod("v", "4", 0, "n1", "web"), Ready="False")
    victim["metadata"]["ownerReferences"] = [
        {"kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    ]
    file = tmp_path / "m.yaml"
    file.write_text(text_of([node("n1"), victim, pod("p", "4", 10), budget(0, 0)]))
    inventory = read_manifests([str(file)])
    found = represent(inventory, Size(3, 2, controllers=True))
    assert "readiness" not in written(found)["scope"]
    (remark,) = [placed(r, inventory.sources) for r in Lives(found).remarks()]
    line = 1 + file.read_text().splitlines().index("  name: v")
    assert remark == (
        "whether a pod is ready is not looked at together with controllers that recreate pods: its budget counts as its status says, without --controllers "
        f"it is looked at (Pod/shop/v at {file}:{line})"
    )


# --- finalizers, and what is being deleted -------------------------------------------------------------------


def test_finalizers_of_what_may_go(tmp_path: Path) -> None:
    tracked = "batch.kubernetes.io/job-tracking"
    victim, waiting = pod("v", "4", 0, "n1"), pod("p", "4", 10)
    victim["metadata"]["finalizers"] = waiting["metadata"]["finalizers"] = [tracked]
    found = kept(tmp_path, node("n1"), victim, waiting)
    scenario = written(found)
    assert scenario["pods"]["shop/v"]["finalizers"] == [tracked]
    assert "finalizers" not in scenario["pods"]["shop/p"]  # nobody deletes it
    assert scenario["scope"]["bound_finalizers"] is True
    assert "S-LINGER" in scenario["properties"]
    assert f"    its finalizers keep its object: {tracked}" in account_of(found)
    left_out = "its finalizers are left out, as if it were gone at once when it is deleted"
    assert f"    {left_out}: {tracked}" in account_of(found)  # of the pod that waits


def test_a_pod_that_is_being_deleted_goes(tmp_path: Path) -> None:
    leaving = pod("v", "2", 0, "n1")
    leaving["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:30Z", "deletionGracePeriodSeconds": 30}
    found = kept(tmp_path, node("n1"), leaving, pod("p", "1", 10))
    scenario = written(found)
    assert scenario["pods"]["shop/v"]["deleted"] is True
    assert scenario["nodes"]["n1"] == {"cpu": 4}
    assert "    being deleted: its kubelet stops it" in account_of(found)


def test_pods_that_wait_come_before_one_that_is_being_deleted(tmp_path: Path) -> None:
    leaving = pod("v", "2", 0, "n1")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    waiting = [pod(name, "2", 10) for name in ("p", "q", "r")]
    found = kept(tmp_path, node("n1"), leaving, *waiting, pods=2)
    assert [p.name for p in found.pods] == ["shop/p", "shop/q"]
    assert found.inventory.remarks == [
        "the pod is being deleted: it is nobody's victim, and keeps its room where it is left out (Pod/shop/v)"
    ]


def test_nodes_that_are_being_deleted(tmp_path: Path) -> None:
    going = node("n1")
    going["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:30Z",
        "finalizers": ["karpenter.sh/termination"],
    }
    found = kept(tmp_path, going, pod("p", "1"))
    assert written(found)["scope"]["node_deletions"] == 1
    assert "  n1: no other node is like it; being deleted" in account_of(found)
    found = kept(tmp_path, going, node("n2"), pod("p", "1"))
    assert "node_deletions" not in written(found)["scope"]
    assert list(Lives(found).remarks()) == [
        "the node is being deleted: that it goes is not in the scenario, as another kept node stays (Node/n1)"
    ]


def test_the_condition_of_a_victim_is_said_until_it_is_deleted(tmp_path: Path) -> None:
    victim = in_status(pod("v", "2", 0, "n1"), Ready="True", DisruptionTarget="True")
    victim["status"]["conditions"][1]["reason"] = "PreemptionByScheduler"
    said = (
        "the pod has the condition DisruptionTarget (PreemptionByScheduler): that its setter deletes it is not in the scenario "
        "(Pod/shop/v)"
    )
    assert kept(tmp_path, node("n1"), victim, pod("p", "1", 10)).inventory.remarks == [said]
    victim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    assert said not in kept(tmp_path, node("n1"), victim, pod("p", "1", 10)).inventory.remarks


# --- nodes that fail -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taints", "ready", "ails"),
    [
        ([], "True", False),
        ([], "Unknown", True),
        ([{"key": UNREACHABLE, "effect": "NoExecute"}], "True", True),
        ([{"key": "team", "effect": "NoExecute"}], "True", False),
    ],
)
def test_a_node_that_fails_has_its_controller(
    tmp_path: Path, taints: list[dict[str, str]], ready: str, ails: bool
) -> None:
    """Tolerations of the taints that are still to come are kept, as the API server gives them to every pod, and pods may have to leave for them."""
    lasting = tolerating(300, UNREACHABLE)["tolerations"]
    own: dict[str, Any] = {"tolerations": [*lasting, {"key": "team", "operator": "Exists"}]}
    some = [tainted("n1", *taints, ready=ready), pod("v", "4", 0, "n1", **own), pod("p", "4", 10, **own)]
    found = kept(tmp_path, *some)
    scenario = written(found)
    assert scenario["scope"].get("node_lifecycle") == (True if ails else None)
    assert scenario["scope"].get("taint_eviction") == (True if ails else None)
    assert all(
        (lasting[0] in scenario["pods"][name].get("tolerations", [])) == ails for name in scenario["pods"]
    )
    told = "    the node lifecycle controller decides on its condition Ready and the taints that go with it"
    assert account_of(found).count(told) == (1 if ails else 0)


# --- room that is becoming free ------------------------------------------------------------------------------


def going(name: str, cpu: str, on: str = "n1") -> dict[str, Any]:
    found = pod(name, cpu, 0, on)
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return found


def test_pods_that_wait_for_one_that_is_going_are_asked_about(tmp_path: Path) -> None:
    """Nobody can be evicted for them: but once its kubelet has stopped the pod, both want its room."""
    found = kept(tmp_path, node("n1", "2"), going("v", "2"), pod("p", "2", 10), pod("q", "2", 10))
    assert [p.name for p in found.pods] == ["shop/p", "shop/v", "shop/q"]
    assert [p.name for p in found.question.leaving] == ["shop/v"]
    described = written(found)["pods"]
    assert described["shop/v"]["deleted"] is True
    lines = "\n".join(account_of(found))
    assert (
        "shop/p (priority 10, 2 alike) fits 1 node, such as n1, once shop/v is gone, which is being deleted; 1 pod"
        in lines
    )
    assert "  shop/v: on n1, is being deleted: shop/p waits for its room; priority 0" in lines


def test_room_that_there_is_comes_first(tmp_path: Path) -> None:
    some = [node("n1", "2"), node("n2", "2"), going("v", "2"), pod("p", "2", 10)]
    assert kept(tmp_path, *some).question.leaving == ()
    found = kept(tmp_path, *some, pod("w", "2", 0, "n2")).question
    assert ([v.name for v in found.victims], found.leaving) == (["shop/w"], ())


def test_those_that_go_count_among_the_pods(tmp_path: Path) -> None:
    some = [node("n1", "3"), *(going(f"v{i}", "1") for i in range(3)), pod("p", "3", 10), pod("q", "3", 10)]
    with pytest.raises(
        Problem,
        match=r"shop/p needs 3 pods out of its way on every node: allow --pods 5 or more, so that shop/q",
    ):
        kept(tmp_path, *some)
    assert len(kept(tmp_path, *some, pods=5).pods) == 5


def test_beside_controllers_they_do_not_go(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(text_of([node("n1", "2"), going("v", "2"), pod("p", "2", 10)]))
    with pytest.raises(Problem, match="shop/p, fits no node"):
        represent(read_manifests([str(file)]), Size(controllers=True))


def test_a_dump_in_which_nobody_waits_says_who_does_not_count(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"replicas to come \(not counted: 1 left to another scheduler\)$"):
        kept(tmp_path, node("n1"), pod("p", "1", schedulerName="volcano"))
