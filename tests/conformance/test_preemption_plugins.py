"""Extenders, hooks and plugins that fail: what a case plugs into preemption."""

from typing import Any

import pytest

from tests.conformance.cases.cases import NotTranslated, Outcome
from tests.conformance.cases.preemption_plugins import failing_nodes, hook_conditions
from tests.conformance.registry import run_case

PASS = Outcome("PASS")


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"name": name, "allocatable": {"cpu_milli": 100, "memory_bytes": 0, "pods": 10}, "labels": labels}


def pod(name: str, on: str = "", priority: int = 0, cpu: int = 0, **labels: str) -> dict[str, Any]:
    requests = {"cpu_milli": cpu, "memory_bytes": 0}
    return {"name": name, "nodeName": on, "priority": priority, "requests": requests, "labels": labels}


def row(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A preemptor for which every node would have to be emptied; each has one victim."""
    return {
        "id": "r", "filters": ["NodeResourcesFit"], "nodes": list(nodes),
        "pods": [pod(f"v-{n['name']}", n["name"], cpu=50) for n in nodes], "preemptor": pod("p", priority=9, cpu=100),
        "filteredNodeStatuses": {n["name"]: "Unschedulable" for n in nodes},
        "expected_nominated_node": None, "expected_evicted": [], "expected_status": "Error", **more,
    }  # fmt: skip


def test_an_error_without_a_candidate_is_the_status() -> None:
    assert run_case(row(node("n1", error="true")), "preempt", "1.22") == PASS
    assert run_case(row(node("n1"), plugin_errors={"RemovePod": ["n1"]}), "preempt", "1.34.4") == PASS
    wrong = run_case(row(node("n1", error="true"), expected_status="Unschedulable"), "preempt", "1.22")
    assert wrong == Outcome("FAIL", "status: expected Unschedulable, the model gives Error")


def test_an_error_does_not_count_beside_a_candidate() -> None:
    case = row(
        node("n1", error="true"), node("n2"),
        expected_nominated_node="n2", expected_evicted=["v-n2"], expected_status="Success",
    )  # fmt: skip
    assert run_case(case, "preempt", "1.22") == PASS


def test_a_node_without_victims_never_meets_the_plugin() -> None:
    case = row(node("n1", error="true"), pods=[], expected_status="Unschedulable")
    assert run_case(case, "preempt", "1.22") == PASS


@pytest.mark.parametrize(
    ("extenders", "status"),
    [
        (["error"], "Error"),
        (["accept_all", "error"], "Error"),
        (["reject_all", "error"], "Unschedulable"),
        (["reject_all"], "Unschedulable"),
    ],
)
def test_an_extender_fails_only_if_a_candidate_is_left_to_ask_about(
    extenders: list[str], status: str
) -> None:
    case = row(node("n1"), extenders=[{"kind": kind} for kind in extenders], expected_status=status)
    assert run_case(case, "preempt", "1.22") == PASS


def test_errors_in_other_words() -> None:
    nodes = [node("n1", x="y"), node("n2")]
    said: Any
    for said in (["n1"], "n1", {"nodes": ["n1"]}, {"AddPod": "n1"}, {"label": {"x": "y"}}):
        assert failing_nodes({"nodes": nodes, "plugin_errors": said}) == {"n1"}
    assert failing_nodes({"nodes": nodes, "error_note": "none at all", "expected_error": True}) == set()
    for said in (["n3"], {"when": "always"}, 7):
        with pytest.raises(NotTranslated):
            failing_nodes({"nodes": nodes, "plugin_errors": said})


HOOKED = {
    "id": "h", "filters": ["NodeResourcesFit"], "nodes": [node("n1"), node("n2")],
    "pods": [pod("v1", "n1", 50, 100, preemptible="yes"), pod("v2", "n2", 100, 100)],
}  # fmt: skip
ALL, FIRST, NONE = ["v1", "v2"], ["v1"], list[str]()


@pytest.mark.parametrize(
    ("hook", "victims"),
    [
        ({"preemptor_min_priority": 500}, ALL),
        ({"preemptor_min_priority": 501}, NONE),
        ({"minPreemptorPriority": 501, "note": "by name"}, NONE),
        ({"preemptor_priority": {"at_least": 500}}, ALL),
        ({"preemptor_priority_above": 500}, NONE),
        ({"victim_max_priority": 50}, FIRST),
        ({"victim_priority_below": 51}, FIRST),
        ({"victim_label": {"preemptible": "yes"}}, FIRST),
        ({"victim_label": {"key": "preemptible", "value": "no"}}, NONE),
        ({"victim_on_node": "n1"}, FIRST),
        ({"victim_on_node": "n1", "preemptor_min_priority": 501}, NONE),
        ({"priority_below_threshold_cannot_preempt": 500}, ALL),
        ({"priority_below_threshold_cannot_preempt": 501}, NONE),
        ({"priority_above_threshold_cannot_be_preempted": 50}, FIRST),
        ({"priority_above_threshold_cannot_be_preempted": 100}, ALL),
    ],
)
def test_hooks(hook: dict[str, Any], victims: list[str]) -> None:
    found = [{"node": "n1" if v == "v1" else "n2", "victims": [v]} for v in victims]
    cycle = {"preemptor": pod("p", priority=500, cpu=100), "numCandidates": 2, "expected_candidates": found}
    assert run_case({**HOOKED, "eligibility_hook": hook, "cycles": [cycle]}, "victims", "1.34.4") == PASS


@pytest.mark.parametrize(
    "hook", [{"preemptor_priority": 5}, {"victim_named": "x"}, {"note": "x"}, {"victim_max_priority": "high"}]
)
def test_a_hook_in_unknown_words(hook: dict[str, Any]) -> None:
    with pytest.raises(NotTranslated):
        hook_conditions(hook)


ELIGIBLE = {
    "id": "r", "nodes": [node("n1")], "preemptor": {**pod("p", priority=9), "nominatedNodeName": "n1"}, "nominatedNodeStatus": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("release", "conditions", "eligible"),
    [
        ("1.25", [], False),
        ("1.26", [], True),
        ("1.36", [], True),
        ("1.36", [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}], False),
        ("1.36", [{"type": "DisruptionTarget", "status": "False", "reason": "PreemptionByScheduler"}], True),
        ("1.36", [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}], True),
    ],
)
def test_who_terminates_because_of_a_preemption(
    release: str, conditions: list[dict[str, Any]], eligible: bool
) -> None:
    going = {**pod("v", "n1"), "terminating": True, "conditions": conditions}
    case = {**ELIGIBLE, "pods": [going], "expected_eligible": eligible}
    assert run_case(case, "eligible", release) == PASS


@pytest.mark.parametrize(
    ("policy", "eligible"),
    [(None, True), ("PreemptLowerPriority", True), ("Never", False), ("PreemptNever", False)],
)
def test_policies(policy: str | None, eligible: bool) -> None:
    preemptor = {**pod("p", priority=9), "preemptionPolicy": policy}
    case = {**ELIGIBLE, "pods": [], "preemptor": preemptor, "expected_eligible": eligible}
    assert run_case(case, "eligible", "1.22") == PASS


def test_an_unknown_policy_is_refused() -> None:
    case = {
        **ELIGIBLE,
        "pods": [],
        "preemptor": {**pod("p"), "preemptionPolicy": "Always"},
        "expected_eligible": True,
    }
    assert run_case(case, "eligible", "1.22") == Outcome(
        "FAIL", "not translated: there is no preemptionPolicy Always"
    )
