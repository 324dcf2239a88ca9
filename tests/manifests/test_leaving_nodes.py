"""What a dump says of nodes that pods have to leave, that are not ready, and of the features that nodes declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.cli import main
from podrace.manifests.telling.summary import account_of
from tests.manifests.manifest_objects import text_of
from tests.manifests.node_objects import RESTARTS, declaring, restarting, tainted, tolerating
from tests.manifests.test_representative import kept, pod, written

DRY = {"key": "dry", "effect": "NoExecute"}


@pytest.mark.parametrize("seconds", [300, None])
def test_a_pod_that_is_to_leave(tmp_path: Path, seconds: int | None) -> None:
    """Its time is kept, and the controller that ends it; without a time nobody has to leave, and there is none."""
    some = [
        tainted("n1", DRY),
        pod("v", "4", 0, "n1", **tolerating(seconds)),
        pod("p", "4", 10, **tolerating()),
    ]
    found = kept(tmp_path, *some)
    scenario = written(found)
    assert scenario["nodes"]["n1"]["taints"] == [DRY]
    assert scenario["pods"]["shop/v"]["tolerations"] == tolerating(seconds)["tolerations"]
    assert scenario["scope"].get("taint_eviction") == (True if seconds else None)
    said = "    taints of n1 with NoExecute may have it leave"
    assert account_of(found).count(said) == (1 if seconds else 0)


@pytest.mark.parametrize("key", ["dry", ""])
def test_a_pod_that_may_stay_for_a_time_only(tmp_path: Path, key: str) -> None:
    scenario = written(kept(tmp_path, tainted("n1", DRY), pod("p", "4", 10, **tolerating(300, key))))
    assert scenario["pods"]["shop/p"]["tolerations"] == tolerating(300, key)["tolerations"]
    assert scenario["scope"]["taint_eviction"] is True


def test_a_pod_that_tolerates_nothing_has_to_leave(tmp_path: Path) -> None:
    some = [tainted("n1", DRY), pod("v", "4", 0, "n1"), pod("p", "4", 10, **tolerating())]
    assert written(kept(tmp_path, *some))["scope"]["taint_eviction"] is True


def test_other_taints_have_nobody_leave(tmp_path: Path) -> None:
    some = [
        tainted("n1", {"key": "dry", "effect": "NoSchedule"}),
        pod("v", "4", 0, "n1"),
        pod("p", "4", 10, tolerations=[{"operator": "Exists"}]),
    ]
    scenario = written(kept(tmp_path, *some))
    assert "taint_eviction" not in scenario["scope"]
    assert "tolerations" not in scenario["pods"]["shop/v"]


@pytest.mark.parametrize("ready", ["True", "False", "Unknown"])
def test_conditions_are_kept(tmp_path: Path, ready: str) -> None:
    """With the controller that decides on them, and on their taints, also where it has still to set one."""
    taint = {"key": "team", "effect": "NoSchedule"}
    found = kept(
        tmp_path, tainted("n1", taint, ready=ready), pod("p", "1", tolerations=[{"operator": "Exists"}])
    )
    assert written(found)["nodes"]["n1"].get("conditions") == (None if ready == "True" else {"Ready": ready})
    said = f"  n1: no other node is like it; Ready is {ready}"
    assert (said in account_of(found)) == (ready != "True")
    assert written(found)["scope"].get("node_lifecycle") == (None if ready == "True" else True)


# --- features ------------------------------------------------------------------------------------------------


USERS = "UserNamespacesHostNetworkSupport"


@pytest.mark.parametrize(
    ("asking", "feature"),
    [(restarting("p"), RESTARTS), (pod("p", "1", hostNetwork=True, hostUsers=False), USERS)],
)
def test_features_that_a_pod_needs(tmp_path: Path, asking: dict[str, Any], feature: str) -> None:
    """Inferred as the scheduler does; of those that nodes declare, only these are kept."""
    some = [declaring("n1", "Other"), declaring("n2", feature, "Other")]
    found = kept(tmp_path, *some, asking, pod("q", "1"))
    assert found.question.pod.name != "shop/p" or [n.name for n in found.nodes] == ["n2"]
    found = kept(tmp_path, *some, asking, focus="shop/p")
    scenario = written(found)
    assert scenario["nodes"] == {"n2": {"cpu": 4, "declaredFeatures": [feature]}}
    assert scenario["pods"]["shop/p"]["requiredFeatures"] == [feature]


@pytest.mark.parametrize(
    "more", [{}, {"hostNetwork": True}, {"hostUsers": False}, {"hostNetwork": True, "hostUsers": True}]
)
def test_a_pod_that_needs_none(tmp_path: Path, more: dict[str, Any]) -> None:
    scenario = written(kept(tmp_path, declaring("n1", USERS, RESTARTS), pod("p", "1", **more)))
    assert "declaredFeatures" not in scenario["nodes"]["n1"]
    assert "requiredFeatures" not in scenario["pods"]["shop/p"]


def test_nodes_that_declare_what_nobody_needs_are_alike(tmp_path: Path) -> None:
    some = [declaring("n1", RESTARTS), declaring("n2")]
    assert len(kept(tmp_path, *some, pod("p", "1")).groups.of_nodes) == 1
    assert len(kept(tmp_path, *some, restarting("p")).groups.of_nodes) == 2


def test_a_feature_that_is_no_name(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"status\.declaredFeatures\[0\]: expected a label key"):
        kept(tmp_path, declaring("n1", "a b"), pod("p", "1"))


def test_a_victim_that_leaves_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Preemption's DELETE finds nobody, and the pod stays parked: ten steps sooner where the taint has the victim leave than where a second attempt does."""
    file = tmp_path / "dump.yaml"
    for seconds, steps in ((300, 28), (None, 38)):
        victim = pod("v", "4", 0, "n1", **tolerating(seconds))
        file.write_text(text_of([tainted("n1", DRY), victim, pod("p", "4", 10, **tolerating())]))
        assert main.run(["check", "-f", str(file), "--property", "S-STUCK", "--release", "1.36.0"]) == 1
        told = capsys.readouterr().out
        assert f"Violated after {steps} steps, and no run is shorter" in told
        assert ("The taint eviction controller" in told) == (seconds is not None)
