"""Two-phase commit, for the benchmarks: a transaction's participants and its coordinator (J. Gray, 1978), with crashes.

A participant that crashed before it was prepared aborts when it is back. What it sent stays on its way until the coordinator hears it.
"""

from __future__ import annotations

from enum import Enum

from podrace.model.language import (
    Entity,
    System,
    TransitionSystem,
    Value,
    all_of,
    boolean,
    enum,
    invariant,
    per,
    require,
    select,
    step,
    system_of,
    when,
)


class Participant(Entity):
    members = 6


class Doing(Enum):
    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class Decision(Enum):
    NONE = 0
    COMMIT = 1
    ABORT = 2


class Commit(System):
    doing = per(Participant, enum(Doing))
    up = per(Participant, boolean(True))
    said = per(Participant, boolean())
    heard = per(Participant, boolean())
    decision = enum(Decision)

    @step(actor="participant", each="who")
    def prepare(self, who: Participant) -> None:
        require((self.doing[who] == Doing.WORKING) & self.up[who])
        self.doing[who] = Doing.PREPARED
        self.said[who] = True

    @step(actor="participant", each="who")
    def give_up(self, who: Participant) -> None:
        require((self.doing[who] == Doing.WORKING) & self.up[who])
        self.doing[who] = Doing.ABORTED

    @step(actor="participant", each="who")
    def learn(self, who: Participant) -> None:
        require((self.decision != Decision.NONE) & self.up[who])
        require(self.doing[who] < Doing.COMMITTED)
        self.doing[who] = select(self.decision == Decision.COMMIT, Doing.COMMITTED, Doing.ABORTED)

    @step(actor="crash", fair=False)
    def crash(self, who: Participant) -> None:
        require(self.up[who])
        self.up[who] = False

    @step(actor="participant", each="who")
    def restart(self, who: Participant) -> None:
        require(~self.up[who])
        self.up[who] = True
        with when(self.doing[who] == Doing.WORKING):
            self.doing[who] = Doing.ABORTED

    @step(actor="coordinator", each="who")
    def hear(self, who: Participant) -> None:
        require((self.decision == Decision.NONE) & self.said[who] & ~self.heard[who])
        self.heard[who] = True

    @step(actor="coordinator")
    def decide(self) -> None:
        require(self.decision == Decision.NONE)
        require(all_of(self.heard[who] for who in self.universe[Participant]))
        self.decision = Decision.COMMIT

    @step(actor="coordinator", fair=False)
    def time_out(self) -> None:
        require(self.decision == Decision.NONE)
        self.decision = Decision.ABORT

    @invariant
    def all_or_nothing(self, a: Participant, b: Participant) -> Value:
        """Nobody commits what another one aborts."""
        return ~((self.doing[a] == Doing.COMMITTED) & (self.doing[b] == Doing.ABORTED))


def commit() -> TransitionSystem:
    """Six participants: 3,252,224 states."""
    return system_of(Commit)
