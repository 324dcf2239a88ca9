"""Properties of single states: capacity, errors, lost pods."""

from __future__ import annotations

from functools import partial

from ..model.environment.objects import Node, Pod
from ..model.environment.watch import Handler
from ..model.language import Expr, all_of, any_of
from . import truth
from .property import Property


class Capacity(Property):
    """The requests of the pods that are bound to or assumed on a node never exceed what it can allocate."""

    id = "S-CAP"

    def holds(self) -> Expr:
        return ~any_of(truth.exceeds(self, n, partial(self._taken, n)) for n in self.nodes)

    def _taken(self, node: Node, pod: Pod) -> Expr:
        return truth.taken(self, pod, node)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is assumed": any_of(self.cache.is_assumed(p) for p in self.pods)}


class NoErrorForAbsentNode(Property):
    """Scheduling a pod ends in an error only if a call or a plugin fails, never because a node is absent."""

    id = "S-ERR"
    issues = (50813,)

    def holds(self) -> Expr:
        return ~(self.scheduler.error & ~self.scheduler.has_no_nodes())

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is assumed": any_of(self.cache.is_assumed(p) for p in self.pods)}


class NoPodLost(Property):
    """Every pending pod that the queue's handler knows is in a sub-queue, or some goroutine still holds it."""

    id = "S-CONS"
    concerns = "the pod that is lost"

    def held(self, pod: Pod) -> Expr:
        """Whether a goroutine of the scheduler still has the pod in its hands."""
        return (
            self.scheduler.in_flight(pod)
            | self.cache.is_assumed(pod)
            | self.binding.active(pod)
            | self.failure.awaits_requeue(pod)
        )

    def holds(self) -> Expr:
        return all_of(
            ~(self.api.pod[p].pending & self.pod_watch.seen[Handler.QUEUE][p].pending)
            | self.queue.contains(p)
            | self.held(p)
            for p in self.subjects
        )

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is taken from the queue": any_of(self.scheduler.in_flight(p) for p in self.subjects)}
