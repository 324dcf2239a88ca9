"""A system that is no scheduler, for the benchmarks: a server that lends a lock out for a while, to clients that can crash.

Requests wait in a queue and answers in a mailbox for each client; leases run out by a clock that all see; a fencing token tells
a store which writer is the latest.
"""

from __future__ import annotations

from enum import Enum

from podrace.model.language import (
    Entity,
    System,
    TransitionSystem,
    boolean,
    clamp,
    enum,
    fifo,
    integer,
    per,
    ref,
    require,
    select,
    step,
    system_of,
)


class Client(Entity):
    members = 2


class Doing(Enum):
    IDLE = 0
    ASKED = 1
    HOLDING = 2
    CRASHED = 3


class Leases(System):
    doing = per(Client, enum(Doing))
    lease = per(Client, integer(0, 3))
    token = per(Client, integer(0, 3))
    answered = per(Client, boolean())
    asking = fifo(3, ref(Client))
    owner = ref(Client)
    left = integer(0, 3)
    last = integer(0, 3)
    stored = integer(0, 3)

    @step(actor="client", each="who")
    def ask(self, who: Client) -> None:
        require((self.doing[who] == Doing.IDLE) & (self.asking.length < 3))
        self.asking.push(who)
        self.doing[who] = Doing.ASKED

    @step(actor="server")
    def grant(self) -> None:
        require(self.owner.is_none & ~self.asking.is_empty)
        first = self.asking.pop()
        self.owner = first
        self.left = 3
        self.last = select(self.last < 3, clamp(self.last + 1, 0, 3), 0)
        for who in self.universe[Client]:
            self.answered[who] = self.answered[who] | (first == who)

    @step(actor="client", each="who")
    def take(self, who: Client) -> None:
        require((self.doing[who] == Doing.ASKED) & self.answered[who])
        self.answered[who] = False
        self.lease[who] = 3
        self.token[who] = self.last
        self.doing[who] = Doing.HOLDING

    @step(actor="clock")
    def tick(self) -> None:
        require(self.left > 0)
        self.left = clamp(self.left - 1, 0, 3)
        for who in self.universe[Client]:
            self.lease[who] = clamp(self.lease[who] - 1, 0, 3)

    @step(actor="server")
    def expire(self) -> None:
        require(self.owner.is_some & (self.left == 0))
        self.owner = None

    @step(actor="client", each="who")
    def write(self, who: Client) -> None:
        require((self.doing[who] == Doing.HOLDING) & (self.lease[who] > 0))
        self.stored = self.token[who]

    @step(actor="client", each="who")
    def finish(self, who: Client) -> None:
        require(self.doing[who] == Doing.HOLDING)
        self.doing[who] = Doing.IDLE
        self.lease[who] = 0

    @step(actor="client", fair=False)
    def crash(self, who: Client) -> None:
        require(self.doing[who] != Doing.CRASHED)
        self.doing[who] = Doing.CRASHED

    @step(actor="client", each="who")
    def restart(self, who: Client) -> None:
        require(self.doing[who] == Doing.CRASHED)
        self.doing[who] = Doing.IDLE
        self.lease[who] = 0


def leases(clients: int = 2) -> TransitionSystem:
    """The system with two clients: 1,694,944 states."""
    before, Client.members = Client.members, clients
    try:
        return system_of(Leases)
    finally:
        Client.members = before
