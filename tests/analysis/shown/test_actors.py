"""Who acts beside the scheduler, in the sentences of a report."""

from __future__ import annotations

import pytest

from podrace.analysis.shown.actors import actors_of
from podrace.scenarios import parse_scenario

HEAD = "name: x\ntitle: x\nrelease: '1.36'\nproperties: [S-CAP]\nnodes: {n1: {cpu: 2}, n2: {cpu: 2}}\n"
PODS = "pods: {a: {cpu: 1}, b: {cpu: 1, exists: false}}\n"


@pytest.mark.parametrize(
    ("sections", "sentences"),
    [
        ("", ()),
        ("controllers: {web: {kind: Deployment, pods: [a, b]}}\n",
         ("Deployment web keeps 1 pod; a and b stand for its pods, each for one at a time.",)),
        ("controllers: {web: {kind: ReplicaSet, pods: [a]}, job: {kind: Job, pods: [b], podReplacementPolicy: Failed}}\n",
         ("ReplicaSet web keeps 1 pod; a stands for its pods, each for one at a time.",
          "Job job wants 1 pod to succeed and replaces one when it has ended; b stands for its pods, each for one at a time.")),
        ("controllers: {db: {kind: StatefulSet, pods: [a, b]}}\n", ("StatefulSet db keeps a and b, created one after the other.",)),
        ("controllers: {db: {kind: StatefulSet, pods: [a, b], podManagementPolicy: Parallel}}\n",
         ("StatefulSet db keeps a and b, created all at once.",)),
        ("controllers: {agent: {kind: DaemonSet, pods: {n1: [a], n2: [b]}}}\n",
         ("DaemonSet agent keeps a pod on n1 (a) and n2 (b).",)),
        ("controllers: {web: {kind: Deployment, pods: [a, b]}}\ndescheduler: {RemoveDuplicates: {nodeFit: true}, RemovePodsViolatingNodeTaints: {}}\n",
         ("Deployment web keeps 1 pod; a and b stand for its pods, each for one at a time.",
          "The descheduler runs RemoveDuplicates with nodeFit and RemovePodsViolatingNodeTaints.")),
        ("scope: {autoscaler: true}\n", ("An autoscaler makes nodes for pods that fit nowhere, and takes empty ones away.",)),
        ("scope: {scale_downs: 1}\n", ("An autoscaler takes empty nodes away.",)),
    ],
)  # fmt: skip
def test_each_is_told(sections: str, sentences: tuple[str, ...]) -> None:
    assert actors_of(parse_scenario(HEAD + PODS + sections).spec) == sentences


@pytest.mark.parametrize(
    ("scope", "sentence"),
    [
        ("scale_downs: 1", "An autoscaler takes nodes away, and has their pods evicted first."),
        ("autoscaler: true", "An autoscaler makes nodes for pods that fit nowhere, and takes those from which it has evicted the pods away."),
    ],
)  # fmt: skip
def test_a_drain_is_told(scope: str, sentence: str) -> None:
    leaving = "updates: {leaving: {taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]}}"
    head = HEAD.replace("{cpu: 2}", f"{{cpu: 2, {leaving}}}")
    drains = f"scope: {{{scope}, scale_down_taints: true, scale_down_drains: true}}\n"
    assert actors_of(parse_scenario(head + PODS + drains).spec) == (sentence,)


def test_another_scheduler_is_told_with_its_pods() -> None:
    pods = "pods: {a: {cpu: 1}, b: {cpu: 1, schedulerName: other}}\n"
    assert actors_of(parse_scenario(HEAD + pods).spec) == ("Another scheduler places b.",)


def test_keepers_of_gates_are_told_with_what_they_wait_for() -> None:
    pods = "pods: {a: {cpu: 1, schedulingGates: [{name: x/quota}, {name: x/slice}]}}\n"
    keepers = (
        "gateKeepers: {kueue: {gate: x/quota, quota: 1, waitsFor: [x/slice]}, slices: {gate: x/slice}}\n"
    )
    assert actors_of(parse_scenario(HEAD + pods + keepers).spec) == (
        "Gate keeper kueue takes x/quota off 1 pod at once when x/slice is gone.",
        "Gate keeper slices takes x/slice off pods.",
    )


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ("verbs: [bind, filter]", "An extender counts x/gpu, and is called for filter and bind."),
        ("verbs: [preempt], ignorable: true", "An extender counts x/gpu, and is called for preempt; its errors are ignored."),
    ],
)  # fmt: skip
def test_an_extender_is_told_with_its_verbs(fields: str, sentence: str) -> None:
    head = HEAD.replace("n1: {cpu: 2}", "n1: {cpu: 2, resources: {x/gpu: 1}}")
    pods = "pods: {a: {cpu: 1, resources: {x/gpu: 1}}}\n"
    spec = parse_scenario(f"{head}{pods}extender: {{resource: x/gpu, {fields}}}\n").spec
    assert actors_of(spec) == (sentence,)
