"""What a scenario may say of budgets and of pods that are not ready."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.scenarios import Scenario, parse_scenario

HEAD = """
nodes:
  n1: {cpu: 1}
pods:
  w: {cpu: 1, labels: {app: web}POD}
podDisruptionBudgets:
  web: {selector: {matchLabels: {app: web}}BUDGET}
scope: {SCOPE}
"""
KEPT = "disruption_controller: true"


def read(pod: str, budget: str, scope: str) -> Scenario:
    return parse_scenario(
        HEAD.replace("POD", pod).replace("BUDGET", budget).replace("SCOPE", scope), "s.yaml"
    )


@pytest.mark.parametrize(
    ("pod", "budget", "scope", "said"),
    [
        ("", "", "readiness: true", "8: scope.readiness: only budgets that are kept look at it: add `disruption_controller: true`, or remove this"),
        ("", "", "readiness_losses: 1", "8: scope.readiness_losses: nobody looks whether pods are ready: add `readiness: true`, or remove this"),
        ("", "", "pod_phases: true", "8: scope.pod_phases: a pod that is Pending is one that is not ready: add `readiness: true`, or remove this"),
        ("", "", "start_failures: 1", "8: scope.start_failures: no pod has to be started: add `pod_phases: true`, or remove this"),
        (", nodeName: n1, ready: false", "", KEPT, "5: pods.w.ready: nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove this"),
        (", ready: false", "", KEPT, "5: pods.w.ready: a pod that is not bound is not ready in any case: give it `nodeName`, or remove this"),
        (", nodeName: n1, phase: Pending", "", f"{KEPT}, readiness: true",
         "5: pods.w.phase: nobody looks at the phase of a pod: add `readiness: true` and `pod_phases: true` to `scope`, or remove this"),
        (", phase: Pending", "", KEPT, "5: pods.w.phase: a pod that is not bound is Pending in any case: give it `nodeName`, or remove this"),
        (", nodeName: n1, phase: Pending, ready: true", "", KEPT, "5: pods.w.ready: a pod that is Pending is not ready: remove `ready`, or `phase`"),
        (", nodeName: n1, phase: Failed", "", KEPT, "5: pods.w.phase: there is no such phase: `Failed`; known: Pending, Running"),
        ("", ", unhealthyPodEvictionPolicy: AlwaysAllow", KEPT,
         "7: podDisruptionBudgets.web: nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove `unhealthyPodEvictionPolicy`"),
        ("", ", minAvailable: 1", "flush: false",
         "7: podDisruptionBudgets.web: the budget stays as it is: remove `minAvailable`, or add `disruption_controller: true` to `scope`"),
        (", nodeName: n1", ", minAvailable: 0", KEPT,
         "7: podDisruptionBudgets.web: it has 1 running pods and wants 0, so that the disruption controller allows 1 disruptions: let `disruptionsAllowed` be that"),
        (", nodeName: n1, ready: false", ", disruptionsAllowed: 1", f"{KEPT}, readiness: true",
         "7: podDisruptionBudgets.web: it allows 1 disruptions and has 0 running pods, and the disruption controller would never allow more than run: lower `disruptionsAllowed`"),
    ],
)  # fmt: skip
def test_mistakes(pod: str, budget: str, scope: str, said: str) -> None:
    with pytest.raises(Problem) as found:
        read(pod, budget, scope)
    assert str(found.value) == f"s.yaml:{said}"


def test_pods_of_controllers_are_not_asked() -> None:
    text = HEAD.replace("POD", ", nodeName: n1").replace("BUDGET", "")
    text = (
        text.replace("SCOPE", f"{KEPT}, readiness: true")
        + "controllers:\n  web: {kind: ReplicaSet, pods: [w]}\n"
    )
    with pytest.raises(Problem, match="pods that controllers recreate are not asked"):
        parse_scenario(text)


def test_what_is_read() -> None:
    scenario = read(
        ", nodeName: n1, ready: false",
        ", minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow",
        f"{KEPT}, readiness: true",
    )
    (budget,) = scenario.spec.budgets
    assert (budget.min_available, budget.always_allow, scenario.spec.pods[0].ready) == (1, True, False)


def test_a_pod_that_is_pending_on_its_node() -> None:
    scenario = read(
        ", nodeName: n1, phase: Pending", ", minAvailable: 1", f"{KEPT}, readiness: true, pod_phases: true"
    )
    (pod,) = scenario.spec.pods
    assert (pod.started, pod.ready, scenario.spec.scope.pod_phases) == (False, True, True)
    assert read(", nodeName: n1", "", f"{KEPT}, readiness: true, pod_phases: true").spec.pods[0].started


def test_a_disruption_controller_without_budgets_has_its_line() -> None:
    text = "nodes:\n  n1: {cpu: 1}\npods:\n  w: {cpu: 1}\nscope:\n  flush: false\n  disruption_controller: true\n"
    with pytest.raises(Problem) as found:
        parse_scenario(text, "s.yaml")
    assert str(found.value) == (
        "s.yaml:7: scope.disruption_controller: a disruption controller has nothing to count: add `podDisruptionBudgets`, or remove this"
    )
