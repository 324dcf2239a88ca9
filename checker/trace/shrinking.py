"""From a run that shows something to a shorter one that still does, by leaving out steps.

Delta debugging (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002), with one difference: a step
that can no longer be taken once others are left out is left out with them, so that most candidates are runs.
"""

from collections.abc import Callable
from itertools import combinations

from ..core.exploration import Path

Shrink = Callable[[Path], Path | None]

MOST_STEPS = 30_000_000
"""How many steps all candidates may have together: seconds of work."""

MOST_FOR_PAIRS = 120
"""Runs of more steps are not tried without each two of them."""


def shrink(path: Path, shrunk: Shrink) -> Path:
    """A run with some of the steps of `path`, in the same order.

    `shrunk` gives what can be taken of a path up to where it shows what it should, or None if it never does; for `path`
    itself, it does. Unless MOST_STEPS are exceeded, no further step can be left out of the result.
    """
    best = shrunk(path)
    if best is None:
        raise ValueError("the run that is to be made shorter does not show what it should")
    return _Shrinking(best, shrunk).run()


class _Shrinking:
    """The shortest run so far, and how many steps the next candidates may have together."""

    def __init__(self, best: Path, shrunk: Shrink) -> None:
        self.best, self.shrunk, self.left = best, shrunk, MOST_STEPS

    def run(self) -> Path:
        size = len(self.best) // 2
        while size >= 1:
            while self._leave_out_stretches(size) and size == 1:
                pass
            size = size // 2 if size > 1 else int(self._leave_out_a_pair())
        return self.best

    def _leave_out_stretches(self, size: int) -> bool:
        """Leave out each stretch of so many steps that can be left out; gives whether there was one."""
        first, length = 0, len(self.best)
        while first < len(self.best):
            if not self._accept((*self.best[:first], *self.best[first + size :])):
                first += size
        return len(self.best) < length

    def _leave_out_a_pair(self) -> bool:
        if len(self.best) > MOST_FOR_PAIRS:
            return False
        pairs = combinations(range(len(self.best)), 2)
        return any(
            self._accept((*self.best[:i], *self.best[i + 1 : j], *self.best[j + 1 :])) for i, j in pairs
        )

    def _accept(self, candidate: Path) -> bool:
        """Go on from a candidate if it shows what it should."""
        self.left -= len(candidate)
        shorter = self.shrunk(candidate) if self.left >= 0 else None
        if shorter is not None:
            self.best = shorter
        return shorter is not None
