"""How long a backoff is, by release, where the model counts time.

Follows calculateBackoffDuration in pkg/scheduler/internal/queue/scheduling_queue.go (1.31), backend/queue/scheduling_queue.go (1.32) and
backend/queue/backoff_queue.go (1.34).
"""

from __future__ import annotations

from podrace.model.history.versions import version_of
from podrace.model.language import Expr, Value, as_expr, select, smallest
from tests.conformance.queue.numbered import CountingClock


class UntriedGoesAtOnce(CountingClock):
    """A pod that was never tried has no backoff (1.32).

    The queue's own rows, which come from tests before that, put pods there that were never tried, and are played with a backoff for them.
    """

    def backoff(self, attempts: Value) -> Expr:
        return select(as_expr(attempts) == 0, 0, super().backoff(attempts))


class FirstIsCapped(CountingClock):
    """Already the first backoff is no longer than the maximum (1.34)."""

    def backoff(self, attempts: Value) -> Expr:
        return smallest(super().backoff(attempts), self.timing.max_backoff)


_LENGTHS: tuple[tuple[str, type[CountingClock]], ...] = (("1.32", UntriedGoesAtOnce), ("1.34", FirstIsCapped))


def backoff_lengths(release: str) -> list[type[CountingClock]]:
    """What a release changed, to be composed after `counted`."""
    return [change for since, change in _LENGTHS if version_of(release) >= version_of(since)]
