"""What CSI drivers say of volumes: CSINode (how many a node takes), CSIDriver, and VolumeAttachment.

Volumes in which older plugins are named count for the driver that took their place (csi-translation-lib, 1.36).
"""

from collections.abc import Mapping

from ...base.structs import Data
from .manifest_values import Fields

IN_TREE = {
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    "gcePersistentDisk": ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    "azureDisk": ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    "azureFile": ("kubernetes.io/azure-file", "file.csi.azure.com"),
    "cinder": ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    "vsphereVolume": ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
    "portworxVolume": ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
}
"""The sources of volumes of older plugins, each with its provisioner and the CSI driver in its place."""

_DRIVERS = dict(IN_TREE.values())
OLD_PROVISIONERS = _DRIVERS.keys()
MANY_VOLUMES = (1 << 31) - 1


class CsiDriver(Data):
    """A CSIDriver. `attaches`: its volumes are attached to nodes. `capacity`: it says where it has capacity for new ones. `required`: no pod with its volumes is placed where it is not installed (VolumeLimitScaling)."""

    attaches: bool
    capacity: bool
    required: bool


class Attachment(Data):
    """A VolumeAttachment of a PersistentVolume; `volume` is "" for one that a pod names itself."""

    node: str
    driver: str
    volume: str


def driver_of(provisioner: str) -> str:
    """The CSI driver whose volumes a provisioner makes."""
    return _DRIVERS.get(provisioner, provisioner)


def driver_in(source: Fields) -> str:
    """The CSI driver of the source of a volume; "" for one that has none, such as `local`."""
    if "csi" in source:
        return source.below("csi", "a mapping with `driver`").text("driver", "the name of a CSI driver")
    return next((driver for name, (_, driver) in IN_TREE.items() if name in source), "")


def read_csi_node(fields: Fields) -> Mapping[str, int | None]:
    """The drivers that a CSINode names, and how many volumes of each the node takes; None for one without a limit."""
    found: dict[str, int | None] = {}
    for driver in fields.below("spec").mappings("drivers", "a list of drivers", "a driver with `name`"):
        allocatable = driver.below("allocatable", "a mapping with `count`")
        name = driver.need("name", "name the driver").text("the name of a CSI driver")
        limited = "count" in allocatable
        found[name] = allocatable["count"].integer(0, MANY_VOLUMES) if limited else None
    return found


def read_csi_driver(fields: Fields) -> CsiDriver:
    """A CSIDriver."""
    spec = fields.below("spec")
    attaches = spec.boolean("attachRequired") if "attachRequired" in spec else True
    required = spec.boolean("preventPodSchedulingIfMissing")
    return CsiDriver(attaches, spec.boolean("storageCapacity"), required)


def read_attachment(fields: Fields) -> Attachment:
    """A VolumeAttachment."""
    spec = fields.inner("spec", "a VolumeAttachment has `attacher`, `nodeName` and `source`", "a mapping")
    return Attachment(
        spec.text("nodeName", "the name of a node"),
        spec.text("attacher", "the name of a CSI driver"),
        spec.below("source").text("persistentVolumeName", "the name of a volume"),
    )
