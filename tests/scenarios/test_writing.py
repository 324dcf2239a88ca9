"""A scenario that is written reads back as the same cluster: whatever the reader accepts, and nothing else is written."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.base.problems import Problem
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.reproduce.random_runs.claim_clusters import claim_cluster
from podrace.reproduce.random_runs.extended_clusters import extended_cluster
from podrace.reproduce.random_runs.extender_clusters import extender_cluster
from podrace.reproduce.random_runs.group_clusters import group_cluster
from podrace.reproduce.random_runs.varied_clusters import varied_cluster
from podrace.scenarios import Scenario, parse_scenario
from podrace.scenarios.catalogue import HERE
from podrace.scenarios.tables.file import FILE
from podrace.scenarios.tables.nodes import NODES
from podrace.scenarios.tables.pods import PODS
from podrace.scenarios.writer.sameness import difference
from podrace.scenarios.writing import Unwritable, scenario_text
from tests.profiles import examples
from tests.scenarios.test_rich_files import RICH
from tests.scenarios.test_schema import Loader

RARE = """\
name: rare
featureGates: {GangScheduling: true}
nodes:
  n1: {cpu: 2..4, memory: 4Gi, conditions: {Ready: Unknown, Other: 'False'}, declaredFeatures: [b, a], labels: {zone: 'true', rack: '1'}}
  n2: {cpu: 3500m, memory: 1536Mi, updates: {cordoned: {unschedulable: true}, bare: {labels: {}, taints: [], memory: 0}}, taints: [{key: k, effect: NoExecute}]}
  n3: {cpu: 2, exists: false}
devices: {d1: {node: n1, deviceClassName: gpu, bindingConditions: true}, d2: {}, d3: {deviceClassName: gpu, exists: false}}
deviceClasses: {gpu: {extendedResourceName: example.com/gpu}}
resourceClaimTemplates: {t: {}, other: {deviceClassName: gpu}}
resourceClaims:
  late: {exists: false}
  made-x: {deviceClassName: gpu, device: d1, reservedFor: [made], bindingConditions: timedOut}
csiDrivers: {ebs: {nodes: {n1: [none, 2], n2: 3}, preventPodSchedulingIfMissing: true}, pd: {nodes: {n1: [1, 2]}}}
storageClasses: {local: {volumeBindingMode: WaitForFirstConsumer, csiDriver: ebs}, fast: {provisioner: example.com/p, csiDriver: pd}}
volumes: {v1: {storageClassName: local, nodes: [n1, n2], claimRef: c1, attachedTo: n2}}
volumeClaims: {c1: {storageClassName: local, volumeName: v1, accessModes: [ReadWriteOncePod]}, c2: {storageClassName: fast}}
podGroups: {g: {minCount: 2}, later: {exists: false}}
namespaces: {prod: {labels: {tier: front}}}
pods:
  prod/a: {cpu: 1, priority: -3, podGroup: g, labels: {app: web}, tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 30}]}
  made: {cpu: 500m, memory: 512Mi, resourceClaims: [late, {name: x, resourceClaimTemplateName: other}, {name: y, resourceClaimTemplateName: t}]}
  backed: {cpu: 1, requiredFeatures: [b, a], resources: {example.com/gpu: 1}, preemptionPolicy: Never}
  mounts: {cpu: 1, volumes: [c1, c2], extensionPoints: [permit]}
  gated: {cpu: 1, labels: {app: x}, schedulingGates: [{name: a/b}], updates: {wide: {labels: {app: y}, nodeSelector: {zone: 'true'}}}, finalizers: [x/y]}
  elsewhere: {cpu: 1, schedulerName: mine, namespace: prod, hostPorts: [80, {port: 53, protocol: UDP, hostIP: 10.0.0.1}]}
scope: {pod_events: 1, flush: false, claim_deletions: 1, node_creations: 1}
"""
"""What the other files have not."""

DISRUPTED = """\
nodes: {n1: {cpu: 4, labels: {zone: a}}, n2: {cpu: 4}}
pods:
  a: {cpu: 1, nodeName: n1, labels: {app: web}, ready: false, deleted: true}
  b: {cpu: 1, nodeName: n1, labels: {app: web}, phase: Pending}
  c: {cpu: 1, nodeName: n2, labels: {app: web}, startTime: 2024-01-01T00:00:05Z}
  late: {cpu: 1, creationTimestamp: 2024-01-01T00:00:09Z}
  early: {cpu: 1, creationTimestamp: 2024-01-01T00:00:02Z}
podDisruptionBudgets:
  web: {selector: {matchLabels: {app: web}}, minAvailable: 1, disruptionsAllowed: 0, disruptedPods: [b], unhealthyPodEvictionPolicy: AlwaysAllow}
scope: {disruption_controller: true, readiness: true, pod_phases: true, node_lifecycle: true, heartbeat_losses: {count: 1, nodes: [n2]}, evictions: {count: 2, pods: [a, b]}}
"""

OWNED = """\
nodes: {n1: {cpu: 4}, n2: {cpu: 4, updates: {full: {cpu: 1, labels: {x: y}}}}}
pods:
  web-a: {cpu: 1, nodeName: n1}
  web-b: {cpu: 1, exists: false}
  agent: {cpu: 500m, tolerations: [{key: k, operator: Exists}], nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: os, operator: DoesNotExist}]}]}}, exists: false}
  job: {cpu: 1}
  db-0: {cpu: 1}
controllers:
  web: {kind: ReplicaSet, replicas: 1, pods: [web-a, web-b]}
  agent: {kind: DaemonSet, pods: {n1: [agent]}}
  job: {kind: Job, completions: 1, pods: [job], podReplacementPolicy: Failed}
  db: {kind: StatefulSet, pods: [db-0], podManagementPolicy: Parallel}
descheduler:
  RemovePodsViolatingTopologySpreadConstraint: {topologyKey: zone, maxSkew: 2, matchLabels: {app: web}, nodeFit: true}
  LowNodeUtilization: {thresholds: 20, targetThresholds: 70}
  RemovePodsViolatingNodeAffinity: {prefers: {os: linux}}
scope: {controller_restarts: 1, file_order: true, time: scales, slow: [scheduler, pod informer]}
"""

DIRECTED = """\
nodes: {n1: {cpu: 4, memory: 4Gi, labels: {zone: a}}, n2: {cpu: 4, memory: 4Gi, labels: {zone: b}}}
pods:
  p.x: {cpu: 1, memory: 1Gi, schedulingGates: [{name: a/quota}, {name: a/place}], updates: {east.1: {nodeSelector: {zone: a}}}}
  q: {cpu: 1, memory: 1Gi, labels: {app: web}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, matchLabels: {app: web}, nodeTaintsPolicy: Honor}], nodeAffinity: {preferred: [{weight: 5, matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}
  r: {cpu: 1, memory: 1Gi, defaultSpread: {matchLabels: {app: web}}}
gateKeepers:
  quota: {gate: a/quota, quota: 1}
  place: {gate: a/place, waitsFor: [a/quota], directs: {p.x: east.1}, apart: true}
config: {scored: true, scoringStrategy: MostAllocated, scoreWeights: {NodeAffinity: 0}, hardPodAffinityWeight: 3, minCandidateNodesAbsolute: 7, ignorePreferredTermsOfExistingPods: true}
"""


def _trees() -> Iterator[Any]:
    """All that the repository has of scenarios, and random ones of each kind, as plain data."""
    texts = [RICH, RARE, DISRUPTED, OWNED, DIRECTED]
    texts += [path.read_text(encoding="utf-8") for path in sorted(HERE.rglob("*.yaml"))]
    kinds = (claim_cluster, extended_cluster, extender_cluster, group_cluster, varied_cluster)
    texts += [kind(number) for kind in kinds for number in range(12)]
    for text in texts:
        yield yaml.load(text, Loader), parse_scenario(text)


CORPUS = list(_trees())


def written(scenario: Scenario) -> str:
    return scenario_text(
        scenario.spec,
        name=scenario.name,
        title=scenario.title,
        release=scenario.release,
        properties=scenario.properties,
        gates=tuple(scenario.feature_gates.items()),
    )


def test_all_that_a_scenario_may_say_of_a_cluster_is_somewhere_here() -> None:
    """A new section or field has to come to one of these files, and so to the writer."""
    said = [tree for tree, _ in CORPUS]
    assert set(CLUSTER_FIELDS) <= {section for tree in said for section in tree}
    for section, known in (("pods", PODS.names), ("nodes", NODES.names)):
        assert set(known) <= {name for tree in said for member in tree[section].values() for name in member}


@pytest.mark.parametrize("number", range(len(CORPUS)))
def test_every_scenario_can_be_written(number: int) -> None:
    scenario = CORPUS[number][1]
    text = written(scenario)
    again = parse_scenario(text)
    assert difference(scenario.spec, again.spec) == ""
    assert (again.name, again.title, again.release) == (scenario.name, scenario.title, scenario.release)
    assert (again.properties, again.feature_gates) == (scenario.properties, scenario.feature_gates)
    assert written(again) == text


CLUSTER_FIELDS = FILE.names[FILE.names.index("nodes") :]
VALUES: list[Any] = [0, 1, 3, -2, "2Gi", "1500m", True, False, "a", "n1", "1..3", "Never", {}, []]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A scenario that the reader accepts: one of the corpus with a few things left out, exchanged, or taken from another."""
    tree, scenario = draw(st.sampled_from(CORPUS))
    for _ in range(draw(st.integers(1, 12))):
        changed = copy.deepcopy(tree)
        *path, last = draw(st.sampled_from(list(_paths(tree))))
        at = _at(changed, path)
        other = _at(draw(st.sampled_from(CORPUS))[0], [*path, last])
        if other is not None and draw(st.booleans()):
            at[last] = (
                {**at[last], **other} if isinstance(other, dict) and isinstance(at[last], dict) else other
            )
        elif draw(st.booleans()):
            del at[last]
        else:
            at[last] = draw(st.sampled_from(VALUES))
        try:
            scenario = parse_scenario(_text(changed))
            tree = changed
        except Problem:
            pass
    return scenario


def _paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield from _paths(value, (*path, key))


def _at(tree: Any, path: Sequence[Any]) -> Any:
    """What is at this path; None if there is nothing."""
    for key in path:
        if not (
            key in tree if isinstance(tree, dict) else isinstance(tree, list) and key in range(len(tree))
        ):
            return None
        tree = tree[key]
    return tree


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(tree: Any) -> str:
    text: str = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return text


@settings(max_examples=examples(300))
@given(scenarios())
def test_what_the_reader_accepts_is_written_and_read_back_as_the_same(scenario: Scenario) -> None:
    again = parse_scenario(written(scenario))
    assert difference(scenario.spec, again.spec) == ""
    assert again.spec.scope == scenario.spec.scope
    assert (again.spec.groups == ()) == (scenario.spec.groups == ())


DEFAULTS = {
    "title": "", "priority": 0, "disruptionsAllowed": 0, "pod_events": 4, "node_events": 2, "minDomains": 1, "weight": 1, "maxSkew": 1,
    "whenUnsatisfiable": "DoNotSchedule", "operator": "Equal", "volumeBindingMode": "Immediate", "replicas": 1,
    "completions": 1, "protocol": "TCP", "hostIP": "0.0.0.0", "matchLabels": {}, "labelSelector": {}, "thresholds": None,
    "count": 1,
}  # fmt: skip
"""What the writer says although it is so without."""
LARGE_ENOUGH = (
    "node_updates",
    "pod_updates",
    "node_creations",
    "pod_creations",
    "volume_creations",
    "claim_creations",
)
"""Bounds that are, without a word, as large as the cluster needs."""


@settings(max_examples=examples(300))
@given(st.data())
def test_nothing_is_dropped_unseen(data: st.DataObject) -> None:
    """The comparison sees it if anything is missing from what was written."""
    scenario = data.draw(st.sampled_from(CORPUS))[1]
    tree = yaml.load(written(scenario), Loader)
    paths = [path for path in _paths(tree) if path[0] in CLUSTER_FIELDS]
    *path, last = data.draw(st.sampled_from(paths))
    at = _at(tree, path)
    value = at[last]
    del at[last]
    try:
        without = parse_scenario(_text(tree))
    except Problem:
        return
    if isinstance(last, str) and last in DEFAULTS and value == DEFAULTS[last]:
        return
    if path == ["scope"] and last in LARGE_ENOUGH:
        return
    assert difference(scenario.spec, without.spec), (path, last, value)


def test_what_no_file_can_say_is_not_written() -> None:
    def of(spec: ClusterSpec) -> None:
        scenario_text(spec, name="x", title="x", release="1.36.0", properties=[])

    node, pod = Node(0, "n", 2), Pod(0, "p", 1)
    of(ClusterSpec("x", (pod,), (node,)))
    for spec, differs in (
        (ClusterSpec("x", (Pod(0, "p", 1, uid="u"),), (node,)), "pods p uid"),
        (ClusterSpec("x", (Pod(0, "p", 1, gated=True),), (node,)), "pods p gated"),
        (ClusterSpec("x", (Pod(1, "p", 1),), (node,)), "pods p index"),
        (
            ClusterSpec("x", (pod,), (Node(0, "n", 2, hostname_label=False),)),
            "nodes n labels kubernetes.io/hostname",
        ),
    ):
        with pytest.raises(Unwritable) as refused:
            of(spec)
        assert (
            str(refused.value)
            == f"no scenario file can say this cluster: it would be read with other {differs}"
        )
    with pytest.raises(Unwritable) as refused:
        of(ClusterSpec("x", (Pod(0, "p", 3),), (node,)))
    assert str(refused.value) == (
        "no scenario file can say this cluster: written:8: pods.p.cpu: the pod requests 3, but the largest node, n, has 2: lower the request or enlarge a node"
    )
    with pytest.raises(Unwritable, match=r"could never appear|other scope pod_creations"):
        of(ClusterSpec("x", (Pod(0, "p", 1, exists=False),), (node,), Scope(pod_creations=0)))


def test_clusters_are_the_same_in_any_unit() -> None:
    def cluster(unit: int) -> ClusterSpec:
        return ClusterSpec("x", (Pod(0, "p", 2 * unit),), (Node(0, "n", 3 * unit),))

    assert difference(cluster(1), cluster(500)) == ""
    assert difference(cluster(1), replace(cluster(1), pods=(Pod(0, "p", 1),))) == "pods p amounts cpu"
