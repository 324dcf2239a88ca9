"""The sections `controllers` and `descheduler`: what they make, and what they refuse."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.model.environment.cluster.workloads import OwnerKind, OwnerSpec, StrategyKind, StrategySpec
from podrace.model.environment.objects import Selector, Toleration
from podrace.scenarios.reader.scenario_reader import parse_scenario
from podrace.scenarios.reader.sections.controller_section import DAEMON_TOLERATIONS

CLUSTER = """\
nodes: {n1: {cpu: 4}, n2: {cpu: 4}}
pods:
  a: {cpu: 1, nodeName: n1}
  b: {cpu: 1, exists: false}
  c: {cpu: 2, exists: false, tolerations: [{key: x, operator: Exists}]}
  d: {cpu: 1, recreates: e}
  e: {cpu: 1, nodeName: n1}
"""


def test_controllers() -> None:
    spec = parse_scenario(
        CLUSTER
        + "controllers:\n  web: {kind: Deployment, pods: [a, b]}\n  agent: {kind: DaemonSet, pods: {n2: [c]}}\n"
    ).spec
    assert spec.owners == (
        OwnerSpec("web", OwnerKind.DEPLOYMENT, 1, (("", ("a", "b")),)),
        OwnerSpec("agent", OwnerKind.DAEMON_SET, 1, (("n2", ("c",)),)),
    )
    # They come by their controllers, not by a user.
    assert spec.scope.pod_creations == 0
    agent = spec.pods[2]
    assert [agent.asks_for(node) for node in spec.nodes] == [False, True]
    assert agent.tolerations == (Toleration("x", "Exists"), *DAEMON_TOLERATIONS)


def test_a_job_and_a_stateful_set() -> None:
    job = "controllers: {w: {kind: Job, completions: 2, podReplacementPolicy: Failed, pods: [a, b]}}\n"
    assert parse_scenario(CLUSTER + job).spec.owners == (
        OwnerSpec("w", OwnerKind.JOB, 2, (("", ("a", "b")),), waits_for_end=True),
    )
    db = "controllers: {db: {kind: StatefulSet, podManagementPolicy: Parallel, pods: [a, c]}}\n"
    assert parse_scenario(CLUSTER + db).spec.owners == (
        OwnerSpec("db", OwnerKind.STATEFUL_SET, 2, (("0", ("a",)), ("1", ("c",))), parallel=True),
    )


def test_the_descheduler() -> None:
    text = (
        "controllers: {web: {kind: ReplicaSet, pods: [a, b]}}\ndescheduler:\n"
        "  RemovePodsViolatingNodeAffinity: {prefers: {disk: ssd}, nodeFit: true}\n"
        "  RemovePodsViolatingTopologySpreadConstraint: {topologyKey: zone, maxSkew: 2, matchLabels: {app: web}}\n"
        "  LowNodeUtilization: {thresholds: 20, targetThresholds: 50}\n  RemoveDuplicates: {}\n"
    )
    assert parse_scenario(CLUSTER + text).spec.strategies == (
        StrategySpec(StrategyKind.NODE_AFFINITY, True, prefers={"disk": "ssd"}),
        StrategySpec(StrategyKind.SPREAD, topology_key="zone", max_skew=2, selector=Selector({"app": "web"})),
        StrategySpec(StrategyKind.LOW_UTILIZATION, low=20, high=50),
        StrategySpec(StrategyKind.DUPLICATES),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("controllers: {w: {kind: Job}}", "controllers.w: `pods` is missing: a controller has a `kind` and `pods`"),
        ("controllers: {w: {kind: Jobs, pods: [a]}}", "controllers.w.kind: there is no such controller: `Jobs`; did you mean `Job`?"),
        ("controllers: {w: {kind: Job, replicas: 1, pods: [a]}}", "controllers.w.replicas: a Job has no `replicas`: remove it"),
        ("controllers: {w: {kind: Job, pods: [x]}}", "controllers.w.pods: there is no pod `x`; known: a, b, c, d, e"),
        ("controllers: {w: {kind: Job, pods: []}}", "controllers.w.pods: a controller without pods does nothing: name those that it may make"),
        ("controllers: {w: {kind: Job, pods: [a, a]}}", "controllers.w.pods: pod `a` belongs to w already: remove it from one of them"),
        ("controllers: {w: {kind: Job, completions: 3, pods: [a, b]}}", "controllers.w.completions: there are 2 pods for 3: add pods, or want fewer"),
        ("controllers: {w: {kind: Job, pods: [b, c]}}", "pods.c: it differs from b, and w makes all its pods from one template: write the same for both"),
        ("controllers: {w: {kind: Job, pods: [a, e]}}", "controllers.w.pods: another pod takes the name of `e` once: remove `recreates` there, or the pod here"),
        ("controllers: {w: {kind: Job, pods: [d]}}", "pods.d.recreates: of a pod that a controller makes again and again, this is not modelled: remove `recreates`, or the pod from w"),
        ("controllers: {w: {kind: DaemonSet, pods: {n9: [a]}}}", "controllers.w.pods.n9: there is no node `n9`; known: n1, n2"),
        ("descheduler: {RemoveDuplicates: {}}", "descheduler: the descheduler evicts no pod without an owner: add `controllers`"),
        ("descheduler: {}", "descheduler: a descheduler without plugins does nothing: name one, or remove it"),
        ("descheduler: {RemoveDuplicates: {maxSkew: 1}}", "descheduler.RemoveDuplicates.maxSkew: RemoveDuplicates has no such argument: remove it"),
        ("descheduler: {LowNodeUtilization: {thresholds: 1}}", "descheduler.LowNodeUtilization: `targetThresholds` is missing: give the share of a node's CPU, in per cent"),
        ("descheduler: {RemovePodsViolatingTopologySpreadConstraint: {}}", "`topologyKey` is missing: say over which label of nodes pods are spread"),
        ("scope: {controller_restarts: 1}", "scope.controller_restarts: there are no controllers to restart: remove `controller_restarts`"),
        ("controllers: {w: {kind: Job, pods: [a]}}\ndescheduler: {RemoveDuplicates: {}}\npodDisruptionBudgets: {b: {selector: {matchLabels: {a: b}}}}",
         "descheduler: evictions take from budgets that are kept: add `disruption_controller: true` to `scope`"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_scenario(CLUSTER + text + "\n", "s.yaml")
    assert message in str(refused.value)


def test_two_of_one_at_the_start() -> None:
    with pytest.raises(
        Problem, match="w wants 1, and more are there at the start: add `exists: false` to some"
    ):
        parse_scenario(
            "nodes: {n: {cpu: 4}}\npods: {a: {cpu: 1}, b: {cpu: 1}}\ncontrollers: {w: {kind: ReplicaSet, pods: [a, b]}}\n"
        )


def test_a_second_scheduler() -> None:
    text = "nodes: {n: {cpu: 4}}\npods: {a: {cpu: 1, schedulerName: default-scheduler}, b: {cpu: 1, schedulerName: x}, c: {cpu: 1}}\n"
    assert [pod.foreign for pod in parse_scenario(text).spec.pods] == [False, True, False]
    with pytest.raises(Problem, match="one scheduler next to kube-scheduler is modelled: name the same one"):
        parse_scenario(text.replace("c: {cpu: 1}", "c: {cpu: 1, schedulerName: y}"))
    with pytest.raises(
        Problem,
        match="of a pod that another scheduler places, this is not modelled: remove `extensionPoints` or `schedulerName`",
    ):
        parse_scenario(text.replace("schedulerName: x}", "schedulerName: x, extensionPoints: [permit]}"))
