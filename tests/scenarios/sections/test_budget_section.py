"""What a scenario may say of budgets and of pods that are not ready."""

from __future__ import annotations

import pytest

from podrace.scenarios import Scenario, ScenarioError, parse_scenario

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
    return parse_scenario(HEAD.replace("POD", pod).replace("BUDGET", budget).replace("SCOPE", scope))


@pytest.mark.parametrize(
    ("pod", "budget", "scope", "said"),
    [
        ("", "", "readiness: true", "only budgets that are kept look at it: add `disruption_controller: true`, or remove `readiness`"),
        ("", "", "readiness_losses: 1", "nobody looks whether pods are ready: add `readiness: true`, or remove `readiness_losses`"),
        (", nodeName: n1, ready: false", "", KEPT, "pods.w.ready: nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove this"),
        (", ready: false", "", KEPT, "pods.w.ready: a pod that is not bound is not ready in any case: give it `nodeName`, or remove this"),
        ("", ", unhealthyPodEvictionPolicy: AlwaysAllow", KEPT,
         "web: nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove `unhealthyPodEvictionPolicy`"),
        ("", ", minAvailable: 1", "flush: false", "web: the budget stays as it is: remove `minAvailable`, or add `disruption_controller: true` to `scope`"),
        (", nodeName: n1", ", minAvailable: 0", KEPT,
         "web has 1 running pods and wants 0, so that the disruption controller allows 1 disruptions: let `disruptionsAllowed` be that"),
        (", nodeName: n1, ready: false", ", disruptionsAllowed: 1", f"{KEPT}, readiness: true",
         "web allows 1 disruptions and has 0 running pods, and the disruption controller would never allow more than run: lower `disruptionsAllowed`"),
    ],
)  # fmt: skip
def test_mistakes(pod: str, budget: str, scope: str, said: str) -> None:
    with pytest.raises(ScenarioError) as found:
        read(pod, budget, scope)
    assert str(found.value).endswith(said)


def test_pods_of_controllers_are_not_asked() -> None:
    text = HEAD.replace("POD", ", nodeName: n1").replace("BUDGET", "")
    text = (
        text.replace("SCOPE", f"{KEPT}, readiness: true")
        + "controllers:\n  web: {kind: ReplicaSet, pods: [w]}\n"
    )
    with pytest.raises(ScenarioError, match="pods that controllers make anew are not asked"):
        parse_scenario(text)


def test_what_is_read() -> None:
    scenario = read(
        ", nodeName: n1, ready: false",
        ", minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow",
        f"{KEPT}, readiness: true",
    )
    (budget,) = scenario.spec.budgets
    assert (budget.min_available, budget.always_allow, scenario.spec.pods[0].ready) == (1, True, False)
