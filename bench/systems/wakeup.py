"""Pop waits for a pod on a condition variable whose lock guards activeQ; who adds a pod broadcasts after it, as kube-scheduler does (kubernetes/kubernetes 135878).

Is a wake-up lost? Not of a pod in activeQ: it is added under the lock. Since 1.33 Pop takes pods from backoffQ, too, which has a lock of its own: there one can be
lost, unless the broadcast takes the lock of activeQ. The periodic flush, which broadcasts once the pod's backoff is over, is left out.
"""

from enum import Enum

from podrace.model.language import (
    Entity,
    Expr,
    System,
    Value,
    any_of,
    boolean,
    enum,
    invariant,
    per,
    require,
    step,
    when,
    witness,
)


class Adder(Entity):
    members = 2


class Popping(Enum):
    OUTSIDE = 0
    LOCKED = 1
    SAW_NO_POD = 2
    ASLEEP = 3


class Adding(Enum):
    NOTHING = 0
    ADDED = 1
    DONE = 2


class ActiveQ(System):
    """Pods are added under the lock on which Pop waits; the broadcast comes later, without it."""

    added_under_lock = True
    broadcast_under_lock = False

    pop = enum(Popping)
    adder = per(Adder, enum(Adding))
    waiting = per(Adder, boolean())

    @property
    def is_locked(self) -> Expr:
        return any_of([self.pop == Popping.LOCKED, self.pop == Popping.SAW_NO_POD])

    def has_pod(self) -> Expr:
        first, second = self.universe[Adder]
        return any_of([self.waiting[first], self.waiting[second]])

    @step(actor="Pop")
    def lock(self) -> None:
        """Takes the lock of activeQ."""
        require(self.pop == Popping.OUTSIDE)
        self.pop = Popping.LOCKED

    @step(actor="Pop")
    def see_no_pod(self) -> None:
        """Sees that there is no pod."""
        require(self.pop == Popping.LOCKED)
        require(~self.has_pod())
        self.pop = Popping.SAW_NO_POD

    @step(actor="Pop")
    def wait(self) -> None:
        """Waits, and gives the lock back in the same moment."""
        require(self.pop == Popping.SAW_NO_POD)
        self.pop = Popping.ASLEEP

    @step(actor="Pop", each="who")
    def take(self, who: Adder) -> None:
        """Takes a pod, and gives the lock back."""
        require(self.pop == Popping.LOCKED)
        require(self.waiting[who])
        self.waiting[who] = False
        self.pop = Popping.OUTSIDE

    @step(actor="handler", each="who")
    def add(self, who: Adder) -> None:
        """Adds a pod."""
        require(self.adder[who] == Adding.NOTHING)
        if self.added_under_lock:
            require(~self.is_locked)
        self.adder[who] = Adding.ADDED
        self.waiting[who] = True

    @step(actor="handler", each="who")
    def broadcast(self, who: Adder) -> None:
        """Wakes Pop, if it sleeps."""
        require(self.adder[who] == Adding.ADDED)
        if self.broadcast_under_lock:
            require(~self.is_locked)
        self.adder[who] = Adding.DONE
        with when(self.pop == Popping.ASLEEP):
            self.pop = Popping.LOCKED

    @invariant
    def nobody_sleeps_beside_a_pod(self) -> Value:
        """Where Pop sleeps and a pod waits, somebody has still to broadcast."""
        first, second = self.universe[Adder]
        coming = (self.adder[first] == Adding.ADDED) | (self.adder[second] == Adding.ADDED)
        return (self.pop < Popping.ASLEEP) | ~self.has_pod() | coming

    @witness
    def pop_sleeps(self) -> Value:
        return self.pop == Popping.ASLEEP


class BackoffQ(ActiveQ):
    """Pods are added to backoffQ, under another lock."""

    added_under_lock = False


class BackoffQBroadcastLocked(BackoffQ):
    """The same with the change of 135878."""

    broadcast_under_lock = True
