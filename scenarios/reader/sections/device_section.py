"""The sections `devices` and `sharedCounters`, what claims ask for, and what of it each can be allocated: a device, several, or a share of one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from ....base.text import known_names, one_line
from ....model.environment.objects import Claim, Counter, Device, Wish
from ...tables.objects import ASKED, CLASS_NAME, CONDITIONS, DEVICES, MAX_SHARE, WISH
from ...tables.table import Field
from ...values.labels import Member, known
from ...values.yaml_values import Value
from .draft import Draft

MOST_WAYS = 40
"""So many ways there may be in which claims can be given devices."""
_ASKED: Mapping[str, Field] = {row.name: row for row in ASKED}


def read_devices(draft: Draft) -> None:
    """The devices, by name; one without a node can be reached from all. A counter of which none takes a part is refused."""
    shared = draft.sections.get("sharedCounters")
    counters = {}
    for key, value in shared.items("a mapping from counters to whole numbers") if shared is not None else ():
        name = key.scalar("the name of a counter")
        counters[name] = Counter(name, value.integer(1, MAX_SHARE))
    draft.devices = {}
    for index, (name, member) in enumerate(
        draft.members("devices", "devices", DEVICES, "{node: n1}").items()
    ):
        at = member.fields.get("node")
        node = draft.nodes[known(at, draft.nodes, "node")] if at is not None else None
        given: dict[str, Any] = {"exists": member.exists, **DEVICES.read(member.fields)}
        capacity, drawn = (member.fields.get(n) for n in ("capacity", "consumesCounters"))
        if capacity is not None:
            if drawn is not None:
                drawn.fail("a device that claims share draws on no counters here: remove one of the two")
            size = DEVICES["capacity"].value(capacity)
            given |= {"shared": name, "draws": {Counter(f"the capacity of {name}", size): size}}
        elif drawn is not None:
            given["draws"] = _drawn(drawn, name, counters)
        draft.devices[name] = Device(index, name, node, **given)
    used = {counter for device in draft.devices.values() for counter in device.draws}
    for name, counter in counters.items():
        if shared is not None and counter not in used:
            shared.fail(
                f"no device takes a part of {name}: name it in `consumesCounters` of one, or remove it"
            )


def _drawn(value: Value, device: str, counters: Mapping[str, Counter]) -> dict[Counter, int]:
    found = {}
    for name, amount in value.items("a mapping from counters to whole numbers"):
        counter = counters[known(name, counters, "counter")]
        if counter.name == device:
            name.fail("a counter and a device have one name: call the counter otherwise")
        found[counter] = amount.integer(1, counter.capacity)
    return found


def read_asked(member: Member) -> dict[str, Any]:
    """What a claim asks for: a device class, or the first of several that can be had, how many devices of it, and how much of one that claims share."""
    fields = member.fields
    of, many, first = (fields.get(row.name) for row in ASKED[:3])
    others = {row.attribute: row.value(fields[row.name]) for row in ASKED[3:] if row.name in fields}
    if "selectorFailsOn" in fields:
        elements = fields["selectorFailsOn"].elements("a list of devices")
        others["fails_on"] = [element.scalar("the name of a device") for element in elements]
    if others.get("briefly") and "tolerates" not in others:
        fields["tolerationSeconds"].fail(
            "the claim tolerates nothing: add `tolerates: NoExecute`, or remove this"
        )
    if first is not None:
        for other in (of, many):
            if other is not None:
                other.fail("with `firstAvailable` the claim names its classes there: remove one of the two")
        wishes = [_wish(element) for element in first.elements("a list of device classes")]
        if not wishes:
            first.fail("`firstAvailable` names no class: add one, or remove it")
        if len(set(wishes)) < len(wishes):
            first.fail("`firstAvailable` names one twice: remove one of them")
        return {"of": wishes[0].of, "wishes": wishes, "listed": True, **others}
    named = CLASS_NAME.read(of) if of is not None else ""
    number = _ASKED["count"].value(many) if many is not None else 1
    return {"of": named, "wishes": [Wish(named, number)], **others}


def _wish(element: Value) -> Wish:
    if not element.is_mapping:
        return Wish(CLASS_NAME.read(element))
    return Wish(**WISH.read(WISH.fields(element, "a class, such as {deviceClassName: gpu}")))


def supply_of(draft: Draft) -> list[Device]:
    """What claims can be allocated: each device, several of a class for one claim, and of a device that claims share what each of them has of it."""
    devices, some = draft.devices, list(draft.claims.values())
    alone = [d for d in devices.values() if not d.shared]
    found = [*alone, *(share for d in devices.values() if d.shared for share in _shares(d, some))]
    found += [
        Device(0, f"{device.name}/{c.name}", device.node, device.of, conditions=device.conditions, parts=(device,), user=c.name)
        for c in some if c.admin
        for device in alone if Wish(device.of) in c.wishes
    ]  # fmt: skip
    for wish in dict.fromkeys(w for c in some for w in c.wishes if w.count > 1):
        found += _together([d for d in alone if d.of == wish.of and not d.parts], wish)
    if len(found) > MOST_WAYS and "devices" in draft.sections:
        draft.sections["devices"].fail(
            f"there are {len(found)} ways to give claims devices, and {MOST_WAYS} at most: name fewer devices"
        )
    for index, device in enumerate(found):
        device.index = index
    return found


def _shares(device: Device, claims: Iterable[Claim]) -> list[Device]:
    """What each claim has of a device that they share."""
    (counter,) = device.draws
    return [
        Device(0, f"{device.name}/{c.name}", device.node, device.of, conditions=device.conditions, exists=device.exists,
               draws={counter: c.amount or counter.capacity}, shared=device.name, user=c.name)
        for c in claims if Wish(device.of) in c.wishes and c.amount <= counter.capacity
    ]  # fmt: skip


def _together(alike: Sequence[Device], wish: Wish) -> Iterator[Device]:
    """Several devices of a class for one claim, which some node reaches."""
    for parts in combinations(alike, wish.count):
        nodes = {d.node for d in parts if d.node is not None}
        if len(nodes) <= 1:
            name, conditions = "+".join(sorted(d.name for d in parts)), any(d.conditions for d in parts)
            yield Device(0, name, next(iter(nodes), None), wish.of, conditions=conditions, parts=parts)


def allocate(claims: Mapping[str, Claim], members: Mapping[str, Member], draft: Draft) -> None:
    """Note what is allocated to claims at the start."""
    for name, member in members.items():
        given = member.fields.get("device")
        claim = claims[name]
        if given is not None:
            claim.device = _allocated(given, claim, draft)
            if any(claim.device is c.device for c in claims.values() if c is not claim):
                given.fail(f"{given.described} is allocated to another claim already: name another device")
        for attribute, value in _conditions(member, claim.device).items():
            setattr(claim, attribute, value)
    held = [c.device for c in claims.values() if c.device is not None]
    for counter in dict.fromkeys(counter for d in held for counter in d.draws):
        used = [d for d in held if counter in d.draws]
        if sum(d.draws[counter] for d in used) > counter.capacity:
            draft.sections["resourceClaims"].fail(
                f"claims are allocated more of {counter.name} than there is: {', '.join(d.name for d in used)}"
            )


def _allocated(given: Value, claim: Claim, draft: Draft) -> Device:
    elements = given.elements("a list of devices") if given.is_list else [given]
    parts = [draft.devices[known(element, draft.devices, "device")] for element in elements]
    for at, (element, part) in enumerate(zip(elements, parts, strict=True)):
        if part in parts[:at]:
            element.fail(f"{element.described} is listed twice: remove one of them")
        if not part.exists:
            element.fail(
                f"{element.described} is published later, and nobody has it yet: remove one of the two"
            )
        if part.of not in [w.of for w in claim.wishes]:
            said = f"of class {one_line(part.of)}" if part.of else "of no class"
            element.fail(f"{element.described} is {said}: name the class of both alike, as `deviceClassName`")
    names = {part.name for part in parts}
    for device in draft.supply:
        own = {p.name for p in device.parts} or {device.shared or device.name}
        if own == names and claim.rank(device) is not None:
            return device
    return given.fail(
        f"claim {claim.name} cannot have {', '.join(sorted(names))}: it asks for another number of devices, or for more than one has"
    )


def _conditions(member: Member, device: Device | None) -> dict[str, Any]:
    """What is known of the binding conditions of the claim's device at the start."""
    value = member.fields.get("bindingConditions")
    if value is None:
        return {}
    if device is None or not device.conditions:
        value.fail(
            "the claim has no device with binding conditions: add `bindingConditions: true` to its device"
        )
    said = value.one_of(tuple(CONDITIONS), "what has become of binding conditions")
    return {"readiness": CONDITIONS[said], "timed_out": said == "timedOut"}


def refuse_supply(draft: Draft) -> None:
    """Refuse what is not modelled of devices that claims share, of partitions, of claims for several devices, and of administrators' access."""
    draws = {n: d for n, d in draft.devices.items() if _is_divided(d)}
    _refuse_divided(draft, draws)
    come = draft.scope.device_withdrawals or not all(d.exists for d in draft.devices.values())
    for admin in (c for c in draft.claims.values() if c.admin):
        if come or admin.amount or any(w.count > 1 for w in admin.wishes):
            draft.sections["resourceClaims"].fail(
                f"{admin.name} asks for administrators' access (adminAccess): to one device, which is there from the start to the end, and for no `capacity`"
            )
    for claim in (draft.claims[n] for pod in draft.pods if pod.group is not None for n in pod.claims):
        one = len(claim.wishes) == 1 and claim.wishes[0].count == 1
        divided = any(_is_divided(d) for d in draft.supply if claim.rank(d) is not None)
        if not one or claim.tolerates or claim.admin or divided:
            draft.sections["resourceClaims"].fail(
                f"{claim.name} is of a pod of a group: it asks for one device of one class, which nobody shares, without adminAccess, and tolerates nothing"
            )


def _is_divided(device: Device) -> bool:
    return bool(device.shared) or len(device.draws) > 1


def _refuse_divided(draft: Draft, draws: Mapping[str, Device]) -> None:
    """Refuse what does not go together with these devices, which are shared or draw on counters."""
    for claim in draft.claims.values():
        several = {w.of for w in claim.wishes if w.count > 1}
        for device in draws.values():
            if (device.shared and device.of in several) or (claim.admin and Wish(device.of) in claim.wishes):
                what = "administrators' access" if claim.admin else "several devices"
                why = "is shared" if device.shared else "draws on counters"
                draft.sections["resourceClaims"].fail(
                    f"{claim.name} asks for {what}, and device {device.name} {why}, which is not modelled together: put the device into another deviceClassName"
                )
    changing = next((n for n in ("device_taints", "device_withdrawals") if getattr(draft.scope, n)), "")
    for name, device in draws.items():
        if changing or not device.exists or device.taint:
            draft.sections["devices"].fail(
                f"device {name} is shared, or draws on counters, and slices of such devices do not change here: "
                f"remove {f'`{changing}` from the scope' if changing else '`exists` and `taint`'}"
            )


def refuse_failing(draft: Draft) -> None:
    """Refuse a selector that fails where it matters in which order the allocator tries claims and devices."""
    for claim in (c for c in draft.claims.values() if c.fails_on):
        for name in sorted(claim.fails_on):
            _refuse_failing(draft, claim, draft.devices.get(name), name)


def _refuse_failing(draft: Draft, claim: Claim, device: Device | None, name: str) -> None:
    section, said = draft.sections["resourceClaims"], f"the selector of {claim.name} fails on {name}"
    if device is None:
        section.fail(f"{said}, and there is no such device; {known_names(name, draft.devices)}")
    if claim.admin or claim.amount or claim.wishes != (Wish(device.of),) or len(device.draws) != 1:
        section.fail(f"{said}: it asks for one device of the class of {name}, which nobody shares")
    if not device.exists or draft.scope.device_withdrawals:
        section.fail(f"{said}, which is to be there from the start to the end")
    near = [d for d in draft.supply if None in (d.node, device.node) or d.node is device.node]
    beside = [d for d in near if claim.rank(d) is not None]
    users = [pod for pod in draft.pods if claim.name in pod.claims]
    if beside or any(len(pod.claims) > 1 or pod.group is not None for pod in users):
        section.fail(
            f"{said}: name all devices of the class that a node reaches, and let its pods have no other claim, and no group"
        )
