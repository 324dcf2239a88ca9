"""Groups of pods in a dump: which the scheduler heeds, which are kept, and what is said of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from podrace.analysis.request.representative_cluster import Manifests, Represented, scenario_from
from podrace.api import check
from podrace.base.problems import Problem
from podrace.manifests import Size
from tests.manifests.claim_objects import (
    as_list,
    asks,
    device,
    device_class,
    made,
    node,
    pod,
    resource_claim,
    resource_slice,
    storage_class,
    template,
    volume_claim,
)

Some = dict[str, Any]
SIZE = Size()
ON_37, ON_36 = ("GenericWorkload=true",), ("GangScheduling=true",)
BY_ITSELF = "the pod belongs to a group, and is scheduled by itself here: "


def group(name: str = "g", least: int | None = 2, **spec: Any) -> Some:
    policy: Some = {"basic": {}} if least is None else {"gang": {"minCount": least}}
    version = spec.pop("version", "v1alpha3")
    return made(
        "PodGroup", name, f"scheduling.k8s.io/{version}", "shop", spec={"schedulingPolicy": policy, **spec}
    )


def member(name: str, of: str = "g", **more: Any) -> Some:
    return pod(name, schedulingGroup={"podGroupName": of}, **more)


def scheduler(*flags: str) -> Some:
    image = "registry.k8s.io/kube-scheduler:v1.37.2"
    found = made("Pod", "kube-scheduler-m", namespace="kube-system", status={"phase": "Running"})
    return found | {
        "spec": {"nodeName": "n1", "containers": [{"image": image, "command": ["kube-scheduler", *flags]}]}
    }


def represented(
    folder: Path,
    *some: Some,
    gates: tuple[str, ...] = ON_37,
    release: str = "1.37.2",
    size: Size = SIZE,
    **more: Any,
) -> Represented:
    """What is kept of these objects and two nodes for four pods each."""
    file = folder / "m.yaml"
    nodes = [] if any(o["kind"] == "Node" for o in some) else [node("n1"), node("n2")]
    file.write_text(as_list(*nodes, *some))
    return scenario_from(
        Manifests([str(file)], size=size, release=release, gates=gates, **more), lambda _: None
    )


def written(found: Represented) -> Some:
    document: Some = yaml.safe_load(found.scenario.text)
    return document


GANG = (group(), member("a"), member("b"))


# --- what is kept ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("release", "gates"), [("1.36.3", ON_36), ("1.37.2", ON_37)])
def test_a_gang_is_in_the_scenario(tmp_path: Path, release: str, gates: tuple[str, ...]) -> None:
    found = represented(tmp_path, *GANG, gates=gates, release=release)
    scenario = written(found)
    assert not found.doubts
    assert scenario["podGroups"] == {"shop/g": {"minCount": 2}}
    assert {name: one["podGroup"] for name, one in scenario["pods"].items()} == {
        "shop/a": "shop/g",
        "shop/b": "shop/g",
    }
    assert scenario["featureGates"] == {gates[0].partition("=")[0]: True}
    assert scenario["properties"][-3:] == ["S-GROUPSTATE", "S-QUORUM", "L-GANG"]
    (line,) = [line for line in found.account if "minCount" in line]
    assert line == "  shop/g: a gang, minCount 2"
    assert "  shop/b: waits, with shop/a; priority 0, of group shop/g, one of 2 pods alike" in found.account


def test_its_verdicts_are_sure(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(as_list(node("n1"), *GANG))
    found = check(filename=file, release="1.37.2", gate=ON_37, property=["S-QUORUM", "L-GANG"])
    assert [(f.property, f.verdict, f.vacuous, f.states) for f in found] == [
        ("S-QUORUM", "HOLDS", False, 217),
        ("L-GANG", "HOLDS", False, 217),
    ]
    # Without a gate nobody knows; with the gate off there are no groups.
    (open_,) = check(filename=file, release="1.37.2", property="S-CAP")
    assert open_.verdict == "INCONCLUSIVE"
    (off,) = check(filename=file, release="1.37.2", gate="GenericWorkload=false", property="S-CAP")
    assert off.verdict == "HOLDS"


def test_the_pods_of_a_group_of_1_35_name_it_in_a_workload(tmp_path: Path) -> None:
    groups = [{"name": "p", "policy": {"gang": {"minCount": 2}}}, {"name": "q", "policy": {"basic": {}}}]
    workload = made("Workload", "w", "scheduling.k8s.io/v1alpha1", "shop", spec={"podGroups": groups})
    ref = {"name": "w", "podGroup": "p", "podGroupReplicaKey": "k"}
    pods = (
        pod("a", workloadRef=ref),
        pod("b", workloadRef=ref),
        pod("c", workloadRef={"name": "w", "podGroup": "q"}),
    )
    found = represented(tmp_path, workload, *pods, gates=ON_36, release="1.35.4", focus="shop/a")
    scenario = written(found)
    assert not found.doubts
    assert scenario["podGroups"] == {"shop/w.p.k": {"minCount": 2}}
    assert [one["podGroup"] for one in scenario["pods"].values()] == ["shop/w.p.k"] * 2
    assert written(represented(tmp_path, workload, *pods, gates=ON_36, release="1.35.4", focus="shop/c"))[
        "podGroups"
    ] == {"shop/w.q": {}}


def test_two_gangs_that_want_the_same_room_are_both_kept(tmp_path: Path) -> None:
    some = [
        node("n1", "2"),
        group(),
        group("h"),
        member("a"),
        member("b"),
        member("c", "h"),
        member("d", "h"),
    ]
    found = represented(tmp_path, *some, size=Size(4, 2))
    assert list(written(found)["pods"]) == ["shop/a", "shop/b", "shop/c", "shop/d"]
    assert written(found)["podGroups"] == {"shop/g": {"minCount": 2}, "shop/h": {"minCount": 2}}
    assert written(found)["properties"][-1] == "L-DEADLOCK"
    assert not found.doubts
    # A gang that cannot be kept whole gives way to a single pod that can.
    found = represented(tmp_path, *some, pod("s"))
    assert list(written(found)["pods"]) == ["shop/a", "shop/b", "shop/s"]
    assert not found.doubts


def test_a_bound_pod_of_a_group_is_kept_with_its_node(tmp_path: Path) -> None:
    found = represented(
        tmp_path, node("n1", "1"), node("n2", "1"), group(least=3), member("a"), member("b", nodeName="n2")
    )
    assert written(found)["pods"]["shop/b"]["nodeName"] == "n2"
    assert list(written(found)["nodes"]) == ["n1", "n2"]
    assert not found.doubts


def test_nodes_that_are_alike_are_kept_for_a_gang_that_needs_both(tmp_path: Path) -> None:
    found = represented(tmp_path, node("n1", "1"), node("n2", "1"), *GANG)
    assert list(written(found)["nodes"]) == ["n1", "n2"]
    assert not found.doubts


def test_owed_pods_of_a_group_are_in_it(tmp_path: Path) -> None:
    spec = member("x")["spec"]
    job = made(
        "Job", "j", "batch/v1", "shop", spec={"parallelism": 2, "completions": 2, "template": {"spec": spec}}
    )
    found = represented(tmp_path, group(), job)
    assert {one["podGroup"] for one in written(found)["pods"].values()} == {"shop/g"}
    assert not found.doubts


def owned_by_job(of: Some) -> Some:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "uid-j", "controller": True}
    of["metadata"]["ownerReferences"] = [owner]
    return of


@pytest.mark.parametrize("by_sibling", [False, True])
def test_a_job_gives_its_group_to_the_pods_that_it_owes(tmp_path: Path, by_sibling: bool) -> None:
    """Its template does not say it: its other pods are in a group, or a PodGroup is its own."""
    spec = pod("x")["spec"]
    job = made(
        "Job", "j", "batch/v1", "shop", spec={"parallelism": 2, "completions": 2, "template": {"spec": spec}}
    )
    there = (group(), owned_by_job(member("a"))) if by_sibling else (owned_by_job(group()),)
    found = represented(tmp_path, *there, job)
    assert [one["podGroup"] for one in written(found)["pods"].values()] == ["shop/g"] * 2
    assert not found.doubts
    several = (*there, group("h"), owned_by_job(member("c", "h")))
    job["spec"]["parallelism"] = job["spec"]["completions"] = 4
    said = "the pods of a workload are in several groups: those that are owed are taken into one of them (the pods of Job/shop/j)"
    assert said in represented(tmp_path, *several, job).doubts


def test_two_groups_of_one_name_in_the_scenario_are_left_out(tmp_path: Path) -> None:
    def workload(name: str, of: str) -> Some:
        groups = [{"name": of, "policy": {"basic": {}}}]
        return made("Workload", name, "scheduling.k8s.io/v1alpha1", "shop", spec={"podGroups": groups})

    refs = ({"name": "a.b", "podGroup": "c"}, {"name": "a", "podGroup": "b", "podGroupReplicaKey": "c"})
    pods = [pod(f"p{i}", workloadRef=ref) for i, ref in enumerate(refs)]
    some = (node("n1", "1"), workload("a.b", "c"), workload("a", "b"), *pods)
    found = represented(tmp_path, *some, gates=ON_36, release="1.35.4")
    assert len(written(found)["pods"]) == 2
    assert found.doubts == [
        f"the pods of group shop/{name} are scheduled each by itself here: two of the groups would have one name in a scenario"
        for name in ("a.b/c", "a/b/c")
    ]


# --- what is left out ------------------------------------------------------------------------------------------


def profiles(*some: Some) -> Some:
    """The scheduler's configuration."""
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return kind | {"profiles": list(some)}


def owing(**spec: Any) -> Some:
    """A Job whose only pod is not there yet."""
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    template = {"spec": {"containers": containers, "schedulingGroup": {"podGroupName": "g"}, **spec}}
    return made("Job", "j", "batch/v1", "shop", spec={"template": template})


LEFT_OUT = "the pods of group shop/g are scheduled each by itself here: "
CASES: list[tuple[str, tuple[Some, ...], dict[str, Any], str]] = [
    ("size", (*GANG, member("c"), member("d")), {}, "3 pods of it are not kept; --pods 4 may keep all"),
    ("nodes", (*GANG, member("c", nodeName="n2")), {"size": Size(3, 1)}, "2 pods of it are not kept; --pods 3 --nodes 2 may keep all"),
    ("room", (node("n1", "1"), node("n2", "1"), *GANG), {"size": Size(3, 1)}, "the kept nodes have no room for all of its pods; --nodes 2 may"),
    ("no object", GANG[1:], {}, "its PodGroup is not among the objects; dump podgroups, too"),
    ("gated", (*GANG, member("c", schedulingGates=[{"name": "x"}])), {}, "some of its pods are held by a scheduling gate"),
    ("elsewhere", (*GANG, member("c", schedulerName="x")), {}, "some of its pods are left to another scheduler"),
    ("topology", (group(schedulingConstraints={"topology": [{"key": "rack"}]}), *GANG[1:]), {}, "its schedulingConstraints is not modelled in 1.37.2"),
    ("All", (group(disruptionMode={"all": {}}), *GANG[1:]), {}, "its disruptionMode all is not modelled"),
    ("PodGroup", (group(disruptionMode="PodGroup", version="v1alpha2"), *GANG[1:]), {"gates": ON_36, "release": "1.36.3"}, "its disruptionMode PodGroup is not modelled"),
    ("composite", (group(parentCompositePodGroupName="p"), *GANG[1:]), {}, "its parentCompositePodGroupName is not modelled in 1.37.2"),
    ("priority", (group(priority=5), *GANG[1:]), {}, "its own priority, 5, is not that of its pods"),
    ("minCount", (group(least=9), *GANG[1:]), {}, "its minCount is above 8"),
    ("volume", (group(), pod("a", "data", schedulingGroup={"podGroupName": "g"}), storage_class("csi"), volume_claim("data")), {}, "volumes, and extended resources that devices back, are not modelled for pods of groups"),
    ("deleted", (group() | {"metadata": {"name": "g", "namespace": "shop", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, *GANG[1:]), {}, "it is being deleted"),
    ("policies of one priority", (group(), member("a"), member("b", preemptionPolicy="Never")), {}, "from 1.37 on, the pods of a group need one priority and one preemptionPolicy, and those of shop/g have several"),
    ("profiles", (profiles({}, {"schedulerName": "second"}), *GANG, member("c", schedulerName="second")), {"size": Size(3, 2)}, "its pods have several schedulerNames"),
    ("plugin", (profiles({"plugins": {"multiPoint": {"disabled": [{"name": "GangScheduling"}]}}}), *GANG), {}, "a profile runs without GangScheduling"),
    ("class", (group(priorityClassName="high"), *GANG[1:]), {}, "its priorityClassName was never resolved, as it is when an API server stores it"),
    ("owed gated", (*GANG[:2], owing(schedulingGates=[{"name": "x"}])), {}, "some of its pods are held by a scheduling gate"),
    ("owed elsewhere", (*GANG[:2], owing(schedulerName="x")), {}, "some of its pods are left to another scheduler"),
    ("policies", (node("n1", "1"), group(), member("a"), member("b", preemptionPolicy="Never"), pod("s", priority=-9, nodeName="n1")), {}, "from 1.37 on, the pods of a group need one priority and one preemptionPolicy, and those of shop/g have several"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "some", "options", "why"), CASES, ids=[c[0] for c in CASES])
def test_a_group_is_kept_whole_or_not_at_all(
    tmp_path: Path, name: str, some: tuple[Some, ...], options: dict[str, Any], why: str
) -> None:
    found = represented(tmp_path, *some, **options)
    assert f"{LEFT_OUT}{why}" in found.doubts, found.doubts
    assert "podGroups" not in written(found)
    assert all("podGroup" not in one for one in written(found)["pods"].values())


# --- domains and trees of 1.38 ---------------------------------------------------------------------------------

ON_38 = ("GenericWorkload=true", "TopologyAwareWorkloadScheduling=true", "CompositePodGroup=true")
OF_W = {"workloadRef": {"workloadName": "w", "templateName": "t"}}


def in_1_38(folder: Path, *some: Some, gates: tuple[str, ...] = ON_38) -> Represented:
    return represented(folder, *some, gates=gates, release="1.38.0-beta.0", size=Size(4, 2))


def composite(name: str = "c", least: int | None = 2, **spec: Any) -> Some:
    policy: Some = {"basic": {}} if least is None else {"gang": {"minGroupCount": least}}
    spec = {"schedulingPolicy": policy, **OF_W, **spec}
    return made("CompositePodGroup", name, "scheduling.k8s.io/v1beta1", "shop", spec=spec)


def child(name: str, least: int | None = 1, **spec: Any) -> Some:
    return group(name, least, **{"version": "v1beta1", "parentCompositePodGroupName": "c", **OF_W, **spec})


def racked(*racks: str, cpu: str = "2") -> list[Some]:
    """Nodes for two pods each, in these racks."""
    found = [node(f"n{i}", cpu) for i, _ in enumerate(racks, start=1)]
    for one, rack in zip(found, racks, strict=True):
        one["metadata"]["labels"] = {"rack": rack}
    return found


IN_ONE_RACK = group(version="v1beta1", schedulingConstraints={"topology": [{"key": "rack"}]})
TREE = (composite(), child("g"), child("h"), member("a"), member("b", "h"))


def test_a_group_within_one_domain(tmp_path: Path) -> None:
    found = in_1_38(tmp_path, *racked("x", "y"), IN_ONE_RACK, member("a"), member("b"))
    scenario = written(found)
    assert not found.doubts
    assert scenario["podGroups"] == {"shop/g": {"minCount": 2, "topologyKey": "rack"}}
    assert list(scenario["featureGates"]) == [gate.partition("=")[0] for gate in ON_38[:2]]
    assert scenario["properties"][-1] == "S-DOMAIN"
    assert [one["labels"] for one in scenario["nodes"].values()] == [{"rack": rack} for rack in "xy"]
    assert "  shop/g: a gang, minCount 2, within one rack" in found.account
    # No domain has room for both, though the two nodes have.
    crowded = (*racked("x", "y", cpu="1"), IN_ONE_RACK, member("a"), member("b"))
    assert in_1_38(tmp_path, *crowded).doubts == [
        f"{LEFT_OUT}the kept nodes have no room for all of its pods within one rack; --nodes 3 may"
    ]


def test_a_tree_of_groups_is_kept_whole(tmp_path: Path) -> None:
    found = in_1_38(tmp_path, *TREE)
    assert not found.doubts
    assert written(found)["podGroups"] == {
        "shop/c": {"minGroupCount": 2},
        "shop/g": {"minCount": 1, "parent": "shop/c"},
        "shop/h": {"minCount": 1, "parent": "shop/c"},
    }
    assert written(found)["properties"][-3:] == ["S-GROUPSTATE", "S-QUORUM", "L-GANG"]
    assert "  shop/c: a group of groups, minGroupCount 2" in found.account
    assert "  shop/h: a gang, minCount 1, below shop/c" in found.account


def test_the_groups_of_a_tree_are_in_the_order_of_their_age(tmp_path: Path) -> None:
    older = child("h")
    older["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    younger = child("g")
    younger["metadata"]["creationTimestamp"] = "2026-01-01T00:00:01Z"
    found = in_1_38(tmp_path, composite(), younger, older, member("a"), member("b", "h"))
    assert list(written(found)["podGroups"]) == ["shop/c", "shop/h", "shop/g"]


@pytest.mark.parametrize(
    ("some", "why"),
    [
        (TREE[1:], "its CompositePodGroup is not among the objects; dump compositepodgroups, too"),
        ((composite(least=None), *TREE[1:]), "the basic policy of a CompositePodGroup is not modelled"),
        ((composite(parentCompositePodGroupName="top"), *TREE[1:]), "trees of groups with more than two levels are not modelled"),
        ((composite(schedulingConstraints={"topology": [{"key": "rack"}]}), *TREE[1:]), "topology keys in trees of groups are not modelled"),
        ((TREE[0], child("g"), child("h", None), *TREE[3:]), "groups with the basic policy in trees of groups are not modelled"),
        ((composite(priority=1), *TREE[1:]), "the groups of its tree have several priorities or Workloads, which the scheduler refuses"),
        ((*TREE, member("d", "h"), member("e", "h"), member("f", "h")), "4 pods of it are not kept; --pods 5 may keep all"),
        ((*TREE[:3], member("a"), member("b", "h", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}]}})), "pod affinity, topology spread constraints and host ports next to groups with topology keys or in trees are not modelled"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_of_a_tree_leaves_all_its_groups_out(
    tmp_path: Path, some: tuple[Some, ...], why: str
) -> None:
    found = in_1_38(tmp_path, *some)
    assert f"{LEFT_OUT}{why}" in found.doubts, found.doubts
    assert "podGroups" not in written(found)


@pytest.mark.parametrize(
    ("some", "field", "gate", "kept"),
    [
        (TREE, "parentCompositePodGroupName", "CompositePodGroup", {"shop/g": {"minCount": 1}, "shop/h": {"minCount": 1}}),
        ((IN_ONE_RACK, *GANG[1:]), "schedulingConstraints", "TopologyAwareWorkloadScheduling", {"shop/g": {"minCount": 2}}),
    ],
)  # fmt: skip
def test_whether_the_scheduler_heeds_what_a_group_says_is_asked(
    tmp_path: Path, some: tuple[Some, ...], field: str, gate: str, kept: Some
) -> None:
    found = in_1_38(tmp_path, *some, gates=ON_38[:1])
    why = f"the objects do not say whether the scheduler heeds its {field}; give --gate {gate}=true or --gate {gate}=false"
    assert f"{LEFT_OUT}{why}" in found.doubts
    assert "podGroups" not in written(found)
    for flags, gates in (
        ((), (*ON_38[:1], f"{gate}=false")),
        ((scheduler(f"--feature-gates={ON_38[0]}"),), ()),
    ):
        found = in_1_38(tmp_path, *some, *flags, gates=gates)
        assert not found.doubts
        said = [line for line in found.remarks if field in line]
        assert [line.partition(" (")[0] for line in said] == [
            f"the scheduler passes over its {field}: {gate} is off"
        ]
        assert written(found)["podGroups"].items() <= kept.items()


def test_what_the_model_refuses_of_groups_of_a_release_is_in_doubt(tmp_path: Path) -> None:
    devices = (device_class(), resource_slice("n1", device("gpu-0"), device("gpu-1")))
    claims = (resource_claim("one"), resource_claim("two"))
    pods = (
        member("a", claims=[{"name": "gpu", "resourceClaimName": "one"}]),
        member("b", claims=[{"name": "gpu", "resourceClaimName": "two"}]),
    )
    some = (group(), *devices, *claims, *pods)
    found = represented(tmp_path, *some)
    why = "claims of pods that belong to a group are not modelled from 1.37 on: leave them out"
    assert found.doubts == [f"{LEFT_OUT}{why}"]
    assert "podGroups" not in written(found)
    found = represented(tmp_path, *some, gates=ON_36, release="1.36.3")
    assert not found.doubts
    assert written(found)["podGroups"] == {"shop/g": {"minCount": 2}}


def test_a_priority_of_its_own_counts_from_1_37_on(tmp_path: Path) -> None:
    some = (group(priority=5), *GANG[1:])
    assert not represented(tmp_path, *some, gates=ON_36, release="1.36.3").doubts


# --- claims of groups ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_template", [False, True])
def test_a_claim_of_a_group_is_where_it_is_allocated_and_in_doubt(tmp_path: Path, by_template: bool) -> None:
    """What is said in the pod and in its group has to be the same; the claim of a template is in the status of the group."""
    names = {"resourceClaimTemplateName": "t"} if by_template else {"resourceClaimName": "one"}
    shared = {"name": "gpu", **names}
    of_group = group(resourceClaims=[shared])
    of_group["status"] = (
        {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "one"}]} if by_template else {}
    )
    claim = resource_claim("one", "n2/gpu-0")
    claim["status"]["reservedFor"] = [
        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "PodGroup-g"}
    ]
    devices = (
        device_class(),
        resource_slice("n1", device("gpu-0")),
        resource_slice("n2", device("gpu-0")),
        template("t"),
    )
    pods = (member("a", claims=[shared]), member("b", claims=[shared]))
    found = represented(tmp_path, of_group, claim, *devices, *pods, gates=ON_36, release="1.36.3")
    assert list(written(found)["nodes"]) == ["n2"]
    said = "the claim gpu of shop/a is its group's: that it is reserved for the group is not modelled"
    assert said in found.doubts, found.doubts


def test_a_claim_of_a_group_that_nobody_has_made_yet_is_in_doubt(tmp_path: Path) -> None:
    shared = {"name": "gpu", "resourceClaimTemplateName": "t"}
    found = represented(
        tmp_path,
        group(resourceClaims=[shared]),
        template("t"),
        member("a", claims=[shared]),
        gates=ON_36,
        release="1.36.3",
    )
    assert found.doubts == [
        "the claim gpu of shop/a is its group's: that it is reserved for the group is not modelled"
    ]
    assert asks()["devices"]  # what the template asks for is not looked at


# --- whether the scheduler heeds groups ------------------------------------------------------------------------

ASK = "the objects do not say whether the scheduler heeds groups; give --gate GenericWorkload=true or --gate GenericWorkload=false"


@pytest.mark.parametrize(
    ("flags", "gates", "release", "why"),
    [
        (None, (), "1.37.2", ASK),
        (None, (), "1.36.3", ASK.replace("GenericWorkload", "GangScheduling")),
        (("--feature-gates=GenericWorkload=true",), (), "1.36.3", "GenericWorkload without GangScheduling is not modelled"),
    ],
)  # fmt: skip
def test_where_nobody_knows_each_pod_is_in_doubt(
    tmp_path: Path, flags: tuple[str, ...] | None, gates: tuple[str, ...], release: str, why: str
) -> None:
    running = () if flags is None else (scheduler(*flags),)
    found = represented(tmp_path, *GANG, *running, gates=gates, release=release)
    of_pods = [line for line in found.doubts if "group" in line]
    assert of_pods == [f"{BY_ITSELF}{why} (Pod/shop/{name})" for name in "ab"]
    assert "podGroups" not in written(found)


@pytest.mark.parametrize(
    ("flags", "gates", "release", "why"),
    [
        ((), (), "1.37.2", "GenericWorkload is off"),
        (("--feature-gates=GenericWorkload=false",), (), "1.37.2", "GenericWorkload is off"),
        (("--feature-gates=GenericWorkload=true",), ("GenericWorkload=false",), "1.37.2", "GenericWorkload is off"),
        (None, ("GenericWorkload=false",), "1.37.2", "GenericWorkload is off"),
        (None, (), "1.34.0", "1.34.0 does not know schedulingGroup"),
        (None, (), "1.35.4", "1.35.4 does not know schedulingGroup"),
        (("--feature-gates=GenericWorkload=true",), (), "1.35.4", "1.35.4 does not know schedulingGroup"),
    ],
)  # fmt: skip
def test_where_groups_are_not_heeded_a_note_says_so(
    tmp_path: Path, flags: tuple[str, ...] | None, gates: tuple[str, ...], release: str, why: str
) -> None:
    running = () if flags is None else (scheduler(*flags),)
    found = represented(tmp_path, *GANG, *running, gates=gates, release=release)
    assert not found.doubts
    assert [line.partition(" (")[0] for line in found.remarks] == [f"{BY_ITSELF}{why}"]
    assert "podGroups" not in written(found)


def test_the_scheduler_of_1_38_heeds_groups(tmp_path: Path) -> None:
    flags = scheduler("--feature-gates=GenericWorkload=true")
    found = represented(tmp_path, *GANG, flags, gates=(), release="1.38.0-beta.0")
    assert not found.doubts
    assert written(found)["podGroups"]
    assert written(found)["featureGates"] == {"GenericWorkload": True}


@pytest.mark.parametrize("flags", [("--feature-gates=GenericWorkload=true,SchedulerAsyncPreemption=false",), ("--feature-gates", "GenericWorkload=true", "--feature-gates=SchedulerAsyncPreemption=false")])  # fmt: skip
def test_the_gates_of_the_schedulers_flags_are_those_of_the_scenario(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    found = represented(tmp_path, *GANG, scheduler(*flags), gates=())
    assert not found.doubts
    assert written(found)["featureGates"] == {"GenericWorkload": True, "SchedulerAsyncPreemption": False}
    # A gate that is given counts before them.
    found = represented(tmp_path, *GANG, scheduler(*flags), gates=("SchedulerAsyncPreemption=true",))
    assert written(found)["featureGates"] == {"GenericWorkload": True}


def test_a_gate_of_the_flags_that_the_model_does_not_have_is_in_doubt(tmp_path: Path) -> None:
    found = represented(tmp_path, pod("a"), scheduler("--feature-gates=Nobody=true"), gates=())
    said = "kube-scheduler is started with --feature-gates=Nobody=true, which is not read: give what it changes by --gate or a KubeSchedulerConfiguration, and take the flag away (the flags of kube-scheduler)"
    assert found.doubts == [said]
    other = scheduler("--feature-gates=GenericWorkload=true")
    other["metadata"] |= {"name": "kube-scheduler-n", "uid": "n"}
    found = represented(tmp_path, pod("a"), scheduler(), other, gates=())
    said = "the kube-scheduler Pods are started with several --feature-gates, of which those of one are taken: give them by --gate (the flags of Pod/kube-system/kube-scheduler-n)"
    assert found.doubts == [said]


# --- mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"schedulingPolicy": {"gang": {}}}, "spec.schedulingPolicy.gang: `minCount` is missing: so many pods of a gang are scheduled together"),
        ({"schedulingPolicy": {"gang": {"minCount": 0}}}, "spec.schedulingPolicy.gang.minCount: expected a whole number from 1 to 2147483647"),
        ({"policy": {}}, "spec: `schedulingPolicy` is missing: a group has a policy: `basic: {}`, or `gang` with `minCount`"),
    ],
)  # fmt: skip
def test_a_group_that_is_malformed(tmp_path: Path, wrong: Some, problem: str) -> None:
    with pytest.raises(Problem) as caught:
        represented(tmp_path, group() | {"spec": wrong}, *GANG[1:])
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'm.yaml'}:")


def test_groups_of_another_api_are_left_out(tmp_path: Path) -> None:
    other = made("PodGroup", "x", "scheduling.volcano.sh/v1beta1", "shop", spec={"minMember": 2})
    found = represented(tmp_path, pod("a"), other)
    assert found.remarks == [
        f"objects of kind PodGroup of another API group gather pods for a scheduler other than kube-scheduler: left out ({tmp_path / 'm.yaml'})"
    ]
