"""Devices and volumes, and the claims by which pods ask for them."""

from __future__ import annotations

from collections import Counter as Sums
from collections.abc import Mapping, Sequence

from ....base.structs import Data
from ...language import Entity
from .nodes import Node


class Counter(Data, slots=False):
    """What devices draw on: a counter that they share, or what one device has to give."""

    name: str
    capacity: int


class Wish(Data, slots=False):
    """What a claim may be given: so many devices of a class."""

    of: str = ""
    count: int = 1


class Device(Entity):
    """What a claim can be allocated: a device that a driver has published, on a node; none for one that every node can reach. `of` is the device class that it is in.

    `conditions`: it has binding conditions, so that a pod is bound only once its driver has said that the device is ready. `exists` is False for one that its driver publishes later.
    `draws` is what it takes of counters, by itself all of one that is its own. Several devices for one claim are one that has `parts`, and draws on what they
    draw on. What a claim has of a device that several claims share is one as well: `user` is the claim, and `shared` what the device is called. So is what an administrator's claim has of a device,
    its only part: it takes nothing.
    `taint` is the effect of the taint that it has from the start.
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
        draws: Mapping[Counter, int] | None = None,
        parts: Sequence[Device] = (),
        shared: str = "",
        user: str = "",
        taint: str = "",
    ) -> None:
        super().__init__(index, name)
        self.node, self.of, self.conditions, self.exists = node, of, conditions, exists
        self.parts, self.shared, self.user, self.taint = tuple(parts), shared, user, taint
        drawn: Sums[Counter] = Sums()
        for part in parts:
            drawn.update(part.draws)
        own = draws if shared else {Counter(name, 1): 1, **(draws or {})}
        self.draws: Mapping[Counter, int] = {} if user and not shared else drawn or own or {}

    def is_on(self, node: Node) -> bool:
        """Whether an allocation of the device lets a pod go to the node."""
        return self.node is None or self.node is node


EVERY_EFFECT = "all"
"""What a claim tolerates whose toleration has no effect."""


class Claim(Entity):
    """A ResourceClaim, which asks for one device of the class `of`, or for the first of `wishes` that can be had, or for an `amount` of what a device has (0: all); with the device and the names of the pods that it is reserved for at the start.

    `exists` is False for one that comes later: a user creates it, or, if it has an `owner`, the controller makes it from a template for that pod.
    `special`: it stands for the extended resources that its owner asks for and devices back. The scheduler makes it, and may do so again when it is gone.
    `readiness` is what is known of its device's binding conditions at the start (`environment.storage.claims`), and `timed_out` whether it was waited for long enough.
    `admin`: an administrator asks, and is given a device whether or not others have it. `tolerates`: taints of devices with this effect do not matter to it; `briefly`: it has tolerationSeconds.
    `fails_on`: of these devices its selector cannot be evaluated. `listed`: it names alternatives, even if only one.
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
        wishes: Sequence[Wish] = (),
        amount: int = 0,
        admin: bool = False,
        tolerates: str = "",
        briefly: bool = False,
        fails_on: Sequence[str] = (),
        listed: bool = False,
    ) -> None:
        super().__init__(index, name)
        self.fails_on, self.listed = frozenset(fails_on), listed
        self.wishes, self.amount, self.admin = tuple(wishes) or (Wish(of),), amount, admin
        self.tolerates, self.briefly = tolerates, briefly
        self.readiness, self.timed_out = readiness, timed_out
        self.device, self.reserved, self.of = device, frozenset(reserved), of
        self.exists, self.owner, self.special = exists, owner, special

    def accepts(self, effect: str) -> bool:
        """Whether it tolerates taints with this effect."""
        return self.tolerates in (effect, EVERY_EFFECT)

    def rank(self, device: Device) -> int | None:
        """Which of its wishes the device meets, from 0 on; None for none."""
        if (
            device.user not in ("", self.name)
            or (self.admin and not device.user)
            or device.name in self.fails_on
        ):
            return None
        if self.amount and not device.shared:
            return None  # a device that claims do not share has no capacity to ask for
        offered = Wish(device.of, len(device.parts) or 1)
        return self.wishes.index(offered) if offered in self.wishes else None


class CsiDriver(Data, slots=False):
    """A CSI driver, and of nodes by name how many volumes of it their CSINode says that they take: at first, None before the driver has started there, and later.

    `required`: preventPodSchedulingIfMissing.
    """

    name: str
    limits: Mapping[str, tuple[int | None, int]]
    required: bool = False


class StorageClass(Data, slots=False):
    """A StorageClass: whether claims of it wait for a consumer (volumeBindingMode), whether it has a provisioner, and the CSI driver of its volumes, if nodes may have limits for it."""

    name: str
    immediate: bool = False
    provisions: bool = False
    driver: str = ""


class Volume(Entity):
    """A PersistentVolume: the nodes that its node affinity ties it to (none for all), and the claim that it is reserved for at the start.

    `provisioned_for` names the claim for which a provisioner may make it: until then it does not exist, nor has it a node. `attached` names the node to which
    it is still attached at the start, for a pod that is gone.
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
        attached: str = "",
    ) -> None:
        super().__init__(index, name)
        self.attached = attached
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
