"""Objects of two kinds may have one name, as a pod and a node: who acts for the one is not who acts for the other."""

from __future__ import annotations

import pytest

from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

KUBELET = """
nodes: {x: {cpu: 1}}
pods: {x: {cpu: 1}}
scope: {node_lifecycle: true}
"""

TAINT_EVICTION = """
nodes: {x: {cpu: 1, updates: {sick: {taints: [{key: sick, effect: NoExecute}]}}}}
pods: {x: {cpu: 1}}
scope: {node_updates: 1, taint_eviction: true}
"""

DRAIN = """
nodes: {x: {cpu: 1, updates: {leaving: {taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]}}}}
pods: {x: {cpu: 1, nodeName: x}}
controllers: {web: {kind: ReplicaSet, replicas: 1, pods: [x]}}
scope: {scale_downs: 1, scale_down_taints: true, scale_down_drains: true}
"""

CLAIMS = """
nodes: {n: {cpu: 1}}
devices: {d: {node: n}}
resourceClaimTemplates: {gpu: {}}
pods:
  a: {cpu: 1, resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]}
  a-gpu: {cpu: 1, resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]}
"""

OWNED = """
nodes: {n: {cpu: 1}}
pods: {x: {cpu: 1, finalizers: [example.com/counted]}}
controllers: {web: {kind: ReplicaSet, replicas: 1, pods: [x]}}
scope: {pod_deletions: 1}
"""


@pytest.mark.parametrize(
    ("cluster", "actors"),
    [
        (KUBELET, {"kubelet of x": "kubelet", "kubelet's status reports of x": "node_lifecycle"}),
        (
            TAINT_EVICTION,
            {
                "taint eviction controller of x": "taint_eviction",
                "taint eviction controller's node updates of x": "taint_eviction",
            },
        ),
        (DRAIN, {"autoscaler of x": "autoscaler", "autoscaler's evictions of x": "drain"}),
        (CLAIMS, {"making claims of a-gpu": "claim_maker", "naming claims of a-gpu": "claim_maker"}),
        (OWNED, {"controller of x": "controllers", "finalizers' owner of x": "finalizer_owners"}),
    ],
)
def test_namesakes_of_two_kinds_have_actors_of_their_own(cluster: str, actors: dict[str, str]) -> None:
    spec = parse_scenario(f"name: namesakes\ntitle: Objects of one name\n{cluster}", "namesakes.yaml").spec
    system = instrument(spec, resolve("1.36.3").classes, [PROPERTIES["S-CAP"]])
    parts = {f.name: {system.transitions[i].part for i in numbers} for f, numbers in system.fair_sets.items()}
    assert {name: parts.get(name) for name in actors} == {name: {part} for name, part in actors.items()}
