"""Who acts beside the scheduler, in the sentences of a report."""

from __future__ import annotations

import pytest

from podrace.analysis.shown_actors import actors_of
from podrace.scenarios import parse_scenario

HEAD = "name: x\ntitle: x\nrelease: '1.36'\nproperties: [S-CAP]\nnodes: {n1: {cpu: 2}, n2: {cpu: 2}}\n"
PODS = "pods: {a: {cpu: 1}, b: {cpu: 1, exists: false}}\n"


@pytest.mark.parametrize(
    ("sections", "sentences"),
    [
        ("", ()),
        ("controllers: {web: {kind: Deployment, pods: [a, b]}}\n",
         ("Deployment web keeps 1 pod in being; a and b stand for these, each for one after the other.",)),
        ("controllers: {web: {kind: ReplicaSet, pods: [a]}, job: {kind: Job, pods: [b], podReplacementPolicy: Failed}}\n",
         ("ReplicaSet web keeps 1 pod in being; a stands for these, each for one after the other.",
          "Job job wants 1 pod to succeed and replaces one when it has ended; b stands for these, each for one after the other.")),
        ("controllers: {db: {kind: StatefulSet, pods: [a, b]}}\n", ("StatefulSet db keeps a and b in being, one after the other.",)),
        ("controllers: {db: {kind: StatefulSet, pods: [a, b], podManagementPolicy: Parallel}}\n",
         ("StatefulSet db keeps a and b in being, all at once.",)),
        ("controllers: {agent: {kind: DaemonSet, pods: {n1: [a], n2: [b]}}}\n",
         ("DaemonSet agent keeps a pod in being on n1 (by a) and n2 (by b).",)),
        ("controllers: {web: {kind: Deployment, pods: [a, b]}}\ndescheduler: {RemoveDuplicates: {nodeFit: true}, RemovePodsViolatingNodeTaints: {}}\n",
         ("Deployment web keeps 1 pod in being; a and b stand for these, each for one after the other.",
          "The descheduler runs RemoveDuplicates with nodeFit and RemovePodsViolatingNodeTaints.")),
        ("scope: {autoscaler: true}\n", ("An autoscaler makes nodes for pods that fit nowhere, and takes empty ones away.",)),
        ("scope: {scale_downs: 1}\n", ("An autoscaler takes empty nodes away.",)),
    ],
)  # fmt: skip
def test_each_is_told(sections: str, sentences: tuple[str, ...]) -> None:
    assert actors_of(parse_scenario(HEAD + PODS + sections).spec) == sentences


def test_another_scheduler_is_told_with_its_pods() -> None:
    pods = "pods: {a: {cpu: 1}, b: {cpu: 1, schedulerName: other}}\n"
    assert actors_of(parse_scenario(HEAD + pods).spec) == ("Another scheduler places b.",)
