"""Which claims, volumes and devices are kept with the kept pods and nodes, in the words of a scenario.

Kept is what the scheduler still has to decide: claims that are not bound or not allocated, or that kept pods alone hold, and for them no more volumes
and devices than could run short; and of claims that are bound those that one pod only may use, where several kept pods want it. Claims that are bound, or
that others hold, close nodes to their pods for good.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any

from ..base.structs import Data
from ..scenarios.reader.sections.claim_section import IMPLICIT
from ..scenarios.reader.sections.device_section import MOST_WAYS
from ..scenarios.tables.objects import BINDING_MODES as MODES
from ..scenarios.values.labels import MAX_ENTITIES
from .kept_limits import keep_limits
from .members import ClusterNode, ClusterPod
from .pod_claims import ClusterClaims, OpenChoice, OpenDevice, OpenVolume
from .reading.device_objects import DeviceKey
from .reading.volume_objects import VolumeObject
from .volume_limits import VolumeLimits

NO_CLASS = "no-class"
"""What a scenario calls the class of claims that ask for none."""


@dataclass(slots=True)
class KeptClaims:
    """What is kept of the claims of these pods, on these nodes. `volumes` and `devices` are the claims that each pod has in the scenario, `closed` the nodes that are closed to it.

    `extended` is the extended resource that a pod asks for in the scenario, where devices back it: its claim is made by the scheduler. `sections` are
    those of the scenario, `lines` say what was kept, `remarks` what was left out and could matter. `exclusive`: one pod only may use one of the claims of
    volumes; `unbound`: one of them is still to be bound. `doubts` say what of the claims was taken otherwise than it may be: what then
    holds may be violated in the cluster, and the other way round. `limited`: the CSI drivers whose limits are kept.
    """

    claims: ClusterClaims
    pods: Sequence[ClusterPod]
    nodes: Sequence[ClusterNode]
    volumes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    devices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    extended: dict[str, str] = field(default_factory=dict)
    closed: Mapping[str, Sequence[ClusterNode]] = field(default_factory=dict)
    sections: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    exclusive: bool = False
    unbound: bool = False
    doubts: list[str] = field(default_factory=list)
    limited: Sequence[str] = ()

    @property
    def properties(self) -> list[str]:
        """The properties that are checked for it."""
        found = ["S-VOL"] if self.unbound else []
        found += ["S-RWOP"] if self.exclusive else []
        found += ["S-LIMIT"] if self.limited else []
        return found + (["S-DEV", "S-RESV"] if any(self.devices.values()) or self.extended else [])

    def leave_out(self, remark: str) -> None:
        """Say so of something without which another verdict may come out."""
        self.remarks.append(remark)
        self.doubts.append(remark)

    @property
    def names(self) -> list[str]:
        return [n.name for n in self.nodes]

    @property
    def waiting(self) -> list[ClusterPod]:
        return [p for p in self.pods if p.node is None]


def claims_kept(
    claims: ClusterClaims,
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    bound: Sequence[ClusterPod] = (),
) -> KeptClaims:
    """What is kept for these pods and nodes; `bound` are all pods on nodes."""
    choice = KeptClaims(claims, pods, nodes)
    devices = _devices(choice)
    volumes = _volumes(choice, [p for p in choice.waiting if not devices.get(p.name)])
    closed = _closed(choice, volumes, devices)
    limited = keep_limits(VolumeLimits(claims, bound), pods, nodes, choice.sections, volumes)
    choice.lines += [f"the CSINodes say how many volumes of {driver} nodes take" for driver in limited]
    for pod in choice.waiting if any(devices.values()) else ():
        contested = {*_contested(choice, choice.waiting)}
        if devices.get(pod.name) and not contested.isdisjoint(pod.claims.volumes):
            choice.leave_out(
                "volumes of a pod that has claims of devices, too, are not modelled: that one pod only may use its claim is left out "
                f"({pod.name})"
            )
        if devices.get(pod.name) and any(claims.open_volume(n, pod.claims) for n in pod.claims.volumes):
            choice.leave_out(
                "volumes of a pod that has claims of devices, too, are not modelled: those that are not bound are taken to be had "
                f"({pod.name})"
            )
    written = choice.sections.get("volumeClaims", {}).values()
    choice.exclusive = any("accessModes" in claim for claim in written)
    waiting = [(pod, name) for pod in choice.waiting for name in volumes.get(pod.name, ())]
    choice.unbound = any(claims.open_volume(name, pod.claims) for pod, name in waiting)
    choice.volumes, choice.closed, choice.limited = volumes, closed, limited
    choice.devices = {p.name: [n for n in devices.get(p.name, ()) if n != p.claims.special] for p in pods}
    choice.doubts = list(dict.fromkeys([*claim_doubts(claims, pods), *choice.doubts]))
    return choice


def claim_doubts(claims: ClusterClaims, pods: Sequence[ClusterPod]) -> Iterator[str]:
    """What is not known of the claims of these pods; of devices of pods on nodes only where one that waits wants devices."""
    waiting = [p for p in pods if p.node is None]
    for pod in waiting:
        for name in pod.claims.volumes:
            yield from (f"{why} ({name} of {pod.name})" for why in claims.volume_doubts(name, pod.claims))
    wanted = any(p.claims.devices or p.claims.doubt for p in waiting)
    names = [p.name for p in pods]
    for pod in pods if wanted else ():
        if pod.claims.doubt:
            yield pod.claims.doubt
        for name in pod.claims.devices:
            if why := claims.doubt(pod.name, name, pod.claims, names):
                yield why


def _closed(
    choice: KeptClaims, volumes: Mapping[str, Sequence[str]], devices: Mapping[str, Sequence[str]]
) -> dict[str, list[ClusterNode]]:
    found = {}
    for pod in choice.waiting:
        open_ = [choice.claims.open_volume(name, pod.claims) for name in volumes.get(pod.name, ())]
        said = {c.name for c in open_ if c is not None and not c.selected and c.topologies is None} | set(
            devices.get(pod.name, ())
        )
        reach = choice.claims.reach(pod.claims, said)
        if reach is not None and (away := [n for n in choice.nodes if n.name not in reach]):
            found[pod.name] = away
            choice.lines.append(
                f"{_listed([n.name for n in away])} closed to {pod.name} by claims that are bound, or that others hold"
            )
    return found


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


# --- volumes ---------------------------------------------------------------------------------------------


def _volumes(choice: KeptClaims, pods: Sequence[ClusterPod]) -> dict[str, list[str]]:
    """The claims of volumes that these pods have in the scenario; classes, volumes and claims go to the sections."""
    found: dict[str, OpenVolume] = {}
    of_pods: dict[str, list[str]] = {}
    for pod in pods:
        for name in pod.claims.volumes:
            claim = choice.claims.open_volume(name, pod.claims)
            if claim is not None:
                found[name] = claim
                of_pods.setdefault(pod.name, []).append(name)
    contested = _contested(choice, pods)
    if not found and not contested:
        return {}
    classes = {c.of or NO_CLASS: _class(c) for c in found.values()}
    volumes = {
        v.meta.name: v
        for of in classes
        for v in _of_class(choice, [c for c in found.values() if (c.of or NO_CLASS) == of])
    }
    choice.sections |= {
        "storageClasses": classes,
        **({"volumes": {n: _volume(choice, v) for n, v in volumes.items()}} if volumes else {}),
        "volumeClaims": {n: _claim(c, volumes) for n, c in found.items()},
    }
    for claim in found.values():
        users = [p for p, names in of_pods.items() if claim.name in names]
        made = f"can be made by {claim.provisioner}" if claim.provisioner else "cannot be made"
        fit = [n for n in volumes if any(v.meta.name == n for v in claim.candidates)]
        there = f"{', '.join(fit)} may be bound to it, others {made}" if fit else f"a volume {made}"
        choice.lines.append(f"claim {claim.name} of {' and '.join(users)} is not bound: {there}")
    for name, volume in contested.items():
        _keep_bound(choice, name, volume, pods, of_pods)
    return of_pods


def _contested(choice: KeptClaims, pods: Sequence[ClusterPod]) -> dict[str, str]:
    """The claims that are bound and that one pod only may use, where several of these pods want it, with their volumes."""
    users = Counter(name for pod in pods for name in pod.claims.volumes)
    some = {name: choice.claims.bound_exclusive(name) for name, number in users.items() if number > 1}
    return {name: volume for name, volume in some.items() if volume}


def _keep_bound(
    choice: KeptClaims, name: str, volume: str, pods: Sequence[ClusterPod], of_pods: dict[str, list[str]]
) -> None:
    """Put a claim that is bound into the sections, and among those of its pods. Its volume names no nodes: those that do not reach it are closed by marks."""
    of = choice.claims.class_of(choice.claims.volumes.claims[name].wish) or NO_CLASS
    choice.sections.setdefault("storageClasses", {}).setdefault(of, {"volumeBindingMode": MODES[1]})
    choice.sections.setdefault("volumes", {})[volume] = {"storageClassName": of, "claimRef": name}
    choice.sections.setdefault("volumeClaims", {})[name] = {
        "storageClassName": of, "volumeName": volume, "accessModes": ["ReadWriteOncePod"],
    }  # fmt: skip
    users = [pod.name for pod in pods if name in pod.claims.volumes]
    for user in users:
        of_pods.setdefault(user, []).append(name)
    choice.lines.append(
        f"claim {name} of {' and '.join(users)} is bound to {volume}: one pod only may use it"
    )


def _class(claim: OpenVolume) -> dict[str, str]:
    mode = {"volumeBindingMode": MODES[0] if claim.immediate else MODES[1]}
    return {**mode, **({"provisioner": claim.provisioner} if claim.provisioner else {})}


def _of_class(choice: KeptClaims, claims: Sequence[OpenVolume]) -> Iterator[VolumeObject]:
    """The volumes that are kept for the claims of one class."""
    loose = [c for c in claims if not any(v.owner for v in c.candidates)]
    for claim in claims:
        if claim not in loose:
            yield from (v for v in claim.candidates if _where(choice, v) != [])
    every = {v.meta.name: v for c in loose for v in c.candidates}
    number: Counter[tuple[str, ...]] = Counter()
    for name, volume in every.items():
        at = _where(choice, volume)
        if at == []:
            continue
        if not all(any(v.meta.name == name for v in c.candidates) for c in loose):
            choice.leave_out(
                f"a volume that fits some of the kept claims of its class only is left out ({name})"
            )
            continue
        key = tuple(at or ("",))
        if number[key] < len(loose):
            number[key] += 1
            yield volume


def _where(choice: KeptClaims, volume: VolumeObject) -> list[str] | None:
    """The kept nodes that reach the volume; None for all."""
    nodes = choice.claims.nodes_of(volume)
    at = choice.names if nodes is None else [n for n in choice.names if n in nodes]
    return None if at == choice.names else at


def _volume(choice: KeptClaims, volume: VolumeObject) -> dict[str, Any]:
    at = _where(choice, volume)
    return {
        "storageClassName": volume.of or NO_CLASS,
        **({"nodes": at} if at is not None else {}),
        **({"claimRef": volume.owner} if volume.owner else {}),
    }


def _claim(claim: OpenVolume, volumes: Mapping[str, VolumeObject]) -> dict[str, Any]:
    return {
        "storageClassName": claim.of or NO_CLASS,
        **({"volumeName": claim.named} if claim.named in volumes else {}),
        **({"accessModes": ["ReadWriteOncePod"]} if claim.exclusive else {}),
    }


# --- devices ---------------------------------------------------------------------------------------------


def _devices(choice: KeptClaims) -> dict[str, list[str]]:
    """The claims of devices that the kept pods have in the scenario; devices and claims go to the sections."""
    found, of_pods = _kept_claims(choice)
    if not found:
        return {}
    kinds = _kinds(choice, list(found.values()))
    names, devices = _kept_devices(choice, found, kinds)
    if _are_too_many(found, kinds, names):
        for claim in [c for c in found.values() if any(one.count > 1 for one in c.choices)]:
            choice.leave_out(
                f"there are too many ways to give claims several devices: {claim.name} is left out"
            )
            _forget(claim.name, found, of_pods)
        kinds = _kinds(choice, list(found.values()))
        names, devices = _kept_devices(choice, found, kinds)
    lost = [c for c in found.values() if not names.keys() >= set(c.devices)]
    for claim in lost:
        _forget(claim.name, found, of_pods)
    claims = {
        claim.name: _device_claim(choice, claim, kinds, names, of_pods)
        for claim in found.values()
        if claim.exists or not claim.resource
    }
    made = {**({"devices": devices} if devices else {}), **({"resourceClaims": claims} if claims else {})}
    choice.sections |= made | _backing(choice, of_pods, kinds)
    _tell(choice, found, of_pods, kinds, names)
    return of_pods


def _forget(name: str, claims: dict[str, OpenDevice], of_pods: Mapping[str, list[str]]) -> None:
    del claims[name]
    for some in of_pods.values():
        if name in some:
            some.remove(name)


def _are_too_many(
    claims: Mapping[str, OpenDevice], kinds: Mapping[_Kind, set[DeviceKey]], names: Mapping[DeviceKey, str]
) -> bool:
    """Whether there are more devices, or more ways to give several of them to a claim, than a scenario has."""
    ways = len(names)
    for kind, keys in kinds.items():
        counts = {claims[name].choices[index].count for name, index in kind.claims}
        ways += sum(comb(len(keys & names.keys()), count) for count in counts if count > 1)
    several = any(one.count > 1 for c in claims.values() for one in c.choices)
    return several and (len(names) > MAX_ENTITIES or ways > MOST_WAYS)


def _kept_claims(choice: KeptClaims) -> tuple[dict[str, OpenDevice], dict[str, list[str]]]:
    """The claims by name, and their names by pod. Pods on nodes count only where a pod that waits has any."""
    kept = [p.name for p in choice.pods]
    found: dict[str, OpenDevice] = {}
    of_pods: dict[str, list[str]] = {}
    for pod in (*choice.waiting, *(p for p in choice.pods if p.node is not None)):
        if pod.node is not None and not found:
            break
        for name in pod.claims.devices:
            claim = choice.claims.open_device(name, pod.claims, kept)
            if claim is None or (pod.node is not None and not _holds(choice, pod, claim)):
                continue
            twin = next((n for n, c in found.items() if {*c.devices} & {*claim.devices}), name)
            if twin != name:
                choice.leave_out(f"two claims are allocated one device: {name} is left out, next to {twin}")
                continue
            found[name] = claim
            of_pods.setdefault(pod.name, []).append(name)
    return found, of_pods


def _kept_devices(
    choice: KeptClaims, claims: Mapping[str, OpenDevice], kinds: Mapping[_Kind, set[DeviceKey]]
) -> tuple[dict[DeviceKey, str], dict[str, Any]]:
    """The names of the devices in the scenario, and what it says of each."""
    names: dict[DeviceKey, str] = {}
    devices: dict[str, Any] = {}
    for kind, keys in kinds.items():
        number = sum(claims[name].choices[index].count for name, index in kind.claims)
        held = {key for name, _ in kind.claims for key in claims[name].devices}
        for key in _enough(choice, keys, held, number):
            names[key] = _name(key, devices)
            at = _at(choice, key)
            devices[names[key]] = {
                **({"node": at[0]} if at and at != choice.names else {}),
                "deviceClassName": kind.name,
                **({"bindingConditions": True} if choice.claims.has_conditions(key) else {}),
            }
    return names, devices


def _device_claim(
    choice: KeptClaims,
    claim: OpenDevice,
    kinds: Iterable[_Kind],
    names: Mapping[DeviceKey, str],
    of_pods: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    users = [p for p in claim.reserved if claim.name in of_pods.get(p, ())]
    held = [names[key] for key in claim.devices]
    wishes: list[dict[str, Any]] = []
    for index, one in enumerate(claim.choices):
        kind = next(k for k in kinds if (claim.name, index) in k.claims).name
        wish = {"deviceClassName": kind, **({"count": one.count} if one.count > 1 else {})}
        if wish not in wishes:
            wishes.append(wish)
    return {
        **({"device": held if held[1:] else held[0]} if held else {}),
        **(wishes[0] if len(wishes) == 1 else {"firstAvailable": wishes}),
        **({"reservedFor": users} if users else {}),
        **_readiness(choice, claim),
    }


def _readiness(choice: KeptClaims, claim: OpenDevice) -> dict[str, str]:
    """What is known of the binding conditions of a claim's device, if that is more than nothing."""
    if not any(map(choice.claims.has_conditions, claim.devices)):
        return {}
    return {"bindingConditions": claim.readiness} if claim.readiness in ("met", "failed") else {}


def _backing(
    choice: KeptClaims, of_pods: Mapping[str, Sequence[str]], kinds: Iterable[_Kind]
) -> dict[str, dict[str, Any]]:
    """The classes that back extended resources. A second one for the same resource backs its implicit resource only."""
    classes: dict[str, dict[str, str]] = {}
    given: dict[str, str] = {}
    for pod in choice.pods:
        special, resource = pod.claims.special, pod.claims.resource
        if not special or special not in of_pods.get(pod.name, ()):
            continue
        kind = next(k for k in kinds if (special, 0) in k.claims).name
        own = not resource.startswith(IMPLICIT) and given.setdefault(resource, kind) == kind
        classes.setdefault(kind, {})
        if own:
            classes[kind]["extendedResourceName"] = resource
        choice.extended[pod.name] = resource if own else f"{IMPLICIT}{kind}"
    return {"deviceClasses": classes} if classes else {}


class _Kind(Data, slots=False):
    """Claims that may have the same devices, each by one of its alternatives, from 0 on."""

    name: str
    claims: tuple[tuple[str, int], ...]


def _holds(choice: KeptClaims, pod: ClusterPod, claim: OpenDevice) -> bool:
    """Whether a pod on a node has been given the claim's device there."""
    return (
        bool(claim.devices)
        and pod.name in claim.reserved
        and all((pod.node or "") in choice.claims.at[key] for key in claim.devices)
    )


def _kinds(choice: KeptClaims, claims: Sequence[OpenDevice]) -> dict[_Kind, set[DeviceKey]]:
    """The claims by the devices that they may have. Where these overlap, only what all of them may have is kept."""
    held = {key for c in claims for key in c.devices}
    wanted = {key for claim in claims for key in claim.candidates if key not in choice.claims.taken}
    open_ = {key for key in choice.claims.at if key in wanted | held and _at(choice, key)}
    groups: list[tuple[list[tuple[str, int]], set[DeviceKey], str]] = []
    for claim, index, one in ((c, i, o) for c in claims for i, o in enumerate(c.choices)):
        some, keys, of = [(claim.name, index)], set(one.candidates) & open_, one.of
        for group in [g for g in groups if g[1] & keys or (not keys and g[2] == one.of)]:
            groups.remove(group)
            both = group[1] & keys
            if both != group[1] | keys:
                choice.leave_out(
                    f"devices that some of the kept claims only may have are left out ({claim.name} and {group[0][0][0]})"
                )
            some, keys, of = [*group[0], *some], both, group[2]
        groups.append((some, keys, of))
    found: dict[_Kind, set[DeviceKey]] = {}
    used: Counter[str] = Counter()
    for some, keys, of in groups:
        used[of] += 1
        name = of if used[of] == 1 else f"{of}-{used[of]}"
        found[_Kind(name, tuple(some))] = keys
    return found


def _at(choice: KeptClaims, key: DeviceKey) -> list[str]:
    """The kept nodes that reach a device: one, or all of them; a device that some of several reach is left out."""
    at = [n for n in choice.names if n in choice.claims.at[key]]
    if len(at) <= 1 or at == choice.names:
        return at
    lost = f"a device that some of the kept nodes reach, and not all, is left out ({key[2]} of {key[1]})"
    if lost not in choice.remarks:
        choice.leave_out(lost)
    return []


def _enough(
    choice: KeptClaims, keys: set[DeviceKey], held: Collection[DeviceKey], most: int
) -> Iterator[DeviceKey]:
    """Of the devices those that claims have, and beside them on each node as many as claims could want."""
    number: Counter[tuple[bool, str]] = Counter()
    for key in sorted(keys):
        like = (choice.claims.has_conditions(key), " ".join(_at(choice, key)))
        if key in held:
            yield key
        elif number[like] < most:
            number[like] += 1
            yield key


_FIT = re.compile(r"[^a-z0-9.-]+")


def _name(key: DeviceKey, taken: Mapping[str, object]) -> str:
    """A name for a device that a scenario can have: its pool's and its own."""
    made = _FIT.sub("-", f"{key[1]}.{key[2]}".lower())[:240].strip("-.") or "device"
    number = next(i for i in range(len(taken) + 1) if (made if not i else f"{made}-{i + 1}") not in taken)
    return made if not number else f"{made}-{number + 1}"


def _asked(one: OpenChoice) -> str:
    return f"{'a device' if one.count == 1 else f'{one.count} devices'} of {one.of}"


def _tell(
    choice: KeptClaims,
    claims: Mapping[str, OpenDevice],
    of_pods: Mapping[str, Sequence[str]],
    kinds: Mapping[_Kind, set[DeviceKey]],
    names: Mapping[DeviceKey, str],
) -> None:
    for name, claim in claims.items():
        users = [p for p, some in of_pods.items() if name in some]
        held = " and ".join(names[key] for key in claim.devices)
        what = f"is allocated {held}" if held else "is not allocated"
        if claim.resource:
            what = f"{what if claim.exists else 'is made by the scheduler'}, for {claim.resource}"
        if any(map(choice.claims.has_conditions, claim.devices)):
            what += f", whose binding conditions are {claim.readiness or 'pending'}"
        choice.lines.append(
            f"claim {name} of {' and '.join(users)} {what}; it asks for {', or else '.join(map(_asked, claim.choices))}"
        )
    for kind, keys in kinds.items():
        shown = [names[k] for k in sorted(keys) if k in names]
        free = [k for k in keys if k in names and k not in choice.claims.taken]
        all_free = [k for k in keys if k not in choice.claims.taken]
        more = (
            f", of {len(all_free)} that are free, as no more could run short"
            if len(free) < len(all_free)
            else ""
        )
        choice.lines.append(f"devices of {kind.name}: {', '.join(shown) or 'none'}{more}")
