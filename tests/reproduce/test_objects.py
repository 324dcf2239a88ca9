"""The objects of a scenario say what the scenario says: they are read back as manifests are."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podrace.manifests import Inventory, read_manifests
from podrace.model.environment.cluster.placement_rules import PreferredNodes, SpreadConstraint, Wishes
from podrace.model.environment.cluster.workloads import ExtenderSpec, Noting, OwnerKind, OwnerSpec
from podrace.model.environment.objects import (
    ClusterSpec,
    Config,
    DisruptionBudget,
    HostPort,
    Node,
    NodeAffinity,
    NodeTerm,
    Operator,
    Pod,
    PodGroup,
    Requirement,
    Scope,
    Selector,
    Taint,
    Term,
    Toleration,
)
from podrace.model.language import Parameter
from podrace.reproduce.objects import (
    GATE,
    budget_object,
    extender_object,
    extender_objects,
    node_object,
    objects_of,
    pod_object,
    scores_object,
)
from podrace.scenarios import catalogue, hazards
from podrace.scenarios.reader.sections.pod_section import NAMESPACE_NAME

UNITS = {"cpu": 1000, "memory": 1 << 20, "ephemeral-storage": 1 << 20, "example.com/gpu": 1}
"""How many of a manifest's units one of the model is."""


def read_back(spec: ClusterSpec) -> Inventory:
    """What the reader of manifests makes of the objects."""
    made = objects_of(spec)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "objects.yaml"
        file.write_text(yaml.safe_dump_all([*made.nodes, *made.pods, *made.budgets]))
        return read_manifests([str(file)])


KEYS = st.sampled_from(["app", "tier", "zone"])
VALUES = st.sampled_from(["a", "b"])
LABELS = st.dictionaries(KEYS, VALUES, max_size=2)
SIZES = st.integers(0, 3)
SELECTORS = st.builds(
    Selector,
    st.dictionaries(KEYS, VALUES, min_size=1, max_size=2),
    st.lists(
        st.builds(Requirement, KEYS, st.just(Operator.NOT_IN), st.tuples(VALUES))
        | st.builds(Requirement, KEYS, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
        max_size=1,
    ).map(tuple),
)
TERMS = st.builds(
    Term, st.dictionaries(KEYS, VALUES, min_size=1, max_size=1), st.just("zone"), anti=st.booleans(),
    namespaces=st.sampled_from([(), ("other",)]), nothing=st.just(False),
)  # fmt: skip
NODE_TERMS = st.builds(
    NodeTerm,
    st.lists(st.builds(Requirement, KEYS, st.just(Operator.IN), st.tuples(VALUES)), min_size=1, max_size=1).map(tuple),
    st.sampled_from([(), (Requirement("metadata.name", Operator.IN, ("n",)),)]),
)  # fmt: skip
TOLERATIONS = st.builds(
    Toleration, st.just("dedicated"), st.just("Equal"), VALUES, st.sampled_from(["", "NoSchedule"])
) | st.builds(Toleration, st.sampled_from(["", "dedicated"]), st.just("Exists"))


@st.composite
def pods(draw: Any, node: Node) -> Pod:
    """A pod with anything that manifests can say."""
    namespace = draw(st.sampled_from(["default", "other"]))
    return Pod(
        0,
        "p",
        draw(SIZES),
        draw(st.integers(-2, 5)),
        memory=draw(SIZES),
        ephemeral=draw(SIZES),
        extended={"example.com/gpu": draw(SIZES)},
        namespace=namespace,
        namespace_labels={NAMESPACE_NAME: namespace},
        preempts=draw(st.booleans()),
        labels=draw(LABELS),
        terms=draw(st.lists(TERMS, max_size=2)),
        tolerations=draw(st.lists(TOLERATIONS, max_size=2)),
        node_selector=draw(LABELS),
        node_affinity=draw(st.none() | st.builds(NodeAffinity, st.lists(NODE_TERMS, min_size=1, max_size=2))),
        node=draw(st.sampled_from([None, node])),
        graceful=draw(st.booleans()),
        spread=draw(
            st.lists(st.builds(SpreadConstraint, st.just("zone"), SELECTORS, st.integers(1, 2)), max_size=1)
        ),
        host_ports=draw(
            st.sampled_from([(), (HostPort(80),), (HostPort(80), HostPort(53, "UDP", "10.0.0.1"))])
        ),
    )


def amounts(quantities: Any) -> dict[str, int]:
    """The amounts of the model that are not zero, in the units of manifests."""
    return {r: int(n) * UNITS[r] for r, n in quantities.items() if n}


@given(st.data(), LABELS, st.booleans(), st.none() | st.integers(0, 9))
def test_manifests_say_the_same(data: Any, labels: dict[str, str], closed: bool, room: int | None) -> None:
    node = Node(
        0, "n", 3, labels, memory=2, extended={"example.com/gpu": 1}, pods=room,
        taints=data.draw(st.lists(st.builds(Taint, KEYS, VALUES, st.sampled_from(["NoSchedule", "NoExecute"])), max_size=1)),
        unschedulable=closed,
    )  # fmt: skip
    pod = data.draw(pods(node))
    found = read_back(ClusterSpec("c", (pod,), (node,)))
    (on,) = found.nodes
    assert amounts(node._allocatable) == {r: n for r, n in on.allocatable.items() if n}
    assert (on.pods, on.labels) == (110 if room is None else room, node.labels)
    assert (on.taints, on.unschedulable) == (node.taints, closed)
    (read,) = [*found.pending, *found.bound]
    assert amounts(pod._requests) == {r: n for r, n in read.requests.items() if n}
    assert (read.namespace, read.labels, read.priority) == (pod.namespace, pod.labels, pod._priority)
    assert (read.preempts, read.tolerations, read.node_selector) == (
        pod.preempts,
        pod.tolerations,
        pod.node_selector,
    )
    assert read.node == (None if pod.node is None else "n")
    assert bool(read.grace) is pod.graceful
    assert read.host_ports == pod.host_ports
    assert list(read.terms) == sorted(pod.terms, key=lambda term: term.anti)
    assert (read.node_affinity is None) is (pod.node_affinity is None)
    if read.node_affinity is not None and pod.node_affinity is not None:
        assert list(read.node_affinity.terms) == list(pod.node_affinity.terms)
    assert [(c.topology_key, c.selector, c.max_skew) for c in read.spread] == [
        (c.topology_key, c.selector, c.max_skew) for c in pod.spread
    ]


def test_a_budget() -> None:
    pod = Pod(0, "p", 1, labels={"app": "web"})
    budget = DisruptionBudget(0, "web", Selector({"app": "web"}), 2, disrupted=["p"])
    found = budget_object(budget, (pod,))
    assert found["spec"] == {"selector": {"matchLabels": {"app": "web"}}}
    assert found["status"] == {"disruptionsAllowed": 2, "disruptedPods": {"p": "2000-01-01T00:00:00Z"}}


def test_what_a_budget_wants() -> None:
    budget = DisruptionBudget(0, "web", Selector({"app": "web"}), 0, min_available=2, always_allow=True)
    wanted = {"minAvailable": 2, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    assert budget_object(budget, ())["spec"] == {"selector": {"matchLabels": {"app": "web"}}, **wanted}


def test_conditions_of_nodes_are_those_that_are_not_as_usual() -> None:
    assert "conditions" not in node_object(Node(0, "n", 1))["status"]
    cut_off = Node(0, "n", 1, conditions={"Ready": "Unknown", "DiskPressure": "True"})
    assert node_object(cut_off)["status"]["conditions"] == [
        {"type": "Ready", "status": "Unknown"},
        {"type": "DiskPressure", "status": "True"},
    ]


@pytest.mark.parametrize("looked", [False, True])
def test_a_pod_is_said_to_be_ready_or_not_where_somebody_looks(looked: bool) -> None:
    node = Node(0, "n", 1)
    pods = (Pod(0, "p", 1, node=node, ready=False), Pod(1, "q", 1, node=node), Pod(2, "r", 1))
    scope = Scope(disruption_controller=True, readiness=looked)
    made = objects_of(ClusterSpec("c", pods, (node,), scope)).pods
    told = [[{"type": "Ready", "status": status}] if looked else None for status in ("False", "True")]
    assert [pod["status"].get("conditions") for pod in made] == [*told, None]


def test_an_extender() -> None:
    extender = ExtenderSpec("example.com/gpu", filters=True, binds=True, ignorable=True, noting=Noting.BOUND)
    assert extender_object(extender, "gpu") == {
        "name": "gpu",
        "resource": "example.com/gpu",
        "ignored_by_scheduler": False,
        "verbs": ["filter", "bind"],
        "ignorable": True,
        "counts": "bound",
        "nodes": None,
        "unresolvable": False,
        "scores": {},
        "weight": 1,
    }


def test_an_extender_is_asked_for_scores_where_scores_decide() -> None:
    scores = ExtenderSpec(nodes=frozenset("nm"), unresolvable=True, scores=(("n", 7),), weight=2)
    made = extender_object(scores, "e")
    assert (made["verbs"], made["nodes"], made["unresolvable"]) == ([], ["m", "n"], True)
    assert (made["resource"], made["scores"], made["weight"]) == ("", {"n": 7}, 2)
    assert extender_object(scores, "e", scored=True)["verbs"] == ["prioritize"]
    spec = ClusterSpec("c", (), (), extenders=(ExtenderSpec(filters=True), scores))
    assert [made["name"] for made in extender_objects(spec)] == ["extender 1", "extender 2"]
    assert objects_of(spec).missing == ()


def test_how_nodes_are_scored() -> None:
    assert scores_object(Config(score_weights=(("NodeAffinity", 5),), scoring_strategy="MostAllocated")) == {
        "weights": {"NodeAffinity": 5},
        "strategy": "MostAllocated",
        "hard_affinity_weight": 1,
        "ignore_preferred_of_existing": False,
    }


def test_namespaces_are_there_where_a_term_asks_for_their_labels() -> None:
    named: dict[str, Any] = {"namespace": "team", "namespace_labels": {NAMESPACE_NAME: "team", "env": "prod"}}
    asks = Term({"app": "db"}, "zone", namespaces=("default",), namespace_selector=Selector({"env": "prod"}))
    pods = (
        Pod(0, "p", 1, terms=[asks], namespace_labels={NAMESPACE_NAME: "default"}),
        Pod(1, "q", 1, **named),
    )
    made = objects_of(ClusterSpec("c", pods, ()))
    assert {one["metadata"]["name"]: one["metadata"]["labels"] for one in made.namespaces} == {
        "default": {NAMESPACE_NAME: "default"},
        "team": {NAMESPACE_NAME: "team", "env": "prod"},
    }
    (term,) = made.pods[0]["spec"]["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert (term["namespaces"], term["namespaceSelector"]) == (["default"], {"matchLabels": {"env": "prod"}})
    assert objects_of(ClusterSpec("c", pods[1:], ())).namespaces == made.missing == ()


@pytest.mark.parametrize(
    ("pod", "phase", "ready"),
    [
        (Pod(0, "p", 1, node=Node(0, "n", 1), started=False), "Pending", "False"),
        (Pod(0, "p", 1, node=Node(0, "n", 1), ready=False), "Running", "False"),
        (Pod(0, "p", 1, node=Node(0, "n", 1)), "Running", "True"),
    ],
)
def test_a_pod_whose_kubelet_has_not_started_it_is_pending_and_not_ready(
    pod: Pod, phase: str, ready: str
) -> None:
    (made,) = objects_of(ClusterSpec("c", (pod,), (Node(0, "n", 1),), Scope(readiness=True))).pods
    assert made["status"] == {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]}


def test_a_pod() -> None:
    """What manifests do not tell apart: gates, start times, the status of who is bound."""
    node = Node(0, "n", 1)
    gated = pod_object(Pod(0, "p", 0, gated=True))
    assert gated["spec"]["schedulingGates"] == [{"name": "podrace.io/held-back"}]
    assert gated["spec"]["containers"][0]["resources"] == {"requests": {}}
    assert gated["status"] == {"phase": "Pending"}
    started = pod_object(Pod(0, "ns/p", 1, namespace="ns", node=node, start=61))
    assert started["metadata"] == {"name": "p", "namespace": "ns", "uid": "ns/p"}
    assert started["status"] == {"phase": "Running", "startTime": "2000-01-01T00:01:01Z"}
    preferred = pod_object(Pod(0, "p", 1, terms=[Term({"a": "b"}, "zone", required=False, weight=3)]))
    (term,) = preferred["spec"]["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert (term["weight"], term["podAffinityTerm"]["topologyKey"]) == (3, "zone")


def test_the_versions_of_a_pod() -> None:
    """Whole objects, each with its number in the model; the first has none, and is the pod itself."""
    node = Node(0, "n", 2)
    later = {
        "small": Pod(0, "p", 1, labels={"app": "web"}, node=node),
        "batch": Pod(0, "p", 2, labels={"app": "batch"}, node=node),
    }
    pod = Pod(0, "p", 2, labels={"app": "web"}, node=node, later=later)
    made = objects_of(ClusterSpec("c", (pod, Pod(1, "q", 1)), (node,)))
    assert [one["metadata"].get("annotations") for one in made.pods] == [None, None]
    assert {
        name: (one["metadata"]["labels"]["app"], one["spec"]["containers"][0]["resources"]["requests"])
        for name, one in made.pod_versions.items()
    } == {"p.small": ("web", {"cpu": "1"}), "p.batch": ("batch", {"cpu": "2"})}
    assert {name: one["metadata"]["annotations"] for name, one in made.pod_versions.items()} == {
        "p.small": {"podrace.io/version": "1"},
        "p.batch": {"podrace.io/version": "2"},
    }


def test_no_limit_of_pods() -> None:
    assert node_object(Node(0, "n", 2))["status"]["allocatable"] == {"cpu": "2", "pods": "110"}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (ClusterSpec("c", (Pod(0, "p", Parameter("x", 0, 1)),), ()), "x is open"),
        (ClusterSpec("c", (Pod(0, "a/p", 1, namespace="a"), Pod(1, "p", 1, namespace="a")), ()), "two pods have one name in one namespace"),
        (ClusterSpec("c", (Pod(0, "a/p", 1, namespace="a"), Pod(1, "b/p", 1, namespace="b")), ()), "two pods are called p, in two namespaces"),
        (
            ClusterSpec("c", (Pod(0, "p", 1, spread=[SpreadConstraint("z", Selector({"a": "b"}), others={"x": 1})]),), ()),
            "counts pods that are no part",
        ),
        (ClusterSpec("c", (), (), Scope(config=Config(min_candidates=5))), "the configuration says min_candidates=5"),
        (ClusterSpec("c", (Pod(0, "p", 1, memory=1 << 41),), ()), "no common unit"),
        (ClusterSpec("c", (Pod(0, "p", 1, features=["f"]),), ()), "features that nodes declare"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_named(spec: ClusterSpec, words: str) -> None:
    (missing,) = objects_of(spec).missing
    assert words in missing


def test_what_comes_with_podrace_can_be_said() -> None:
    missing = {s.name: objects_of(s.spec).missing for s in (*catalogue(), *hazards())}
    assert {name: why for name, why in missing.items() if why} == {}


def test_a_group_is_said_in_the_kinds_of_all_releases() -> None:
    pods = (Pod(0, "p", 1, group="g", namespace="x"), Pod(1, "q", 1, group="h"))
    gang, basic = objects_of(
        ClusterSpec("c", pods, (), groups=(PodGroup(0, "g", 2), PodGroup(1, "h", exists=False)))
    ).groups
    metadata = {"name": "g", "namespace": "x", "uid": "g"}
    policy = {"gang": {"minCount": 2}}
    assert gang == (
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": metadata,
            "spec": {"priority": 0, "schedulingPolicy": policy},
        },
        {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "metadata": metadata,
            "spec": {"schedulingPolicy": policy},
        },
        {
            "apiVersion": "scheduling.k8s.io/v1alpha1",
            "kind": "Workload",
            "metadata": metadata,
            "spec": {"podGroups": [{"name": "g", "policy": policy}]},
        },
    )
    assert [kind["kind"] for kind in basic] == ["PodGroup", "PodGroup", "Workload"]
    assert basic[1]["spec"] == {"schedulingPolicy": {"basic": {}}}
    spec = pod_object(pods[0])["spec"]
    assert (spec["schedulingGroup"], spec["workloadRef"]) == (
        {"podGroupName": "g"},
        {"name": "g", "podGroup": "g"},
    )


def test_the_groups_of_a_tree_are_of_one_workload_and_one_after_the_other() -> None:
    pods = (Pod(0, "p", 1, priority=3, group="g", namespace="x"),)
    groups = (
        PodGroup(0, "c", min_group_count=1),
        PodGroup(1, "g", 2, parent="c"),
        PodGroup(2, "h", 1, parent="c"),
    )
    root, *children = objects_of(ClusterSpec("c", pods, (), groups=groups)).groups
    common = {"namespace": "x"}
    assert root == (
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "CompositePodGroup",
            "metadata": {"name": "c", **common, "uid": "c", "creationTimestamp": "2000-01-01T00:00:00Z"},
            "spec": {
                "priority": 3,
                "workloadRef": {"workloadName": "c", "templateName": "c"},
                "schedulingPolicy": {"gang": {"minGroupCount": 1}},
            },
        },
    )
    assert [kinds[0] for kinds in children] == [
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {
                "name": name,
                **common,
                "uid": name,
                "creationTimestamp": f"2000-01-01T00:00:0{n}Z",
            },
            "spec": {
                "priority": 3,
                "workloadRef": {"workloadName": "c", "templateName": name},
                "schedulingPolicy": {"gang": {"minCount": least}},
                "parentCompositePodGroupName": "c",
            },
        }
        for n, name, least in ((1, "g", 2), (2, "h", 1))
    ]


def test_a_pod_of_another_scheduler_names_that_one() -> None:
    names = [pod_object(Pod(i, "p", 1, foreign=i == 1))["spec"]["schedulerName"] for i in range(2)]
    assert names == ["default-scheduler", "another-scheduler"]


def test_a_pod_of_an_owner_refers_to_it() -> None:
    owners = (
        OwnerSpec("web", OwnerKind.DEPLOYMENT, 1, (("", ("a",)),)),
        OwnerSpec("work", OwnerKind.JOB, 1, (("", ("b",)),)),
    )
    made = objects_of(
        ClusterSpec("c", tuple(Pod(i, name, 1) for i, name in enumerate("abc")), (), owners=owners)
    )
    named = [pod["metadata"].get("ownerReferences") for pod in made.pods]
    assert [(r[0]["apiVersion"], r[0]["kind"], r[0]["name"]) for r in named[:2]] == [
        ("apps/v1", "ReplicaSet", "web"),
        ("batch/v1", "Job", "work"),
    ]
    assert named[2] is None


def test_gates_have_their_names_where_these_matter() -> None:
    one, two = Pod(0, "p", 1, gated=True), Pod(1, "q", 1, gates=["x", "y"])
    assert pod_object(one)["spec"]["schedulingGates"] == [{"name": GATE}]
    assert pod_object(two)["spec"]["schedulingGates"] == [{"name": "x"}, {"name": "y"}]
    assert pod_object(two)["metadata"]["annotations"] == {"podrace.io/gates": "2"}


def test_a_pod_that_is_recreated_has_the_name_of_another_and_a_uid_of_its_own() -> None:
    made = pod_object(Pod(1, "v-again", 1, exists=False, recreates="v"))
    assert made["metadata"] == {"name": "v", "namespace": "default", "uid": "v-again"}


def test_what_a_pod_would_like_is_written_as_kubernetes_has_it() -> None:
    likes = PreferredNodes(7, NodeTerm((Requirement("zone", Operator.IN, ("a",)),)))
    web = SpreadConstraint("zone", Selector({"app": "web"}), 2)
    spec = pod_object(Pod(0, "p", 1, spread=[web], wishes=Wishes((web,), (likes,))))["spec"]
    said = {"maxSkew": 2, "topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    assert spec["topologySpreadConstraints"] == [
        {**said, "whenUnsatisfiable": "DoNotSchedule"},
        {**said, "whenUnsatisfiable": "ScheduleAnyway"},
    ]
    expressions = [{"key": "zone", "operator": "In", "values": ["a"]}]
    assert spec["affinity"]["nodeAffinity"] == {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 7, "preference": {"matchExpressions": expressions}}
        ]
    }


def test_constraints_by_default_come_from_services() -> None:
    by_default = SpreadConstraint("zone", Selector({"app": "web"}), 5, by_default=True)
    pods = tuple(Pod(i, name, 1, wishes=Wishes((by_default,))) for i, name in enumerate("pq"))
    made = objects_of(ClusterSpec("c", pods, (Node(0, "n", 1),), Scope()))
    assert made.services == (
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "service-1", "namespace": "default"},
            "spec": {"selector": {"app": "web"}},
        },
    )
    assert "topologySpreadConstraints" not in made.pods[0]["spec"]
    assert made.missing == ()
