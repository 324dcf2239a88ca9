"""Raft's election of a leader, and an entry that it replicates, for the benchmarks (Ongaro and Ousterhout, 2014).

Between any two servers one message is on its way in each direction, and any may be lost. A log has room for one entry, of which the term
is kept: so what is checked is that a term has one leader.
"""

from enum import Enum

from podrace.model.language import (
    Entity,
    Record,
    System,
    TransitionSystem,
    Value,
    boolean,
    count,
    enum,
    integer,
    invariant,
    per,
    record,
    ref,
    require,
    step,
    system_of,
    when,
)

TERMS = 3


class Server(Entity):
    members = 3


class Role(Enum):
    FOLLOWER = 0
    CANDIDATE = 1
    LEADER = 2


class Kind(Enum):
    NOTHING = 0
    ASK_VOTE = 1
    VOTE = 2
    APPEND = 3


class Message(Record):
    kind = enum(Kind)
    term = integer(0, TERMS)
    last = integer(0, TERMS)
    granted = boolean()


class Raft(System):
    role = per(Server, enum(Role))
    term = per(Server, integer(0, TERMS))
    voted_for = per(Server, ref(Server))
    has_vote = per(Server, per(Server, boolean()))
    entry = per(Server, integer(0, TERMS))
    sent = per(Server, per(Server, record(Message)))

    @step(actor="timeout", fair=False)
    def time_out(self, who: Server) -> None:
        """Stands for election."""
        require((self.role[who] != Role.LEADER) & (self.term[who] < TERMS))
        self.term[who] = self.term[who] + 1
        self.role[who] = Role.CANDIDATE
        self.voted_for[who] = who
        for other in self.universe[Server]:
            self.has_vote[who][other] = other == who

    @step(actor="server", each="who")
    def ask(self, who: Server, other: Server) -> None:
        require(who != other)
        require((self.role[who] == Role.CANDIDATE) & ~self.has_vote[who][other])
        require(self.sent[who][other].kind == Kind.NOTHING)
        self.sent[who][other] = Message(kind=Kind.ASK_VOTE, term=self.term[who], last=self.entry[who])

    @step(actor="server", each="who")
    def win(self, who: Server) -> None:
        servers = self.universe[Server]
        require(self.role[who] == Role.CANDIDATE)
        require(2 * count(self.has_vote[who][other] for other in servers) > len(servers))
        self.role[who] = Role.LEADER

    @step(actor="client", fair=False)
    def request(self, who: Server) -> None:
        require((self.role[who] == Role.LEADER) & (self.entry[who] == 0))
        self.entry[who] = self.term[who]

    @step(actor="server", each="who")
    def append(self, who: Server, other: Server) -> None:
        require(who != other)
        require((self.role[who] == Role.LEADER) & (self.entry[who] > 0))
        require(self.sent[who][other].kind == Kind.NOTHING)
        require(self.entry[other] != self.entry[who])
        self.sent[who][other] = Message(kind=Kind.APPEND, term=self.term[who], last=self.entry[who])

    @step(actor="server", each="who")
    def hear(self, who: Server, sender: Server) -> None:
        """Takes a message, and answers if it asks for a vote."""
        require(who != sender)
        heard = self.sent[sender][who]
        require(heard.kind != Kind.NOTHING)
        self.sent[sender][who] = None
        with when(heard.term > self.term[who]):
            self.term[who] = heard.term
            self.role[who] = Role.FOLLOWER
            self.voted_for[who] = None
            for other in self.universe[Server]:
                self.has_vote[who][other] = False
        current = heard.term == self.term[who]
        with when(heard.kind == Kind.ASK_VOTE):
            require(self.sent[who][sender].kind == Kind.NOTHING)
            free = self.voted_for[who].is_none | (self.voted_for[who] == sender)
            granted = current & (heard.last >= self.entry[who]) & free
            with when(granted):
                self.voted_for[who] = sender
            self.sent[who][sender] = Message(kind=Kind.VOTE, term=self.term[who], granted=granted)
        with when((heard.kind == Kind.VOTE) & current & heard.granted & (self.role[who] == Role.CANDIDATE)):
            self.has_vote[who][sender] = True
        with when((heard.kind == Kind.APPEND) & current):
            self.role[who] = Role.FOLLOWER
            self.entry[who] = heard.last

    @step(actor="network", fair=False)
    def lose(self, sender: Server, receiver: Server) -> None:
        require(self.sent[sender][receiver].kind != Kind.NOTHING)
        self.sent[sender][receiver] = None

    @invariant
    def one_leader_a_term(self, a: Server, b: Server) -> Value:
        """Two leaders never have the same term."""
        both = (self.role[a] == Role.LEADER) & (self.role[b] == Role.LEADER)
        return True if a == b else ~(both & (self.term[a] == self.term[b]))


def raft() -> TransitionSystem:
    """Three servers and three terms: 9,093,601 states."""
    return system_of(Raft)
