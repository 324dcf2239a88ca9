"""What a scenario asks for: objects that nobody uses, faults aimed at several, updates that others than their user write."""

from __future__ import annotations

from podrace.model.asked_for import _constants, asked_for
from podrace.model.history import resolve
from podrace.model.language.expressions.expr import Variable, const, fresh_graph, select, variable
from podrace.model.language.expressions.sorts import BOOL, INT
from podrace.properties import instrument
from podrace.scenarios import parse_scenario


def parts(text: str) -> dict[str, tuple[int, ...]]:
    scenario = parse_scenario(text, "asked.yaml")
    system = instrument(scenario.spec, resolve("1.36", gates=scenario.feature_gates).classes, [])
    return asked_for(system)


def never(text: str) -> list[str]:
    return [name for name, transitions in parts(text).items() if not transitions]


def test_objects_about_pods_that_concern_none() -> None:
    text = """
nodes: {n1: {cpu: 1}}
deviceClasses: {gpu: {}}
devices: {gpu1: {node: n1, deviceClassName: gpu}, tpu1: {node: n1, deviceClassName: tpu}}
resourceClaims: {used: {deviceClassName: gpu}, idle: {deviceClassName: gpu}}
storageClasses: {csi: {}}
volumes: {pv1: {storageClassName: csi, nodes: [n1]}}
volumeClaims: {disk: {storageClassName: csi}}
podDisruptionBudgets:
  ours: {selector: {matchLabels: {app: web}}, disruptionsAllowed: 0}
  other: {selector: {matchLabels: {app: web}}, namespace: other, disruptionsAllowed: 0}
pods: {a: {cpu: 1, resourceClaims: [used], labels: {app: web}}}
"""
    assert never(text) == [
        "claim idle, to which no pod refers",
        "device tpu1, for which no claim asks",
        "volume claim disk, to which no pod refers",
        "budget other, which selects no pod",
    ]


def test_what_nobody_looks_at() -> None:
    """Each was accepted without a word; the same of pods that are scheduled, or with who looks at it, is none of these."""
    text = """
nodes: {n1: {cpu: 4}}
pods:
  p: {cpu: 1, tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 3}], extensionPoints: [reserve], finalizers: [a/b]}
  v: {cpu: 1, nodeName: n1, extensionPoints: [reserve], extenderSelector: {a: b}, finalizers: [a/b]}
  w: {cpu: 1, nodeName: n1, extenderSelector: {a: b}, finalizers: [a/b]}
controllers: {web: {kind: ReplicaSet, replicas: 1, pods: [w]}}
scope: {node_lifecycle: true}
"""
    assert never(text) == [
        "tolerationSeconds of p, without taint_eviction",
        "extension points of v, which is bound",
        "extender selector of v, which is bound",
        "finalizers of v, which is bound, without bound_finalizers",
        "node lifecycle controller, as every node is ready and stays so",
    ]
    assert never(text.replace("true}", "true, bound_finalizers: true, node_failures: 1}"))[:3] == [
        "tolerationSeconds of p, without taint_eviction",
        "extension points of v, which is bound",
        "extender selector of v, which is bound",
    ]


def test_a_fault_aimed_at_several_is_asked_of_each() -> None:
    text = """
nodes: {n1: {cpu: 2}}
pods: {a: {cpu: 1}, b: {cpu: 1, nodeName: n1}}
scope: {bind_failures: {count: 2, pods: [a, b]}}
"""
    assert list(parts(text)) == [
        "bind failures",
        "bind failures of a",
        "bind failures of b",
    ]


def test_an_update_that_a_gate_keeper_writes() -> None:
    text = """
nodes: {n1: {cpu: 2}, n2: {cpu: 2}}
gateKeepers: {k: {gate: x/y, directs: {a: small}}}
pods: {a: {cpu: 1, schedulingGates: [{name: x/y}], updates: {small: {nodeSelector: {kubernetes.io/hostname: n1}}}}}
"""
    assert never(text) == []


def test_a_value_that_many_choices_share_is_looked_at_once() -> None:
    """Of versions that multiply, the choices between them are shared: there are 2 to the power of 200 ways through these."""
    with fresh_graph():
        new = const(INT, 0)
        for number in range(1, 201):
            first, left, right = (variable(Variable(f"{n}{number}", BOOL, 0, 1, 0)) for n in "flr")
            new = select(first, select(left, new, number), select(right, new, number))
        assert _constants(new) == set(range(201))
