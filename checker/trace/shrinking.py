"""From a run that shows something to a shorter one that still does, by leaving out steps.

Delta debugging (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002), with one difference: a step
that can no longer be taken once others are left out is left out with them, so that most candidates are runs.

Leave out of a run what its end does not need: for runs that a reduced search found, which may be longer than need be.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from ...model.language import Expr, TransitionSystem
from ..core.exploration import Path
from ..core.interpreter import Interpreter

Shortener = Callable[[Path], Path | None]

MOST_STEPS = 30_000_000
"""How many steps all candidates may have together: seconds of work."""

MOST_FOR_PAIRS = 120
"""Runs of more steps are not tried without each two of them."""


def minimise(path: Path, shortened: Shortener) -> Path:
    """A run with some of the steps of `path`, in the same order.

    `shortened` gives what can be taken of a path up to where it shows what it should, or None if it never does; for `path`
    itself, it does. Unless MOST_STEPS are exceeded, no further step can be left out of the result.
    """
    best = shortened(path)
    if best is None:
        raise ValueError("the run that is to be made shorter does not show what it should")
    return _Reduction(best, shortened).run()


class _Reduction:
    """The shortest run so far, and how many steps the next candidates may have together."""

    def __init__(self, best: Path, shortened: Shortener) -> None:
        self.best, self.shortened, self.left = best, shortened, MOST_STEPS

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
        shorter = self.shortened(candidate) if self.left >= 0 else None
        if shorter is not None:
            self.best = shorter
        return shorter is not None


def shorten(system: TransitionSystem, path: Path, invariant: str) -> Path:
    """A run with some of the steps of `path`, in the same order, that violates the invariant in its last state alone.

    1-minimal (Zeller and Hildebrandt 2002): without any one step it does not, where a step that is not possible any more
    is left out too. ValueError if `path` does not violate the invariant.
    """
    interpreter, predicate = Interpreter(system), system.invariants[invariant]
    best = _violating(interpreter, path, predicate)
    if best is None:
        raise ValueError(f"the run that is to be made shorter does not violate `{invariant}`")
    first = 0
    while first < len(best):
        shorter = _violating(interpreter, (*best[:first], *best[first + 1 :]), predicate)
        if shorter is None:
            first += 1
        else:
            best, first = shorter, 0
    return best


def _violating(interpreter: Interpreter, path: Path, predicate: Expr) -> Path | None:
    """What can be taken of these steps up to a violation; None if there is none."""
    state, taken = interpreter.initial, list[int]()
    for number in (*path, None):
        if not interpreter.holds(predicate, state):
            return tuple(taken)
        if number is None or not _possible(interpreter, state, number):
            continue
        taken.append(number)
        state = interpreter.successor(state, number)
    return None


def _possible(interpreter: Interpreter, state: tuple[int, ...], number: int) -> bool:
    guard = interpreter.system.transitions[number].guard
    return interpreter.holds(guard, state) and not interpreter.blocking(state, number)
