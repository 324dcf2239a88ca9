"""Devices and volumes, and the claims by which pods ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from ....base.structs import dataclass
from ...language import Entity
from .nodes import Node


class Device(Entity):
    """A device that a driver has published, on a node; none for one that every node can reach. `of` is the device class that it is in.

    `conditions`: it has binding conditions, so that a pod is bound only once its driver has said that the device is ready. `exists` is False for one that its driver publishes later.
    """

    about = "device {}"

    def __init__(
        self,
        index: int,
        name: str,
        node: Node | None = None,
        of: str = "",
        *,
        conditions: bool = False,
        exists: bool = True,
    ) -> None:
        super().__init__(index, name)
        self.node, self.of, self.conditions, self.exists = node, of, conditions, exists

    def is_on(self, node: Node) -> bool:
        """Whether an allocation of the device lets a pod go to the node."""
        return self.node is None or self.node is node


class Claim(Entity):
    """A ResourceClaim, which asks for one device of the class `of`; with the device and the names of the pods that it is reserved for at the start.

    `exists` is False for one that comes later: a user creates it, or, if it has an `owner`, the controller makes it from a template for that pod.
    `special`: it stands for the extended resources that its owner asks for and devices back. The scheduler makes it, and may do so again when it is gone.
    `readiness` is what is known of its device's binding conditions at the start (`environment.storage.claims`), and `timed_out` whether it was waited for long enough.
    """

    about = "claim {}"

    def __init__(
        self,
        index: int,
        name: str,
        device: Device | None = None,
        reserved: Sequence[str] = (),
        of: str = "",
        *,
        exists: bool = True,
        owner: str | None = None,
        special: bool = False,
        readiness: int = 0,
        timed_out: bool = False,
    ) -> None:
        super().__init__(index, name)
        self.readiness, self.timed_out = readiness, timed_out
        self.device, self.reserved, self.of = device, frozenset(reserved), of
        self.exists, self.owner, self.special = exists, owner, special


@dataclass(frozen=True)
class StorageClass:
    """A StorageClass: whether claims of it wait for a consumer (volumeBindingMode), and whether it has a provisioner."""

    name: str
    immediate: bool = False
    provisions: bool = False


class Volume(Entity):
    """A PersistentVolume: the nodes that its node affinity ties it to (none for all), and the claim that it is reserved for at the start.

    `provisioned_for` names the claim for which a provisioner may make it: until then it does not exist, nor has it a node.
    """

    about = "volume {}"

    def __init__(
        self,
        index: int,
        name: str,
        storage_class: StorageClass,
        nodes: Sequence[Node] = (),
        *,
        claim: str | None = None,
        exists: bool = True,
        provisioned_for: str | None = None,
    ) -> None:
        super().__init__(index, name)
        self.storage_class, self.nodes = storage_class, tuple(nodes)
        self.claim, self.exists, self.provisioned_for = claim, exists, provisioned_for

    def is_on(self, node: Node) -> bool:
        """Whether the node affinity lets pods use the volume on the node."""
        return not self.nodes or any(node.index == other.index for other in self.nodes)


class VolumeClaim(Entity):
    """A PersistentVolumeClaim: its class, the volume that it names at the start, and whether it is bound to it.

    `exclusive`: its access mode is ReadWriteOncePod.
    """

    about = "volume claim {}"

    def __init__(
        self,
        index: int,
        name: str,
        storage_class: StorageClass,
        volume: Volume | None = None,
        *,
        completed: bool = False,
        exists: bool = True,
        exclusive: bool = False,
    ) -> None:
        super().__init__(index, name)
        self.storage_class, self.volume, self.completed = storage_class, volume, completed
        self.exists, self.exclusive = exists, exclusive
