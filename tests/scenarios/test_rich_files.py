"""Files that use all that the model knows: what the model is given."""

from __future__ import annotations

import pytest

from podrace.model.environment.cluster.placement_rules import NODE_NAME, SpreadConstraint
from podrace.model.environment.objects import (
    NOW,
    ClusterSpec,
    Config,
    ExtensionPoint,
    HostPort,
    NodeAffinity,
    NodeTerm,
    Operator,
    Requirement,
    Selector,
    Taint,
    Term,
    Toleration,
)
from podrace.scenarios import parse_scenario

RICH = """\
nodes:
  a:
    cpu: 2
    memory: 4Gi
    ephemeral-storage: 10G
    resources: {example.com/gpu: 4, hugepages-2Mi: 64Mi}
    pods: 3
    taints: [{key: dedicated, value: batch, effect: NoSchedule}, {key: old, effect: PreferNoSchedule}]
    unschedulable: true
  b: {cpu: 4, memory: 2Gi}
pods:
  v: {cpu: 1, memory: 1Gi, nodeName: a, startTime: 2021-08-04T14:00:01+02:00, labels: {app: web}, ignore: {S-UNIQ: harmless}}
  w: {cpu: 1, nodeName: a, startTime: 2021-08-04T12:00:00Z}
  u: {cpu: 1, nodeName: b, finishes: true, startTime: 2021-08-04T12:00:01Z}
  p:
    cpu: 1500m
    memory: 512Mi
    ephemeral-storage: 5G
    resources: {example.com/gpu: 2, hugepages-2Mi: 32Mi}
    namespace: team
    preemptionPolicy: Never
    extensionPoints: [permit, reserve]
    schedulingGates: [{name: example.com/quota}, {name: other}]
    hostPorts: [80, {port: 53, protocol: UDP, hostIP: 10.0.0.1}, {port: 443, hostIP: ""}]
    tolerations:
    - {key: dedicated, operator: Equal, value: batch, effect: NoSchedule}
    - {operator: Exists}
    nodeSelector: {kubernetes.io/hostname: a}
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: cores, operator: Gt, values: ["4"]}
          - {key: old, operator: DoesNotExist}
        - matchFields: [{key: metadata.name, operator: In, values: [a]}]
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 7
        podAffinityTerm:
          labelSelector: {matchExpressions: [{key: app, operator: In, values: [web, db]}]}
          topologyKey: kubernetes.io/hostname
          namespaces: [other]
          namespaceSelector: {matchLabels: {kind: test}}
    podAffinity:
      required: [{labelSelector: {}, topologyKey: zone}]
    topologySpreadConstraints:
    - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabels: {app: web}, others: {a: 2}}
namespaces:
  team: {labels: {kind: test}}
podDisruptionBudgets:
  web: {selector: {matchLabels: {app: web}}, disruptionsAllowed: 1, disruptedPods: [v]}
  team: {selector: {matchExpressions: [{key: app, operator: Exists}]}, namespace: team}
config: {scored: true, hardPodAffinityWeight: 5, minCandidateNodesAbsolute: 1, minCandidateNodesPercentage: 0}
scope: {plugin_errors: 1, permit_rejections: 2}
"""


@pytest.fixture(scope="module")
def spec() -> ClusterSpec:
    return parse_scenario(RICH, "s.yaml").spec


def test_amounts_are_small_whole_numbers(spec: ClusterSpec) -> None:
    (a, b), p = spec.nodes, spec.pods[3]
    resources = ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi")
    assert [a.allocatable(r).value for r in resources] == [4, 8, 2, 2, 2]
    assert [b.allocatable(r).value for r in resources] == [8, 4, 0, 0, 0]
    assert [p.request(r).value for r in resources] == [3, 1, 1, 1, 1]
    assert [q.cpu.value for q in spec.pods] == [2, 2, 2, 3]


def test_nodes(spec: ClusterSpec) -> None:
    a, b = spec.nodes
    assert a.pods is not None
    assert (a.pods.value, a.unschedulable, b.pods, b.unschedulable) == (3, True, None, False)
    assert a.taints == (Taint("dedicated", "batch"), Taint("old", "", "PreferNoSchedule"))
    assert b.taints == ()


def test_of_start_times_only_the_order_counts(spec: ClusterSpec) -> None:
    assert [p.start for p in spec.pods] == [1, 0, 1, NOW]


def test_pods(spec: ClusterSpec) -> None:
    v, p = spec.pods[0], spec.pods[3]
    assert (v.preempts, v.namespace, v.extension_points) == (True, "default", frozenset())
    assert v.namespace_labels == {"kubernetes.io/metadata.name": "default"}
    assert (p.preempts, p.namespace) == (False, "team")
    assert p.namespace_labels == {"kubernetes.io/metadata.name": "team", "kind": "test"}
    assert p.extension_points == {ExtensionPoint.PERMIT, ExtensionPoint.RESERVE}
    assert p.spread == (SpreadConstraint("zone", Selector({"app": "web"}), 2, {"a": 2}),)
    assert (v.gated, p.gated) == (False, True)
    assert [q.finishes for q in spec.pods] == [False, False, True, False]
    assert (v.host_ports, p.host_ports) == (
        (),
        (HostPort(80), HostPort(53, "UDP", "10.0.0.1"), HostPort(443)),
    )
    assert p.tolerations == (
        Toleration("dedicated", "Equal", "batch", "NoSchedule"),
        Toleration(operator="Exists"),
    )


def test_the_nodes_that_a_pod_asks_for(spec: ClusterSpec) -> None:
    p = spec.pods[3]
    assert p.node_selector == {"kubernetes.io/hostname": "a"}
    cores, old = Requirement("cores", Operator.GREATER, ("4",)), Requirement("old", Operator.DOES_NOT_EXIST)
    assert p.node_affinity == NodeAffinity(
        (NodeTerm((cores, old)), NodeTerm(fields=(Requirement(NODE_NAME, Operator.IN, ("a",)),)))
    )
    assert [p.asks_for(n) for n in spec.nodes] == [True, False]


def test_affinity_terms(spec: ClusterSpec) -> None:
    affinity, anti = spec.pods[3].terms
    assert affinity == Term({}, "zone", namespaces=("team",))
    assert anti == Term(
        {},
        "kubernetes.io/hostname",
        required=False,
        anti=True,
        expressions=(Requirement("app", Operator.IN, ("web", "db")),),
        namespaces=("other",),
        namespace_selector=Selector({"kind": "test"}),
        weight=7,
    )


def test_short_and_long_spellings_mean_the_same() -> None:
    short = "required: [{matchLabels: {app: x}, topologyKey: zone}], preferred: [{weight: 3, matchLabels: {}, topologyKey: z}]"
    long = (
        "requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: x}}, topologyKey: zone}], "
        "preferredDuringSchedulingIgnoredDuringExecution: "
        "[{weight: 3, podAffinityTerm: {labelSelector: {}, topologyKey: z}}]"
    )
    found = [
        parse_scenario(
            f"nodes: {{n: {{cpu: 1}}}}\npods: {{p: {{cpu: 1, podAffinity: {{{text}}}}}}}\nconfig: {{scored: true}}"
        ).spec
        for text in (short, long)
    ]
    assert found[0].pods[0].terms == found[1].pods[0].terms
    assert len(found[0].pods[0].terms) == 2


def test_budgets(spec: ClusterSpec) -> None:
    web, team = spec.budgets
    assert (web.name, web.index, web.allowed.value, web.namespace) == ("web", 0, 1, "default")
    assert (web.selector, web.disrupted) == (Selector({"app": "web"}), {"v"})
    assert (team.allowed.value, team.namespace, team.disrupted) == (0, "team", frozenset())
    assert team.selector == Selector(expressions=(Requirement("app", Operator.EXISTS),))


def test_the_configuration(spec: ClusterSpec) -> None:
    assert spec.scope.config == Config(
        scored=True, hard_affinity_weight=5, min_candidates=1, min_candidates_percentage=0
    )
    assert (spec.scope.plugin_errors, spec.scope.permit_rejections) == (1, 2)
