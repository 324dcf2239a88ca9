"""Volumes before the changes of VolumeBinding and VolumeRestrictions since 1.32 (framework/plugins/volumebinding, util/assumecache, backend/cache)."""

from typing import Any

from ....environment.objects import Volume, VolumeClaim
from ....environment.storage.volumes import StorageWatch
from ....language import UNTOLD, Expr, any_of, as_expr, boolean, per, require, step, tells, when
from ....scheduler import Cache, VolumeCache
from ....scheduler.framework.events import VOLUME_CHANGE
from ...registry.change import always, before, no


@before(
    "139238", "the claims that pods use are counted from the changes since the last snapshot", first_in="1.37"
)
class UsedClaimsMadeAnew(Cache):
    """Whenever it changed which claims the pods of a NodeInfo use, the set of all of them was made anew (usedPVCSet)."""

    keeps_counts = no


@before(
    "133929",
    "the assume caches of volumes and their claims read the informers' stores, and Restore drops only an object with the same version",
    first_in="1.35",
    issues=(133872, 93552),
)
class CacheFedByEvents(VolumeCache):
    """The caches had stores of their own, each fed by a handler of its informer's; the queue had another handler, which might be told first.

    What the caches have is `volume` and `claim` here; the informers' own stores, which podHasPVCs reads, are not kept apart from it (A-VOLUME-LISTER).
    Restore went back to the informer's object by name, whatever was assumed, and by whom.
    """

    ahead_volume = per(Volume, boolean())
    ahead_claim = per(VolumeClaim, boolean())

    phrases = UNTOLD

    def volume_written(self, volume: Volume) -> None:
        super().volume_written(volume)
        self.ahead_volume[volume] = False

    def claim_written(self, claim: VolumeClaim) -> None:
        super().claim_written(claim)
        self.ahead_claim[claim] = False

    def is_news(self, volume: Volume) -> Expr:
        return super().is_news(volume) & ~as_expr(self.ahead_volume[volume])

    def is_claim_news(self, claim: VolumeClaim) -> Expr:
        return super().is_claim_news(claim) & ~as_expr(self.ahead_claim[claim])

    def store_volumes(self, watch: StorageWatch) -> None:
        super().store_volumes(watch)
        for volume in self.universe[Volume]:
            self.ahead_volume[volume] = False

    def store_claims(self, watch: StorageWatch) -> None:
        super().store_claims(watch)
        for claim in self.universe[VolumeClaim]:
            self.ahead_claim[claim] = False

    @step(actor="volume handler", fair=False)
    @tells("The scheduling queue is notified of volumes, before the assume cache.")
    def tell_ahead_of_volumes(self, watch: StorageWatch) -> None:
        """The queue's handler is given what the cache's has not been given yet."""
        new = {
            volume: (self.volume_lag[volume] != 0)
            & ~as_expr(self.ahead_volume[volume])
            & self.storage.volume[volume].exists
            for volume in self.universe[Volume]
        }
        require(any_of(new.values()) & ~as_expr(self.volume_news[watch]))
        self.queue.move_all(VOLUME_CHANGE)
        for volume, is_new in new.items():
            with when(is_new):
                self.ahead_volume[volume] = True

    @step(actor="volume claim handler", fair=False)
    @tells("The scheduling queue is notified of {claim}, before the assume cache.")
    def tell_ahead_of_claim(self, claim: VolumeClaim) -> None:
        """The same for claims."""
        current: Any = self.storage.claim[claim]
        require((self.claim_lag[claim] != 0) & ~as_expr(self.ahead_claim[claim]) & current.exists)
        require(~self.has_claim_news())
        self.move(claim, ~self.claim[claim].exists)
        self.ahead_claim[claim] = True

    is_restored = always
