"""Volumes as Kubernetes writes them: StorageClass, PersistentVolume and PersistentVolumeClaim, and what pods mount.

Which volume may be bound to a claim is decided as by FindMatchingVolume (component-helpers/storage/volume/pv_helpers.go, 1.34): by class, mode,
access modes, size and selector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...model.environment.objects import NodeAffinity, Selector
from ...scenarios.tables.directives import read_node_selector
from ...scenarios.tables.objects import ACCESS_MODES, NO_PROVISIONER
from ...scenarios.tables.objects import BINDING_MODES as MODES
from ...scenarios.tables.selectors import read_selector
from .manifest_files import Manifest
from .metadata import Meta
from .resource_amounts import parse_quantity

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
ZONE_KEYS = {
    "topology.kubernetes.io/zone": "", "topology.kubernetes.io/region": "",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}  # fmt: skip
"""Labels that say in which zones and regions a volume, or a node, is, with the newer name of each, if it has one."""
VOLUME_MODES = ("Filesystem", "Block")
ATTRIBUTES = "volumeAttributesClassName"


@dataclass(frozen=True, slots=True)
class StorageClassObject:
    """A StorageClass."""

    name: str
    immediate: bool
    provisioner: str
    default: bool
    topologies: bool

    @property
    def provisions(self) -> bool:
        """Whether volumes of the class are made for claims."""
        return self.provisioner != NO_PROVISIONER


@dataclass(frozen=True, slots=True)
class VolumeObject:
    """A PersistentVolume. `owner` is the claim of its claimRef as namespace/name, `of` its class, "" for none.

    `available`: its phase is Available, or nobody has written one. `attributes` is its class of attributes.
    """

    meta: Meta
    of: str
    size: Fraction
    modes: frozenset[str]
    mode: str
    attributes: str
    affinity: NodeAffinity | None
    owner: str
    available: bool

    def is_in_zone_of(self, labels: Mapping[str, str]) -> bool:
        """Whether VolumeZone lets a pod with this volume pass on a node with these labels (volumezone/volume_zone.go, 1.36)."""
        if not any(key in labels for key in ZONE_KEYS):
            return True  # a cluster of one zone need not name it
        for key, newer in ZONE_KEYS.items():
            zones = [zone.strip() for zone in self.meta.labels.get(key, "").split("__")]
            if all(zones) and labels.get(key, labels.get(newer)) not in zones:
                return False
        return True


@dataclass(frozen=True, slots=True)
class VolumeWish:
    """What a PersistentVolumeClaim asks for. `of` is its class, "" for none, and None for the default."""

    of: str | None
    size: Fraction
    modes: frozenset[str]
    mode: str
    attributes: str
    selector: Selector | None
    volume: str

    @property
    def exclusive(self) -> bool:
        """Whether one pod only may use the claim."""
        return "ReadWriteOncePod" in self.modes

    def is_met_by(self, volume: VolumeObject, of: str) -> bool:
        """Whether a volume that nobody has may be bound to the claim, which is of this class."""
        return (
            volume.of == of
            and volume.available
            and not volume.meta.deleted
            and (volume.mode, volume.attributes) == (self.mode, self.attributes)
            and self.modes <= volume.modes
            and volume.size >= self.size
            and (self.selector is None or self.selector.matches(volume.meta.labels))
        )


@dataclass(frozen=True, slots=True)
class VolumeClaimObject:
    """A PersistentVolumeClaim. `bound`: the PV controller has completed its binding; `selected` is the node of its annotation. `lost`: its volume is gone."""

    meta: Meta
    wish: VolumeWish
    bound: bool
    selected: str
    lost: bool = False

    @property
    def unusable(self) -> bool:
        """Whether VolumeBinding lets no pod with it pass (podHasPVCs, 1.36)."""
        return self.lost or self.meta.deleted


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume of a pod that is one of a claim: the claim's name, None for one that is made for the pod as `template` says."""

    name: str
    claim: str | None
    template: VolumeWish | None = None


def read_storage_class(top: Manifest, meta: Meta) -> StorageClassObject:
    """A StorageClass."""
    fields = top.fields(("provisioner", "volumeBindingMode", "allowedTopologies"), "a StorageClass")
    if "provisioner" not in fields:
        top.fail("`provisioner` is missing: a StorageClass has one, such as kubernetes.io/no-provisioner")
    mode = (
        fields["volumeBindingMode"].one_of(MODES, "a volume binding mode")
        if "volumeBindingMode" in fields
        else MODES[0]
    )
    topologies = (
        fields["allowedTopologies"].elements("a list of topologies") if "allowedTopologies" in fields else []
    )
    return StorageClassObject(
        meta.name,
        mode == MODES[0],
        fields["provisioner"].text("the name of a provisioner"),
        _annotations(meta, DEFAULT_CLASS).get(DEFAULT_CLASS) == "true",
        bool(topologies),
    )


def read_volume(top: Manifest, meta: Meta, fields: Mapping[str, Manifest]) -> VolumeObject:
    """A PersistentVolume."""
    if "spec" not in fields:
        top.fail("`spec` is missing: a PersistentVolume has at least `spec.capacity`")
    known = (
        "capacity",
        "accessModes",
        "storageClassName",
        "volumeMode",
        "nodeAffinity",
        "claimRef",
        ATTRIBUTES,
    )
    status = fields["status"].fields(("phase",), "a mapping with `phase`") if "status" in fields else {}
    phases = ("Pending", "Available", "Bound", "Released", "Failed")
    phase = status["phase"].one_of(phases, "a phase") if "phase" in status else "Available"
    spec = fields["spec"].fields(known, "a mapping with `capacity`")
    required = (
        spec["nodeAffinity"].fields(("required",), "a mapping with `required`")
        if "nodeAffinity" in spec
        else {}
    )
    return VolumeObject(
        meta,
        _annotations(meta, OLD_CLASS).get(OLD_CLASS) or _class(spec) or "",
        _storage(spec["capacity"]) if "capacity" in spec else Fraction(0),
        _modes(spec),
        _mode(spec),
        _attributes(spec),
        read_node_selector(required["required"]) if "required" in required else None,
        _owner(spec["claimRef"]) if "claimRef" in spec else "",
        phase == "Available",
    )


def _owner(value: Manifest) -> str:
    fields = value.fields(("namespace", "name"), "a reference with `namespace` and `name`")
    for needed in ("namespace", "name"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: a claimRef has `namespace` and `name`")
    return f"{fields['namespace'].text('a namespace')}/{fields['name'].text('the name of a claim')}"


def read_volume_claim(top: Manifest, meta: Meta, fields: Mapping[str, Manifest]) -> VolumeClaimObject:
    """A PersistentVolumeClaim. One that says so in its status alone counts as bound, too: who writes it by hand has no annotation."""
    if "spec" not in fields:
        top.fail("`spec` is missing: a PersistentVolumeClaim has at least `spec.accessModes`")
    status = fields["status"].fields(("phase",), "a mapping with `phase`") if "status" in fields else {}
    phases = ("Pending", "Bound", "Lost")
    phase = status["phase"].one_of(phases, "a phase") if "phase" in status else "Pending"
    said = _annotations(meta, OLD_CLASS, SELECTED_NODE, BIND_COMPLETED)
    wish = read_volume_wish(fields["spec"], said.get(OLD_CLASS))
    done = said.get(BIND_COMPLETED) == "yes" or phase == "Bound"
    if phase == "Bound" and not wish.volume:
        fields["spec"].fail(
            "`volumeName` is missing, and the claim's phase is Bound: name its volume, or remove the phase"
        )
    return VolumeClaimObject(
        meta, wish, bool(wish.volume) and done, said.get(SELECTED_NODE, ""), phase == "Lost"
    )


def read_volume_wish(spec: Manifest, old_class: str | None = None) -> VolumeWish:
    """The specification of a PersistentVolumeClaim."""
    known = (
        "accessModes",
        "resources",
        "storageClassName",
        "volumeMode",
        "volumeName",
        "selector",
        ATTRIBUTES,
    )
    fields = spec.fields(known, "a mapping with `accessModes`")
    asked = (
        fields["resources"].fields(("requests",), "a mapping with `requests`")
        if "resources" in fields
        else {}
    )
    modes = _modes(fields)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        fields["accessModes"].fail(
            "ReadWriteOncePod is the only access mode of a claim that has it: remove the others"
        )
    return VolumeWish(
        old_class or _class(fields),
        _storage(asked["requests"]) if "requests" in asked else Fraction(0),
        modes,
        _mode(fields),
        _attributes(fields),
        read_selector(fields["selector"]) if "selector" in fields else None,
        fields["volumeName"].text("the name of a volume") if "volumeName" in fields else "",
    )


def read_mounts(volumes: Manifest) -> tuple[Mount, ...]:
    """The volumes of a pod specification that are those of claims."""
    found = []
    for volume in volumes.elements("a list of volumes"):
        fields = volume.fields(("name", "persistentVolumeClaim", "ephemeral"), "a volume")
        name = fields["name"].text("the name of a volume") if "name" in fields else ""
        if "persistentVolumeClaim" in fields:
            source = fields["persistentVolumeClaim"].fields(("claimName",), "a claim with `claimName`")
            if "claimName" not in source:
                fields["persistentVolumeClaim"].fail("`claimName` is missing: name a PersistentVolumeClaim")
            found.append(Mount(name, source["claimName"].text("the name of a claim")))
        elif "ephemeral" in fields:
            source = fields["ephemeral"].fields(
                ("volumeClaimTemplate",), "a mapping with `volumeClaimTemplate`"
            )
            found.append(Mount(name, None, _template(source.get("volumeClaimTemplate"))))
    return tuple(found)


def read_claim_templates(value: Manifest | None) -> tuple[tuple[str, VolumeWish], ...]:
    """The volumeClaimTemplates of a StatefulSet, by name."""
    found = []
    for template in value.elements("a list of claims") if value is not None else []:
        about = template.fields(("metadata",), "a claim with `metadata` and `spec`")
        named = about["metadata"].fields(("name",), "a mapping with `name`") if "metadata" in about else {}
        if "name" not in named:
            template.fail("`metadata.name` is missing: a template of claims has a name")
        found.append((named["name"].text("a name"), _template(template)))
    return tuple(found)


def _template(value: Manifest | None) -> VolumeWish:
    spec = value.fields(("spec",), "a template with `spec`") if value is not None else {}
    return read_volume_wish(spec["spec"]) if "spec" in spec else NO_WISH


NO_WISH = VolumeWish(None, Fraction(0), frozenset(), VOLUME_MODES[0], "", None, "")


def _annotations(meta: Meta, *keys: str) -> dict[str, str]:
    fields = meta.place.fields(("annotations",), "a mapping")
    given = (
        fields["annotations"].fields(keys, "a mapping from annotations to texts")
        if "annotations" in fields
        else {}
    )
    return {key: value.scalar("a text") for key, value in given.items()}


def _class(fields: Mapping[str, Manifest]) -> str | None:
    return fields["storageClassName"].text("the name of a class") if "storageClassName" in fields else None


def _modes(fields: Mapping[str, Manifest]) -> frozenset[str]:
    listed = fields["accessModes"].elements("a list of access modes") if "accessModes" in fields else []
    return frozenset(mode.one_of(ACCESS_MODES, "an access mode") for mode in listed)


def _mode(fields: Mapping[str, Manifest]) -> str:
    return (
        fields["volumeMode"].one_of(VOLUME_MODES, "a volume mode")
        if "volumeMode" in fields
        else VOLUME_MODES[0]
    )


def _storage(value: Manifest) -> Fraction:
    fields = value.fields(("storage",), "a mapping with `storage`")
    if "storage" not in fields:
        return Fraction(0)
    size = parse_quantity(fields["storage"].scalar("a quantity of bytes such as 10Gi"))
    if size is None:
        fields["storage"].expect("a quantity of bytes such as 10Gi")
    return size


def _attributes(fields: Mapping[str, Manifest]) -> str:
    return fields[ATTRIBUTES].text("the name of a class of attributes") if ATTRIBUTES in fields else ""
