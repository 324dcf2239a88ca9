"""The volumes and claims of volumes of a scenario as Kubernetes objects: StorageClasses, PersistentVolumes and PersistentVolumeClaims.

All are of one size, so that any volume of a class will do for any claim of it. A volume that is tied to nodes names them by their label
kubernetes.io/hostname; one that a provisioner may make is tied to a node when it is made.
"""

from collections.abc import Iterator
from typing import Any

from ..model.environment.objects import ClusterSpec, Pod, StorageClass, Volume, VolumeClaim
from ..model.environment.storage.csi_nodes import is_attached_at_start

Object = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"
BIND_COMPLETED, BY_CONTROLLER = "pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller"
NO_PROVISIONER, PROVISIONER = "kubernetes.io/no-provisioner", "volumes.podrace.io"
ONE_POD, MANY = "ReadWriteOncePod", "ReadWriteMany"
LATER = ".podrace.io/later"
"""After the name of a driver: the annotation of a CSINode that says what it will say."""
_SIZE = "1Gi"


def of_kind(api: str, kind: str, metadata: Object, **content: Object | str) -> Object:
    """An object of the API, whose fields are in this order."""
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **content}


def storage_objects(spec: ClusterSpec) -> tuple[Object, ...]:
    """The classes, volumes and claims of a cluster, also those that are not there at the start."""
    classes = dict.fromkeys(
        [v.storage_class for v in spec.volumes] + [c.storage_class for c in spec.volume_claims]
    )
    return (
        *map(_class, classes),
        *_limits(spec),
        *(_volume(volume, spec) for volume in spec.volumes),
        *(_claim(claim, spec) for claim in spec.volume_claims),
    )


def absent_storage(spec: ClusterSpec) -> list[str]:
    """The names of the volumes and claims that are not there at the start."""
    volumes = [volume.name for volume in spec.volumes if not volume.exists or _is_made(volume)]
    return volumes + [claim.name for claim in spec.volume_claims if not claim.exists]


def _is_made(volume: Volume) -> bool:
    """Whether a provisioner makes it."""
    return volume.provisioned_for is not None


def volumes_of_pod(pod: Pod) -> list[Object]:
    """spec.volumes."""
    return [
        {"name": f"volume-{number}", "persistentVolumeClaim": {"claimName": claim}}
        for number, claim in enumerate(pod.volumes)
    ]


def missing_storage(spec: ClusterSpec) -> Iterator[str]:
    """What of volumes cannot be said in objects."""
    names = [o.name for o in (*spec.volumes, *spec.volume_claims)]
    if len(set(names)) < len(names):
        yield "a volume and a claim of one have one name"
    for claim in spec.volume_claims:
        if "/" in claim.name or len({pod.namespace for pod in _users(claim, spec)}) > 1:
            yield f"the pods that mount the claim {claim.name} are in several namespaces"
    tied = {node for volume in spec.volumes for node in volume.nodes}
    made = any(_is_made(volume) for volume in spec.volumes)
    for node in spec.nodes if made else tied:
        if node.labels.get(HOSTNAME) is None:
            yield f"a volume is tied to {node.name}, which has no label {HOSTNAME}"
    if spec.drivers and (spec.scope.restarts or spec.scope.leader_changes):
        yield "the driver does not play what a new process lists of CSINodes and VolumeAttachments"
    if spec.drivers and any(map(_is_made, spec.volumes)):
        yield "the driver does not play limits of volumes that a provisioner makes"
    if spec.volume_claims and spec.groups:
        yield "the driver does not play volumes of pods in groups"


def _users(claim: VolumeClaim, spec: ClusterSpec) -> list[Pod]:
    return [pod for pod in spec.pods if claim.name in pod.volumes]


def _class(of: StorageClass) -> Object:
    return of_kind(
        "storage.k8s.io/v1",
        "StorageClass",
        {"name": of.name, "uid": of.name},
        provisioner=of.driver or (PROVISIONER if of.provisions else NO_PROVISIONER),
        volumeBindingMode="Immediate" if of.immediate else "WaitForFirstConsumer",
    )


def _limits(spec: ClusterSpec) -> Iterator[Object]:
    """CSINodes as they are at the start, with what they will say noted, CSIDrivers and VolumeAttachments."""
    for driver in spec.drivers:
        wanted = {"attachRequired": True, "preventPodSchedulingIfMissing": driver.required}
        yield of_kind("storage.k8s.io/v1", "CSIDriver", {"name": driver.name}, spec=wanted)
    for node in spec.nodes:
        limits = {d.name: d.limits[node.name] for d in spec.drivers if node.name in d.limits}
        drivers = [_limit(name, node.name, f) for name, (f, _) in limits.items() if f is not None]
        later = {f"{name}{LATER}": str(last) for name, (_, last) in limits.items()}
        if limits:
            metadata = {"name": node.name, "annotations": later}
            yield of_kind("storage.k8s.io/v1", "CSINode", metadata, spec={"drivers": drivers})
    for volume in spec.volumes:
        for node in spec.nodes:
            limited = any(
                d.name == volume.storage_class.driver and node.name in d.limits for d in spec.drivers
            )
            if limited and is_attached_at_start(volume, node, spec.volume_claims, spec.pods):
                described = {
                    "attacher": volume.storage_class.driver,
                    "nodeName": node.name,
                    "source": {"persistentVolumeName": volume.name},
                }
                metadata = {"name": f"{volume.name}.{node.name}"}
                yield of_kind("storage.k8s.io/v1", "VolumeAttachment", metadata, spec=described, status={})


def _limit(driver: str, node: str, count: int) -> Object:
    return {"name": driver, "nodeID": node, "topologyKeys": None, "allocatable": {"count": count}}


def _volume(volume: Volume, spec: ClusterSpec) -> Object:
    modes = {_mode(claim) for claim in spec.volume_claims if claim.storage_class is volume.storage_class}
    described: Object = {
        "storageClassName": volume.storage_class.name,
        "accessModes": sorted(modes),
        "capacity": {"storage": _SIZE},
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    }
    if volume.storage_class.driver:
        described["csi"] = {"driver": volume.storage_class.driver, "volumeHandle": volume.name}
    if volume.nodes:
        values = [node.labels.get(HOSTNAME, "") for node in volume.nodes]
        term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": values}]}
        described["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    if volume.claim is not None:
        described["claimRef"] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": _namespace(volume.claim, spec),
            "name": volume.claim,
            "uid": volume.claim,
        }
    metadata = {"name": volume.name, "uid": volume.name}
    return of_kind("v1", "PersistentVolume", metadata, spec=described, status={"phase": "Available"})


def _claim(claim: VolumeClaim, spec: ClusterSpec) -> Object:
    metadata: Object = {"name": claim.name, "namespace": _namespace(claim.name, spec), "uid": claim.name}
    described: Object = {
        "storageClassName": claim.storage_class.name,
        "accessModes": [_mode(claim)],
        "resources": {"requests": {"storage": _SIZE}},
        "volumeMode": "Filesystem",
    }
    if claim.volume is not None:
        described["volumeName"] = claim.volume.name
    if claim.completed:
        metadata["annotations"] = {BIND_COMPLETED: "yes", BY_CONTROLLER: "yes"}
    return of_kind("v1", "PersistentVolumeClaim", metadata, spec=described)


def _mode(claim: VolumeClaim) -> str:
    return ONE_POD if claim.exclusive else MANY


def _namespace(claim: str, spec: ClusterSpec) -> str:
    return next((pod.namespace for pod in spec.pods if claim in pod.volumes), "default")
