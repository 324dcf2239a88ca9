"""The budget of a search, its clock and its reports: what it looks at between two slices of work."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...core.exploration import Budget, OutOfBudget, Progress, Watcher

_SECONDS_BETWEEN_REPORTS = 0.2


class Pace:
    """How much work fits between two looks at the clock: `quantum`, learned from what was done in which time."""

    seconds = 0.05
    """How long a slice of work lasts, about."""

    def __init__(self) -> None:
        self.quantum = 1 << 12

    @contextmanager
    def measuring(self, done: Callable[[], int]) -> Iterator[None]:
        """Learn from the work that is done inside; `done` says how much was done in all."""
        before, began = done(), time.monotonic()
        yield
        work, took = done() - before, time.monotonic() - began
        if work > 0:
            fitting = int(work * self.seconds / max(took, 1e-9))
            # A slice that was interrupted says how fast the work goes, but not that longer slices are in order.
            self.quantum = max(1, min(fitting, self.quantum * 2 if work >= self.quantum else self.quantum))


class BriefPace(Pace):
    """The same for one worker while others wait: to return and to be called again takes a fraction of it."""

    seconds = 0.004


class SearchBudget:
    """Holds one search to what it may use, from now on, and reports on it now and then."""

    def __init__(self, budget: Budget, progress: Watcher | None) -> None:
        self._started = self._reported = time.monotonic()
        self._budget, self._progress = budget, progress

    @property
    def seconds(self) -> float:
        """How long the search has been running."""
        return time.monotonic() - self._started

    @property
    def max_states(self) -> int | None:
        """How many states there may be, if that is bounded."""
        return self._budget.max_states

    @property
    def max_memory(self) -> int | None:
        """How many bytes arrays may take together, if that is bounded."""
        return self._budget.max_memory

    def affords(self, total: int) -> bool:
        """Whether arrays may take `total` bytes together."""
        return self._budget.max_memory is None or total <= self._budget.max_memory

    def require(self, total: int) -> None:
        """Raise OutOfBudget unless arrays may take `total` bytes together."""
        if not self.affords(total):
            raise OutOfBudget("memory")

    def look(self, states: int, transitions: int, depth: int, frontier: int, memory: int) -> None:
        """Report progress if it is time to; raise OutOfBudget if time is up."""
        now = time.monotonic()
        if self._progress is not None and now - self._reported >= _SECONDS_BETWEEN_REPORTS:
            self._reported = now
            self._progress(Progress(states, transitions, depth, frontier, now - self._started, memory))
        if self._budget.timeout is not None and now - self._started > self._budget.timeout:
            raise OutOfBudget("timeout")
