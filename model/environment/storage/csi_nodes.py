"""What CSI drivers and the attach/detach controller write: how many volumes a node takes (CSINode), and which are attached to it (VolumeAttachment).

A driver starts some time after its node has joined, and the kubelet writes its limit into the CSINode. The controller attaches the volumes of the pods of a node, and
detaches one some time after its last pod there is gone (pkg/controller/volume/attachdetach, 1.36). Where there are no CSI drivers nothing of this exists (A-CSI).
"""

from collections.abc import Iterable
from typing import Protocol

from ...language import (
    Component,
    Expr,
    Value,
    Words,
    any_of,
    as_expr,
    boolean,
    per,
    require,
    select,
    step,
    tells,
)
from ..api import APIServer
from ..cluster.derived import Derived, Found, Roster
from ..objects import CsiDriver, Node, Pod, Volume, VolumeClaim
from .volumes import Storage


class CsiLimit(Derived, named="{driver.name} on {node}"):
    """How many volumes of a driver a node takes: at first, None before the driver has started there, and later."""

    driver: CsiDriver
    node: Node
    first: int | None
    last: int

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        nodes = {node.name: node for node in cluster.spec.nodes}
        return ((d, nodes[name], *limit) for d in cluster.spec.drivers for name, limit in d.limits.items())

    @property
    def changes(self) -> bool:
        """Whether the CSINode is updated in the run."""
        return self.first != self.last

    @property
    def exists(self) -> bool:
        """Whether the CSINode says at the start what it says at the end."""
        return not self.changes

    def value(self, updated: Value) -> Expr:
        """The limit, before or after the update; before a driver has started there is none."""
        return select(updated, self.last, self.last if self.first is None else self.first)

    def is_told(self, updated: Value) -> Expr:
        """Whether the CSINode has the driver."""
        return as_expr(updated) | (self.first is not None)


class Attachable(Derived, named="{volume} on {node}"):
    """A volume that can be attached to a node with a limit."""

    volume: Volume
    node: Node
    exists: bool

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return (
            (
                volume,
                limit.node,
                is_attached_at_start(volume, limit.node, cluster.spec.volume_claims, cluster.spec.pods),
            )
            for limit in cluster[CsiLimit]
            for volume in cluster.spec.volumes
            if volume.storage_class.driver == limit.driver.name and volume.is_on(limit.node)
        )


class CsiView(Protocol):
    """CSINodes, VolumeAttachments and claims, as somebody sees them."""

    def limit(self, of: CsiLimit) -> tuple[Expr, Expr]:
        """Whether there is a limit, and which."""

    def is_attached(self, at: Attachable) -> Expr:
        """Whether the volume takes a place of the node, also if no pod there uses it."""

    def volume_of(self, claim: VolumeClaim) -> Expr:
        """The volume that the claim is bound to."""

    def has_claim(self, claim: VolumeClaim) -> Expr:
        """Whether the claim is there."""


class CsiNodes(Component):
    """`updated[l]`: the CSINode has the last limit. `attached[a]`: there is a VolumeAttachment."""

    api: APIServer
    storage: Storage

    kinds = (CsiLimit, Attachable)

    updated = per(CsiLimit, boolean())
    attached = per(Attachable, boolean())

    phrases = {
        "updated": Words("API server: the CSINode has the limit of {0}", decisive=True),
        "attached": Words("API server: {0} is attached", "API server: {0} is detached", decisive=True),
    }

    def setup(self) -> None:
        for of in self.universe[CsiLimit]:
            self.updated[of] = not of.changes
        for at in self.universe[Attachable]:
            self.attached[at] = at.exists

    def is_used(self, at: Attachable) -> Expr:
        """Whether a pod on the node uses the volume."""
        return any_of(
            (self.storage.claim[claim].volume == at.volume)
            & any_of(
                self.api.pod[p].assigned & (self.api.pod[p].node == at.node)
                for p in self.storage.users(claim)
            )
            for claim in self.universe[VolumeClaim]
            if claim.storage_class is at.volume.storage_class
        )

    # --- what is so, for those who compare with the scheduler's view -----------------------------------------

    def limit(self, of: CsiLimit) -> tuple[Expr, Expr]:
        return of.is_told(self.updated[of]), of.value(self.updated[of])

    def is_attached(self, at: Attachable) -> Expr:
        # What a pod of the node uses counts as that.
        return as_expr(self.attached[at]) & ~self.is_used(at)

    def volume_of(self, claim: VolumeClaim) -> Expr:
        return as_expr(self.storage.claim[claim].volume)

    def has_claim(self, claim: VolumeClaim) -> Expr:
        return as_expr(self.storage.claim[claim].exists)

    # --- steps -----------------------------------------------------------------------------------------------

    @step(actor="CSI driver", goroutine="limits", each="of")
    @tells("The kubelet writes the limit of {of} into the CSINode.")
    def update(self, of: CsiLimit) -> None:
        """UPDATE of the CSINode, after the driver has registered with the kubelet of a node that exists, or has counted again."""
        require(of.changes)
        require(~as_expr(self.updated[of]) & self.api.node_exists[of.node])
        self.updated[of] = True

    @step(actor="attach/detach controller", goroutine="attaching", each="at")
    @tells("The attach/detach controller attaches {at}.")
    def attach(self, at: Attachable) -> None:
        """POST of a VolumeAttachment for a volume that a pod of the node uses."""
        require(~as_expr(self.attached[at]) & self.is_used(at))
        self.attached[at] = True

    @step(actor="attach/detach controller", goroutine="detaching", each="at")
    @tells("The attach/detach controller has detached {at}.")
    def detach(self, at: Attachable) -> None:
        """The VolumeAttachment of a volume that no pod of the node uses is gone: the driver has detached it."""
        require(as_expr(self.attached[at]) & ~self.is_used(at))
        self.attached[at] = False


def is_attached_at_start(
    volume: Volume, node: Node, claims: Iterable[VolumeClaim], pods: Iterable[Pod]
) -> bool:
    """Whether the volume is attached at the start: to the node that it names, or because a pod there uses it."""
    names = {c.name for c in claims if c.completed and c.volume is volume}
    users = [pod for pod in pods if pod.node is not None and pod.node.name == node.name]
    return volume.attached == node.name or any(not names.isdisjoint(pod.volumes) for pod in users)
