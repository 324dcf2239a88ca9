"""The `devices` and `resourceClaims` sections, and what pods say of claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...model.environment.objects import Claim, Device, Node, Pod
from .labels import Member, Members, read_members
from .yaml_values import Value, known_names, one_line

DEVICE_FIELDS = ("node", "deviceClassName")
CLAIM_FIELDS = ("device", "deviceClassName", "reservedFor", "exists")
TEMPLATE_FIELDS = ("deviceClassName",)
REFERENCE_FIELDS = ("name", "resourceClaimName", "resourceClaimTemplateName")


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
        exists = member.exists
        if not exists and device is not None and given is not None:
            given.fail("a claim that does not exist has no device: remove one of the two")
        found[name] = Claim(index, name, device, reserved, of, exists=exists)
    return found


def read_pod_claims(pod: str, value: Value | None) -> dict[str, str | None]:
    """The names of the claims that a pod refers to, as names or as Kubernetes writes them, each with the template from which it is made for the pod."""
    found: dict[str, str | None] = {}
    for element in value.elements("a list of claims, such as [gpu]") if value is not None else []:
        name, template = _reference(pod, element)
        if name in found:
            element.fail(f"{element.described} is listed twice: remove one of them")
        found[name] = template
    return found


def _reference(pod: str, element: Value) -> tuple[str, str | None]:
    if not element.is_mapping:
        return element.scalar("the name of a claim"), None
    fields = element.fields(REFERENCE_FIELDS, "a claim, such as {name: gpu, resourceClaimName: gpu}")
    if "resourceClaimTemplateName" in fields:
        if "resourceClaimName" in fields:
            element.fail("a claim is there, or is made from a template: remove one of the two names")
        if "name" not in fields:
            element.fail("`name` is missing: the claim that is made is called by the pod and it")
        template = fields["resourceClaimTemplateName"].scalar("the name of a template")
        return f"{pod}-{fields['name'].scalar('a name')}", template
    if "resourceClaimName" not in fields:
        element.fail("`resourceClaimName` is missing: name a claim of `resourceClaims`")
    return fields["resourceClaimName"].scalar("the name of a claim"), None


def read_templates(section: Value | None) -> dict[str, str]:
    """The templates of claims, by name: the device class of each."""
    if section is None:
        return {}
    members = read_members(section, "templates", TEMPLATE_FIELDS, "{deviceClassName: gpu}")
    return {name: _class_of(member) for name, member in members.items()}


def add_made_claims(
    claims: dict[str, Claim], members: Members, pods: Iterable[Pod], templates: Mapping[str, str]
) -> dict[str, Claim]:
    """With the claims that are made for pods, from templates: one that is in the section was made before the start."""
    for pod in pods:
        value = members[pod.name].fields.get("resourceClaims")
        for element in value.elements("a list of claims") if value is not None else []:
            name, template = _reference(pod.name, element)
            if template is None:
                continue
            if template not in templates:
                element.fail(f"there is no template `{template}`; {known_names(template, templates)}")
            known = claims.get(name)
            if known is None:
                claims[name] = Claim(len(claims), name, of=templates[template], exists=False, owner=pod.name)
            else:
                claims[name] = Claim(
                    known.index, name, known.device, sorted(known.reserved), known.of, owner=pod.name
                )
    return claims


def refuse_claims(members: Members, pods: Iterable[Pod], claims: Mapping[str, Claim]) -> None:
    """Refuse references to claims that there are not, and pods on nodes without what they were given."""
    for pod in pods:
        value = members[pod.name].fields.get("resourceClaims")
        if value is None:
            continue
        for element, name in zip(value.elements("a list of claims"), pod.claims, strict=True):
            if claims.get(name) is not None and claims[name].owner not in (None, pod.name):
                element.fail(f"claim {name} is made for {claims[name].owner}: name another one")
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
