"""What the scheduler knows of limits of volumes and of what is attached (the informers of CSINodes and VolumeAttachments, which NodeVolumeLimits reads in Filter; eventhandlers.go, 1.36)."""

from ...environment.objects import VolumeClaim
from ...environment.storage.csi_nodes import Attachable, CsiLimit, CsiNodes
from ...language import (
    Component,
    Expr,
    Lasts,
    Words,
    as_expr,
    boolean,
    changes,
    per,
    require,
    step,
    tells,
    when,
)
from ..framework.events import ATTACHMENT_DELETE, CSI_NODE_UPDATE
from ..queue.scheduling_queue import PriorityQueue
from .assume_cache import VolumeCache


class CsiInformers(Component):
    """`shown[l]`: the informer of CSINodes has the last limit. `attached[a]`: the informer of VolumeAttachments has the attachment. Both have notified the queue."""

    csi_nodes: CsiNodes
    queue: PriorityQueue
    volume_cache: VolumeCache

    shown = per(CsiLimit, boolean())
    attached = per(Attachable, boolean())

    steps_last = Lasts.SHORT

    phrases = {
        "shown": Words("CSINode informer: the limit of {0} is known"),
        "attached": Words(
            "VolumeAttachment informer: {0} is attached", "VolumeAttachment informer: {0} is detached"
        ),
    }

    def setup(self) -> None:
        for of in self.universe[CsiLimit]:
            self.shown[of] = not of.changes
        for at in self.universe[Attachable]:
            self.attached[at] = at.exists

    def relist(self) -> None:
        """A new process lists both before it schedules."""
        for of in self.universe[CsiLimit]:
            self.shown[of] = self.csi_nodes.updated[of]
        for at in self.universe[Attachable]:
            self.attached[at] = self.csi_nodes.attached[at]

    def limit(self, of: CsiLimit) -> tuple[Expr, Expr]:
        return of.is_told(self.shown[of]), of.value(self.shown[of])

    def is_attached(self, at: Attachable) -> Expr:
        return as_expr(self.attached[at])

    def volume_of(self, claim: VolumeClaim) -> Expr:
        return as_expr(self.volume_cache.claim[claim].volume)

    def has_claim(self, claim: VolumeClaim) -> Expr:
        return as_expr(self.volume_cache.claim[claim].exists)

    @step(actor="CSINode informer", each="of")
    @tells("The informer delivers the limit of {of}.")
    def deliver_limit(self, of: CsiLimit) -> None:
        """The store and then the queue's handler, in one step. Only a limit that grows, also from none, wakes pods."""
        require(of.changes)
        require(as_expr(self.csi_nodes.updated[of]) & ~as_expr(self.shown[of]))
        self.shown[of] = True
        self.queue.move_all(CSI_NODE_UPDATE, about=of)

    @step(actor="VolumeAttachment informer", each="at")
    @tells(
        changes("csi_informers.attached", after=True),
        "The informer delivers that {at} is attached.",
        "The informer delivers that {at} is detached.",
    )
    def deliver_attachment(self, at: Attachable) -> None:
        """The store and then the queue's handler, in one step. An attachment that is gone wakes pods with volumes."""
        now = self.csi_nodes.attached[at]
        require(as_expr(now) != as_expr(self.attached[at]))
        self.attached[at] = now
        with when(~as_expr(now)):
            self.queue.move_all(ATTACHMENT_DELETE)
