"""A token ring that heals itself, for the benchmarks: Dijkstra's with K states (CACM 1974), and faults.

A station holds a token if its number differs from that of the station before it; the first one if the two are the same. Faults change numbers
at will, a few times.
"""

from typing import Annotated

from podrace.model.language import (
    Entity,
    System,
    TransitionSystem,
    Value,
    any_of,
    count,
    integer,
    invariant,
    per,
    require,
    resettable,
    step,
    system_of,
)

NUMBERS, FAULTS = 8, 4


class Station(Entity):
    members = 7


class TokenRing(System):
    number = per(Station, integer(0, NUMBERS - 1))
    faults = integer(0, FAULTS)

    def before(self, who: Station) -> Station:
        """The station that this one looks at."""
        stations = self.universe[Station]
        return stations[(who.index - 1) % len(stations)]

    def has_token(self, who: Station) -> Value:
        """Whether it may move."""
        own, other = self.number[who], self.number[self.before(who)]
        return own == other if who.index == 0 else own != other

    @step(actor="station", each="who")
    def move(self, who: Station) -> None:
        require(self.has_token(who))
        other = self.number[self.before(who)]
        self.number[who] = (other + 1) % NUMBERS if who.index == 0 else other

    @step(actor="fault", fair=False)
    def corrupt(self, who: Station, number: Annotated[int, range(NUMBERS)]) -> None:
        require((self.number[who] != number) & (self.faults < FAULTS))
        self.number[who] = number
        self.faults = self.faults + 1

    @invariant
    def somebody_has_a_token(self) -> Value:
        """The ring never stands still."""
        return any_of(self.has_token(who) for who in self.universe[Station])

    @resettable
    def one_token(self) -> Value:
        """Whatever the faults did, it can come to one token."""
        return count(self.has_token(who) for who in self.universe[Station]) == 1


def token_ring() -> TransitionSystem:
    """Seven stations, eight numbers and four faults: 2,801,088 states."""
    return system_of(TokenRing)
