"""Objects of volumes and devices as kubectl prints them, with what podrace does not read left in."""

from __future__ import annotations

import json
from typing import Any

from tests.manifests.manifest_objects import spec

NOISE = {
    "creationTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": "42",
    "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:x": {}}}}],
}  # fmt: skip


def made(kind: str, name: str, group: str = "v1", namespace: str = "", **rest: Any) -> dict[str, Any]:
    """An object; `meta` among the rest is more metadata."""
    more = rest.pop("meta", {})
    where = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name, "uid": f"{kind}-{name}", **where, **NOISE, **more},
        **rest,
    }


def node(name: str, cpu: str = "4", zone: str = "a") -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    has = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return made("Node", name, meta={"labels": labels}, spec={}, status={"allocatable": has, "capacity": has})


def pod(name: str, *volumes: str, claims: list[dict[str, str]] | None = None, **more: Any) -> dict[str, Any]:
    """A pod in the namespace shop that mounts these claims, besides what every pod mounts."""
    status = more.pop("status", {"phase": "Running" if "nodeName" in more else "Pending"})
    mounts: list[dict[str, Any]] = [
        {"name": "token", "projected": {"sources": []}},
        {"name": "tmp", "emptyDir": {}},
    ]
    mounts += [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(volumes)]
    asked = {"resourceClaims": claims} if claims else {}
    return made("Pod", name, namespace="shop", spec=spec("1", volumes=mounts, **asked, **more), status=status)


def storage_class(
    name: str, provisioner: str = "csi.example.com", waits: bool = True, **more: Any
) -> dict[str, Any]:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    return made(
        "StorageClass",
        name,
        "storage.k8s.io/v1",
        provisioner=provisioner,
        volumeBindingMode=mode,
        reclaimPolicy="Delete",
        **more,
    )


def in_zone(zone: str) -> dict[str, Any]:
    return {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}
        ]
    }


def volume(
    name: str, of: str = "csi", zone: str = "", size: str = "10Gi", claim: str = "", **more: Any
) -> dict[str, Any]:
    status = {"phase": "Bound" if claim else "Available"}
    where = {"nodeAffinity": {"required": in_zone(zone)}} if zone else {}
    owner = (
        {"claimRef": {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": claim, "uid": "x"}}
        if claim
        else {}
    )
    return made(
        "PersistentVolume", name, status=status, meta=more.pop("meta", {}),
        spec={
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "storageClassName": of, "volumeMode": "Filesystem",
            "csi": {"driver": "csi.example.com", "volumeHandle": name}, **where, **owner, **more,
        },
    )  # fmt: skip


def volume_claim(name: str, of: str | None = "csi", bound: str = "", **more: Any) -> dict[str, Any]:
    kept = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}} if bound else more.pop("meta", {})
    asked = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "8Gi"}},
        "volumeMode": "Filesystem",
    }
    said = {
        **({"storageClassName": of} if of is not None else {}),
        **({"volumeName": bound} if bound else {}),
    }
    return made(
        "PersistentVolumeClaim", name, namespace="shop", meta=kept, spec={**asked, **said, **more},
        status={"phase": "Bound" if bound else "Pending"},
    )  # fmt: skip


DRA = "resource.k8s.io/v1"


def device_class(name: str = "gpu.example.com", *expressions: str) -> dict[str, Any]:
    said = expressions or ("device.driver == 'gpu.example.com'",)
    return made("DeviceClass", name, DRA, spec={"selectors": [{"cel": {"expression": e}} for e in said]})


def device(name: str, **attributes: Any) -> dict[str, Any]:
    given = {
        k: {"bool" if isinstance(v, bool) else "int" if isinstance(v, int) else "string": v}
        for k, v in attributes.items()
    }
    return {"name": name, "attributes": given, "capacity": {"memory": {"value": "80Gi"}}}


def resource_slice(
    at: str, *devices: dict[str, Any], driver: str = "gpu.example.com", **more: Any
) -> dict[str, Any]:
    pool = more.pop("pool", {"name": at, "generation": 1, "resourceSliceCount": 1})
    where = more.pop("where", {"nodeName": at})
    return made(
        "ResourceSlice",
        more.pop("name", f"{at}-{driver}"),
        DRA,
        spec={"driver": driver, **where, "pool": pool, "devices": list(devices), **more},
    )


def asks(**more: Any) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1, **more}
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}


def resource_claim(name: str, at: str = "", reserved: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A claim in the namespace shop; `at` is pool/device of what is allocated."""
    status: dict[str, Any] = {}
    if at:
        pool, _, its = at.partition("/")
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pool]}]}
        status["allocation"] = {
            "allocationTimestamp": "2026-01-01T00:00:00Z", "nodeSelector": {"nodeSelectorTerms": [term]},
            "devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": pool, "device": its}]},
        }  # fmt: skip
        status["reservedFor"] = [{"resource": "pods", "name": p, "uid": f"Pod-{p}"} for p in reserved]
    return made("ResourceClaim", name, DRA, "shop", spec=more.pop("spec", asks()), status=status, **more)


GPU = "example.com/gpu"


def backing(name: str = "gpu.example.com") -> dict[str, Any]:
    made = device_class(name)
    made["spec"]["extendedResourceName"] = GPU
    return made


def asking(name: str, resource: str = GPU, amount: str = "1", **more: Any) -> dict[str, Any]:
    made = pod(name, **more)
    made["spec"]["containers"][0]["resources"]["requests"][resource] = amount
    return made


def special(name: str, of: str, at: str = "") -> dict[str, Any]:
    """A claim as the scheduler makes it for a pod; `at` is pool/device of what is allocated."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": of, "uid": f"Pod-{of}", "controller": True}
    said = {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [owner],
    }
    return resource_claim(name, at, (of,) if at else (), meta=said)


def conditioned(**more: Any) -> dict[str, Any]:
    return device("gpu-0") | {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"], **more}


def claimed(*true: str, **result: Any) -> dict[str, Any]:
    """A claim that is allocated that device, and nobody's, with these conditions true."""
    found = resource_claim("one", "n1/gpu-0")
    (given,) = found["status"]["allocation"]["devices"]["results"]
    given |= {"bindingConditions": ["ready"], "bindingFailureConditions": ["broken"], **result}
    conditions = [{"type": c, "status": "True"} for c in true] + [{"type": "other", "status": "False"}]
    found["status"]["devices"] = [
        {"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0", "conditions": conditions}
    ]
    return found


def template(name: str) -> dict[str, Any]:
    return made("ResourceClaimTemplate", name, DRA, "shop", spec={"metadata": {}, "spec": asks()})


def as_list(*some: dict[str, Any]) -> str:
    """The objects as kubectl prints several kinds."""
    return json.dumps(
        {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": list(some)},
        indent=1,
    )
