"""Claims of volumes and devices in manifests: what is read, where pods can go by it, what is kept, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from podrace.base.problems import Problem
from podrace.cli import main
from podrace.manifests import Inventory, Representative, Size, read_manifests, represent
from podrace.manifests.reading.device_selectors import meets
from podrace.manifests.telling.scenario_text import scenario_of
from podrace.manifests.telling.summary import account_of
from podrace.scenarios import parse_scenario
from tests.manifests.claim_objects import (
    as_list,
    asks,
    device,
    device_class,
    in_zone,
    made,
    node,
    pod,
    resource_claim,
    resource_slice,
    storage_class,
    template,
    volume,
    volume_claim,
)

NODES = (node("n1"), node("n2", zone="b"))


def in_zones(*zones: str) -> dict[str, Any]:
    """A term of allowedTopologies."""
    return {"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": list(zones)}]}


def inventory(folder: Path, *some: dict[str, Any]) -> Inventory:
    file = folder / "m.yaml"
    file.write_text(as_list(*some))
    return read_manifests([str(file)])


def kept(folder: Path, *some: dict[str, Any], pods: int = 3, nodes: int = 2) -> Representative:
    return represent(inventory(folder, *NODES, *some), Size(pods, nodes))


def written(found: Representative) -> dict[str, Any]:
    """The scenario, which must be one that podrace reads."""
    text = scenario_of(found, "x", "", [])
    parse_scenario(text)
    read: dict[str, Any] = yaml.safe_load(text)
    return read


def told(found: Representative) -> list[str]:
    """What the account says of claims."""
    lines = account_of(found)
    start = lines.index("claims:") + 1
    return [line.strip() for line in lines[start:] if line.startswith("  ")]


def reach(found: Inventory, name: str) -> list[str] | None:
    (one,) = [p for p in found.pending if p.name == name]
    at = found.claims.reach(one.claims)
    return None if at is None else sorted(at)


# --- volumes -------------------------------------------------------------------------------------------------


def test_pods_that_share_a_claim_are_kept_with_it(tmp_path: Path) -> None:
    found = kept(
        tmp_path,
        storage_class("csi"),
        volume("pv1", zone="a"),
        volume_claim("data"),
        pod("a", "data"),
        pod("b", "data"),
    )
    scenario = written(found)
    assert scenario["properties"][-1] == "S-VOL"
    assert scenario["storageClasses"] == {
        "csi": {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": "csi.example.com"}
    }
    assert scenario["volumes"] == {"pv1": {"storageClassName": "csi", "nodes": ["n1"]}}
    assert scenario["volumeClaims"] == {"shop/data": {"storageClassName": "csi"}}
    assert [scenario["pods"][p]["volumes"] for p in ("shop/a", "shop/b")] == [["shop/data"]] * 2
    assert told(found) == [
        "claim shop/data of shop/a and shop/b is not bound: pv1 may be bound to it, others can be made by csi.example.com"
    ]


@pytest.mark.ci
def test_a_race_is_found_in_a_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The one of scenarios/volumes/bound-between.yaml, in the cluster's own names; an old release is asked without claims."""
    file = tmp_path / "m.yaml"
    some = (
        storage_class("csi"),
        volume("pv1", zone="a"),
        volume_claim("data"),
        pod("a", "data"),
        pod("b", "data"),
    )
    file.write_text(as_list(node("n1", "1"), node("n2", "1", "b"), *some))
    assert main.run(["check", "-f", str(file), "--release", "1.36.3", "--property", "S-VOL"]) == 1
    told = capsys.readouterr().out
    assert "Reserve: all claims of shop/b are bound by now, and nothing is left to do for them." in told
    assert (
        main.run(
            ["check", "-f", str(file), "--release", "1.31.0", "--property", "S-CAP", "--max-states", "9"]
        )
        == 3
    )
    assert capsys.readouterr().err.splitlines()[0] == (
        "note: claims of volumes and devices are modelled from 1.32 on: they are taken to be had everywhere (shop/a, shop/b)"
    )


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"storageClassName": "other"}, False),
        ({"volumeMode": "Block"}, False),
        ({"accessModes": ["ReadOnlyMany"]}, False),
        ({"accessModes": ["ReadOnlyMany", "ReadWriteOnce"]}, True),
        ({"capacity": {"storage": "7Gi"}}, False),
        ({"capacity": {"storage": "8192Mi"}}, True),
        ({"volumeAttributesClassName": "gold"}, False),
        ({"claimRef": {"namespace": "shop", "name": "another"}}, False),
        ({"claimRef": {"namespace": "shop", "name": "data"}}, True),
        ({"claimRef": {"namespace": "shop", "name": "data"}, "capacity": {"storage": "7Gi"}}, False),
        ({"claimRef": {"namespace": "shop", "name": "data"}, "volumeMode": "Block"}, False),
        ({"claimRef": {"namespace": "shop", "name": "data"}, "volumeAttributesClassName": "gold"}, False),
        ({"claimRef": {"namespace": "shop", "name": "data"}, "accessModes": ["ReadOnlyMany"]}, True),
    ],
)
def test_which_volume_may_be_bound(tmp_path: Path, change: dict[str, Any], fits: bool) -> None:
    """FindMatchingVolume (component-helpers/storage/volume/pv_helpers.go), where no volume can be made."""
    local = storage_class("local", "kubernetes.io/no-provisioner")
    one = volume("pv1", "local", "a", **change)
    found = inventory(tmp_path, *NODES, local, one, volume_claim("data", "local"), pod("a", "data"))
    assert reach(found, "shop/a") == (["n1"] if fits else [])


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({}, "n1"),
        ({"claimRef": {"namespace": "shop", "name": "data", "uid": "PersistentVolumeClaim-data"}}, "n1"),
        ({"claimRef": {"namespace": "shop", "name": "data", "uid": "an earlier one"}}, "n2"),
        ({"capacity": {"storage": "7Gi"}}, "n2"),
        ({"storageClassName": "other"}, "n2"),
    ],
)
def test_a_volume_of_its_own_that_does_not_suit_a_claim_is_passed_over(
    tmp_path: Path, change: dict[str, Any], at: str
) -> None:
    """IsVolumeBoundToClaim and FindMatchingVolume, 1.36: then a free one will do."""
    local = storage_class("local", "kubernetes.io/no-provisioner")
    mine = {"claimRef": {"namespace": "shop", "name": "data"}}
    own, free = volume("pv1", "local", "a", **(mine | change)), volume("pv2", "local", "b")
    found = inventory(tmp_path, *NODES, local, own, free, volume_claim("data", "local"), pod("a", "data"))
    assert reach(found, "shop/a") == [at]


@pytest.mark.parametrize(
    ("own", "waits", "named"),
    [
        (volume("own", "other", "a", claimRef={"namespace": "shop", "name": "data"}), False, False),
        (volume("own", "local", "a", "1Mi", claimRef={"namespace": "shop", "name": "data"}), True, True),
    ],
)
def test_the_pv_controller_asks_less_of_a_volume_that_names_the_claim(
    tmp_path: Path, own: dict[str, Any], waits: bool, named: bool
) -> None:
    """Not for the class where the class binds at once, and for nothing where the claim names the volume, too (syncUnboundClaim)."""
    local, free = (
        storage_class("local", "kubernetes.io/no-provisioner", waits=waits),
        volume("free", "local", "b"),
    )
    claim = volume_claim("data", "local", **({"volumeName": "own"} if named else {}))
    assert reach(inventory(tmp_path, *NODES, local, own, free, claim, pod("a", "data")), "shop/a") == ["n1"]


def test_a_released_volume_is_not_free(tmp_path: Path) -> None:
    local = storage_class("local", "kubernetes.io/no-provisioner")
    one = volume("pv1", "local", "a") | {"status": {"phase": "Released"}}
    assert (
        reach(
            inventory(tmp_path, *NODES, local, one, volume_claim("data", "local"), pod("a", "data")), "shop/a"
        )
        == []
    )


def test_a_selector_of_volumes(tmp_path: Path) -> None:
    local = storage_class("local", "kubernetes.io/no-provisioner")
    gold = made(
        "PersistentVolume", "gold", meta={"labels": {"tier": "gold"}}, spec=volume("x", "local", "b")["spec"]
    )
    claim = volume_claim("data", "local", selector={"matchLabels": {"tier": "gold"}})
    assert reach(
        inventory(tmp_path, *NODES, local, volume("pv1", "local", "a"), gold, claim, pod("a", "data")),
        "shop/a",
    ) == ["n2"]


def test_a_bound_claim_closes_nodes(tmp_path: Path) -> None:
    """It is not kept: nothing is left to be decided about it."""
    found = kept(
        tmp_path, storage_class("csi"), volume("pv1", zone="b", claim="data"), volume_claim("data", bound="pv1"),
        pod("a", "data"), pod("b", priority=0),
    )  # fmt: skip
    assert not found.situation.reaches(found.pods[0], found.inventory.nodes[0])
    scenario = written(found)
    assert "volumeClaims" not in scenario
    assert scenario["properties"][-1] != "S-VOL"
    if len(found.nodes) == 2:
        assert told(found) == ["n1 is closed to shop/a by claims that are bound, or that others hold"]


def test_a_node_that_a_bound_claim_closes_is_closed_in_the_scenario(tmp_path: Path) -> None:
    """The second pod may go to both nodes, so that both are kept."""
    some = (
        storage_class("csi"), volume("pv1", zone="b", claim="data"), volume_claim("data", bound="pv1"),
        pod("a", "data"), pod("b"), pod("c"),
    )  # fmt: skip
    file = tmp_path / "m.yaml"
    file.write_text(as_list(node("n1", "1"), node("n2", "1", "b"), *some))
    found = represent(read_manifests([str(file)]), Size(3, 2), "shop/a")
    scenario = written(found)
    assert told(found) == ["n1 is closed to shop/a by claims that are bound, or that others hold"]
    mark = next(iter(scenario["nodes"]["n1"]["labels"]))
    assert scenario["nodes"]["n2"].get("labels", {}).get(mark) is None
    (term,) = scenario["pods"]["shop/a"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": mark, "operator": "DoesNotExist"}]}


ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, None),
        ({ZONE: "b"}, ["bare", "n2"]),
        ({OLD_ZONE: "b"}, ["bare", "n2", "old"]),
        ({ZONE: "a__b"}, ["bare", "n1", "n2"]),
        ({ZONE: "a____b"}, None),
        ({ZONE: "b", REGION: "eu"}, ["bare"]),
        ({"zone": "c"}, None),
    ],
)
def test_a_bound_volume_is_in_its_zones(
    tmp_path: Path, labels: dict[str, str], expected: list[str] | None
) -> None:
    """VolumeZone goes by labels of the volume, on nodes that say where they are."""
    bare, old = node("bare"), node("old")
    bare["metadata"]["labels"] = {}
    old["metadata"]["labels"] = {OLD_ZONE: "b"}
    some = (
        storage_class("csi"), volume("pv1", claim="data", meta={"labels": labels}), volume_claim("data", bound="pv1"),
        pod("a", "data"),
    )  # fmt: skip
    assert reach(inventory(tmp_path, *NODES, bare, old, *some), "shop/a") == expected


def test_a_claim_that_has_lost_its_volume(tmp_path: Path) -> None:
    claim = volume_claim("data", bound="pv1")
    claim["status"] = {"phase": "Lost"}
    found = inventory(tmp_path, *NODES, storage_class("csi"), claim, pod("a", "data"))
    assert reach(found, "shop/a") == []
    assert found.remarks == [
        "the claim has lost its volume: the pods that wait for it cannot be scheduled (PersistentVolumeClaim/shop/data)"
    ]


def test_the_class_of_a_claim(tmp_path: Path) -> None:
    """None is the default class, an empty one none at all, and the old annotation comes before the field."""
    default = storage_class(
        "csi", meta={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    )
    old = volume_claim("old", "", meta={"annotations": {"volume.beta.kubernetes.io/storage-class": "csi"}})
    found = inventory(
        tmp_path, *NODES, default, volume("pv1", "", "b"), volume_claim("one", None), volume_claim("two", ""), old,
        pod("a", "one"), pod("b", "two"), pod("c", "old"),
    )  # fmt: skip
    assert [reach(found, f"shop/{name}") for name in "abc"] == [None, ["n2"], None]


@pytest.mark.parametrize("beta", ["", "beta."])
@pytest.mark.parametrize("newest_first", [True, False])
def test_of_several_default_classes_the_newest_counts(tmp_path: Path, newest_first: bool, beta: str) -> None:
    """GetDefaultClass in pkg/volume/util, 1.36: not the first of the list; of two of one age, that which comes first by name."""
    by_default = {f"storageclass.{beta}kubernetes.io/is-default-class": "true"}
    classes = [
        storage_class(
            name,
            "kubernetes.io/no-provisioner",
            meta={"annotations": by_default, "creationTimestamp": f"{year}-01-01T00:00:00Z"},
        )
        for name, year in (("b", 2024), ("c", 2024), ("a", 2020))
    ]
    volumes = [volume("pv1", "a", "a"), volume("pv2", "b", "b"), volume("pv3", "c", "a")]
    order = classes if newest_first else classes[::-1]
    found = inventory(tmp_path, *NODES, *order, *volumes, volume_claim("one", None), pod("a", "one"))
    assert reach(found, "shop/a") == ["n2"]


def test_a_claim_that_is_in_use_by_one_pod_only(tmp_path: Path) -> None:
    alone = volume_claim("data", bound="pv1", accessModes=["ReadWriteOncePod"])
    some = (
        storage_class("csi"),
        volume("pv1", claim="data"),
        alone,
        pod("a", "data", nodeName="n1"),
        pod("b", "data"),
    )
    found = inventory(tmp_path, *NODES, *some)
    assert reach(found, "shop/b") == []
    assert found.remarks == [
        "one pod only may use the claim, and shop/a does: here nobody is evicted for it (PersistentVolumeClaim/shop/data)"
    ]


def test_an_exclusive_claim_that_two_pods_wait_for(tmp_path: Path) -> None:
    alone = volume_claim("data", accessModes=["ReadWriteOncePod"])
    scenario = written(kept(tmp_path, storage_class("csi"), alone, pod("a", "data"), pod("b", "data")))
    assert scenario["volumeClaims"] == {
        "shop/data": {"storageClassName": "csi", "accessModes": ["ReadWriteOncePod"]}
    }
    assert scenario["properties"][-2:] == ["S-VOL", "S-RWOP"]


ALONE = volume_claim("data", bound="pv1", accessModes=["ReadWriteOncePod"])


def test_an_exclusive_claim_that_is_bound_and_that_two_pods_want(tmp_path: Path) -> None:
    some = (storage_class("csi"), volume("pv1", claim="data"), ALONE, pod("a", "data"), pod("b", "data"))
    found = kept(tmp_path, *some)
    assert [p.name for p in found.question.rivals] == ["shop/b"]
    scenario = written(found)
    assert scenario["storageClasses"] == {"csi": {"volumeBindingMode": "WaitForFirstConsumer"}}
    assert scenario["volumes"] == {"pv1": {"storageClassName": "csi", "claimRef": "shop/data"}}
    assert scenario["volumeClaims"] == {
        "shop/data": {
            "storageClassName": "csi",
            "volumeName": "pv1",
            "accessModes": ["ReadWriteOncePod"],
        }
    }
    assert [scenario["pods"][name]["volumes"] for name in ("shop/a", "shop/b")] == [["shop/data"]] * 2
    assert "S-RWOP" in scenario["properties"]
    assert "S-VOL" not in scenario["properties"]
    assert told(found) == ["claim shop/data of shop/a and shop/b is bound to pv1: one pod only may use it"]


def test_its_volume_and_class_need_not_be_among_the_objects(tmp_path: Path) -> None:
    scenario = written(kept(tmp_path, ALONE, pod("a", "data"), pod("b", "data")))
    assert scenario["volumes"] == {"pv1": {"storageClassName": "csi", "claimRef": "shop/data"}}
    assert "S-RWOP" in scenario["properties"]


def test_it_is_kept_beside_a_claim_of_the_same_class_that_is_not_bound(tmp_path: Path) -> None:
    some = (
        storage_class("csi"),
        volume("pv1", zone="a", claim="data"),
        ALONE,
        volume_claim("more"),
        pod("a", "data", "more"),
        pod("b", "data"),
    )
    scenario = written(kept(tmp_path, *some))
    assert scenario["storageClasses"]["csi"]["provisioner"] == "csi.example.com"
    assert sorted(scenario["volumeClaims"]) == ["shop/data", "shop/more"]
    assert scenario["pods"]["shop/a"]["volumes"] == ["shop/more", "shop/data"]
    assert scenario["properties"][-2:] == ["S-VOL", "S-RWOP"]


@pytest.mark.parametrize(
    "some",
    [
        (ALONE, pod("a", "data")),
        (volume_claim("data", bound="pv1"), pod("a", "data"), pod("b", "data")),
        (ALONE, pod("user", "data", nodeName="n1"), pod("a"), pod("b", "data")),
    ],
    ids=["one pod wants it", "several may use it", "a pod uses it"],
)
def test_a_bound_claim_that_nobody_contends_for_is_not_kept(
    tmp_path: Path, some: tuple[dict[str, Any], ...]
) -> None:
    found = kept(tmp_path, storage_class("csi"), volume("pv1", claim="data"), *some)
    assert found.question.rivals == []
    assert "volumeClaims" not in written(found)
    assert "S-RWOP" not in written(found)["properties"]


def test_beside_claims_of_devices_an_exclusive_claim_is_left_out_with_a_note(tmp_path: Path) -> None:
    gpu = [{"name": "gpu", "resourceClaimName": "gpu"}]
    some = (
        device_class(),
        resource_slice("n1", device("d1")),
        resource_claim("gpu"),
        volume("pv1", claim="data"),
        ALONE,
        pod("a", "data", claims=gpu),
        pod("b", "data"),
    )
    found = kept(tmp_path, *some)
    assert [r for r in found.claims.remarks if "one pod only" in r] == [
        "volumes of a pod that has claims of devices, too, are not modelled: that one pod only may use its claim is left out (shop/a)"
    ]


def test_volumes_that_could_not_run_short_are_left_out(tmp_path: Path) -> None:
    """One claim takes one volume; another node's volume is another kind."""
    local = storage_class("local", "kubernetes.io/no-provisioner")
    some = [volume(f"pv{i}", "local", "a") for i in range(4)] + [volume("far", "local", "b")]
    scenario = written(
        kept(tmp_path, local, *some, volume_claim("data", "local"), pod("a", "data"), pod("b", "data"))
    )
    assert list(scenario["volumes"]) == ["pv0", "far"]
    assert scenario["storageClasses"] == {"local": {"volumeBindingMode": "WaitForFirstConsumer"}}


def test_a_stateful_set_has_claims_of_its_own(tmp_path: Path) -> None:
    """The claim of the second pod is there, that of the third will be made."""
    own = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "csi"},
    }
    pods = {"replicas": 3, "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": "db"}}}
    labels = {"metadata": {"labels": {"app": "db"}}, "spec": pod("x")["spec"]}
    db = made(
        "StatefulSet",
        "db",
        "apps/v1",
        "shop",
        spec={**pods, "template": labels, "volumeClaimTemplates": [own]},
    )
    claim = volume_claim("data-db-1", bound="pv1")
    found = inventory(
        tmp_path, *NODES, storage_class("csi"), volume("pv1", zone="a", claim="data-db-1"), claim, db
    )
    assert [p.claims.volumes for p in found.pending] == [(f"shop/data-db-{i}",) for i in range(3)]
    assert [reach(found, f"shop/db-{i}") for i in range(3)] == [None, ["n1"], None]
    assert found.remarks == []


@pytest.mark.parametrize(
    ("some", "remark"),
    [
        (
            (pod("a", "data"),),
            ("claims of volumes are not among the objects, and taken to fit everywhere: dump pvc, pv and storageclass, too "
            "(PersistentVolumeClaim/shop/data)"),
        ),
        (
            (pod("a", "data"), volume_claim("other", bound="pv")),
            "the claim is not among the objects, and the pod that mounts it cannot be scheduled (PersistentVolumeClaim/shop/data)",
        ),
        (
            (pod("a", "data"), volume_claim("data")),
            ("the claim is not bound, and its StorageClass csi is not among the objects: it is taken to fit everywhere; "
            "dump storageclass, too (PersistentVolumeClaim/shop/data)"),
        ),
        (
            (pod("a", "data"), volume_claim("data", bound="pv1")),
            ("the claim's volume is not among the objects, and taken to be reached by every node: dump pv, too "
            "(PersistentVolumeClaim/shop/data)"),
        ),
        (
            (pod("a", "data"), volume_claim("data", meta={"deletionTimestamp": "2026-01-01T00:00:00Z"})),
            "the claim is being deleted: the pods that wait for it cannot be scheduled (PersistentVolumeClaim/shop/data)",
        ),
        (
            (
                pod("a", "data"), storage_class("csi"),
                volume_claim("data", meta={"annotations": {"volume.kubernetes.io/selected-node": "n2"}}),
            ),
            ("a node is selected for the claim already: the model begins without, and has it there alone "
            "(PersistentVolumeClaim/shop/data)"),
        ),
        (
            (pod("a", "data"), storage_class("csi", allowedTopologies=[in_zones("a")]), volume("pv"), volume_claim("data")),
            ("allowedTopologies of StorageClass/csi say where a volume can be made, and there are others: it is taken to be made where those are, "
            "too (PersistentVolumeClaim/shop/data)"),
        ),
        (
            (made("CSIStorageCapacity", "n1", "storage.k8s.io/v1"), pod("a")),
            "objects of kind CSIStorageCapacity say where there is capacity for volumes, which is not modelled: left out ({file})",
        ),
    ],
)  # fmt: skip
def test_what_is_left_out_of_volumes_is_said(
    tmp_path: Path, some: tuple[dict[str, Any], ...], remark: str
) -> None:
    assert inventory(tmp_path, *NODES, *some).remarks == [remark.replace("{file}", str(tmp_path / "m.yaml"))]


@pytest.mark.parametrize(
    ("topologies", "at"),
    [
        ([], None),
        ([in_zones("a")], ["n1"]),
        ([in_zones("c"), in_zones("b", "x")], ["n2"]),
        ([in_zones("c")], []),
        ([{"matchLabelExpressions": []}], []),
        ([{"matchLabelExpressions": [*in_zones("a")["matchLabelExpressions"], {"key": "disk", "values": ["ssd"]}]}], []),
    ],
)  # fmt: skip
def test_where_a_volume_can_be_made(
    tmp_path: Path, topologies: list[dict[str, Any]], at: list[str] | None
) -> None:
    some = (storage_class("csi", allowedTopologies=topologies), volume_claim("data"), pod("a", "data"))
    assert reach(inventory(tmp_path, *NODES, *some), "shop/a") == at
    if at == ["n1"]:  # its rival may go to n2
        waiting = (pod("a", "data"), pod("b"))
        for one in waiting:
            one["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
        marks = written(kept(tmp_path, *some[:2], *waiting))["nodes"]
        assert {n: [k for k in has.get("labels", {}) if "closed" in k] for n, has in marks.items()} == {
            "n1": [], "n2": ["podrace.io/closed-to-0"],
        }  # fmt: skip


def test_a_claim_that_has_a_node_already(tmp_path: Path) -> None:
    said = volume_claim("data", meta={"annotations": {"volume.kubernetes.io/selected-node": "n2"}})
    found = kept(tmp_path, storage_class("csi"), said, pod("a", "data"), pod("b", "data"))
    assert [n.name for n in found.nodes] == ["n2"]


# --- devices -------------------------------------------------------------------------------------------------

GPUS = (
    device_class(),
    resource_slice("n1", device("gpu-0"), device("gpu-1")),
    resource_slice("n2", device("gpu-0")),
    template("gpu"),
)
BY_TEMPLATE = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
SHARED = [{"name": "gpu", "resourceClaimName": "one"}]


def has(claim: str) -> dict[str, Any]:
    return {"phase": "Pending", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": claim}]}


def test_pods_that_want_the_same_devices_are_kept_with_them(tmp_path: Path) -> None:
    """One claim was made by its template already, the other is still to be; a third pod holds one of the devices of n1."""
    found = kept(
        tmp_path, *GPUS, resource_claim("a-gpu-x7k2p"), resource_claim("x-gpu-abcde", "n1/gpu-0", ("x",)),
        pod("x", claims=BY_TEMPLATE, nodeName="n1", status=has("x-gpu-abcde") | {"phase": "Running"}),
        pod("a", claims=BY_TEMPLATE, status=has("a-gpu-x7k2p")), pod("b", claims=BY_TEMPLATE),
    )  # fmt: skip
    scenario = written(found)
    of = {"deviceClassName": "gpu.example.com"}
    assert scenario["devices"] == {"n1.gpu-1": {"node": "n1", **of}, "n2.gpu-0": {"node": "n2", **of}}
    assert scenario["resourceClaims"] == {"shop/a-gpu-x7k2p": of, "shop/b-gpu": of}
    assert scenario["properties"][-2:] == ["S-DEV", "S-RESV"]
    assert found.inventory.remarks == []
    assert told(found) == [
        "claim shop/a-gpu-x7k2p of shop/a is not allocated; it asks for a device of gpu.example.com",
        "claim shop/b-gpu of shop/b is not allocated; it asks for a device of gpu.example.com",
        "devices of gpu.example.com: n1.gpu-1, n2.gpu-0",
    ]


def test_a_claim_that_pods_share(tmp_path: Path) -> None:
    scenario = written(
        kept(tmp_path, *GPUS, resource_claim("one"), pod("a", claims=SHARED), pod("b", claims=SHARED))
    )
    assert scenario["resourceClaims"] == {"shop/one": {"deviceClassName": "gpu.example.com"}}
    assert list(scenario["devices"]) == ["n1.gpu-0", "n2.gpu-0"]


def test_a_claim_that_others_hold_closes_nodes(tmp_path: Path) -> None:
    found = inventory(
        tmp_path, *NODES, *GPUS, resource_claim("one", "n2/gpu-0", ("x",)), pod("x", claims=SHARED, nodeName="n2"), pod("a", claims=SHARED)
    )  # fmt: skip
    assert reach(found, "shop/a") == ["n2"]
    scenario = written(represent(found))
    assert "resourceClaims" not in scenario


def test_a_victim_keeps_its_device(tmp_path: Path) -> None:
    """Its claim is kept with it, as its device is free when the victim has gone; so is the other device of the node."""
    big = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]}
    x = pod("x", claims=BY_TEMPLATE, nodeName="n1", status=has("x-gpu") | {"phase": "Running"})
    a = pod("a", claims=SHARED, priority=10)
    for one in (x, a):
        one["spec"] |= big
    found = kept(
        tmp_path, device_class(), template("gpu"), resource_slice("n1", device("gpu-0"), device("gpu-1"), device("gpu-2")),
        resource_claim("x-gpu", "n1/gpu-0", ("x",)), resource_claim("one"), x, a,
    )  # fmt: skip
    scenario = written(found)
    of = {"deviceClassName": "gpu.example.com"}
    assert scenario["resourceClaims"] == {
        "shop/one": of, "shop/x-gpu": {"device": "n1.gpu-0", **of, "reservedFor": ["shop/x"]}
    }  # fmt: skip
    assert list(scenario["devices"]) == ["n1.gpu-0", "n1.gpu-1", "n1.gpu-2"]


@pytest.mark.parametrize(("of", "expected"), [("csi", None), ("other", [])])
def test_a_volume_that_is_reserved_for_a_claim_of_another_class(
    tmp_path: Path, of: str, expected: list[str] | None
) -> None:
    local = storage_class("csi", "kubernetes.io/no-provisioner")
    one = volume("pv1", of, claimRef={"namespace": "shop", "name": "data"})
    assert (
        reach(inventory(tmp_path, *NODES, local, one, volume_claim("data"), pod("a", "data")), "shop/a")
        == expected
    )


def test_a_claim_that_is_allocated_and_reserved_for_nobody(tmp_path: Path) -> None:
    """It may be deallocated, so it is kept."""
    found = kept(
        tmp_path, *GPUS, resource_claim("one", "n2/gpu-0"), pod("a", claims=SHARED), pod("b", claims=SHARED)
    )
    scenario = written(found)
    assert scenario["resourceClaims"] == {
        "shop/one": {"device": "n2.gpu-0", "deviceClassName": "gpu.example.com"}
    }


def test_two_claims_that_are_allocated_one_device(tmp_path: Path) -> None:
    """As 133602 leaves them: what is written is a scenario, in which a device has one claim."""
    both = [*SHARED, {"name": "two", "resourceClaimName": "two"}]
    some = (resource_claim("one", "n1/gpu-0"), resource_claim("two", "n1/gpu-0"))
    found = kept(tmp_path, *GPUS, *some, pod("a", claims=both))
    assert list(written(found)["resourceClaims"]) == ["shop/one"]
    assert list(found.claims.remarks) == [
        "two claims are allocated one device: shop/two is left out, next to shop/one"
    ]


def test_devices_of_two_classes(tmp_path: Path) -> None:
    nic = resource_slice("n1", device("nic-0"), driver="nic.example.com")
    other = resource_claim("net", spec=asks(deviceClassName="nic.example.com"))
    both = [*SHARED, {"name": "net", "resourceClaimName": "net"}]
    classes = (device_class(), device_class("nic.example.com", 'device.driver == "nic.example.com"'))
    scenario = written(
        kept(
            tmp_path,
            *classes,
            nic,
            GPUS[1],
            resource_claim("one"),
            other,
            pod("a", claims=both),
            pod("b", claims=both),
        )
    )
    assert {n: d["deviceClassName"] for n, d in scenario["devices"].items()} == {
        "n1.gpu-0": "gpu.example.com", "n1.nic-0": "nic.example.com"
    }  # fmt: skip
    assert {n: c["deviceClassName"] for n, c in scenario["resourceClaims"].items()} == {
        "shop/one": "gpu.example.com", "shop/net": "nic.example.com"
    }  # fmt: skip


def test_devices_that_one_of_two_claims_may_have_are_left_out(tmp_path: Path) -> None:
    """The model has classes, so what only some claims of a class may have cannot be told apart."""
    fine = asks(selectors=[{"cel": {"expression": "device.attributes['gpu.example.com'].model == 'h'"}}])
    slices = resource_slice("n1", device("gpu-0", model="a"), device("gpu-1", model="h"))
    found = kept(
        tmp_path, device_class(), slices, resource_claim("one"), resource_claim("two", spec=fine), pod("a", claims=SHARED),
        pod("b", claims=[{"name": "gpu", "resourceClaimName": "two"}]),
    )  # fmt: skip
    assert list(written(found)["devices"]) == ["n1.gpu-1"]
    assert found.claims.remarks == [
        "devices that some of the kept claims only may have are left out (shop/two and shop/one)"
    ]


def test_volumes_beside_devices_are_left_out(tmp_path: Path) -> None:
    found = kept(
        tmp_path,
        *GPUS,
        storage_class("csi"),
        volume_claim("data"),
        resource_claim("one"),
        pod("a", "data", claims=SHARED),
    )
    assert "volumeClaims" not in written(found)
    assert found.claims.remarks == [
        "volumes of a pod that has claims of devices, too, are not modelled: those that are not bound are taken to be had (shop/a)"
    ]


@pytest.mark.parametrize(
    ("some", "why"),
    [
        (
            (device_class(), resource_claim("one", spec=asks(count=5)), GPUS[1]),
            "it asks for more than 4 devices",
        ),
        (
            (device_class(), resource_claim("one", spec=asks(allocationMode="All")), GPUS[1]),
            "it asks for all devices of a node (allocationMode)",
        ),
        (
            (device_class(), resource_claim("one", spec=asks(adminAccess=True)), GPUS[1]),
            "it is for an administrator, and takes no device",
        ),
        (
            (
                device_class(),
                resource_claim("one", spec={"devices": {"requests": [{"name": "g", "firstAvailable": []}]}}),
                GPUS[1],
            ),
            "it names no alternatives (firstAvailable)",
        ),
        (
            (resource_claim("one"), GPUS[1]),
            "its DeviceClass is not among the objects (dump deviceclasses, too)",
        ),
        (
            (device_class(), resource_claim("one")),
            "there is no ResourceSlice among the objects (dump resourceslices, too)",
        ),
        (
            (device_class(), GPUS[1]),
            "it is not among the objects (dump resourceclaims and resourceclaimtemplates, too)",
        ),
    ],
)
def test_what_is_left_out_of_devices_is_said(
    tmp_path: Path, some: tuple[dict[str, Any], ...], why: str
) -> None:
    found = inventory(tmp_path, *NODES, *some, pod("a", claims=SHARED))
    assert found.remarks == [
        f"a claim of devices is left out, and taken to be free on every node: {why} (shop/one of shop/a)"
    ]
    assert reach(found, "shop/a") is None


@pytest.mark.parametrize(
    ("given", "remarks"),
    [
        (
            {"consumesCounters": [{"counterSet": "c"}]},
            "the device shares counters with others (consumesCounters), which is not modelled: left out",
        ),
        (
            {"allowMultipleAllocations": True},
            "the device may be allocated several times (allowMultipleAllocations), which is not modelled: left out",
        ),
    ],
)
def test_devices_that_the_model_has_not(tmp_path: Path, given: dict[str, Any], remarks: str) -> None:
    slices = resource_slice("n1", device("gpu-0") | given)
    found = inventory(
        tmp_path, *NODES, device_class(), slices, resource_claim("one"), pod("a", claims=SHARED)
    )
    assert found.remarks == [f"{remarks} (device gpu-0 of n1)"]
    assert reach(found, "shop/a") == []


def test_old_and_incomplete_pools_have_no_devices(tmp_path: Path) -> None:
    old = resource_slice("n1", device("gpu-0"), name="old")
    new = resource_slice("n1", name="new", pool={"name": "n1", "generation": 2, "resourceSliceCount": 1})
    half = resource_slice(
        "n2", device("gpu-0"), pool={"name": "n2", "generation": 1, "resourceSliceCount": 2}
    )
    found = inventory(
        tmp_path, *NODES, device_class(), old, new, half, resource_claim("one"), pod("a", claims=SHARED)
    )
    assert reach(found, "shop/a") == []
    assert found.remarks == [
        "the pool is not complete, and its devices are left out: the allocator passes over it, too (ResourceSlice/n2-gpu.example.com)"
    ]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"allNodes": True}, ["n1", "n2"]),
        ({"nodeSelector": in_zone("b")}, ["n2"]),
        ({"nodeName": "n1"}, ["n1"]),
    ],
)
def test_where_devices_are(tmp_path: Path, where: dict[str, Any], expected: list[str]) -> None:
    some = (device_class(), resource_claim("one"), pod("a", claims=SHARED))
    assert (
        reach(inventory(tmp_path, *NODES, *some, resource_slice("p", device("d"), where=where)), "shop/a")
        == expected
    )
    each = resource_slice("p", device("d") | where, where={"perDeviceNodeSelection": True})
    assert reach(inventory(tmp_path, *NODES, *some, each), "shop/a") == expected


def test_the_first_beta_has_a_form_of_its_own(tmp_path: Path) -> None:
    """v1beta1: requests without `exactly`, devices with `basic`."""
    request = {"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu.example.com"}]}}
    one, slices = (
        resource_claim("one", spec=request),
        resource_slice("n2", {"name": "d", "basic": {"attributes": {"model": {"string": "a"}}}}),
    )
    for some in (one, slices):
        some["apiVersion"] = "resource.k8s.io/v1beta1"
    assert reach(
        inventory(tmp_path, *NODES, device_class(), slices, one, pod("a", claims=SHARED)), "shop/a"
    ) == ["n2"]


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("device.driver == 'gpu.example.com'", True),
        ('device.driver == "other"', False),
        ("(device.driver != 'other') && device.attributes['gpu.example.com'].model == 'a'", True),
        ('device.driver=="gpu.example.com"&&device.attributes["gpu.example.com"].index == 1', True),
        ("device.attributes['gpu.example.com'].model in ['b', 'a']", True),
        ("device.attributes['gpu.example.com'].model in ['b']", False),
        ("device.attributes['gpu.example.com'].shared", True),
        ("!device.attributes['gpu.example.com'].shared", False),
        ("device.attributes['gpu.example.com'].absent == 'a'", None),
        ("device.driver == 'other' && device.attributes['gpu.example.com'].absent == 'a'", False),
        ("device.attributes['gpu.example.com'].index == '1'", False),
        ("device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))", None),
        ("device.driver == 'gpu.example.com' || device.driver == 'other'", None),
        ("device.driver.startsWith('gpu')", None),
        ("device.driver == 'other' && device.driver.startsWith('gpu')", False),
        ("device.attributes['gpu.example.com'].model == 'a && b'", False),
        ("", None),
    ],
)  # fmt: skip
def test_selectors(expression: str, met: bool | None) -> None:
    attributes: dict[str, str | int | bool] = {
        "gpu.example.com/model": "a",
        "gpu.example.com/index": 1,
        "gpu.example.com/shared": True,
    }
    assert meets(expression, "gpu.example.com", attributes) is met


def test_a_selector_that_nobody_reads_is_taken_to_be_met(tmp_path: Path) -> None:
    free = device_class("gpu.example.com", "device.driver.startsWith('gpu')")
    found = inventory(tmp_path, *NODES, free, GPUS[2], resource_claim("one"), pod("a", claims=SHARED))
    assert reach(found, "shop/a") == ["n2"]
    assert found.remarks == [
        "a selector of devices says more than comparisons of a driver and attributes that they have: it is taken to be met (DeviceClass/gpu.example.com)"
    ]


# --- mistakes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (storage_class("csi") | {"volumeBindingMode": "Never"}, "volumeBindingMode: there is no such volume binding mode: `Never`"),
        (storage_class("csi") | {"provisioner": None}, "`provisioner` is missing"),
        (volume("pv") | {"spec": None}, "`spec` is missing: a PersistentVolume"),
        (volume("pv", size="ten"), "spec.capacity.storage: expected a quantity of bytes such as 10Gi, not `ten`"),
        (volume("pv", accessModes=["Often"]), "spec.accessModes[0]: there is no such access mode: `Often`"),
        (volume("pv", claimRef={"name": "x"}), "spec.claimRef: `namespace` is missing"),
        (volume("pv", nodeAffinity={"required": {}}), "spec.nodeAffinity.required: `nodeSelectorTerms` is missing"),
        (volume("pv") | {"status": {"phase": "Gone"}}, "status.phase: there is no such phase: `Gone`"),
        (volume_claim("c") | {"spec": None}, "`spec` is missing: a PersistentVolumeClaim"),
        (volume_claim("c") | {"status": {"phase": "Bound"}}, "spec: `volumeName` is missing, and the claim's phase is Bound"),
        (volume_claim("c", accessModes=["ReadWriteOncePod", "ReadWriteOnce"]), "ReadWriteOncePod is the only access mode"),
        (volume_claim("c", volumeMode="Tape"), "spec.volumeMode: there is no such volume mode: `Tape`"),
        (volume_claim("c", selector=["x"]), "spec.selector: expected"),
        (volume_claim("c") | {"spec": {"storageClassName": 7}}, "storageClassName: expected the name of a class, not `7`"),
        (pod("p", claims=[{"name": "gpu"}]), "name one: `resourceClaimName` or `resourceClaimTemplateName`"),
        (pod("p", claims=[{"resourceClaimName": "gpu"}]), "`name` is missing: a pod's claim has one"),
        (made("DeviceClass", "d", "resource.k8s.io/v1", spec={"selectors": [{}]}), "`cel.expression` is missing"),
        (resource_slice("n1", where={}), "say which nodes reach the devices: `nodeName`, `nodeSelector` or `allNodes: true`"),
        (resource_slice("n1", pool={}), "spec.pool: `name` is missing: a pool has one"),
        (resource_slice("n1", {}), "spec.devices[0]: `name` is missing: a device has one"),
        (resource_slice("n1", {"name": "d", "attributes": {"a": {"int": "x"}}}), "expected a whole number, not `x`"),
        (resource_claim("c", spec={"devices": {"requests": [{"name": "x"}]}}), "`deviceClassName` is missing"),
        (resource_claim("c", spec=asks(count=0)), "count: expected a whole number from 1"),
        (resource_claim("c", spec=asks(allocationMode="Some")), "there is no such allocation mode: `Some`"),
        (resource_claim("c") | {"spec": None}, "`spec` is missing: a ResourceClaim"),
        (resource_claim("c") | {"status": {"reservedFor": [{"name": "p"}]}}, "a claim that is not allocated is reserved for nobody"),
        (
            resource_claim("c") | {"status": {"allocation": {"devices": {"results": [{"driver": "d"}]}}}},
            "`pool` is missing: a result has",
        ),
        (template("t") | {"spec": {}}, "`spec.spec` is missing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_mistakes_are_one_line(tmp_path: Path, wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(Problem) as caught:
        inventory(tmp_path, *NODES, wrong)
    line = str(caught.value)
    assert problem in line
    assert line.startswith(f"{tmp_path / 'm.yaml'}:")
    assert "\n" not in line
