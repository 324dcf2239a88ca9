"""The claims and devices of a scenario as Kubernetes objects (resource.k8s.io/v1, as from 1.34 on).

A class of devices has a driver of its own, with one pool: the allocator tries pools in no order. Classes whose devices draw on one counter have one driver, and an attribute tells them apart. Each
device has a ResourceSlice of its own, so that the slices can be tried in any order, and a driver's counters have another one. The finalizer is there as soon as the claim is allocated (A-CLAIM-FINALIZER).
"""

from collections.abc import Iterator, Mapping, Sequence

from ..model.environment.cluster.storage import EVERY_EFFECT
from ..model.environment.objects import Claim, ClusterSpec, Counter, Device, Pod, Wish
from ..model.environment.storage.claims import READY
from .storage_objects import Object, of_kind

API = "resource.k8s.io/v1"
FINALIZER = "resource.kubernetes.io/delete-protection"
START, LONG_AGO = "2000-01-01T00:00:00Z", "1999-12-31T00:00:00Z"
"""When fake time begins (testing/synctest), and longer before it than anybody waits for a device (DynamicResourcesArgs.BindingTimeout)."""
READY_CONDITION, FAILED_CONDITION = "podrace.io/ready", "podrace.io/failed"
EXTENDED = "resource.kubernetes.io/extended-resource-claim"
REQUEST, POOL = "device", "all"
MADE = "podrace.io/claims"
SHARE, COUNTERS, TAINT = "share", "counters", "podrace.io/broken"
_UNNAMED = "devices"

Drivers = Mapping[str, str]
"""The driver of each device class."""


def device_objects(spec: ClusterSpec) -> tuple[Object, ...]:
    """The DeviceClasses and ResourceSlices of a cluster. A class that no device is in is there all the same."""
    drivers = _drivers(spec)
    extended = {claim.of for claim in spec.claims if claim.special}
    slices = [_device(device, drivers) for device in _published(spec.devices)]
    slices += [_counters(driver, spec.devices, drivers) for driver in sorted(_divided(spec.devices, drivers))]
    for claim in spec.claims:
        for (device,) in (s["spec"]["devices"] for s in slices if "devices" in s["spec"] and claim.fails_on):
            if device["name"] not in claim.fails_on:
                device.setdefault("attributes", {})[_readable(claim)] = {"bool": True}
    said = [slice["spec"]["driver"] for slice in slices]
    for slice in slices:
        slice["spec"]["pool"]["resourceSliceCount"] = said.count(slice["spec"]["driver"])
    return (*(_class(of, of in extended, drivers) for of in drivers), *slices)


def _published(devices: Sequence[Device]) -> list[Device]:
    """What drivers publish: of a device that claims share what one of them can have of it, and nothing for several that go to one claim."""
    return list({device.shared or device.name: device for device in devices if not device.parts}.values())


def _drawn(device: Device) -> Iterator[Counter]:
    """The counters that a device shares with others."""
    return (counter for counter in device.draws if not device.shared and counter.name != device.name)


def _drivers(spec: ClusterSpec) -> Drivers:
    classes = [d.of for d in spec.devices] + [w.of for claim in spec.claims for w in claim.wishes]
    found = dict.fromkeys([*classes, *(claim.of for claim in spec.claims)], "")
    first: dict[Counter, str] = {}
    for of in found:
        shared = [c for d in _published(spec.devices) if d.of == of for c in _drawn(d)]
        found[of] = next((first[c] for c in shared if c in first), _driver(of))
        first |= {counter: first.get(counter, found[of]) for counter in shared}
    return found


def _divided(devices: Sequence[Device], drivers: Drivers) -> set[str]:
    """The drivers whose devices share counters."""
    return {drivers[d.of] for d in devices for _ in _drawn(d)}


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
        status["allocation"] = _allocation(claim, claim.device, _drivers(spec))
        if claim.device.conditions:
            status["allocation"]["allocationTimestamp"] = LONG_AGO if claim.timed_out else START
        if claim.readiness:
            status["devices"] = [_reported(claim, claim.device, _drivers(spec))]
    if claim.reserved:
        status["reservedFor"] = [
            {"resource": "pods", "name": pod.recreates or pod.name, "uid": pod.name}
            for pod in spec.pods
            if pod.name in claim.reserved
        ]
    asked = [_asked(wish, claim, _drivers(spec)) for wish in claim.wishes]
    alternatives = [{"name": _alternative(number), **one} for number, one in enumerate(asked)]
    of = {"firstAvailable": alternatives} if len(asked) > 1 else {"exactly": asked[0]}
    request = {"name": REQUEST, **of}
    return of_kind(API, "ResourceClaim", metadata, spec={"devices": {"requests": [request]}}, status=status)


def _readable(claim: Claim) -> str:
    """The attribute for which the claim's selector asks: a device without it is one on which it fails."""
    return f"readable_{claim.index}"


def _asked(wish: Wish, claim: Claim, drivers: Drivers) -> Object:
    found: Object = {
        "deviceClassName": class_name(wish.of),
        "allocationMode": "ExactCount",
        "count": wish.count,
    }
    if claim.amount:
        found["capacity"] = {"requests": {SHARE: str(claim.amount)}}
    if claim.admin:
        found["adminAccess"] = True
    if claim.fails_on:
        expression = f'device.attributes["{drivers[wish.of]}"].{_readable(claim)}'
        found["selectors"] = [{"cel": {"expression": expression}}]
    return found | _tolerations(claim)


def _tolerations(claim: Claim) -> Object:
    if not claim.tolerates:
        return {}
    effect = {} if claim.tolerates == EVERY_EFFECT else {"effect": claim.tolerates}
    seconds = {"tolerationSeconds": 60} if claim.briefly else {}
    return {"tolerations": [{"operator": "Exists", **effect, **seconds}]}


def _alternative(number: int) -> str:
    return f"choice-{number}"


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
        _resource(claim.of): str(claim.wishes[0].count)
        for claim in spec.claims
        if claim.special and claim.name == pod.extended_claim
    }


def _resource(of: str) -> str:
    return f"podrace.io/{class_name(of)}"


def _class(of: str, extended: bool, drivers: Drivers) -> Object:
    expression = f'device.driver == "{drivers[of]}"'
    if list(drivers.values()).count(drivers[of]) > 1:
        expression += f' && device.attributes["{drivers[of]}"].kind == "{class_name(of)}"'
    content: Object = {"selectors": [{"cel": {"expression": expression}}]}
    if extended:
        content["extendedResourceName"] = _resource(of)
    return of_kind(API, "DeviceClass", {"name": class_name(of), "uid": class_name(of)}, spec=content)


def _slice(name: str, driver: str, content: Object) -> Object:
    spec = {"driver": driver, "pool": {"name": POOL, "generation": 1}, **content}
    return of_kind(API, "ResourceSlice", {"name": name, "uid": name}, spec=spec)


def _device(device: Device, drivers: Drivers) -> Object:
    where: Object = {"allNodes": True} if device.node is None else {"nodeName": device.node.name}
    name, driver = device.shared or device.name, drivers[device.of]
    content: Object = {"name": name, **_conditions(device)}
    if list(drivers.values()).count(driver) > 1:
        content["attributes"] = {"kind": {"string": class_name(device.of)}}
    if device.taint:
        content["taints"] = [{"key": TAINT, "effect": device.taint}]
    if device.shared:
        ((counter, _),) = device.draws.items()
        content |= {"allowMultipleAllocations": True, "capacity": {SHARE: {"value": str(counter.capacity)}}}
    elif drawn := {counter.name: {"value": str(device.draws[counter])} for counter in _drawn(device)}:
        content["consumesCounters"] = [{"counterSet": COUNTERS, "counters": drawn}]
    return _slice(name, driver, {"devices": [content], **where})


def _counters(driver: str, devices: Sequence[Device], drivers: Drivers) -> Object:
    """The slice with the counters of a driver."""
    own = {c.name: {"value": str(c.capacity)} for d in devices if drivers[d.of] == driver for c in _drawn(d)}
    return _slice(
        f"{COUNTERS}.{driver}",
        driver,
        {"sharedCounters": [{"name": COUNTERS, "counters": own}], "allNodes": True},
    )


def _conditions(device: Device) -> Object:
    return (
        {"bindingConditions": [READY_CONDITION], "bindingFailureConditions": [FAILED_CONDITION]}
        if device.conditions
        else {}
    )


def _reported(claim: Claim, device: Device, drivers: Drivers) -> Object:
    """What the driver of a device has said of it at the start."""
    condition = {
        "type": READY_CONDITION if claim.readiness == READY else FAILED_CONDITION,
        "status": "True",
        "reason": "Reported",
        "lastTransitionTime": START,
        "message": "",
    }
    return {"driver": drivers[device.of], "pool": POOL, "device": device.name, "conditions": [condition]}


def _allocation(claim: Claim, device: Device, drivers: Drivers) -> Object:
    rank = claim.rank(device) or 0
    request = f"{REQUEST}/{_alternative(rank)}" if len(claim.wishes) > 1 else REQUEST
    found: list[Object] = [
        {
            "request": request,
            "driver": drivers[device.of],
            "pool": POOL,
            "device": part.shared or part.name,
            **_conditions(part),
            **_tolerations(claim),
            **({"adminAccess": True} if claim.admin else {}),
        }
        for part in device.parts or (device,)
    ]
    if device.shared:
        ((_, amount),) = device.draws.items()
        found[0] |= {"shareID": _share(claim), "consumedCapacity": {SHARE: str(amount)}}
    allocation: Object = {"devices": {"results": found}}
    if device.node is not None:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [device.node.name]}]}
        allocation["nodeSelector"] = {"nodeSelectorTerms": [term]}
    return allocation


def _share(claim: Claim) -> str:
    """The ID of the share that a claim has at the start: a UUID, as the allocator makes them."""
    return f"00000000-0000-4000-8000-{claim.index:012}"


def _namespace(claim: Claim, pods: tuple[Pod, ...]) -> str:
    return next((pod.namespace for pod in pods if claim.name in pod.claims), "default")
