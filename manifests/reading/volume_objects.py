"""Volumes as Kubernetes writes them: StorageClass, PersistentVolume and PersistentVolumeClaim, and what pods mount.

Which volume may be bound to a claim is decided as by FindMatchingVolume (component-helpers/storage/volume/pv_helpers.go, 1.34): by class, mode,
access modes, size and selector.
"""

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction

from ...base.structs import Data
from ...model.environment.objects import NodeAffinity, NodeTerm, Operator, Requirement, Selector
from ...scenarios.reader.sections.pod_section import read_time
from ...scenarios.tables.directives import read_node_selector
from ...scenarios.tables.objects import ACCESS_MODES, NO_PROVISIONER
from ...scenarios.tables.objects import BINDING_MODES as MODES
from ...scenarios.tables.selectors import read_selector
from .csi_objects import driver_in
from .manifest_values import Fields, Manifest
from .metadata import Meta
from .resource_amounts import parse_quantity

DEFAULT_CLASS = tuple(f"storageclass.{beta}kubernetes.io/is-default-class" for beta in ("", "beta."))
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
CLASS_WORDS = "the name of a class"


class StorageClassObject(Data):
    """A StorageClass. `topologies` are the nodes where its volumes can be made, None for all (allowedTopologies), `created` is its creationTimestamp."""

    name: str
    immediate: bool
    provisioner: str
    default: bool
    created: datetime | None
    topologies: NodeAffinity | None

    @property
    def provisions(self) -> bool:
        """Whether volumes of the class are made for claims."""
        return self.provisioner != NO_PROVISIONER


class VolumeObject(Data):
    """A PersistentVolume. `owner` is the claim of its claimRef as namespace/name, `owner_uid` the uid there, `of` its class, "" for none.

    `available`: its phase is Available, or nobody has written one. `attributes` is its class of attributes, `driver` its CSI driver.
    `handle` is its volumeHandle: volumes of one driver with one handle are one volume on a node (getVolumeUniqueName in nodevolumelimits/csi.go).
    `translated`: the source names an older plugin, so that its VolumeAttachments do not count (getNodeVolumeAttachmentInfo in nodevolumelimits/csi.go, 1.32 to 1.38).
    """

    meta: Meta
    of: str
    size: Fraction
    modes: frozenset[str]
    mode: str
    attributes: str
    affinity: NodeAffinity | None
    owner: str
    owner_uid: str
    available: bool
    driver: str = ""
    translated: bool = False
    handle: str = ""

    def is_in_zone_of(self, labels: Mapping[str, str]) -> bool:
        """Whether VolumeZone lets a pod with this volume pass on a node with these labels (volumezone/volume_zone.go, 1.36)."""
        if not any(key in labels for key in ZONE_KEYS):
            return True  # a cluster of one zone need not name it
        for key, newer in ZONE_KEYS.items():
            zones = [zone.strip() for zone in self.meta.labels.get(key, "").split("__")]
            if all(zones) and labels.get(key, labels.get(newer)) not in zones:
                return False
        return True


class VolumeWish(Data):
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
            self.is_suited_by(volume, of)
            and volume.available
            and self.modes <= volume.modes
            and (self.selector is None or self.selector.matches(volume.meta.labels))
        )

    def is_suited_by(self, volume: VolumeObject, of: str) -> bool:
        """Whether a volume whose claimRef is the claim, which is of this class, may be bound to it."""
        return (
            volume.of == of
            and not volume.meta.deleted
            and (volume.mode, volume.attributes) == (self.mode, self.attributes)
            and volume.size >= self.size
        )


class VolumeClaimObject(Data):
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


class Mount(Data):
    """A volume of a pod that is one of a claim: the claim's name, None for one that is made for the pod as `template` says.

    Or a disk that the pod names itself, which counts for the CSI `driver` in place of an older plugin.
    """

    name: str
    claim: str | None
    template: VolumeWish | None = None
    driver: str = ""


def read_storage_class(meta: Meta, fields: Fields) -> StorageClassObject:
    """A StorageClass."""
    provisioner = fields.need("provisioner", "a StorageClass has one, such as kubernetes.io/no-provisioner")
    return StorageClassObject(
        meta.name,
        fields.one_of("volumeBindingMode", MODES, "a volume binding mode") == MODES[0],
        provisioner.text("the name of a provisioner"),
        "true" in meta.annotations(*DEFAULT_CLASS).values(),
        meta.place.mapping("a mapping with `name`").read("creationTimestamp", read_time),
        _topologies(fields),
    )


def _topologies(fields: Fields) -> NodeAffinity | None:
    """allowedTopologies: one of the terms is met, of which one without expressions meets none (MatchTopologySelectorTerms in component-helpers, 1.36)."""
    terms = fields.elements("allowedTopologies", "a list of topologies")
    listed = [
        t.mapping("a topology").elements("matchLabelExpressions", "a list of expressions") for t in terms
    ]
    return NodeAffinity([NodeTerm(tuple(map(_expression, some))) for some in listed]) if listed else None


def _expression(value: Manifest) -> Requirement:
    given = value.mapping("an expression with `key` and `values`")
    key = given.need("key", "an expression has `key` and `values`").text("a label key")
    return Requirement(key, Operator.IN, tuple(given.texts("values", "a list of values", "a label value")))


PHASES = ("Pending", "Available", "Bound", "Released", "Failed")


def read_volume(meta: Meta, fields: Fields) -> VolumeObject:
    """A PersistentVolume."""
    described = fields.need("spec", "a PersistentVolume has at least `spec.capacity`")
    phase = fields.below("status", "a mapping with `phase`").one_of("phase", PHASES, "a phase", "Available")
    spec = described.mapping("a mapping with `capacity`")
    owner, uid = _owner(spec["claimRef"]) if "claimRef" in spec else ("", "")
    return VolumeObject(
        meta,
        meta.annotations(OLD_CLASS).get(OLD_CLASS) or spec.text("storageClassName", CLASS_WORDS),
        _storage(spec, "capacity"),
        _modes(spec),
        spec.one_of("volumeMode", VOLUME_MODES, "a volume mode"),
        spec.text(ATTRIBUTES, "the name of a class of attributes"),
        spec.below("nodeAffinity", "a mapping with `required`").read("required", read_node_selector),
        owner,
        uid,
        phase == "Available",
        driver_in(spec),
        "csi" not in spec,
        spec.below("csi").text("volumeHandle", "a handle"),
    )


def _owner(value: Manifest) -> tuple[str, str]:
    fields = value.mapping("a reference with `namespace` and `name`")
    namespace, name = (fields.need(n, "a claimRef has `namespace` and `name`") for n in ("namespace", "name"))
    uid = fields.text("uid", "a uid")
    return f"{namespace.text('a namespace')}/{name.text('the name of a claim')}", uid


def read_volume_claim(meta: Meta, fields: Fields) -> VolumeClaimObject:
    """A PersistentVolumeClaim. One that says so in its status alone counts as bound, too: who writes it by hand has no annotation."""
    spec = fields.need("spec", "a PersistentVolumeClaim has at least `spec.accessModes`")
    phase = fields.below("status", "a mapping with `phase`").one_of(
        "phase", ("Pending", "Bound", "Lost"), "a phase"
    )
    said = meta.annotations(OLD_CLASS, SELECTED_NODE, BIND_COMPLETED)
    wish = read_volume_wish(spec, said.get(OLD_CLASS))
    done = said.get(BIND_COMPLETED) == "yes" or phase == "Bound"
    if phase == "Bound" and not wish.volume:
        spec.fail(
            "`volumeName` is missing, and the claim's phase is Bound: name its volume, or remove the phase"
        )
    return VolumeClaimObject(
        meta, wish, bool(wish.volume) and done, said.get(SELECTED_NODE, ""), phase == "Lost"
    )


def read_volume_wish(spec: Manifest, old_class: str | None = None) -> VolumeWish:
    """The specification of a PersistentVolumeClaim."""
    fields = spec.mapping("a mapping with `accessModes`")
    modes = _modes(fields)
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        fields["accessModes"].fail(
            "ReadWriteOncePod is the only access mode of a claim that has it: remove the others"
        )
    return VolumeWish(
        old_class or fields.read("storageClassName", lambda value: value.text(CLASS_WORDS)),
        _storage(fields.below("resources", "a mapping with `requests`"), "requests"),
        modes,
        fields.one_of("volumeMode", VOLUME_MODES, "a volume mode"),
        fields.text(ATTRIBUTES, "the name of a class of attributes"),
        fields.read("selector", read_selector),
        fields.text("volumeName", "the name of a volume"),
    )


def read_mounts(pod: Fields) -> tuple[Mount, ...]:
    """The volumes of a pod specification that are those of claims, or disks that count for a CSI driver."""
    found = []
    for volume in pod.elements("volumes", "a list of volumes"):
        fields = volume.mapping("a volume")
        name = fields.text("name", "the name of a volume")
        if "persistentVolumeClaim" in fields:
            source = fields.below("persistentVolumeClaim", "a claim with `claimName`")
            claim = source.need("claimName", "name a PersistentVolumeClaim")
            found.append(Mount(name, claim.text("the name of a claim")))
        elif "ephemeral" in fields:
            source = fields.below("ephemeral", "a mapping with `volumeClaimTemplate`")
            found.append(Mount(name, None, source.read("volumeClaimTemplate", _template) or NO_WISH))
        elif driver := "" if "csi" in fields else driver_in(fields):
            found.append(Mount(name, None, driver=driver))
    return tuple(found)


def read_claim_templates(fields: Fields) -> tuple[tuple[str, VolumeWish], ...]:
    """The volumeClaimTemplates of a StatefulSet, by name."""
    found = []
    for template in fields.elements("volumeClaimTemplates", "a list of claims"):
        about = template.mapping("a claim with `metadata` and `spec`")
        named = about.below("metadata", "a mapping with `name`")
        if "name" not in named:
            template.fail("`metadata.name` is missing: a template of claims has a name")
        found.append((named.text("name", "a name"), _template(template)))
    return tuple(found)


def _template(value: Manifest) -> VolumeWish:
    return value.mapping("a template with `spec`").read("spec", read_volume_wish) or NO_WISH


NO_WISH = VolumeWish(None, Fraction(0), frozenset(), VOLUME_MODES[0], "", None, "")


def _modes(fields: Fields) -> frozenset[str]:
    listed = fields.elements("accessModes", "a list of access modes")
    return frozenset(mode.one_of(ACCESS_MODES, "an access mode") for mode in listed)


def _storage(fields: Fields, name: str) -> Fraction:
    value = fields.below(name, "a mapping with `storage`").get("storage")
    if value is None:
        return Fraction(0)
    size = parse_quantity(value.scalar("a quantity of bytes such as 10Gi"))
    return value.expect("a quantity of bytes such as 10Gi") if size is None else size
