"""The pocket cube, for the benchmarks: a puzzle of eight corners, of which one stays where it is.

A turn moves half of the state at once, and is possible everywhere: there is nothing local, and no order that a search could make use of. How many positions there are is known from elsewhere,
3,674,160 = 7! * 3^6, and that all of them are within eleven turns of the solved one, a half turn counting as one.
"""

from typing import Annotated

from podrace.model.language import (
    Expr,
    System,
    TransitionSystem,
    Value,
    all_of,
    integer,
    invariant,
    per,
    resettable,
    select,
    step,
    system_of,
)

PLACES = range(1, 8)
"""A place has a bit for each axis, set on the far side. The corner at 0 stays there."""


def turned(place: int, axis: int) -> int:
    """Where a quarter turn of the far side of an axis takes what is at this place; of the other side nothing moves."""
    if not place >> axis & 1:
        return place
    first, second = (other for other in range(3) if other != axis)
    return 1 << axis | (place >> second & 1) << first | (1 - (place >> first & 1)) << second


class Cube(System):
    corner = per(PLACES, integer(1, 7))
    facing = per(PLACES, integer(0, 2))

    def setup(self) -> None:
        for place in PLACES:
            self.corner[place] = place

    @step(actor="hand")
    def turn(self, axis: Annotated[int, range(3)], quarters: Annotated[int, range(1, 4)]) -> None:
        """A corner faces along an axis: about that axis it turns on the spot, about another it changes to the third."""
        before = {place: (self.corner[place], self.facing[place]) for place in PLACES}
        for place in PLACES:
            to = place
            for _ in range(quarters):
                to = turned(to, axis)
            if to != place:
                corner, facing = before[place]
                self.corner[to] = corner
                self.facing[to] = self.turned_facing(facing, axis) if quarters % 2 else facing

    def turned_facing(self, facing: Expr, axis: int) -> Expr:
        """Along which axis a corner faces after a quarter turn."""
        return select(facing == axis, axis, 3 - axis - facing)

    @invariant
    def no_corner_twice(self, one: Annotated[int, PLACES], other: Annotated[int, PLACES]) -> Value:
        """Turns only move corners."""
        return one == other or self.corner[one] != self.corner[other]

    @resettable
    def solved(self) -> Value:
        """Whatever was turned, it can be turned back."""
        return all_of((self.corner[place] == place) & (self.facing[place] == 0) for place in PLACES)


def cube() -> TransitionSystem:
    """All positions: 3,674,160."""
    return system_of(Cube)
