"""Devices as Kubernetes writes them: DeviceClass, ResourceSlice, ResourceClaim and ResourceClaimTemplate (resource.k8s.io/v1, v1beta2 and v1beta1).

A claim is read as far as the model has it: one device of one class. What asks for more says why it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...model.environment.objects import NodeAffinity
from ...scenarios.tables.directives import read_node_selector
from .binding_conditions import names_in, read_readiness
from .device_selectors import Attributes, Constant, meets
from .manifest_files import Manifest, Remarks
from .metadata import Meta, read_label

POD_CLAIM_NAME = "resource.kubernetes.io/pod-claim-name"
MANY = 1 << 31
DIVIDED = "the device shares counters with others (consumesCounters)"
SHARED = "the device may be allocated several times (allowMultipleAllocations)"
TAINTED = "the device is tainted"

DeviceKey = tuple[str, str, str]
"""Driver, pool and name of a device."""


@dataclass(frozen=True, slots=True)
class DeviceClassObject:
    """A DeviceClass with its selectors."""

    name: str
    selectors: tuple[str, ...]
    extended: str


@dataclass(frozen=True, slots=True)
class Where:
    """Which nodes reach a device: one by its name, those that a selector means, or all."""

    node: str = ""
    selector: NodeAffinity | None = None


@dataclass(frozen=True, slots=True)
class DeviceObject:
    """A device of a ResourceSlice; `unlike` says what it is beyond the model, if anything. `conditions`: its driver has to say that it is ready."""

    key: DeviceKey
    where: Where
    attributes: Attributes
    unlike: str = ""
    conditions: bool = False


@dataclass(frozen=True, slots=True)
class SliceObject:
    """A ResourceSlice: a part of a pool, of which `parts` make the whole in this generation."""

    meta: Meta
    driver: str
    pool: str
    generation: int
    parts: int
    devices: tuple[DeviceObject, ...]


@dataclass(frozen=True, slots=True)
class DeviceWish:
    """What a claim asks for: one device of a class, that meets these selectors; or, as `unlike` says, something that the model has not."""

    of: str = ""
    selectors: tuple[str, ...] = ()
    unlike: str = ""


@dataclass(frozen=True, slots=True)
class ResourceClaimObject:
    """A ResourceClaim. `allocated`: there is an allocation, of these devices, which these nodes reach (None: all).

    `reserved` are the pods of reservedFor, `others` how many users there are that are no pods. `readiness` says what has become of the binding
    conditions of its device, "" if it has none. `special`: the scheduler made it, for extended resources.
    """

    meta: Meta
    wish: DeviceWish
    allocated: bool = False
    devices: tuple[DeviceKey, ...] = ()
    reach: NodeAffinity | None = None
    reserved: tuple[str, ...] = ()
    others: int = 0
    readiness: str = ""
    special: bool = False


@dataclass(frozen=True, slots=True)
class ClaimReference:
    """What of a claim stands in a pod: its name there, and the name of a ResourceClaim, or of a template by which one is made."""

    name: str
    claim: str | None
    template: str | None


@dataclass(slots=True)
class WrittenDevices:
    """The objects of dynamic resource allocation, as they were read."""

    classes: dict[str, DeviceClassObject] = field(default_factory=dict)
    slices: list[SliceObject] = field(default_factory=list)
    claims: dict[str, ResourceClaimObject] = field(default_factory=dict)
    templates: dict[str, DeviceWish] = field(default_factory=dict)


def read_device_class(top: Manifest, meta: Meta, fields: Mapping[str, Manifest]) -> DeviceClassObject:
    """A DeviceClass."""
    spec = (
        fields["spec"].fields(("selectors", "extendedResourceName"), "a mapping") if "spec" in fields else {}
    )
    extended = (
        spec["extendedResourceName"].text("the name of a resource") if "extendedResourceName" in spec else ""
    )
    return DeviceClassObject(meta.name, _selectors(spec.get("selectors")), extended)


def _selectors(value: Manifest | None) -> tuple[str, ...]:
    found = []
    for element in value.elements("a list of selectors") if value is not None else []:
        cel = element.fields(("cel",), "a selector with `cel`").get("cel")
        inner = cel.fields(("expression",), "a mapping with `expression`") if cel is not None else {}
        if "expression" not in inner:
            element.fail("`cel.expression` is missing: a selector is an expression")
        found.append(inner["expression"].text("an expression in CEL"))
    return tuple(found)


def read_claim(top: Manifest, meta: Meta, fields: Mapping[str, Manifest]) -> ResourceClaimObject:
    """A ResourceClaim."""
    if "spec" not in fields:
        top.fail("`spec` is missing: a ResourceClaim has at least `spec.devices`")
    wish = read_wish(fields["spec"])
    known = ("allocation", "reservedFor", "devices")
    status = fields["status"].fields(known, "a mapping") if "status" in fields else {}
    special = _is_special(fields["metadata"])
    reserved, others = [], 0
    for user in status["reservedFor"].elements("a list of users") if "reservedFor" in status else []:
        said = user.fields(("resource", "name"), "a user with `resource` and `name`")
        if "name" not in said:
            user.fail("`name` is missing: a user of a claim has `resource`, `name` and `uid`")
        name = said["name"].text("the name of a user")
        if "resource" in said and said["resource"].text("a resource such as pods") != "pods":
            others += 1
        else:
            reserved.append(f"{meta.namespace}/{name}")
    if "allocation" not in status:
        if reserved or others:
            status["reservedFor"].fail(
                "a claim that is not allocated is reserved for nobody: remove it, or add `allocation`"
            )
        return ResourceClaimObject(meta, wish, special=special)
    allocation = status["allocation"].fields(("devices", "nodeSelector"), "a mapping with `devices`")
    results = (
        allocation["devices"].fields(("results",), "a mapping with `results`")
        if "devices" in allocation
        else {}
    )
    given = results["results"].elements("a list of devices") if "results" in results else []
    keys, unlike = _results(given)
    readiness = read_readiness(given, status.get("devices"))
    reach = read_node_selector(allocation["nodeSelector"]) if "nodeSelector" in allocation else None
    made = DeviceWish(wish.of, wish.selectors, wish.unlike or unlike)
    return ResourceClaimObject(meta, made, True, keys, reach, tuple(reserved), others, readiness, special)


def _is_special(metadata: Manifest) -> bool:
    """Whether the scheduler made the claim for extended resources."""
    fields = metadata.fields(("annotations",), "a mapping")
    if "annotations" not in fields:
        return False
    given = fields["annotations"].fields((SPECIAL,), "a mapping from annotations to texts")
    return SPECIAL in given and given[SPECIAL].scalar("a text") == "true"


SPECIAL = "resource.kubernetes.io/extended-resource-claim"


def _results(results: Sequence[Manifest]) -> tuple[tuple[DeviceKey, ...], str]:
    found, unlike = [], ""
    for result in results:
        known = ("driver", "pool", "device", "adminAccess", "shareID", "consumedCapacity")
        fields = result.fields(known, "a result with `driver`, `pool` and `device`")
        for needed in ("driver", "pool", "device"):
            if needed not in fields:
                result.fail(f"`{needed}` is missing: a result has `driver`, `pool` and `device`")
        if _is_set(fields, "adminAccess"):
            unlike = ADMIN
        elif "shareID" in fields or "consumedCapacity" in fields:
            unlike = SHARED
        else:
            found.append(_key(*(fields[n].text("a name") for n in ("driver", "pool", "device"))))
    return tuple(found), unlike


def _key(driver: str, pool: str, name: str) -> DeviceKey:
    return driver, pool, name


ADMIN = "it is for an administrator, and takes no device"


def read_template(top: Manifest, meta: Meta, fields: Mapping[str, Manifest]) -> DeviceWish:
    """A ResourceClaimTemplate."""
    spec = fields["spec"].fields(("spec",), "a mapping with `spec`") if "spec" in fields else {}
    if "spec" not in spec:
        top.fail("`spec.spec` is missing: a ResourceClaimTemplate says what its claims look like")
    return read_wish(spec["spec"])


def read_wish(spec: Manifest) -> DeviceWish:
    """The specification of a claim."""
    outer = spec.fields(("devices", "resourceClassName"), "a mapping with `devices`")
    if "resourceClassName" in outer:
        return DeviceWish(unlike="it has a resourceClassName, as up to v1alpha2")
    devices = outer.get("devices")
    inner = devices.fields(("requests",), "a mapping with `requests`") if devices is not None else {}
    requests = inner["requests"].elements("a list of requests") if "requests" in inner else []
    wishes = [_request(request) for request in requests]
    if not wishes:
        return DeviceWish(unlike="it asks for no device")
    if len(wishes) > 1:
        return DeviceWish(unlike="it asks for several devices")
    return wishes[0]


_ASKED = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
_MODES = ("ExactCount", "All")


def _request(request: Manifest) -> DeviceWish:
    fields = request.fields(
        ("exactly", "firstAvailable", *_ASKED), "a request with `exactly` or `firstAvailable`"
    )
    if "firstAvailable" in fields:
        return DeviceWish(unlike="it names alternatives (firstAvailable)")
    asked = (
        fields["exactly"].fields(_ASKED, "a mapping with `deviceClassName`")
        if "exactly" in fields
        else fields
    )
    if "deviceClassName" not in asked:
        request.fail("`deviceClassName` is missing: a request has `exactly` with a class of devices")
    of = asked["deviceClassName"].text("the name of a DeviceClass")
    selectors = _selectors(asked.get("selectors"))
    mode = (
        asked["allocationMode"].one_of(_MODES, "an allocation mode")
        if "allocationMode" in asked
        else _MODES[0]
    )
    count = asked["count"].integer(1, MANY) if "count" in asked else 1
    unlike = ""
    if mode == "All" or count > 1:
        unlike = "it asks for several devices"
    elif _is_set(asked, "adminAccess"):
        unlike = ADMIN
    elif "tolerations" in asked and asked["tolerations"].elements("a list of tolerations"):
        unlike = "it tolerates taints of devices"
    elif "capacity" in asked:
        unlike = "it asks for capacity of a device"
    return DeviceWish(of, selectors, unlike)


def _is_set(fields: Mapping[str, Manifest], name: str) -> bool:
    return name in fields and fields[name].boolean()


_WHERE = ("nodeName", "nodeSelector", "allNodes")
_SLICE = (*_WHERE, "driver", "pool", "devices", "perDeviceNodeSelection", "sharedCounters")
_DEVICE = (
    *_WHERE, "name", "basic", "attributes", "taints", "consumesCounters", "allowMultipleAllocations", "bindingConditions",
    "bindsToNode",
)  # fmt: skip


def read_slice(top: Manifest, meta: Meta, fields: Mapping[str, Manifest]) -> SliceObject:
    """A ResourceSlice."""
    if "spec" not in fields:
        top.fail("`spec` is missing: a ResourceSlice has at least `spec.driver` and `spec.pool`")
    spec = fields["spec"].fields(_SLICE, "a mapping with `driver`, `pool` and `devices`")
    for needed in ("driver", "pool"):
        if needed not in spec:
            fields["spec"].fail(f"`{needed}` is missing: a ResourceSlice has `driver` and `pool`")
    driver = spec["driver"].text("the name of a driver")
    pool = spec["pool"].fields(("name", "generation", "resourceSliceCount"), "a pool with `name`")
    if "name" not in pool:
        spec["pool"].fail("`name` is missing: a pool has one")
    name = pool["name"].text("the name of a pool")
    own = None if _is_set(spec, "perDeviceNodeSelection") else _where(fields["spec"], spec)
    devices = tuple(
        _device(element, driver, name, own)
        for element in (spec["devices"].elements("a list of devices") if "devices" in spec else ())
    )
    return SliceObject(
        meta,
        driver,
        name,
        pool["generation"].integer(0, 1 << 62) if "generation" in pool else 0,
        pool["resourceSliceCount"].integer(1, MANY) if "resourceSliceCount" in pool else 1,
        devices,
    )


def _where(place: Manifest, fields: Mapping[str, Manifest]) -> Where:
    if "nodeName" in fields:
        return Where(node=fields["nodeName"].text("the name of a node"))
    if "nodeSelector" in fields:
        return Where(selector=read_node_selector(fields["nodeSelector"]))
    if not _is_set(fields, "allNodes"):
        place.fail("say which nodes reach the devices: `nodeName`, `nodeSelector` or `allNodes: true`")
    return Where()


def _device(element: Manifest, driver: str, pool: str, own: Where | None) -> DeviceObject:
    outer = element.fields(_DEVICE, "a device with `name`")
    if "name" not in outer:
        element.fail("`name` is missing: a device has one")
    # v1beta1 has all but the name below `basic`.
    fields = outer["basic"].fields(_DEVICE, "a device") if "basic" in outer else outer
    unlike = ""
    where = _where(element, fields) if own is None else own
    if "consumesCounters" in fields and fields["consumesCounters"].elements("a list of counters"):
        unlike = DIVIDED
    elif _is_set(fields, "allowMultipleAllocations"):
        unlike = SHARED
    elif "taints" in fields and fields["taints"].elements("a list of taints"):
        unlike = TAINTED
    elif _is_set(fields, "bindsToNode") and not where.node:
        unlike = "the device stays with the node that it is first used on (bindsToNode), though several may reach it"
    conditions = bool(names_in(fields, "bindingConditions"))
    key = _key(driver, pool, outer["name"].text("the name of a device"))
    return DeviceObject(key, where, _attributes(fields.get("attributes"), driver), unlike, conditions)


_KINDS = ("int", "bool", "string", "version")
_NUMBER = re.compile(r"-?[0-9]{1,19}", re.ASCII)


def _attributes(value: Manifest | None, driver: str) -> dict[str, Constant]:
    found: dict[str, Constant] = {}
    for name, given in value.items("a mapping from attributes to values") if value is not None else ():
        said = given.fields(_KINDS, "a mapping with `int`, `bool`, `string` or `version`")
        if len(said) != 1 or "version" in said:  # versions are compared by an expression of their own
            continue
        ((kind, constant),) = said.items()
        key = name.node.value if "/" in name.node.value else f"{driver}/{name.node.value}"
        found[key] = _constant(kind, constant)
    return found


def _constant(kind: str, value: Manifest) -> Constant:
    if kind == "bool":
        return value.boolean()
    if kind == "string":
        return value.text("a text")
    written = value.scalar("a whole number")
    if not _NUMBER.fullmatch(written):
        value.expect("a whole number")
    return int(written)


def read_references(value: Manifest | None, owner: str, remarks: Remarks) -> tuple[ClaimReference, ...]:
    """resourceClaims of a pod specification; those of a pod's group are left out, with a remark."""
    found = []
    for element in value.elements("a list of claims") if value is not None else []:
        known = ("name", "resourceClaimName", "resourceClaimTemplateName", "podGroupResourceClaim")
        fields = element.fields(known, "a claim with `name`")
        if "name" not in fields:
            element.fail("`name` is missing: a pod's claim has one")
        if "podGroupResourceClaim" in fields:
            remarks.add("a claim of the pod's group is left out, and taken to be free on every node", owner)
            continue
        if ("resourceClaimName" in fields) == ("resourceClaimTemplateName" in fields):
            element.fail("name one: `resourceClaimName` or `resourceClaimTemplateName`")
        found.append(
            ClaimReference(
                read_label(fields["name"], "a name"),
                fields["resourceClaimName"].text("the name of a ResourceClaim")
                if "resourceClaimName" in fields
                else None,
                fields["resourceClaimTemplateName"].text("the name of a ResourceClaimTemplate")
                if "resourceClaimTemplateName" in fields
                else None,
            )
        )
    return tuple(found)


def read_statuses(value: Manifest | None) -> dict[str, str | None]:
    """resourceClaimStatuses of a pod: which ResourceClaim was made for which of its claims; None where none is needed."""
    found: dict[str, str | None] = {}
    for element in value.elements("a list of claims") if value is not None else []:
        fields = element.fields(("name", "resourceClaimName"), "a claim with `name`")
        if "name" in fields:
            given = fields.get("resourceClaimName")
            found[fields["name"].text("a name")] = (
                given.text("the name of a ResourceClaim") if given is not None else None
            )
    return found


def read_special(value: Manifest | None) -> str:
    """extendedResourceClaimStatus of a pod: the ResourceClaim that the scheduler made for its extended resources; "" for none."""
    fields = (
        value.fields(("resourceClaimName",), "a mapping with `resourceClaimName`")
        if value is not None
        else {}
    )
    if "resourceClaimName" not in fields:
        return ""
    return fields["resourceClaimName"].text("the name of a ResourceClaim")


def matches(device: DeviceObject, selectors: tuple[str, ...]) -> bool | None:
    """Whether a device meets all of these selectors; None if nobody knows."""
    found = [meets(selector, device.key[0], device.attributes) for selector in selectors]
    if False in found:
        return False
    return None if None in found else True
