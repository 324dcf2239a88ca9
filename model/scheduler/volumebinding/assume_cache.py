"""The assume caches of volumes and their claims (framework/plugins/volumebinding/passive_assume_cache.go, 1.36), on top of the informers' stores.

What the scheduler means to write, and has not written yet, is an object with the version of the store's. It counts as long as the store has that very version.
So what is assumed is dropped here when the store is given another version; upstream it is overlooked from then on, and dropped by the informer's next event.
"""

from enum import Enum
from typing import Any

from ...environment.objects import Node, Volume, VolumeClaim
from ...environment.storage.volumes import (
    MOST_BEHIND,
    Storage,
    StorageWatch,
    VolumeClaimChange,
    VolumeClaimObject,
    VolumeObject,
    claim_at_start,
    older,
    volume_at_start,
)
from ...language import (
    Component,
    Expr,
    Lasts,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    changes,
    enum,
    integer,
    one_of,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ..framework.events import VOLUME_CHANGE, VOLUME_CLAIM_ADD, VOLUME_CLAIM_UPDATE
from ..queue.scheduling_queue import PriorityQueue


class News(Enum):
    """What the queue has still to be told of a claim."""

    NONE = 0
    UPDATED = 1
    ADDED = 2


class VolumeCache(Component):
    """The scheduler's cache of volumes. `volume` and `claim` are the informers' stores. Each object records how far it is behind the API server.

    `assumed_volume[v]`: the claim for which the volume is to be reserved; `assumed_claim[c]`: the node on which a volume is to be made.
    `volume_news` and `claim_news`: of what the queue's handler has still to be told.
    """

    storage: Storage
    queue: PriorityQueue

    volume = per(Volume, VolumeObject)
    volume_lag = per(Volume, integer(0, MOST_BEHIND))
    claim = per(VolumeClaim, VolumeClaimObject)
    claim_lag = per(VolumeClaim, integer(0, MOST_BEHIND))
    assumed_volume = per(Volume, ref(VolumeClaim))
    assumed_claim = per(VolumeClaim, ref(Node))
    volume_news = per(StorageWatch, boolean())
    claim_news = per(VolumeClaim, enum(News))

    steps_last = Lasts.SHORT

    phrases = {
        "volume.claim": Words(
            "volume informer: {0} is reserved for {after}",
            "volume informer: {0} is reserved for no claim",
        ),
        "claim.volume": Words("claim informer: {0} is bound to {after}"),
        "claim.selected": Words("claim informer: {0} is to have a volume on {after}"),
        "assumed_volume": Words(
            "assume cache: {0} is to be reserved for {after}",
            "assume cache: {0} is as the informer has it",
            decisive=True,
        ),
        "assumed_claim": Words(
            "assume cache: {0} is to have a volume on {after}",
            "assume cache: {0} is as the informer has it",
            decisive=True,
        ),
    }

    def setup(self) -> None:
        for volume in self.universe[Volume]:
            self.volume[volume] = volume_at_start(volume, self.universe[VolumeClaim])
        for claim in self.universe[VolumeClaim]:
            self.claim[claim] = claim_at_start(claim)

    def volume_written(self, volume: Volume) -> None:
        """A write at the API server makes the store's volume one version older."""
        self.volume_lag[volume] = older(self.volume_lag[volume])

    def claim_written(self, claim: VolumeClaim) -> None:
        """A write at the API server makes the store's claim one version older."""
        self.claim_lag[claim] = older(self.claim_lag[claim])

    # --- another process -------------------------------------------------------------------------------------

    def relist(self) -> None:
        """A new process lists volumes and claims. Its handlers receive all of them before it schedules (WaitForHandlersSync)."""
        self.reset()
        for volume in self.universe[Volume]:
            self.volume[volume] = self.storage.volume[volume]
        for claim in self.universe[VolumeClaim]:
            self.claim[claim] = self.storage.claim[claim]

    def take_over(self) -> None:
        """A standby's informers are as new as those of the previous leader. It has assumed nothing."""
        for volume in self.universe[Volume]:
            self.assumed_volume[volume] = None
        for claim in self.universe[VolumeClaim]:
            self.assumed_claim[claim] = None

    # --- the informers ---------------------------------------------------------------------------------------

    @step(actor="volume informer")
    @tells("The scheduler's informer of volumes receives what was written.")
    def store_volumes(self, watch: StorageWatch) -> None:
        """The store has the volumes as they were at one moment: the events of one kind arrive in the order of the writes."""
        require(any_of(self.volume_lag[volume] != 0 for volume in self.universe[Volume]))
        for volume in self.universe[Volume]:
            with when(self.volume_lag[volume] != 0):
                self.volume[volume] = self.storage.volume[volume]
                self.volume_lag[volume] = 0
                self.assumed_volume[volume] = None
                with when(self.storage.volume[volume].exists & self.is_news(volume)):
                    self.volume_news[watch] = True

    def is_news(self, volume: Volume) -> Expr:
        """Whether the queue has not been notified of the volume's newest version."""
        return as_expr(True)

    @step(actor="volume claim informer")
    @tells("The scheduler's informer of volume claims receives what was written.")
    def store_claims(self, watch: StorageWatch) -> None:
        """The same for claims."""
        claims = self.universe[VolumeClaim]
        require(any_of(self.claim_lag[claim] != 0 for claim in claims))
        for claim in claims:
            current: Any = self.storage.claim[claim]
            with when(self.claim_lag[claim] != 0):
                added = self.claim[claim].exists
                with when(current.exists & self.is_claim_news(claim)):
                    earlier = self.claim_news[claim]
                    kept = select(as_expr(earlier) == News.ADDED, News.ADDED, News.UPDATED)
                    self.claim_news[claim] = select(added, kept, News.ADDED)
                self.claim[claim] = current
                self.claim_lag[claim] = 0
                self.assumed_claim[claim] = None

    def is_claim_news(self, claim: VolumeClaim) -> Expr:
        """Whether the queue has not been notified of the claim's newest version."""
        return as_expr(True)

    @step(actor="volume handler")
    @tells("The scheduling queue is notified of volumes.")
    def tell_of_volumes(self, watch: StorageWatch) -> None:
        """The queue's handler: a volume that was added or updated can help the pods that VolumeBinding has rejected."""
        require(self.volume_news[watch])
        self.queue.move_all(VOLUME_CHANGE)
        self.volume_news[watch] = False

    @step(actor="volume claim handler")
    @tells(
        changes("volume_cache.claim_news", before=News.ADDED),
        "The scheduling queue is told that {claim} was added.",
        "The scheduling queue is told that {claim} was updated.",
    )
    def tell_of_claim(self, claim: VolumeClaim) -> None:
        """The queue's handler: wakes the pods that mount the claim and that VolumeBinding has rejected. If several claims changed, the first in the scenario."""
        earlier = [other for other in self.universe[VolumeClaim] if other.index < claim.index]
        require(all_of(self.claim_news[other] == News.NONE for other in earlier))
        require(one_of(self.claim_news[claim], News.ADDED, News.UPDATED))
        self.move(claim, self.claim_news[claim] == News.ADDED)
        self.claim_news[claim] = News.NONE

    def has_claim_news(self) -> Expr:
        """Whether the queue has not been notified of some claim."""
        return any_of(self.claim_news[claim] != News.NONE for claim in self.universe[VolumeClaim])

    def move(self, claim: VolumeClaim, added: Expr) -> None:
        """MoveAllToActiveOrBackoffQueue for a claim that was added, or updated."""
        about = VolumeClaimChange(claim)
        with when(added):
            self.queue.move_all(VOLUME_CLAIM_ADD, about=about)
        with when(~added):
            self.queue.move_all(VOLUME_CLAIM_UPDATE, about=about)

    # --- what the plugin reads and assumes -------------------------------------------------------------------

    def get_volume(self, volume: Volume) -> VolumeObject:
        """Get, or one of ListPVs: the store's object, with the assumed changes."""
        stored: Any = self.volume[volume]
        assumed = as_expr(self.assumed_volume[volume])
        return stored.replace(claim=select(assumed.is_some, assumed, stored.claim))

    def get_claim(self, claim: VolumeClaim) -> VolumeClaimObject:
        """Get: the store's object, with the assumed changes."""
        stored: Any = self.claim[claim]
        assumed = as_expr(self.assumed_claim[claim])
        return stored.replace(selected=select(assumed.is_some, assumed, stored.selected))

    def may_assume_volume(self, volume: Volume, lag: Value) -> Expr:
        """Whether Assume accepts the object: it must have the version in the store."""
        return self.volume[volume].exists & (self.volume_lag[volume] == lag)

    def may_assume_claim(self, claim: VolumeClaim, lag: Value) -> Expr:
        """Whether Assume accepts the object: it must have the version in the store."""
        return self.claim[claim].exists & (self.claim_lag[claim] == lag)

    def restore_volume(self, volume: Volume, lag: Value) -> None:
        """Restore: drops the assumed state of the volume, from any cycle, if the store has the version of this object."""
        with when(self.is_restored(self.volume_lag[volume], lag)):
            self.assumed_volume[volume] = None

    def restore_claim(self, claim: VolumeClaim, lag: Value) -> None:
        """Restore: drops the assumed state of the claim, from any cycle, if the store has the version of this object."""
        with when(self.is_restored(self.claim_lag[claim], lag)):
            self.assumed_claim[claim] = None

    def is_restored(self, stored: Value, given: Value) -> Expr:
        """Whether Restore with an object that is this far behind drops the assumed state, which is as far behind as the store's object."""
        return as_expr(stored) == given
