"""The assume cache of claims (util/assumecache/assume_cache.go, 1.36): what the scheduler knows of them, its own writes included.

An event of the informer, or an object that the scheduler assumes because it has just written it, changes the cache under its lock, and appends an
event of the cache's own. These events are delivered afterwards, without the lock: to the tracker of allocated devices first, then to the scheduling
queue. A call returns when all of them are delivered (emitEvents).
"""

from collections.abc import Mapping
from typing import Any

from ...environment.cluster.scope import passing_claims
from ...environment.objects import Claim, Device, Pod
from ...environment.storage.claims import (
    DELETING,
    GONE,
    MOST_BEHIND,
    NOT_YET,
    THERE,
    ClaimChange,
    ClaimObject,
    ClaimUse,
    ClaimWatch,
    ResourceClaims,
    older,
)
from ...language import (
    Component,
    Expr,
    Lasts,
    Record,
    Value,
    Words,
    any_of,
    as_expr,
    boolean,
    changes,
    fifo,
    integer,
    one_of,
    per,
    ref,
    require,
    step,
    tells,
    when,
)
from ..framework.events import CLAIM_UPDATE
from ..queue.moves import Mover
from ..queue.scheduling_queue import PriorityQueue
from .claim_tracker import ClaimTracker

MOST_EVENTS = 4
"""So many events of the cache can wait to be delivered: the informer and each goroutine that binds wait for theirs."""


class CacheEvent(Record):
    """An update of a claim in the cache: its devices before and after, and whether its status changed at all."""

    claim = ref(Claim)
    old = ref(Device)
    new = ref(Device)
    differs = boolean()
    added = boolean(possible=passing_claims)
    gone = boolean(possible=passing_claims)


class AssumeCache(Component):
    """The assume cache of claims. `latest` is the object that Get and List return, `stored` the informer's object, to which Restore returns. Both record how far they are behind the API server.

    `told`: the oldest of the `events` was given to the tracker, and not yet to the queue.
    """

    resource_claims: ResourceClaims
    claim_tracker: ClaimTracker
    queue: PriorityQueue

    latest = per(Claim, ClaimObject)
    latest_lag = per(Claim, integer(0, MOST_BEHIND))
    stored = per(Claim, ClaimObject)
    stored_lag = per(Claim, integer(0, MOST_BEHIND))
    events = per(ClaimWatch, fifo(MOST_EVENTS, CacheEvent))
    told = per(ClaimWatch, boolean())

    steps_last = Lasts.SHORT

    phrases = {
        "latest.device": Words(
            "assume cache: {0} is allocated {after}", "assume cache: {0} is not allocated", decisive=True
        ),
        "latest.reserved": Words(
            "assume cache: {0} is reserved for {1}", "assume cache: {0} is not reserved for {1}"
        ),
    }

    def setup(self) -> None:
        for claim in self.universe[Claim]:
            for held in (self.latest, self.stored):
                held[claim].device = claim.device
                if claim.readiness:
                    held[claim].readiness = claim.readiness
                for pod in self.universe[Pod]:
                    held[claim].reserved[pod] = pod.name in claim.reserved
                if not claim.exists:
                    held[claim].life = NOT_YET

    def has(self, claim: Claim) -> Expr:
        """Whether the cache has an object of the claim."""
        if not self.resource_claims.passes():
            return as_expr(True)
        return one_of(self.latest[claim].life, THERE, DELETING)

    def is_usable(self, claim: Claim) -> Expr:
        """Whether the cache has the claim, and it is not being deleted."""
        return self.latest[claim].life == THERE if self.resource_claims.passes() else as_expr(True)

    def written(self, claim: Claim) -> None:
        """A write at the API server makes both objects one version older."""
        self.latest_lag[claim] = older(self.latest_lag[claim])
        self.stored_lag[claim] = older(self.stored_lag[claim])

    # --- another process -------------------------------------------------------------------------------------

    def relist(self) -> None:
        """A new process lists the claims. Its handlers receive all of them before it schedules (WaitForHandlersSync)."""
        self._begin_with({claim: (self.resource_claims.object[claim], 0) for claim in self.universe[Claim]})
        for watch in self.universe[ClaimWatch]:
            undelivered = self.resource_claims.events[watch]
            undelivered.drop(undelivered.length)

    def take_over(self) -> None:
        """A standby starts with what its informer has, which is as new as that of the previous leader."""
        self._begin_with({c: (self.stored[c].replace(), self.stored_lag[c]) for c in self.universe[Claim]})

    def _begin_with(self, objects: Mapping[Claim, tuple[Any, Value]]) -> None:
        self.reset()
        for claim, (shown, lag) in objects.items():
            self.latest[claim] = shown
            self.stored[claim] = shown
            self.latest_lag[claim] = lag
            self.stored_lag[claim] = lag
        self.claim_tracker.begin_with({claim: shown.device for claim, (shown, _) in objects.items()})

    # --- writes ----------------------------------------------------------------------------------------------

    @step(actor="claim informer")
    @tells(
        changes("claim_cache.latest_lag"),
        "The informer delivers to the assume cache that {claim} was written.",
        "The informer delivers a write of {claim} to the assume cache, which has as new an object: nothing changes.",
    )
    def deliver(self, claim: Claim) -> None:
        """add: the object replaces the latest one if its version is newer; otherwise it is dropped."""
        for watch in self.universe[ClaimWatch]:
            events = self.resource_claims.events[watch]
            head = events.head
            require(~events.is_empty & (head.claim == claim) & self.informer_is_free(watch))
            self.queue.goes_on(Mover.CLAIM_CACHE)
            lag = self.resource_claims.later_events(watch, claim)
            with when(lag < self.latest_lag[claim]):
                self._push(claim, head.object)
                self.latest[claim] = head.object
                self.stored[claim] = head.object
                self.latest_lag[claim] = lag
                self.stored_lag[claim] = lag
            events.pop()

    def assume(self, claim: Claim, new: Any, lag: Value) -> None:
        """Assume: the object that a write has returned becomes the latest one, unless the cache has a newer one."""
        with when((as_expr(lag) <= self.latest_lag[claim]) & self.has(claim)):
            self._push(claim, new)
            self.latest[claim] = new
            self.latest_lag[claim] = lag

    def restore(self, claim: Claim) -> None:
        """Restore: the informer's object becomes the latest one again. A special claim can have been assumed with an allocation that was never written."""
        differs = self.latest_lag[claim] != self.stored_lag[claim]
        if claim.special:
            differs = differs | self._differs(self.latest[claim], self.stored[claim])
        with when(differs):
            self._push(claim, self.stored[claim])
            self.latest[claim] = self.stored[claim]
            self.latest_lag[claim] = self.stored_lag[claim]

    def _differs(self, old: Any, new: Any) -> Expr:
        """Whether the two objects have different statuses."""
        differs = (as_expr(old.device) != new.device) | any_of(
            as_expr(old.reserved[pod]) != new.reserved[pod] for pod in self.universe[Pod]
        )
        if self.resource_claims.has_conditions():
            differs = differs | (as_expr(old.readiness) != new.readiness)
        return differs

    def _push(self, claim: Claim, new: Any) -> None:
        old: Any = self.latest[claim]
        differs = self._differs(old, new)
        for watch in self.universe[ClaimWatch]:
            passing: dict[str, Expr] = {}
            if self.resource_claims.passes():
                passing = {"added": ~self.has(claim), "gone": new.life == GONE}
            event = CacheEvent(claim=claim, old=old.device, new=new.device, differs=differs, **passing)
            self.events[watch].push(event)

    # --- deliveries ------------------------------------------------------------------------------------------

    def informer_is_free(self, watch: ClaimWatch) -> Expr:
        """Whether the informer's last call has returned."""
        return self.is_drained(watch)

    def has_returned(self, use: ClaimUse) -> Expr:
        """Whether a call that a binding goroutine has made returns."""
        return any_of(self.is_drained(watch) for watch in self.universe[ClaimWatch])

    def return_call(self, use: ClaimUse) -> None:
        """A call of a binding goroutine returns: the last event is delivered, and the move that it caused is over."""
        require(self.has_returned(use))
        self.queue.goes_on(Mover.CLAIM_CACHE)

    def is_drained(self, watch: ClaimWatch) -> Expr:
        """Whether both handlers have received all events of the cache."""
        return self.events[watch].is_empty

    @step(actor="assume cache")
    @tells("The tracker of allocated devices is notified of {claim}.")
    def tell_tracker(self, claim: Claim) -> None:
        """The first handler, that of allocatedDevices, receives the oldest event."""
        for watch in self.universe[ClaimWatch]:
            head = self.events[watch].head
            require(~self.events[watch].is_empty & (head.claim == claim) & ~self.told[watch])
            self.queue.goes_on(Mover.CLAIM_CACHE)
            self.claim_tracker.update(head.old, head.new)
            self.told[watch] = True

    @step(actor="assume cache")
    @tells("The scheduling queue is notified of {claim}.")
    def tell_queue(self, claim: Claim) -> None:
        """The second handler, the queue's, receives the event. It moves the pods that the change can help."""
        for watch in self.universe[ClaimWatch]:
            head = self.events[watch].head
            require(~self.events[watch].is_empty & (head.claim == claim) & self.told[watch])
            if self.resource_claims.passes():
                change = ClaimChange(
                    claim, is_deallocated(head), head.differs, as_expr(head.added), as_expr(head.gone)
                )
                with when(~as_expr(head.gone) | self.tells_of_deletions()):
                    self.queue.move_all(CLAIM_UPDATE, about=change)
            else:
                self.queue.move_all(
                    CLAIM_UPDATE, about=ClaimChange(claim, is_deallocated(head), head.differs)
                )
            self.queue.moved_by(Mover.CLAIM_CACHE)
            self.events[watch].pop()
            self.told[watch] = False

    def tells_of_deletions(self) -> bool:
        """Whether the queue is notified of deleted claims: if DynamicResources registered for them."""
        return True


def is_deallocated(event: Any) -> Expr:
    """Whether the update took the claim's allocation away."""
    return as_expr(event.old).is_some & as_expr(event.new).is_none
