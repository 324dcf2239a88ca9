"""Devices as Kubernetes writes them: DeviceClass, ResourceSlice, ResourceClaim and ResourceClaimTemplate (resource.k8s.io/v1, v1beta2 and v1beta1).

A claim is read as far as the model has it: one request for devices of one class, or of the first of several. What asks for more says why it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...base.structs import Data
from ...base.text import one_line
from ...model.environment.objects import NodeAffinity, Taint, Toleration
from ...scenarios.tables.directives import read_node_selector
from ...scenarios.tables.objects import MAX_COUNT
from .device_selectors import Attributes, Constant, meets
from .device_taints import DeviceTaintRule, read_taints, read_tolerations
from .manifest_values import Fields, Manifest
from .metadata import Meta, read_label

MANY = 1 << 31
DIVIDED = "the device shares counters with others (consumesCounters)"
SHARED = "the device may be allocated several times (allowMultipleAllocations)"

DeviceKey = tuple[str, str, str]
"""Driver, pool and name of a device."""


class DeviceClassObject(Data):
    """A DeviceClass with its selectors; `unlike` says what it is beyond the model, if anything."""

    name: str
    selectors: tuple[str, ...]
    extended: str
    unlike: str = ""


class Where(Data):
    """Which nodes reach a device: one by its name, those that a selector means, or all."""

    node: str = ""
    selector: NodeAffinity | None = None


class DeviceObject(Data):
    """A device of a ResourceSlice; `unlike` says what it is beyond the model, if anything. `conditions`: its driver has to say that it is ready."""

    key: DeviceKey
    where: Where
    attributes: Attributes
    unlike: str = ""
    conditions: bool = False
    taints: tuple[Taint, ...] = ()


class SliceObject(Data):
    """A ResourceSlice: a part of a pool, of which `parts` make the whole in this generation."""

    meta: Meta
    driver: str
    pool: str
    generation: int
    parts: int
    devices: tuple[DeviceObject, ...]


class DeviceWish(Data):
    """What a claim asks for: so many devices of a class, that meet these selectors, or what one of `others` asks for, in their order; or, as `unlike` says, something that the model has not."""

    of: str = ""
    selectors: tuple[str, ...] = ()
    unlike: str = ""
    tolerations: tuple[Toleration, ...] = ()
    count: int = 1
    others: tuple[DeviceWish, ...] = ()

    @property
    def choices(self) -> tuple[DeviceWish, ...]:
        """What will do, in the order in which it is tried."""
        return self, *self.others


class ResourceClaimObject(Data):
    """A ResourceClaim. `allocated`: there is an allocation, of these devices, which these nodes reach (None: all).

    `users` are the pods of reservedFor with their uids, `others` how many users there are that are no pods. `readiness` says what has become of the binding
    conditions of its device, "" if it has none. `special`: the scheduler made it, for extended resources.
    """

    meta: Meta
    wish: DeviceWish
    allocated: bool = False
    devices: tuple[DeviceKey, ...] = ()
    reach: NodeAffinity | None = None
    users: tuple[tuple[str, str], ...] = ()
    others: int = 0
    readiness: str = ""
    special: bool = False

    @property
    def reserved(self) -> tuple[str, ...]:
        """The names of the pods."""
        return tuple(name for name, _ in self.users)


class ClaimReference(Data):
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
    rules: list[DeviceTaintRule] = field(default_factory=list)


def read_device_class(meta: Meta, fields: Fields) -> DeviceClassObject:
    """A DeviceClass."""
    spec = fields.below("spec")
    return DeviceClassObject(
        meta.name,
        _selectors(spec),
        spec.text("extendedResourceName", "the name of a resource"),
        _unread(spec, "selectors config extendedResourceName"),
    )


def _unread(fields: Fields, read: str) -> str:
    """What is said of a field that may decide which devices a claim may have; the versions of this group differ, so no list of all fields is whole."""
    name = next((name for name in fields if name not in read.split()), "")
    return f"`{one_line(name, 60)}` is not modelled" if name else ""


_ASKED = "name deviceClassName selectors allocationMode adminAccess count tolerations capacity"
_DEVICE = (
    "name basic attributes capacity consumesCounters nodeName nodeSelector allNodes taints bindsToNode "
    "bindingConditions bindingFailureConditions allowMultipleAllocations"
)
_SLICE = "driver pool nodeName nodeSelector allNodes devices perDeviceNodeSelection sharedCounters"


def _selectors(fields: Fields) -> tuple[str, ...]:
    found = []
    for element in fields.elements("selectors", "a list of selectors"):
        inner = element.mapping("a selector with `cel`").below("cel", "a mapping with `expression`")
        if "expression" not in inner:
            element.fail("`cel.expression` is missing: a selector is an expression")
        found.append(inner["expression"].text("an expression in CEL"))
    return tuple(found)


def read_claim(meta: Meta, fields: Fields) -> ResourceClaimObject:
    """A ResourceClaim."""
    wish = read_wish(fields.need("spec", "a ResourceClaim has at least `spec.devices`"))
    status = fields.below("status")
    special = meta.annotations(SPECIAL).get(SPECIAL) == "true"
    reserved: list[tuple[str, str]] = []
    others = 0
    for user in status.elements("reservedFor", "a list of users"):
        said = user.mapping("a user with `resource` and `name`")
        name = said.need("name", "a user of a claim has `resource`, `name` and `uid`").text(
            "the name of a user"
        )
        if "resource" in said and said.text("resource", "a resource such as pods") != "pods":
            others += 1
        else:
            reserved.append((f"{meta.namespace}/{name}", said.text("uid", "a uid")))
    if "allocation" not in status:
        if reserved or others:
            status["reservedFor"].fail(
                "a claim that is not allocated is reserved for nobody: remove it, or add `allocation`"
            )
        return ResourceClaimObject(meta, wish, special=special)
    allocation = status.below("allocation", "a mapping with `devices`")
    given, each = (
        allocation.below("devices", "a mapping with `results`"),
        "a result with `driver`, `pool` and `device`",
    )
    results = list(given.mappings("results", "a list of devices", each))
    keys, unlike = _results(results)
    made = replace(wish, unlike=wish.unlike or unlike)
    return ResourceClaimObject(
        meta, made, True, keys, allocation.read("nodeSelector", read_node_selector), tuple(reserved), others,
        _readiness(results, status), special,
    )  # fmt: skip


SPECIAL = "resource.kubernetes.io/extended-resource-claim"


def _results(results: Sequence[Fields]) -> tuple[tuple[DeviceKey, ...], str]:
    found: list[DeviceKey] = []
    unlike = ""
    for fields in results:
        driver, pool, device = (
            fields.need(name, "a result has `driver`, `pool` and `device`")
            for name in ("driver", "pool", "device")
        )
        if fields.boolean("adminAccess"):
            unlike = ADMIN
        elif "shareID" in fields or "consumedCapacity" in fields:
            unlike = SHARED
        else:
            found.append((driver.text("a name"), pool.text("a name"), device.text("a name")))
    return tuple(found), unlike


ADMIN = "it is for an administrator, and takes no device"


def read_template(fields: Fields) -> DeviceWish:
    """A ResourceClaimTemplate."""
    spec = fields.below("spec", "a mapping with `spec`")
    if "spec" not in spec:
        fields.place.fail("`spec.spec` is missing: a ResourceClaimTemplate says what its claims look like")
    return read_wish(spec["spec"])


def read_wish(spec: Manifest) -> DeviceWish:
    """The specification of a claim."""
    fields = spec.mapping("a mapping with `devices`")
    if "resourceClassName" in fields:
        return DeviceWish(unlike="it has a resourceClassName, as up to v1alpha2")
    devices = fields.below("devices", "a mapping with `requests`")
    if unlike := _unread(fields, "devices") or _unread(devices, "requests constraints config"):
        return DeviceWish(unlike=unlike)
    wishes = [_request(request) for request in devices.elements("requests", "a list of requests")]
    if len(wishes) != 1:
        return DeviceWish(unlike="it has several requests" if wishes else "it asks for no device")
    if devices.elements("constraints", "a list of constraints"):
        return replace(
            wishes[0], unlike=wishes[0].unlike or "it compares attributes of its devices (constraints)"
        )
    return wishes[0]


def _request(request: Manifest) -> DeviceWish:
    fields = request.mapping("a request with `exactly` or `firstAvailable`")
    if "firstAvailable" in fields:
        some = [
            _asked(one, one.mapping("an alternative"))
            for one in fields["firstAvailable"].elements("a list of alternatives")
        ]
        if not some:
            return DeviceWish(unlike="it names no alternatives (firstAvailable)")
        unlike = next((one.unlike for one in some if one.unlike), "")
        return replace(some[0], others=tuple(some[1:]), unlike=unlike)
    asked = fields.below("exactly", "a mapping with `deviceClassName`") if "exactly" in fields else fields
    return _asked(request, asked)


def _asked(request: Manifest, asked: Fields) -> DeviceWish:
    if "deviceClassName" not in asked:
        request.fail("`deviceClassName` is missing: a request has `exactly` with a class of devices")
    of = asked.text("deviceClassName", "the name of a DeviceClass")
    selectors = _selectors(asked)
    mode = asked.one_of("allocationMode", ("ExactCount", "All"), "an allocation mode")
    unlike = ""
    number = asked.integer("count", 1, MANY, 1)
    if mode == "All":
        unlike = "it asks for all devices of a node (allocationMode)"
    elif number > MAX_COUNT:
        unlike = f"it asks for more than {MAX_COUNT} devices"
    elif asked.boolean("adminAccess"):
        unlike = ADMIN
    elif "capacity" in asked:
        unlike = "it asks for capacity of a device"
    else:
        unlike = _unread(asked, _ASKED)
    return DeviceWish(of, selectors, unlike, read_tolerations(asked), number)


def read_slice(meta: Meta, fields: Fields) -> SliceObject:
    """A ResourceSlice."""
    needed = "a ResourceSlice has at least `spec.driver` and `spec.pool`"
    spec = fields.inner("spec", needed, "a mapping with `driver`, `pool` and `devices`")
    said, there = (spec.need(name, "a ResourceSlice has `driver` and `pool`") for name in ("driver", "pool"))
    driver, pool = said.text("the name of a driver"), there.mapping("a pool with `name`")
    name = pool.need("name", "a pool has one").text("the name of a pool")
    own = None if spec.boolean("perDeviceNodeSelection") else _where(spec)
    devices = [
        _device(element, driver, name, own, _unread(spec, _SLICE))
        for element in spec.elements("devices", "a list of devices")
    ]
    return SliceObject(
        meta, driver, name, pool.integer("generation", 0, 1 << 62, 0), pool.integer("resourceSliceCount", 1, MANY, 1),
        tuple(devices),
    )  # fmt: skip


def _where(fields: Fields, place: Manifest | None = None) -> Where:
    if "nodeName" in fields:
        return Where(node=fields.text("nodeName", "the name of a node"))
    if "nodeSelector" in fields:
        return Where(selector=read_node_selector(fields["nodeSelector"]))
    if not fields.boolean("allNodes"):
        (place or fields.place).fail(
            "say which nodes reach the devices: `nodeName`, `nodeSelector` or `allNodes: true`"
        )
    return Where()


def _device(element: Manifest, driver: str, pool: str, own: Where | None, more: str) -> DeviceObject:
    outer = element.mapping("a device with `name`")
    name = outer.need("name", "a device has one")
    # v1beta1 has all but the name below `basic`.
    fields = outer.below("basic", "a device") if "basic" in outer else outer
    unlike = ""
    where = _where(fields, element) if own is None else own
    if fields.elements("consumesCounters", "a list of counters"):
        unlike = DIVIDED
    elif fields.boolean("allowMultipleAllocations"):
        unlike = SHARED
    elif fields.boolean("bindsToNode") and not where.node:
        unlike = "the device stays with the node that it is first used on (bindsToNode), though several may reach it"
    else:
        unlike = _unread(fields, _DEVICE) or more
    conditions = bool(_names_in(fields, "bindingConditions"))
    key = driver, pool, name.text("the name of a device")
    attributes = _attributes(fields.get("attributes"), driver)
    return DeviceObject(key, where, attributes, unlike, conditions, read_taints(fields))


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


def read_references(spec: Fields) -> tuple[ClaimReference, ...]:
    """resourceClaims of the specification of a pod, or of a group."""
    found = []
    for element in spec.elements("resourceClaims", "a list of claims"):
        fields = element.mapping("a claim with `name`")
        name = fields.need("name", "a pod's claim has one")
        if ("resourceClaimName" in fields) == ("resourceClaimTemplateName" in fields):
            element.fail("name one: `resourceClaimName` or `resourceClaimTemplateName`")
        found.append(
            ClaimReference(
                read_label(name, "a name"),
                fields.read("resourceClaimName", lambda v: v.text("the name of a ResourceClaim")),
                fields.read(
                    "resourceClaimTemplateName", lambda v: v.text("the name of a ResourceClaimTemplate")
                ),
            )
        )
    return tuple(found)


def read_statuses(status: Fields) -> dict[str, str | None]:
    """resourceClaimStatuses of a pod: which ResourceClaim was made for which of its claims; None where none is needed."""
    given = list(status.mappings("resourceClaimStatuses", "a list of claims", "a claim with `name`"))
    return {
        fields.text("name", "a name"): fields.read(
            "resourceClaimName", lambda v: v.text("the name of a ResourceClaim")
        )
        for fields in given
        if "name" in fields
    }


def read_special(status: Fields) -> str:
    """extendedResourceClaimStatus of a pod: the ResourceClaim that the scheduler made for its extended resources; "" for none."""
    claim = status.below("extendedResourceClaimStatus", "a mapping with `resourceClaimName`")
    return claim.text("resourceClaimName", "the name of a ResourceClaim")


def matches(device: DeviceObject, selectors: tuple[str, ...]) -> bool | None:
    """Whether a device meets all of these selectors; None if nobody knows. The first that is not met ends the comparison: a later one cannot fail (isSelectable)."""
    for selector in selectors:
        met = meets(selector, device.key[0], device.attributes)
        if not met:
            return met
    return True


def _names_in(fields: Fields, name: str) -> list[str]:
    """The conditions that a device, or the result of an allocation, names."""
    return fields.texts(name, "a list of conditions", "a condition")


def _readiness(results: Sequence[Fields], status: Fields) -> str:
    """What has become of the binding conditions of an allocated device (dynamicresources.hasBindingConditions and isClaimReadyForBinding, 1.36), in the words of a scenario: failed if a failure condition of a device is true, met if all binding conditions are, else pending; "" without any.

    `results` are those of the allocation, which has the conditions of each device as they were then; `status` is that of the claim.
    """
    true = _true_conditions(status)
    found = ""
    for result in results:
        needed, fatal = _names_in(result, "bindingConditions"), _names_in(result, "bindingFailureConditions")
        if not needed:
            continue
        said = true.get(_device_named(result), set())
        if said & set(fatal):
            return "failed"
        found = "met" if set(needed) <= said and found != "pending" else "pending"
    return found


def _device_named(fields: Fields) -> tuple[str, ...]:
    return tuple(fields.scalar(name, "a name") for name in ("driver", "pool", "device"))


def _true_conditions(status: Fields) -> dict[tuple[str, ...], set[str]]:
    """The conditions that are true, by device."""
    found: dict[tuple[str, ...], set[str]] = {}
    for fields in status.mappings("devices", "a list of devices", "the status of a device"):
        some = found.setdefault(_device_named(fields), set())
        each = "a condition with `type` and `status`"
        for said in fields.mappings("conditions", "a list of conditions", each):
            if "type" in said and said.scalar("status", "True, False or Unknown") == "True":
                some.add(said["type"].text("a type"))
    return found
