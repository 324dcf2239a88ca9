"""The `devices` and `resourceClaims` sections, and what pods say of claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...model.environment.objects import Claim, Device, Node, Pod
from .labels import Member, Members, read_members
from .yaml_values import Value, known_names, one_line

DEVICE_FIELDS = ("node", "deviceClassName")
CLAIM_FIELDS = ("device", "deviceClassName", "reservedFor")
REFERENCE_FIELDS = ("name", "resourceClaimName")


def read_devices(section: Value | None, nodes: Mapping[str, Node]) -> dict[str, Device]:
    """The devices, by name; one without a node can be reached from all."""
    if section is None:
        return {}
    members = read_members(section, "devices", DEVICE_FIELDS, "{node: n1}")
    found = {}
    for index, (name, member) in enumerate(members.items()):
        value = member.fields.get("node")
        node = nodes[_known(value, nodes, "node")] if value is not None else None
        found[name] = Device(index, name, node, _class_of(member))
    return found


def _class_of(member: Member) -> str:
    """The device class that is named; without one, all devices are of one kind."""
    value = member.fields.get("deviceClassName")
    return value.scalar("the name of a device class") if value is not None else ""


def read_claims(
    section: Value | None, devices: Mapping[str, Device], pods: Iterable[Pod]
) -> dict[str, Claim]:
    """The claims, by name, with what is allocated at the start."""
    if section is None:
        return {}
    named = {pod.name: pod for pod in pods}
    members = read_members(section, "claims", CLAIM_FIELDS, "{device: gpu1, reservedFor: [p]}")
    found: dict[str, Claim] = {}
    for index, (name, member) in enumerate(members.items()):
        given, users = member.fields.get("device"), member.fields.get("reservedFor")
        device = devices[_known(given, devices, "device")] if given is not None else None
        reserved = [
            _known(element, named, "pod")
            for element in (users.elements("a list of the names of pods") if users is not None else [])
        ]
        of = _class_of(member)
        if given is not None and device is not None and device.of != of:
            said = f"of class {one_line(device.of)}" if device.of else "of no class"
            given.fail(f"{given.described} is {said}: name the class of both alike, as `deviceClassName`")
        if given is not None and any(device is other.device for other in found.values()):
            given.fail(f"{given.described} is allocated to another claim already: name another device")
        if users is not None and reserved and device is None:
            users.fail("a claim that is not allocated is reserved for nobody: add `device`")
        for element in users.elements("a list of the names of pods") if users is not None else []:
            if name not in named[element.scalar("the name of a pod")].claims:
                element.fail(
                    f"pod {element.described} does not refer to the claim: add it to its `resourceClaims`"
                )
        found[name] = Claim(index, name, device, reserved, of)
    return found


def read_pod_claims(value: Value | None) -> list[str]:
    """The names of the claims that a pod refers to, as names or as Kubernetes writes them."""
    found: list[str] = []
    for element in value.elements("a list of claims, such as [gpu]") if value is not None else []:
        found.append(_reference(element))
        if found.count(found[-1]) > 1:
            element.fail(f"{element.described} is listed twice: remove one of them")
    return found


def _reference(element: Value) -> str:
    if not element.is_mapping:
        return element.scalar("the name of a claim")
    fields = element.fields(REFERENCE_FIELDS, "a claim, such as {name: gpu, resourceClaimName: gpu}")
    if "resourceClaimName" not in fields:
        element.fail("`resourceClaimName` is missing: name a claim of `resourceClaims`")
    return fields["resourceClaimName"].scalar("the name of a claim")


def refuse_claims(members: Members, pods: Iterable[Pod], claims: Mapping[str, Claim]) -> None:
    """Refuse references to claims that there are not, and pods on nodes without what they were given."""
    for pod in pods:
        value = members[pod.name].fields.get("resourceClaims")
        if value is None:
            continue
        for element, name in zip(value.elements("a list of claims"), pod.claims, strict=True):
            if name not in claims:
                element.fail(f"there is no claim {element.described}; {known_names(name, claims)}")
            claim = claims[name]
            if pod.node is not None and (claim.device is None or pod.name not in claim.reserved):
                element.fail(
                    f"{pod.name} is bound, and claim {name} is not reserved for it: add `device` and `reservedFor` to the claim"
                )
            if pod.node is not None and claim.device is not None and not claim.device.is_on(pod.node):
                element.fail(f"{pod.name} is bound to {pod.node.name}, where {claim.device.name} is not")


def _known(value: Value, names: Mapping[str, object], what: str) -> str:
    name = value.scalar(f"the name of a {what}")
    if name not in names:
        value.fail(f"there is no {what} {value.described}; {known_names(name, names)}")
    return name
