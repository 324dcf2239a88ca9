"""The numbers that the explored model abstracts from: times, scheduling cycles, the order of nominations.

Composed into a cluster (`counted`), they let the queue's own methods run on concrete data, as upstream's tests do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from podrace.model.environment.objects import Pod, PodCopy
from podrace.model.language import (
    UNTOLD,
    Component,
    Expr,
    Value,
    as_expr,
    boolean,
    integer,
    per,
    select,
    when,
)
from podrace.model.scheduler import Clock, Nominator, PriorityQueue, QueueWithoutHints
from podrace.model.scheduler.framework.events import About, ClusterEvent

if TYPE_CHECKING:
    from typing import Any

SECOND = 1_000_000_000
_FAR = 2**63


@dataclass(frozen=True, slots=True)
class Timing:
    """The queue's options, in nanoseconds."""

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    max_parked: int = 60 * SECOND


class CountingClock(Clock):
    """A clock in nanoseconds; per pod the timestamp, the number of attempts and the time of the first one."""

    queue: PriorityQueue
    timing: ClassVar[Timing] = Timing()

    now = integer(-_FAR, _FAR, 0)
    recorded = per(Pod, boolean())
    timestamp = per(Pod, integer(-_FAR, _FAR, 0))
    attempts = per(Pod, integer(0, _FAR))
    first_seen = per(Pod, integer(-_FAR, _FAR, 0))

    phrases = UNTOLD

    def setup(self) -> None:
        """Every record starts at 0."""

    def is_older(self, a: Pod, b: Pod) -> Expr:
        older: Expr = self.timestamp[a] < self.timestamp[b]
        return older

    def found_together(self, pods: Mapping[Pod, Value]) -> None:
        """They have the timestamps of their additions."""

    def advance(self, by: Value) -> None:
        """Time passes."""
        self.now = self.now + by

    def arrived(self, pod: Pod) -> None:
        self.recorded[pod] = True
        self.timestamp[pod] = self.now
        self.attempts[pod] = 0
        self.first_seen[pod] = self.now

    def popped(self, pod: Pod) -> None:
        self.attempts[pod] = self.attempts[pod] + 1

    def came_back(self, pod: Pod) -> None:
        with when(~as_expr(self.recorded[pod])):
            self.arrived(pod)
        self.timestamp[pod] = self.now

    def handed_over(self, pod: Pod, other: Pod) -> None:
        self.recorded[other], self.recorded[pod] = self.recorded[pod], False
        self.timestamp[other], self.attempts[other] = self.timestamp[pod], self.attempts[pod]
        self.first_seen[other] = self.first_seen[pod]

    def left(self, pod: Pod) -> None:
        # A pod in flight keeps its record: the failing attempt holds it.
        with when(self.queue.contains(pod)):
            self.recorded[pod] = False

    def backoff(self, attempts: Value) -> Expr:
        """calculateBackoffDuration: doubled with every attempt after the first, up to the maximum."""
        result, value, attempt = as_expr(self.timing.initial_backoff), self.timing.initial_backoff, 1
        while True:
            following = min(2 * value, self.timing.max_backoff)
            if following == value:
                return result
            result = select(as_expr(attempts) > attempt, following, result)
            value, attempt = following, attempt + 1

    def backoff_end(self, pod: Pod) -> Expr:
        """getBackoffTime."""
        end: Expr = self.timestamp[pod] + self.backoff(self.attempts[pod])
        return end

    def is_backing_off(self, pod: Pod) -> Expr:
        return self.backoff_end(pod) > self.now

    def backoff_may_end(self, pod: Pod) -> Expr:
        return ~self.is_backing_off(pod)

    def is_parked_for_long(self, pod: Pod) -> Expr:
        parked: Expr = self.now - self.timestamp[pod]
        return parked > self.timing.max_parked


class CountedCycles(PriorityQueue):
    """The numbers of scheduling cycles, of which nothing depends on any with SchedulerQueueingHints."""

    cycle = integer(-_FAR, _FAR, 0)
    move_cycle = integer(-_FAR, _FAR, -1)
    attempt_cycle = per(Pod, integer(-_FAR, _FAR, 0))

    phrases = UNTOLD

    def pop(self, pod: Pod) -> Any:
        copy = super().pop(pod)
        self.next_cycle()
        return copy

    def next_cycle(self) -> None:
        """schedulingCycle++."""
        self.cycle = self.cycle + 1

    def begin_failure(self, pod: Pod) -> None:
        super().begin_failure(pod)
        self.attempt_cycle[pod] = self.cycle


class ComparedCycles(CountedCycles, QueueWithoutHints):
    """The queue with SchedulerQueueingHints off: a move counts for a failing attempt whose number is not greater."""

    phrases = UNTOLD

    def move_came(self, pod: Pod) -> Expr:
        came: Expr = self.move_cycle >= self.attempt_cycle[pod]
        return came

    def record_move(self, event: ClusterEvent, about: About) -> None:
        super().record_move(event, about)
        self.move_cycle = self.cycle


class NumbersOnly(ComparedCycles):
    """The same for rows of tables that do not tell whether the gate is on: what decides is the numbers alone."""

    phrases = UNTOLD

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        # A row that names no rejecting plugin is about the numbers, not about errors (which are retried from 1.29 on).
        return self.move_came(pod)


class OrderedNominator(Nominator):
    """Nominations with the order in which they were recorded."""

    recorded = integer(0, _FAR)
    rank = per(Pod, integer(0, _FAR))

    phrases = UNTOLD

    def add(self, pod: Pod, node: Value, field: Value) -> None:
        super().add(pod, node, field)
        self.rank[pod] = self.recorded
        self.recorded = self.recorded + 1


def counted(timing: Timing, hints: bool | None = None) -> tuple[type[Component], ...]:
    """The changes that make a cluster count; they come after those of a release.

    `hints` says whether SchedulerQueueingHints is on, None that nothing is known of it.
    """
    clock = type("CountingClock", (CountingClock,), {"timing": timing, "__module__": __name__})
    queue = NumbersOnly if hints is None else CountedCycles if hints else ComparedCycles
    return clock, queue, OrderedNominator
