"""What the claims of pods mean for a cluster: on which nodes a pod can have its volumes and devices, and which pods want the same ones.

A claim that is bound or allocated for good ties its pods to nodes. One that is not can be had where there is a volume or a device that nobody has, or
where a volume can be made. Which of that is kept, and how it is written down, is decided in `kept_claims`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter

from ..base.structs import Data
from ..model.environment.objects import Node, NodeAffinity, Pod
from ..scenarios.reader.sections.claim_section import special_claim
from .published_devices import PublishedDevices
from .reading.csi_objects import Attachment, CsiDriver
from .reading.device_objects import ClaimReference, DeviceKey, DeviceWish, ResourceClaimObject, WrittenDevices
from .reading.group_objects import GroupObject
from .reading.manifest_files import Remarks
from .reading.volume_objects import Mount, StorageClassObject, VolumeClaimObject, VolumeObject, VolumeWish

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class WrittenVolumes:
    """The objects of volumes, as they were read; `limits` are how many volumes of a driver a node takes, by both names."""

    classes: dict[str, StorageClassObject] = field(default_factory=dict)
    volumes: dict[str, VolumeObject] = field(default_factory=dict)
    claims: dict[str, VolumeClaimObject] = field(default_factory=dict)
    limits: dict[str, Mapping[str, int | None]] = field(default_factory=dict)
    drivers: dict[str, CsiDriver] = field(default_factory=dict)
    attached: list[Attachment] = field(default_factory=list)


class PodClaims(Data):
    """The claims of a pod, as namespace/name, in their order: of volumes, and of devices.

    Of those that are made for the pod, and that need not be there yet, `templates` says what they ask for. `special` is the claim, the last of
    devices, that the scheduler makes for the extended `resource` which devices back. `doubt` says what else the pod wants that is taken to be had everywhere.
    `disks` are the CSI drivers of disks that it names itself.
    """

    volumes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    templates: Mapping[str, VolumeWish | DeviceWish] = field(default_factory=dict)
    special: str = ""
    resource: str = ""
    doubt: str = ""
    disks: tuple[str, ...] = ()

    def again(self) -> PodClaims:
        """Those of the pod that is created in its place: what is made for a pod is made anew."""
        names = {name: f"{name}-again" for name in self.templates}
        if self.special:
            names[self.special] = special_claim(f"{self.special.removesuffix(special_claim(''))}-again")
        return PodClaims(
            tuple(names.get(n, n) for n in self.volumes),
            tuple(names.get(n, n) for n in self.devices),
            {names[n]: wish for n, wish in self.templates.items()},
            names.get(self.special, ""),
            self.resource,
            self.doubt,
            self.disks,
        )


class OpenVolume(Data):
    """A claim of a volume that is not bound: its class, the volumes that may be bound to it, and who can make one.

    `selected` is the node for which one is to be made already, `named` the volume that the claim names itself. `topologies` are the nodes where one can be made, None for all.
    """

    name: str
    of: str
    immediate: bool
    candidates: tuple[VolumeObject, ...]
    provisioner: str
    exclusive: bool
    selected: str = ""
    named: str = ""
    topologies: NodeAffinity | None = None


class OpenDevice(Data):
    """A claim of devices that is not allocated, or allocated so that it may be deallocated: the devices that it may have,
    whether or not others have them, by alternatives. `readiness` is what is known of the binding conditions of its device, `resource` the extended resource that it is
    for, if the scheduler makes it, which it has not yet unless it `exists`.
    """

    name: str
    choices: tuple[OpenChoice, ...]
    devices: tuple[DeviceKey, ...] = ()
    reserved: tuple[str, ...] = ()
    readiness: str = ""
    resource: str = ""
    exists: bool = True

    @property
    def candidates(self) -> set[DeviceKey]:
        """The devices of all alternatives."""
        return {key for one in self.choices for key in one.candidates}


class OpenChoice(Data):
    """One of the alternatives of a claim: so many of these devices, of a class."""

    of: str
    candidates: tuple[DeviceKey, ...]
    count: int


class ClusterClaims:
    """The claims, volumes and devices of a cluster, and the nodes that they are for; `uids` are those of its pods, by namespace/name."""

    def __init__(
        self,
        volumes: WrittenVolumes,
        devices: WrittenDevices,
        nodes: Mapping[str, Node],
        remarks: Remarks,
        uids: Mapping[str, str] | None = None,
    ) -> None:
        self.volumes, self.devices, self._nodes, self._remarks = volumes, devices, nodes, remarks
        self._uids = uids or {}
        # The newest of several (GetDefaultClass in pkg/volume/util, 1.26 to 1.37).
        defaults = sorted((c.name, c.created or NEVER) for c in volumes.classes.values() if c.default)
        self._default = max(defaults, key=itemgetter(1), default=("", NEVER))[0]
        self._published = PublishedDevices(devices, nodes, self._selected, remarks)
        self.at = self._published.at
        self._used: dict[str, str] = {}
        self._at_volumes: dict[str, frozenset[str]] = {}
        self.taken: set[DeviceKey] = {key for claim in devices.claims.values() for key in claim.devices}

    # --- whose claims --------------------------------------------------------------------------------

    def of(
        self,
        pod: str,
        mounts: Sequence[Mount],
        references: Sequence[ClaimReference],
        made: Mapping[str, str | None],
        own: Iterable[tuple[str, VolumeWish]] = (),
        group: GroupObject | None = None,
    ) -> PodClaims:
        """The claims of a pod, namespace/name, that may be those of its group. `made` says which claims were made for it, `own` are templates of a StatefulSet."""
        namespace, _, name = pod.partition("/")
        templates: dict[str, VolumeWish | DeviceWish] = {}
        volumes, devices, doubt = [], [], ""
        for template, wish in own:
            claim = f"{namespace}/{template}-{name}"
            if claim not in self.volumes.claims:
                templates[claim] = wish
            volumes.append(claim)
        for mount in mounts:
            if mount.driver:
                continue
            claim = f"{namespace}/{mount.claim or f'{name}-{mount.name}'}"
            if mount.template is not None:
                templates[claim] = mount.template
                doubt = self._not_for(pod, claim, self.volumes.claims) or doubt
            if claim not in volumes:
                volumes.append(claim)
        for reference in references:
            its = group is not None and group.shares(reference)
            made_here = group.made if group is not None and its else made
            if reference.name in made_here and made_here[reference.name] is None:
                continue
            given = reference.claim or made_here.get(reference.name)
            if its:
                doubt = f"the claim {reference.name} of {pod} is its group's: that it is reserved for the group is not modelled"
                if given is None:  # nobody has made it yet
                    continue
            claim = f"{namespace}/{given or f'{name}-{reference.name}'}"
            if reference.template is not None and not its:
                found = self.devices.templates.get(f"{namespace}/{reference.template}")
                if found is not None:
                    templates[claim] = found
                doubt = self._not_for(pod, claim, self.devices.claims) or doubt
            if claim not in devices:
                devices.append(claim)
        disks = tuple(mount.driver for mount in mounts if mount.driver)
        return PodClaims(tuple(volumes), tuple(devices), templates, doubt=doubt, disks=disks)

    def _not_for(
        self, pod: str, name: str, claims: Mapping[str, VolumeClaimObject | ResourceClaimObject]
    ) -> str:
        """What is said of a claim that has the name of one which is made for the pod, and was made for another; "" if it was not."""
        claim = claims.get(name)
        owner = claim.meta.owner if claim is not None else None
        if claim is None or (
            owner is not None
            and f"{claim.meta.namespace}/{owner.name}" == pod
            and self._is_of(pod, owner.uid)
        ):
            return ""
        return f"the claim {name} is none of those made for {pod} (ownerReferences), which is not tried until it is gone: that is not modelled"

    def _is_of(self, pod: str, uid: str) -> bool:
        """Whether a uid may be that of the pod, and not that of an earlier one with its name."""
        return "" in (uid, own := self._uids.get(pod, "")) or uid == own

    # --- volumes -------------------------------------------------------------------------------------

    def note_users(self, pods: Iterable[tuple[str, PodClaims]]) -> None:
        """Note which pods on nodes use claims that only one pod may use (ReadWriteOncePod)."""
        for pod, claims in pods:
            for name in claims.volumes:
                if name in self.volumes.claims and self.volumes.claims[name].wish.exclusive:
                    self._used[name] = pod

    def open_volume(self, name: str, claims: PodClaims) -> OpenVolume | None:
        """A claim of the pod's that is not bound yet; None if it is bound, lost, being deleted, of an unknown class, or not among the objects."""
        claim, wish = self.volumes.claims.get(name), claims.templates.get(name)
        if claim is None and not isinstance(wish, VolumeWish):
            return None
        if claim is not None:
            if claim.bound or claim.unusable:
                return None
            wish = claim.wish
        assert isinstance(wish, VolumeWish)
        of = self.class_of(wish)
        if not self.knows(of):
            return None
        found = self.volumes.classes.get(of)
        # A uid in claimRef is that of the claim, or of an earlier one with its name (IsVolumeBoundToClaim).
        uids = ("",) if claim is None else ("", claim.meta.uid or None)
        volumes = self.volumes.volumes.values()
        reserved = [v for v in volumes if v.owner == name and (None in uids or v.owner_uid in uids)]
        immediate = found is None or found.immediate
        # The PV controller does not ask for the class, and for nothing where the claim names the volume.
        own = [
            v
            for v in reserved
            if v.meta.name == wish.volume or wish.is_suited_by(v, v.of if immediate else of)
        ]
        free = [v for v in volumes if not v.owner and wish.is_met_by(v, of)]
        named = [v for v in own or free if wish.volume in ("", v.meta.name)]
        return OpenVolume(
            name,
            of,
            immediate,
            tuple(named),
            found.provisioner if found is not None and found.provisions and not wish.volume else "",
            wish.exclusive,
            claim.selected if claim is not None else "",
            wish.volume,
            found.topologies if found is not None else None,
        )

    def bound_exclusive(self, name: str) -> str:
        """The volume of a claim that is bound, that one pod only may use, and that no pod on a node uses; "" for any other claim."""
        claim = self.volumes.claims.get(name)
        if claim is None or not claim.bound or claim.unusable or name in self._used:
            return ""
        return claim.wish.volume if claim.wish.exclusive else ""

    def class_of(self, wish: VolumeWish) -> str:
        """The class of a claim; "" for none."""
        return self._default if wish.of is None else wish.of

    def knows(self, of: str) -> bool:
        """Whether the objects say how volumes of a class come to be."""
        return of in self.volumes.classes or (not of and bool(self.volumes.classes or self.volumes.volumes))

    def _volume_reach(self, name: str, claims: PodClaims) -> frozenset[str] | None:
        """The nodes where a pod that waits can have a claim's volume; None for all."""
        if name in self._used:
            return frozenset()
        found = self.open_volume(name, claims)
        if found is None:
            claim = self.volumes.claims.get(name)
            if claim is None:
                return frozenset() if self.volumes.claims and name not in claims.templates else None
            if claim.unusable:
                return frozenset()
            volume = self.volumes.volumes.get(claim.wish.volume) if claim.bound else None
            return None if volume is None else self._in_zone(volume, name, claims)
        if found.provisioner and found.selected in self._nodes:
            return frozenset({found.selected})
        if found.provisioner and found.topologies is None:
            return None
        reach = self._selected(found.topologies) if found.provisioner and found.topologies else frozenset()
        for volume in found.candidates:
            nodes = self._in_zone(volume, name, claims) if found.named else self.nodes_of(volume)
            if nodes is None:
                return None
            reach |= nodes
        return reach

    def _in_zone(self, volume: VolumeObject, name: str, claims: PodClaims) -> frozenset[str] | None:
        """The nodes that reach a volume which its claim names, and that are in a zone of it; None for all. VolumeZone does not look at claims that are made for a pod."""
        nodes = self.nodes_of(volume)
        if name in claims.templates:
            return nodes
        near = frozenset(n for n, node in self._nodes.items() if volume.is_in_zone_of(node.labels))
        return nodes if len(near) == len(self._nodes) else near if nodes is None else nodes & near

    def nodes_of(self, volume: VolumeObject) -> frozenset[str] | None:
        """The nodes that reach a volume; None for all."""
        if volume.affinity is None:
            return None
        if volume.meta.name not in self._at_volumes:
            self._at_volumes[volume.meta.name] = self._selected(volume.affinity)
        return self._at_volumes[volume.meta.name]

    def _selected(self, affinity: NodeAffinity) -> frozenset[str]:
        asking = Pod(0, "pod", 0, node_affinity=affinity)
        return frozenset(name for name, node in self._nodes.items() if asking.asks_for(node))

    # --- devices -------------------------------------------------------------------------------------

    def unlike(self, name: str, claims: PodClaims) -> str:
        """Why a claim of devices is left out, and what it wants taken to be free on every node; empty if it is not."""
        claim = self.devices.claims.get(name)
        wish = claim.wish if claim is not None else claims.templates.get(name)
        if claim is None and wish is None:
            return "it is not among the objects (dump resourceclaims and resourceclaimtemplates, too)"
        assert isinstance(wish, DeviceWish)
        if wish.unlike:
            return wish.unlike
        classes = [self.devices.classes.get(one.of) for one in wish.choices]
        if None in classes:
            return "its DeviceClass is not among the objects (dump deviceclasses, too)"
        if why := next((one.unlike for one in classes if one is not None and one.unlike), ""):
            return f"{why} (a field of its DeviceClass)"
        if not self.devices.slices:
            return "there is no ResourceSlice among the objects (dump resourceslices, too)"
        if (
            claim is not None
            and claim.allocated
            and len(claim.devices) not in [c.count for c in wish.choices]
        ):
            return "it is not allocated as many devices as it asks for"
        return ""

    def doubt(self, pod: str, name: str, claims: PodClaims, kept: Collection[str]) -> str:
        """What of a claim of devices is taken otherwise than it may be, so that no verdict on pods with it is sure; "" for nothing."""
        shown = f"claim {name} of {pod}"
        claim = self.devices.claims.get(name)
        stays = claim is not None and claim.allocated and self.is_held(claim, kept) and name != claims.special
        wish = claim.wish if claim is not None else claims.templates.get(name)
        assert wish is None or isinstance(wish, DeviceWish)
        if claim is not None and not all(self._is_of(pod, uid) for user, uid in claim.users if user == pod):
            return f"{shown} is reserved for an earlier pod with this name, which is not modelled"
        mine = claim.devices if claim is not None else ()
        for one in wish.choices if wish is not None else ():
            keys = mine if stays else (*mine, *self._published.candidates(one))
            for key in (k for k in keys if self._published.evicts(k, one)):
                return f"{shown}: a taint of {key[2]} of {key[1]} has pods evicted (NoExecute), which is not modelled"
        if stays:
            return ""
        if why := self.unlike(name, claims):
            where = "where it is allocated" if claim is not None and claim.allocated else "on every node"
            return f"{shown} is taken to be free {where}: {why}"
        assert wish is not None
        why = next(filter(None, map(self._published.doubt, wish.choices)), "")
        return f"{shown}: {why}" if why else ""

    def heeded_from(self, claims: PodClaims) -> dict[str, str]:
        """What of the pod's claims of devices counts only from some release on, and which."""
        found: dict[str, str] = {}
        for name in claims.devices:
            wish = (
                self.devices.claims[name].wish if name in self.devices.claims else claims.templates.get(name)
            )
            for one in wish.choices if isinstance(wish, DeviceWish) else ():
                found |= self._published.heeded_from(one)
        return found

    def open_device(self, name: str, claims: PodClaims, kept: Collection[str]) -> OpenDevice | None:
        """A claim of the pod's that is not allocated, or reserved for none but kept pods; None for one that is left out or held by others."""
        if self.unlike(name, claims):
            return None
        claim = self.devices.claims.get(name)
        wish = claim.wish if claim is not None else claims.templates[name]
        assert isinstance(wish, DeviceWish)
        resource = claims.resource if name == claims.special else ""
        choices = tuple(OpenChoice(c.of, self._published.candidates(c), c.count) for c in wish.choices)
        if claim is None or not claim.allocated:
            return OpenDevice(name, choices, resource=resource, exists=claim is not None)
        if self.is_held(claim, kept) or not self.at.keys() >= set(claim.devices):
            return None
        return OpenDevice(name, choices, claim.devices, claim.reserved, claim.readiness, resource)

    def has_conditions(self, key: DeviceKey) -> bool:
        """Whether a pod is bound only once the driver has said that the device is ready."""
        return self._published.has_conditions(key)

    def is_held(self, claim: ResourceClaimObject, kept: Collection[str]) -> bool:
        """Whether somebody holds an allocated claim who is left out."""
        return bool(claim.others) or not set(claim.reserved) <= set(kept)

    def _device_reach(self, name: str, claims: PodClaims) -> frozenset[str] | None:
        """The nodes where a pod can have a claim's device as things are; None for all."""
        claim = self.devices.claims.get(name)
        special = name == claims.special  # one that is left is deleted first, and its device is free then
        if claim is not None and claim.allocated and not special:
            return None if claim.reach is None else self._selected(claim.reach)
        if self.unlike(name, claims):
            return None
        own = claim.devices if claim is not None else ()
        wish = claim.wish if claim is not None else claims.templates[name]
        assert isinstance(wish, DeviceWish)
        reach: set[str] = set()
        for one in wish.choices:
            free = [k for k in self._published.candidates(one) if k not in self.taken or k in own]
            number = Counter(node for key in free for node in self.at[key])
            reach.update(node for node, found in number.items() if found >= one.count)
        return frozenset(reach)

    # --- what pods can ask ---------------------------------------------------------------------------

    def reach(self, claims: PodClaims, without: Collection[str] = ()) -> frozenset[str] | None:
        """The nodes where a pod with these claims, `without` some, can have all that they stand for; None for all."""
        found: frozenset[str] | None = None
        some = [self._volume_reach(name, claims) for name in claims.volumes if name not in without]
        some += [self._device_reach(name, claims) for name in claims.devices if name not in without]
        for nodes in some:
            if nodes is not None:
                found = nodes if found is None else found & nodes
        return found

    def compete(self, one: PodClaims, other: PodClaims, node: str) -> bool:
        """Whether two pods that wait share a claim which is still to be bound or allocated, or which one pod only may use, or may want the same volume or device for two claims there."""
        for name in one.volumes:
            if name in other.volumes and self.bound_exclusive(name):
                return True
            mine = self.open_volume(name, one)
            for its in other.volumes if mine is not None else ():
                theirs = self.open_volume(its, other)
                if theirs is not None and (its == name or self._meet(mine, theirs, node)):
                    return True
        for name in one.devices:
            my = self.open_device(name, one, ())
            for its in other.devices if my is not None else ():
                their = self.open_device(its, other, ())
                if their is not None and (its == name or self._both(my, their, node)):
                    return True
        return False

    def _meet(self, one: OpenVolume | None, other: OpenVolume, node: str) -> bool:
        names = {v.meta.name for v in one.candidates} if one is not None else set()
        both = [v for v in other.candidates if v.meta.name in names]
        return any((at := self.nodes_of(v)) is None or node in at for v in both)

    def _both(self, one: OpenDevice | None, other: OpenDevice, node: str) -> bool:
        if one is None or one.devices or other.devices:
            return False
        both = one.candidates & other.candidates - self.taken
        return any(node in self.at[key] for key in both)

    def free_at(self, node: str) -> tuple[tuple[str, int], ...]:
        """How many devices of each driver, and volumes of each class, that nobody has the node reaches."""
        free = Counter(key[0] for key, nodes in self.at.items() if node in nodes and key not in self.taken)
        loose = [v for v in self.volumes.volumes.values() if not v.owner]
        free.update(v.of for v in loose if (at := self.nodes_of(v)) is None or node in at)
        return tuple(sorted(free.items()))

    def like(self, claims: PodClaims, users: Counter[str]) -> object:
        """What is the same for claims that are alike: shared ones by their names, others by what they ask for."""
        return tuple(
            name if users[name] > 1 else repr(self._asks(name, claims))
            for name in (*claims.volumes, *claims.devices)
        )

    def _asks(self, name: str, claims: PodClaims) -> object:
        reach = (
            self._volume_reach(name, claims) if name in claims.volumes else self._device_reach(name, claims)
        )
        volume = self.open_volume(name, claims) if name in claims.volumes else None
        about = (volume.of, [v.meta.name for v in volume.candidates]) if volume is not None else ()
        return (
            sorted(reach) if reach is not None else None,
            about,
            self.unlike(name, claims) if name in claims.devices else "",
            claims.resource if name == claims.special else "",
        )

    def remarks(self, pod: str, claims: PodClaims) -> None:
        """Note what of the claims of a pod that waits is left out."""
        for name in claims.devices:
            if why := self.unlike(name, claims):
                reach = (
                    "on every node" if self._device_reach(name, claims) is None else "where it is allocated"
                )
                self._remarks.add(
                    f"a claim of devices is left out, and taken to be free {reach}: {why}", f"{name} of {pod}"
                )
            else:
                self.open_device(name, claims, ())
        for name in claims.volumes:
            for why in (*self._volume_notes(name, claims), *self.volume_doubts(name, claims)):
                self._remarks.add(why, f"PersistentVolumeClaim/{name}")

    def _volume_notes(self, name: str, claims: PodClaims) -> Iterator[str]:
        """Why no pod that waits can have a claim of volumes: such a pod is never kept, so nothing holds because of it."""
        claim = self.volumes.claims.get(name)
        if claim is None and name not in claims.templates and self.volumes.claims:
            yield "the claim is not among the objects, and the pod that mounts it cannot be scheduled"
        elif name in self._used:
            yield f"one pod only may use the claim, and {self._used[name]} does: here nobody is evicted for it"
        elif claim is not None and claim.unusable:
            why = "is being deleted" if claim.meta.deleted else "has lost its volume"
            yield f"the claim {why}: the pods that wait for it cannot be scheduled"

    def volume_doubts(self, name: str, claims: PodClaims) -> Iterator[str]:
        """What of a claim of volumes of a pod that waits is taken otherwise than it may be, and what to add to the objects."""
        claim, wish = self.volumes.claims.get(name), claims.templates.get(name)
        if claim is None and wish is None and not self.volumes.claims:
            yield "claims of volumes are not among the objects, and taken to fit everywhere: dump pvc, pv and storageclass, too"
        if claim is not None:
            wish = None if claim.bound or claim.unusable else claim.wish
            if claim.bound and not claim.unusable and claim.wish.volume not in self.volumes.volumes:
                yield "the claim's volume is not among the objects, and taken to be reached by every node: dump pv, too"
        if isinstance(wish, VolumeWish) and not self.knows(of := self.class_of(wish)):
            yield (
                f"the claim is not bound, and {f'its StorageClass {of} is' if of else 'StorageClasses are'} not among the objects: "
                "it is taken to fit everywhere; dump storageclass, too"
            )
        found = self.open_volume(name, claims)
        if found is None:
            return
        if found.selected:
            yield "a node is selected for the claim already: the model begins without, and has it there alone"
        if found.provisioner and found.topologies is not None and found.candidates:
            yield f"allowedTopologies of StorageClass/{found.of} say where a volume can be made, and there are others: it is taken to be made where those are, too"
