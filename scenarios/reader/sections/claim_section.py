"""The section `resourceClaims`, and what pods say of claims."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ....base.text import known_names
from ....model.environment.objects import Claim, Pod, Wish, is_scalar_resource
from ...tables.objects import CLAIMS, DEVICE_CLASSES, MAX_COUNT, TEMPLATES
from ...values.labels import Members, known, refuse_fields
from ...values.yaml_values import Value
from .device_section import allocate, read_asked, supply_of
from .draft import Draft

IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""What the extended resource that every device class has begins with."""
REFERENCE_FIELDS = ("name", "resourceClaimName", "resourceClaimTemplateName")


def read_all_claims(draft: Draft) -> None:
    """The claims: those of the section, those that are made from templates, and those of extended resources; with what they can be given, and have at the start."""
    templates = {name: read_asked(member) for name, member in _template_members(draft).items()}
    members = draft.members("resourceClaims", "claims", CLAIMS, "{device: gpu1, reservedFor: [p]}")
    draft.claims = _read_claims(members, draft.pods)
    _add_made_claims(draft, templates)
    _add_special_claims(draft, members)
    draft.supply = supply_of(draft)
    allocate(draft.claims, members, draft)


def _template_members(draft: Draft) -> Members:
    return draft.members("resourceClaimTemplates", "templates", TEMPLATES, "{deviceClassName: gpu}")


def _read_claims(members: Members, pods: Iterable[Pod]) -> dict[str, Claim]:
    """The claims of the section, by name; what is allocated at the start is noted later."""
    named = {pod.name: pod for pod in pods}
    found: dict[str, Claim] = {}
    for index, (name, member) in enumerate(members.items()):
        given, users = member.fields.get("device"), member.fields.get("reservedFor")
        elements = users.elements("a list of the names of pods") if users is not None else []
        reserved = [known(element, named, "pod") for element in elements]
        if users is not None and reserved and given is None:
            users.fail("a claim that is not allocated is reserved for nobody: add `device`")
        for element in elements:
            if name not in named[element.scalar("the name of a pod")].claims:
                element.fail(
                    f"pod {element.described} does not refer to the claim: add it to its `resourceClaims`"
                )
        if not member.exists and given is not None:
            given.fail("a claim that does not exist has no device: remove one of the two")
        found[name] = Claim(index, name, None, reserved, exists=member.exists, **read_asked(member))
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


def _device_classes(draft: Draft) -> dict[str, str]:
    """The device classes that back extended resources, by the name of the resource: the one that they name, and the implicit one."""
    found: dict[str, str] = {}
    example = "{extendedResourceName: example.com/gpu}"
    for name, member in draft.members("deviceClasses", "deviceClasses", DEVICE_CLASSES, example).items():
        found[f"{IMPLICIT}{name}"] = name
        value = member.fields.get("extendedResourceName")
        if value is not None:
            resource = value.scalar("the name of an extended resource")
            if not is_scalar_resource(resource):
                value.fail(
                    f"{value.described} is no extended resource: give it a domain, such as example.com/gpu"
                )
            if resource in found:
                value.fail(f"class {found[resource]} backs {value.described} already: name another resource")
            found[resource] = name
    return found


def take_backed(draft: Draft) -> None:
    """The class and number of the devices that back what a pod asks for, by pod. That is no resource of a node then, and is taken out of the amounts.

    Where all nodes have the resource, from a device plugin, no device backs it.
    """
    classes, has = _device_classes(draft), draft.has
    found = draft.backed = dict[str, Wish]()
    for name, amounts in draft.asked.items():
        for resource in [r for r in amounts.amount if r in classes]:
            plugged = [node for node, there in has.items() if there.most(resource) > 0]
            if len(plugged) == len(has):
                continue
            if plugged:
                has[plugged[0]].place[resource].fail(
                    f"devices back {resource} on nodes without it, and node {plugged[0]} has it from a device plugin: give it to all nodes, or to none"
                )
            place, fields = amounts.place.pop(resource), draft.pod_members[name].fields
            amount, so_far = amounts.amount.pop(resource), found.get(name, Wish(classes[resource], 0))
            asked_now = int(amount) if isinstance(amount, Fraction) else MAX_COUNT + 1
            wish = Wish(classes[resource], so_far.count + asked_now)
            if wish.of != so_far.of or not 1 <= wish.count <= MAX_COUNT:
                place.fail(
                    f"in place of extended resources a pod asks for 1 to {MAX_COUNT} devices of one class: remove the others"
                )
            why = "a pod whose extended resources are backed by devices has no `{}`: remove it"
            refuse_fields(fields, ("podGroup", "updates"), why)
            found[name] = wish


def refuse_backed(draft: Draft) -> None:
    """Refuse devices in place of extended resources where nobody says what becomes of the special claim.

    A pod of a controller is another one each time, and its claim would be left from the one before.
    """
    members, pods, owned = draft.pod_members, draft.pods, draft.owned
    for pod in pods:
        if pod.extended_claim is None:
            continue
        place = members[pod.name].fields["resources"]
        if pod.name in owned:
            place.fail(
                f"devices back what {pod.name} asks for, and of a pod that a controller makes again and again, this is not modelled: remove the resource, or the pod from its controller"
            )
        if pod.foreign:
            place.fail(
                f"devices back what {pod.name} asks for, and of a pod that another scheduler places, this is not modelled: remove the resource or `schedulerName`"
            )


def special_claim(pod: str) -> str:
    """The name of the claim that the scheduler makes for the extended resources of a pod."""
    return f"{pod}-extended-resources"


def _add_special_claims(draft: Draft, members: Members) -> None:
    """Add the claims that the scheduler makes for extended resources: one that is in the section is left from before the start."""
    claims = draft.claims
    for pod, wish in draft.backed.items():
        of = wish.of
        name = special_claim(pod)
        left = claims.get(name)
        if left is None:
            claims[name] = Claim(
                len(claims), name, of=of, exists=False, owner=pod, special=True, wishes=[wish]
            )
            continue
        if name in members and (left.wishes != (wish,) or not left.exists):
            members[name].place.fail(
                f"the scheduler made this claim for {pod}, so it exists, and asks for {wish.count} of class {of}: say so, or remove the claim"
            )
        users = sorted(left.reserved)
        claims[name] = Claim(left.index, name, left.device, users, of, owner=pod, special=True, wishes=[wish])


def _add_made_claims(draft: Draft, templates: Mapping[str, dict[str, Any]]) -> None:
    """Add the claims that are made for pods, from templates: one that is in the section was made before the start."""
    claims = draft.claims
    for pod in draft.pods:
        value = draft.pod_members[pod.name].fields.get("resourceClaims")
        for element in value.elements("a list of claims") if value is not None else []:
            name, template = _reference(pod.name, element)
            if template is None:
                continue
            if template not in templates:
                element.fail(f"there is no template `{template}`; {known_names(template, templates)}")
            found = claims.get(name)
            if found is None:
                claims[name] = Claim(len(claims), name, exists=False, owner=pod.name, **templates[template])
            else:
                found.owner = pod.name


def refuse_templates(draft: Draft) -> None:
    """Refuse templates that no pod refers to: a name that is mistyped would be silent."""
    listed = [draft.pod_members[pod.name].fields.get("resourceClaims") for pod in draft.pods]
    elements = [e for value in listed if value is not None for e in value.elements("a list of claims")]
    used = {_reference("", element)[1] for element in elements}
    for name, member in _template_members(draft).items():
        if name not in used:
            member.place.fail(
                "no pod refers to the template: name it in `resourceClaims` of one, or remove it"
            )


def refuse_claims(draft: Draft) -> None:
    """Refuse references to claims that there are not, and pods on nodes without what they were given."""
    members, pods, claims = draft.pod_members, draft.pods, draft.claims
    for pod in pods:
        left = None if pod.extended_claim is None else claims[pod.extended_claim]
        if (
            left is not None
            and pod.node is not None
            and (left.device is None or pod.name not in left.reserved)
        ):
            members[pod.name].place.fail(
                f"{pod.name} is bound, and has no claim {left.name} that is reserved for it: add it to `resourceClaims`, with `device` and `reservedFor`"
            )
        value = members[pod.name].fields.get("resourceClaims")
        if value is None:
            continue
        for element, name in zip(value.elements("a list of claims"), pod.claims, strict=False):
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
