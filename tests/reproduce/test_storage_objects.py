"""Volumes and claims of volumes as Kubernetes objects."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import (
    ClusterSpec,
    CsiDriver,
    ExtensionPoint,
    Node,
    Pod,
    PodGroup,
    Scope,
    StorageClass,
    Volume,
    VolumeClaim,
)
from podrace.reproduce.case import _points
from podrace.reproduce.objects import objects_of, pod_object
from podrace.reproduce.storage_objects import absent_storage, missing_storage, storage_objects

LOCAL, CSI = StorageClass("local"), StorageClass("csi", immediate=True, provisions=True)
NODES = (Node(0, "n1", 1), Node(1, "n2", 1, hostname_label=False))


def cluster(*, ties: bool = False) -> ClusterSpec:
    volumes = (
        Volume(0, "pv1", LOCAL, [NODES[1] if ties else NODES[0]], claim="c1"),
        Volume(1, "pvc-c2", CSI, provisioned_for=None if not ties else "c2", exists=False),
    )
    claims = (
        VolumeClaim(0, "c1", LOCAL, volumes[0], completed=True, exclusive=True),
        VolumeClaim(1, "c2", CSI, exists=False),
    )
    pods = (Pod(0, "a", 1, volumes=["c1", "c2"]),)
    return ClusterSpec("c", pods, NODES, volumes=volumes, volume_claims=claims)


def test_classes_volumes_and_claims() -> None:
    made = {(o["kind"], o["metadata"]["name"]): o for o in storage_objects(cluster())}
    assert list(made) == [
        ("StorageClass", "local"),
        ("StorageClass", "csi"),
        ("PersistentVolume", "pv1"),
        ("PersistentVolume", "pvc-c2"),
        ("PersistentVolumeClaim", "c1"),
        ("PersistentVolumeClaim", "c2"),
    ]
    classes = [made["StorageClass", name] for name in ("local", "csi")]
    assert [(c["provisioner"], c["volumeBindingMode"]) for c in classes] == [
        ("kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
        ("volumes.podrace.io", "Immediate"),
    ]
    volume, claim = made["PersistentVolume", "pv1"]["spec"], made["PersistentVolumeClaim", "c1"]
    assert volume["nodeAffinity"]["required"]["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}
    ]
    assert (volume["claimRef"]["namespace"], volume["claimRef"]["uid"]) == ("default", "c1")
    assert volume["accessModes"] == claim["spec"]["accessModes"] == ["ReadWriteOncePod"]
    assert claim["spec"]["volumeName"] == "pv1"
    assert claim["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] == "yes"
    unbound = made["PersistentVolumeClaim", "c2"]
    assert "volumeName" not in unbound["spec"]
    assert "annotations" not in unbound["metadata"]
    assert absent_storage(cluster()) == ["pvc-c2", "c2"]


def test_a_pod_mounts_its_claims_and_volume_binding_says_itself_whether_it_has_work() -> None:
    pod = Pod(0, "a", 1, volumes=["c1", "c2"], extension_points=[ExtensionPoint.PERMIT])
    assert [v["persistentVolumeClaim"]["claimName"] for v in pod_object(pod)["spec"]["volumes"]] == [
        "c1",
        "c2",
    ]
    assert _points(pod) == ["RESERVE", "PERMIT"]


EBS = CsiDriver("ebs", {"n1": (1, 1)})
LIMITED = StorageClass("limited", driver="ebs")
NEW_PROCESS = "the driver does not play what a new process lists of CSINodes and VolumeAttachments"


def limited(scope: Scope, provisioned_for: str | None = None) -> ClusterSpec:
    volumes = (Volume(0, "pv1", LIMITED, claim="c1", provisioned_for=provisioned_for),)
    claims = (VolumeClaim(0, "c1", LIMITED, volumes[0], completed=True),)
    return ClusterSpec(
        "c",
        (Pod(0, "a", 1, volumes=["c1"]),),
        NODES,
        scope=scope,
        volumes=volumes,
        volume_claims=claims,
        drivers=(EBS,),
    )


def test_limits_alone_can_be_said() -> None:
    assert tuple(missing_storage(limited(Scope()))) == ()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (cluster(ties=True), "a volume is tied to n2, which has no label kubernetes.io/hostname"),
        (
            ClusterSpec("c", (Pod(0, "a", 1),), (), groups=(PodGroup(0, "g", 1),), volume_claims=(VolumeClaim(0, "c1", LOCAL),)),
            "the driver does not play volumes of pods in groups",
        ),
        (
            ClusterSpec("c", (), (), volumes=(Volume(0, "x", LOCAL),), volume_claims=(VolumeClaim(0, "x", LOCAL),)),
            "a volume and a claim of one have one name",
        ),
        (limited(Scope(restarts=1)), NEW_PROCESS),
        (limited(Scope(leader_changes=1)), NEW_PROCESS),
        (limited(Scope(), provisioned_for="c1"), "the driver does not play limits of volumes that a provisioner makes"),
        (
            ClusterSpec("c", (), (), volume_claims=(VolumeClaim(0, "x/c1", LOCAL),)),
            "the pods that mount the claim x/c1 are in several namespaces",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_said_of_volumes_is_named(spec: ClusterSpec, words: str) -> None:
    assert words in tuple(missing_storage(spec))
    assert words in objects_of(spec).missing
