"""Difference constraints over whole seconds: the least solution, or constraints that contradict one another.

The variables are moments, numbered from 0; moment 0 is at second 0. A bound says that one moment comes at least so many seconds
after another, or (a negative number) at most so many before it. The least solution is a longest path (Bellman 1958); a cycle of bounds that sums up
to more than 0 is a contradiction.
"""

from collections.abc import Sequence

from ...base.structs import Data


class Bound(Data):
    """Moment `later` is at least `least` seconds after moment `earlier`. `why` is half a sentence; without, it goes without saying."""

    later: int
    earlier: int
    least: int
    why: str = ""


class Contradiction(Exception):
    """No moments satisfy the bounds: those on a cycle that sums up to more than 0, in its order."""

    def __init__(self, cycle: Sequence[Bound]) -> None:
        self.cycle = tuple(cycle)
        super().__init__("; ".join(self.reasons) or "the bounds contradict one another")

    @property
    def reasons(self) -> tuple[str, ...]:
        """What the bounds of the cycle say, each once."""
        return tuple(dict.fromkeys(bound.why for bound in self.cycle if bound.why))

    @property
    def moment(self) -> int:
        """The last moment that the contradiction is about: up to the one before, there is a solution."""
        return max(max(bound.later, bound.earlier) for bound in self.cycle)


def earliest(moments: int, bounds: Sequence[Bound], start: Sequence[int] = ()) -> list[int]:
    """The least solution, each moment no earlier than the one before it. Raises Contradiction.

    `start` are moments that no solution undercuts, such as the least solution of some of the bounds.
    """
    order = [Bound(i, i - 1, 0) for i in range(1, moments)]
    every = [*order, *bounds]
    found = [*start, *[start[-1] if start else 0] * (moments - len(start))]
    cause: list[Bound | None] = [None] * moments
    for _ in range(moments + 1):
        last = None
        for bound in every:
            wanted = found[bound.earlier] + bound.least
            if wanted > found[bound.later]:
                found[bound.later], cause[bound.later], last = wanted, bound, bound
        if found[0] > 0:
            break
        if last is None:
            return found
    raise Contradiction(_cycle(cause, moments))


def _cycle(cause: list[Bound | None], moments: int) -> list[Bound]:
    """What raised what, from the end: a cycle, or a way from moment 0 that was raised to one that was not."""
    for first in range(moments):
        seen: dict[int, int] = {}
        way: list[Bound] = []
        at = first
        while at not in seen and (bound := cause[at]) is not None:
            seen[at] = len(way)
            way.append(bound)
            at = bound.earlier
        if at in seen:
            return way[seen[at] :]
        if first == 0 and way:
            return way
    raise AssertionError("raising does not end without a cycle")
