"""The `storageClasses`, `volumes` and `volumeClaims` sections, and what pods say of claims of volumes."""

from collections.abc import Mapping

from ....base.text import known_names
from ....model.environment.objects import CsiDriver, StorageClass, Volume, VolumeClaim
from ...tables.objects import CSI_DRIVERS, MODES, STORAGE_CLASSES, VOLUME_CLAIMS, VOLUMES
from ...values.labels import Member, known
from ...values.yaml_values import Value
from .draft import Draft

MOUNT_FIELDS = ("name", "persistentVolumeClaim")
CLAIM_SOURCE_FIELDS = ("claimName",)
_PLAIN_CLASS = {"immediate": True, "provisions": False}


def read_storage(draft: Draft) -> None:
    """CSI drivers with the limits of nodes, storage classes, volumes and their claims."""
    draft.drivers = {}
    for name, member in draft.members("csiDrivers", "drivers", CSI_DRIVERS, "{nodes: {n1: 1}}").items():
        CSI_DRIVERS.require(member.place, member.fields)
        for key, _ in member.fields["nodes"].items("a mapping from nodes to limits"):
            known(key, draft.nodes, "node")
        draft.drivers[name] = CsiDriver(name, **CSI_DRIVERS.read(member.fields))
    classes = _classes(draft)
    draft.volumes = _volumes(draft, classes)
    draft.volume_claims = _claims(draft, classes)
    for pod in draft.pods:
        for form in (pod, *pod.later.values()):
            claims = draft.volume_claims
            form.exclusive = frozenset(n for n in form.volumes if n in claims and claims[n].exclusive)


def _classes(draft: Draft) -> dict[str, StorageClass]:
    """The storage classes, by name. Without a provisioner, volumes of a class are those that there are."""
    example = "{volumeBindingMode: Immediate}"
    members = draft.members("storageClasses", "storage classes", STORAGE_CLASSES, example)
    for member in members.values():
        if "csiDriver" in member.fields:
            known(member.fields["csiDriver"], draft.drivers, "CSI driver")
    return {
        name: StorageClass(name, **{**_PLAIN_CLASS, **STORAGE_CLASSES.read(member.fields)})
        for name, member in members.items()
    }


def _volumes(draft: Draft, classes: Mapping[str, StorageClass]) -> dict[str, Volume]:
    """The volumes, by name; one that names no nodes can be used on all."""
    nodes, found = draft.nodes, {}
    example = "{storageClassName: local, nodes: [n1]}"
    for index, (name, member) in enumerate(draft.members("volumes", "volumes", VOLUMES, example).items()):
        where, attached = member.fields.get("nodes"), member.fields.get("attachedTo")
        if attached is not None:
            known(attached, nodes, "node")
        of, elements = _class(member, classes), where.elements("a list of nodes") if where is not None else []
        at = [nodes[known(element, nodes, "node")] for element in elements]
        found[name] = Volume(index, name, of, at, **VOLUMES.read(member.fields))
    return found


def _claims(draft: Draft, classes: Mapping[str, StorageClass]) -> dict[str, VolumeClaim]:
    """The claims, by name. To the volumes are added those that may be made for them."""
    volumes = draft.volumes
    members = draft.members("volumeClaims", "volume claims", VOLUME_CLAIMS, "{storageClassName: local}")
    for volume in volumes.values():
        if "volumeClaims" not in draft.sections:
            draft.sections["volumes"].fail(
                f"nobody could use {volume.name}: add `volumeClaims`, or remove it"
            )
        if volume.claim is not None and volume.claim not in members:
            draft.sections["volumes"].fail(
                f"{volume.name} is reserved for {volume.claim}, which is no claim; {known_names(volume.claim, members)}"
            )
    found = {
        name: _claim(index, name, member, classes, volumes)
        for index, (name, member) in enumerate(members.items())
    }
    for claim in found.values():
        made, of = f"pvc-{claim.name}", claim.storage_class
        if of.provisions and not claim.completed and made not in volumes:
            volumes[made] = Volume(len(volumes), made, of, exists=False, provisioned_for=claim.name)
    return found


def _claim(
    index: int, name: str, member: Member, classes: Mapping[str, StorageClass], volumes: Mapping[str, Volume]
) -> VolumeClaim:
    wanted, modes = member.fields.get("volumeName"), member.fields.get("accessModes")
    of, exists = _class(member, classes), member.exists
    volume = volumes[known(wanted, volumes, "volume")] if wanted is not None else None
    if wanted is not None and volume is not None:
        if volume.storage_class is not of:
            wanted.fail(f"{volume.name} is of class {volume.storage_class.name}, and the claim of {of.name}")
        if not exists:
            wanted.fail("a claim that does not exist at the start is bound to nothing: remove one of them")
    allowed = [] if modes is None else MODES.read(modes)
    exclusive = "ReadWriteOncePod" in allowed
    if modes is not None and exclusive and len(allowed) > 1:
        modes.fail("ReadWriteOncePod is the only access mode of a claim that has it: remove the others")
    completed = volume is not None and volume.claim == name and volume.exists
    return VolumeClaim(index, name, of, volume, completed=completed, exists=exists, exclusive=exclusive)


def read_mounts(value: Value | None) -> list[str]:
    """The names of the claims whose volumes a pod mounts, as names or as Kubernetes writes them."""
    return [] if value is None else value.distinct("a list of volume claims, such as [data]", _mount)


def _mount(element: Value) -> str:
    if not element.is_mapping:
        return element.scalar("the name of a volume claim")
    fields = element.fields(
        MOUNT_FIELDS, "a volume, such as {name: data, persistentVolumeClaim: {claimName: data}}"
    )
    if "persistentVolumeClaim" not in fields:
        element.fail("`persistentVolumeClaim` is missing: other volumes do not matter to the scheduler")
    source = fields["persistentVolumeClaim"].fields(CLAIM_SOURCE_FIELDS, "a claim, such as {claimName: data}")
    if "claimName" not in source:
        fields["persistentVolumeClaim"].fail("`claimName` is missing: name a claim of `volumeClaims`")
    return source["claimName"].scalar("the name of a volume claim")


def refuse_limits(draft: Draft) -> None:
    """Refuse CSI drivers of which no claim has volumes, nodes that come or go with their limits, and attachments that no limit counts."""
    used = {claim.storage_class.driver for claim in draft.volume_claims.values()}
    for name in draft.drivers:
        section = draft.sections["csiDrivers"]
        if name not in used:
            section.fail(
                f"no claim is for volumes of {name}: name it as `csiDriver` of a class, or remove it"
            )
        for node in draft.nodes.values():
            first, last = draft.drivers[name].limits.get(node.name, (None, 0))
            if first is not None and not node.exists:
                section.fail(
                    f"{node.name} does not exist at first, so {name} starts there later: give it [none, {last}]"
                )
        scope = draft.scope
        if scope.node_deletions or scope.scale_downs or scope.autoscaler:
            section.fail(
                "what becomes of the limits and attachments of nodes that are deleted is not modelled (A-CSI): remove `csiDrivers`, "
                "or `node_deletions`, `scale_downs` and `autoscaler`"
            )
    for volume in draft.volumes.values():
        of = draft.drivers.get(volume.storage_class.driver)
        if volume.attached and (of is None or volume.attached not in of.limits):
            draft.sections["volumes"].fail(
                f"{volume.name} is attached to {volume.attached}, which has no limit for it: remove `attachedTo`, or add the limit to `csiDrivers`"
            )


def refuse_mounts(draft: Draft) -> None:
    """Refuse mounts of claims that there are not, and pods on nodes that their volumes do not reach."""
    members, pods, claims = draft.pod_members, draft.pods, draft.volume_claims
    for pod in pods:
        value = members[pod.name].fields.get("volumes")
        if value is None:
            continue
        for element, name in zip(value.elements("a list of volume claims"), pod.volumes, strict=True):
            if name not in claims:
                element.fail(f"there is no volume claim {element.described}; {known_names(name, claims)}")
            claim = claims[name]
            if pod.node is not None and not claim.completed:
                element.fail(
                    f"{pod.name} is bound, and {name} is not: add `volumeName`, and `claimRef` to the volume"
                )
            if pod.node is not None and claim.volume is not None and not claim.volume.is_on(pod.node):
                element.fail(f"{pod.name} is bound to {pod.node.name}, where {claim.volume.name} is not")
        points = members[pod.name].fields.get("extensionPoints")
        named = points.elements("a list of extension points") if points is not None else []
        if pod.claims or any(point.scalar("an extension point") != "permit" for point in named):
            value.fail(
                "what several plugins make of one pod at Reserve and PreBind is not modelled: remove its `resourceClaims`, "
                "and `reserve` and `preBind` from its `extensionPoints`, or its volumes"
            )


def _class(member: Member, classes: Mapping[str, StorageClass]) -> StorageClass:
    VOLUMES.require(member.place, member.fields)
    return classes[known(member.fields["storageClassName"], classes, "storage class")]
