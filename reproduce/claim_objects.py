"""The claims and devices of a scenario as Kubernetes objects (resource.k8s.io/v1, as from 1.34 on).

A class of devices has a driver of its own, with one pool: the allocator tries pools in no order. Each device has a ResourceSlice of its own, so that the slices can be tried in
any order. A claim asks for one device of its class. The finalizer is there as soon as the claim is allocated (A-CLAIM-FINALIZER).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..model.environment.objects import Claim, ClusterSpec, Device, Pod
from ..model.environment.storage.claims import READY

Object = dict[str, Any]

API = "resource.k8s.io/v1"
FINALIZER = "resource.kubernetes.io/delete-protection"
START, LONG_AGO = "2000-01-01T00:00:00Z", "1999-12-31T00:00:00Z"
"""When fake time begins (testing/synctest), and longer before it than anybody waits for a device (DynamicResourcesArgs.BindingTimeout)."""
READY_CONDITION, FAILED_CONDITION = "podrace.io/ready", "podrace.io/failed"
EXTENDED = "resource.kubernetes.io/extended-resource-claim"
REQUEST, POOL = "device", "all"
MADE = "podrace.io/claims"
_UNNAMED = "devices"


def device_objects(spec: ClusterSpec) -> tuple[Object, ...]:
    """The DeviceClasses and ResourceSlices of a cluster. A class that no device is in is there all the same."""
    classes = dict.fromkeys([device.of for device in spec.devices] + [claim.of for claim in spec.claims])
    extended = {claim.of for claim in spec.claims if claim.special}
    sizes = Counter(device.of for device in spec.devices)
    return (
        *(_class(of, of in extended) for of in classes),
        *(_slice(device, sizes[device.of]) for device in spec.devices),
    )


def claim_object(claim: Claim, spec: ClusterSpec) -> Object:
    """A ResourceClaim as it is at the start, or when it is created."""
    metadata: Object = {"name": claim.name, "namespace": _namespace(claim, spec.pods), "uid": claim.name}
    if claim.owner is not None:
        metadata["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "Pod", "name": claim.owner, "uid": claim.owner, "controller": True}
        ]
    if claim.special:
        metadata["annotations"] = {EXTENDED: "true"}
    status: Object = {}
    if claim.device is not None:
        metadata["finalizers"] = [FINALIZER]
        status["allocation"] = _allocation(claim.device)
        if claim.device.conditions:
            status["allocation"]["allocationTimestamp"] = LONG_AGO if claim.timed_out else START
        if claim.readiness:
            status["devices"] = [_reported(claim, claim.device)]
    if claim.reserved:
        status["reservedFor"] = [
            {"resource": "pods", "name": pod.recreates or pod.name, "uid": pod.name}
            for pod in spec.pods
            if pod.name in claim.reserved
        ]
    exactly = {"deviceClassName": class_name(claim.of), "allocationMode": "ExactCount", "count": 1}
    request = {"name": REQUEST, "exactly": exactly}
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": [request]}},
        "status": status,
    }


def claims_of_pod(pod: Pod) -> list[Object]:
    """spec.resourceClaims: a claim that is made for the pod is referred to by a template of its name."""
    return [
        {
            "name": _in_pod(number),
            "resourceClaimTemplateName" if claim in pod.generated else "resourceClaimName": claim,
        }
        for number, claim in enumerate(pod.claims)
        if claim != pod.extended_claim
    ]


def annotations_of_pod(pod: Pod) -> dict[str, str]:
    """The names of the claims that are made for the pod, for the driver."""
    return {MADE: " ".join(claim for claim in pod.claims if claim in pod.generated)} if pod.generated else {}


def claims_named_at_start(pod: Pod, spec: ClusterSpec) -> list[Object]:
    """status.resourceClaimStatuses: the claims that were made for the pod, if they are there at the start."""
    made = {claim.name for claim in spec.claims if claim.exists}
    if not pod.exists or not pod.generated <= made:
        return []
    return [
        {"name": _in_pod(number), "resourceClaimName": claim}
        for number, claim in enumerate(pod.claims)
        if claim in pod.generated
    ]


def _in_pod(number: int) -> str:
    return f"claim-{number}"


def class_name(of: str) -> str:
    """The name of a device class."""
    return of or _UNNAMED


def _driver(of: str) -> str:
    return f"{class_name(of)}.podrace.io"


def extended_resources(pod: Pod, spec: ClusterSpec) -> dict[str, str]:
    """What the pod asks for that devices back."""
    return {
        _resource(claim.of): "1"
        for claim in spec.claims
        if claim.special and claim.name == pod.extended_claim
    }


def _resource(of: str) -> str:
    return f"podrace.io/{class_name(of)}"


def _class(of: str, extended: bool) -> Object:
    selector = {"cel": {"expression": f'device.driver == "{_driver(of)}"'}}
    content: Object = {"selectors": [selector]}
    if extended:
        content["extendedResourceName"] = _resource(of)
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": class_name(of), "uid": class_name(of)},
        "spec": content,
    }


def _slice(device: Device, slices: int) -> Object:
    where: Object = {"allNodes": True} if device.node is None else {"nodeName": device.node.name}
    return {
        "apiVersion": API,
        "kind": "ResourceSlice",
        "metadata": {"name": device.name, "uid": device.name},
        "spec": {
            "driver": _driver(device.of),
            "pool": {"name": POOL, "generation": 1, "resourceSliceCount": slices},
            "devices": [{"name": device.name, **_conditions(device)}],
            **where,
        },
    }


def _conditions(device: Device) -> Object:
    return (
        {"bindingConditions": [READY_CONDITION], "bindingFailureConditions": [FAILED_CONDITION]}
        if device.conditions
        else {}
    )


def _reported(claim: Claim, device: Device) -> Object:
    """What the driver of a device has said of it at the start."""
    condition = {
        "type": READY_CONDITION if claim.readiness == READY else FAILED_CONDITION,
        "status": "True",
        "reason": "Reported",
        "lastTransitionTime": START,
        "message": "",
    }
    return {"driver": _driver(device.of), "pool": POOL, "device": device.name, "conditions": [condition]}


def _allocation(device: Device) -> Object:
    found = {
        "request": REQUEST,
        "driver": _driver(device.of),
        "pool": POOL,
        "device": device.name,
        **_conditions(device),
    }
    allocation: Object = {"devices": {"results": [found]}}
    if device.node is not None:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [device.node.name]}]}
        allocation["nodeSelector"] = {"nodeSelectorTerms": [term]}
    return allocation


def _namespace(claim: Claim, pods: tuple[Pod, ...]) -> str:
    return next((pod.namespace for pod in pods if claim.name in pod.claims), "default")
