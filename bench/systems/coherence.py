"""A second system that is no scheduler, for the benchmarks: German's cache coherence protocol, with data.

A directory at home hands out a line, to many caches for reading or to one for writing. Before it grants a request that is in the way of what others
have, it invalidates them, one message each, and waits for their answers. Three channels of one place lead from and to each cache. As in
Chou, Mannava and Park (FMCAD 2004), who give it as the usual example of a parametrised protocol.
"""

from __future__ import annotations

from enum import Enum

from podrace.model.language import (
    Entity,
    System,
    TransitionSystem,
    boolean,
    enum,
    invariant,
    per,
    ref,
    require,
    select,
    step,
    system_of,
)


class Cache(Entity):
    members = 4


class Has(Enum):
    NOTHING = 0
    SHARED = 1
    EXCLUSIVE = 2


class Request(Enum):
    EMPTY = 0
    SHARED = 1
    EXCLUSIVE = 2


class Reply(Enum):
    EMPTY = 0
    INVALIDATE = 1
    SHARED = 2
    EXCLUSIVE = 3


class Directory(System):
    has = per(Cache, enum(Has))
    data = per(Cache, boolean())
    request = per(Cache, enum(Request))
    reply = per(Cache, enum(Reply))
    reply_data = per(Cache, boolean())
    acknowledged = per(Cache, boolean())
    written_back = per(Cache, boolean())

    serving = ref(Cache)
    wanted = enum(Request)
    exclusive = boolean()
    sharers = per(Cache, boolean())
    to_invalidate = per(Cache, boolean())
    memory = boolean()
    latest = boolean()

    @step(actor="cache", each="who")
    def ask_shared(self, who: Cache) -> None:
        require((self.has[who] == Has.NOTHING) & (self.request[who] == Request.EMPTY))
        self.request[who] = Request.SHARED

    @step(actor="cache", each="who")
    def ask_exclusive(self, who: Cache) -> None:
        require((self.has[who] != Has.EXCLUSIVE) & (self.request[who] == Request.EMPTY))
        self.request[who] = Request.EXCLUSIVE

    @step(actor="home", each="who")
    def serve(self, who: Cache) -> None:
        require((self.wanted == Request.EMPTY) & (self.request[who] != Request.EMPTY))
        self.wanted = self.request[who]
        self.serving = who
        self.request[who] = Request.EMPTY
        for other in self.universe[Cache]:
            self.to_invalidate[other] = self.sharers[other]

    @step(actor="home", each="who")
    def invalidate(self, who: Cache) -> None:
        require(self.to_invalidate[who] & (self.reply[who] == Reply.EMPTY))
        in_the_way = (self.wanted == Request.EXCLUSIVE) | ((self.wanted == Request.SHARED) & self.exclusive)
        require(in_the_way)
        self.reply[who] = Reply.INVALIDATE
        self.to_invalidate[who] = False

    @step(actor="cache", each="who")
    def give_up(self, who: Cache) -> None:
        require((self.reply[who] == Reply.INVALIDATE) & ~self.acknowledged[who])
        self.written_back[who] = select(self.has[who] == Has.EXCLUSIVE, self.data[who], False)
        self.reply[who] = Reply.EMPTY
        self.acknowledged[who] = True
        self.has[who] = Has.NOTHING
        self.data[who] = False

    @step(actor="home", each="who")
    def hear(self, who: Cache) -> None:
        require((self.wanted != Request.EMPTY) & self.acknowledged[who])
        self.memory = select(self.exclusive, self.written_back[who], self.memory)
        self.exclusive = False
        self.acknowledged[who] = False
        self.written_back[who] = False
        self.sharers[who] = False

    @step(actor="home", each="who")
    def grant_shared(self, who: Cache) -> None:
        require((self.wanted == Request.SHARED) & (self.serving == who) & ~self.exclusive)
        require(self.reply[who] == Reply.EMPTY)
        self.reply[who] = Reply.SHARED
        self._granted(who)

    @step(actor="home", each="who")
    def grant_exclusive(self, who: Cache) -> None:
        require((self.wanted == Request.EXCLUSIVE) & (self.serving == who) & ~self.exclusive)
        require(self.reply[who] == Reply.EMPTY)
        for other in self.universe[Cache]:
            require(~self.sharers[other])
        self.reply[who] = Reply.EXCLUSIVE
        self.exclusive = True
        self._granted(who)

    def _granted(self, who: Cache) -> None:
        self.reply_data[who] = self.memory
        self.sharers[who] = True
        self.wanted = Request.EMPTY
        self.serving = None

    @step(actor="cache", each="who")
    def receive(self, who: Cache) -> None:
        reply = self.reply[who]
        require((reply == Reply.SHARED) | (reply == Reply.EXCLUSIVE))
        self.has[who] = select(reply == Reply.SHARED, Has.SHARED, Has.EXCLUSIVE)
        self.data[who] = self.reply_data[who]
        self.reply[who] = Reply.EMPTY
        self.reply_data[who] = False

    @step(actor="cache", each="who")
    def write(self, who: Cache) -> None:
        require(self.has[who] == Has.EXCLUSIVE)
        self.data[who] = ~self.data[who]
        self.latest = ~self.latest

    @invariant
    def one_writer(self) -> object:
        """Who may write is alone."""
        alone = True
        for a in self.universe[Cache]:
            for b in self.universe[Cache]:
                if a != b:
                    alone = alone & ~((self.has[a] == Has.EXCLUSIVE) & (self.has[b] != Has.NOTHING))
        return alone

    @invariant
    def latest_is_read(self) -> object:
        """Whoever has the line reads what was written last."""
        read = True
        for who in self.universe[Cache]:
            read = read & ((self.has[who] == Has.NOTHING) | (self.data[who] == self.latest))
        return read


def coherence() -> TransitionSystem:
    """The protocol with four caches: 1,105,353 states."""
    return system_of(Directory)
