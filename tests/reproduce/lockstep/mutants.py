"""Ten mistakes in the model, made on purpose: lockstep must find each of them."""

from __future__ import annotations

from typing import Any

from podrace.model.environment.objects import Node, Pod, PodCopy
from podrace.model.history import Composition, Patch
from podrace.model.language import Component, Expr, Value, as_expr, select, when
from podrace.model.scheduler import (
    Binding,
    Cache,
    FailureHandler,
    Hints,
    Nominator,
    PriorityQueue,
    Scheduler,
    Snapshot,
)
from podrace.model.scheduler.cache.snapshot import SnapshotPod
from podrace.model.scheduler.cycles.binding import BindingPhase
from podrace.model.scheduler.framework.events import About, ClusterEvent, Plugin


class RequeuesRejectedPodsToBackoff(PriorityQueue):
    """A pod that a plugin rejected goes to backoffQ, where it should be parked."""

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        return as_expr(True)


class AssumeKeepsTheNomination(Scheduler):
    """Nothing deletes the nomination of a pod that was assumed."""

    def start_binding(self, pod: Pod) -> None:
        node = self.nominator.node[pod]
        kept = select(node.is_some, node, None)
        super().start_binding(pod)
        self.nominator.node[pod] = kept


class ForgetWakesNobody(Binding):
    """A pod that the cache has forgotten gives its room back, and nobody hears of it."""

    def phase_after_forget(self, pod: Pod) -> Expr:
        return as_expr(BindingPhase.FAIL)


class EventsAreNotKept(PriorityQueue):
    """An event that comes while a pod is in flight is lost for it."""

    def record_move(self, event: ClusterEvent, about: About) -> None:
        pass


class HintIsTooNarrow(Hints):
    """NodeResourcesFit lets a new node wake nobody."""

    def after_node(self, plugin: Plugin, pod: Pod, node: Node) -> Expr:
        return as_expr(False) if plugin.name == "NodeResourcesFit" else super().after_node(plugin, pod, node)


class UpdateWipesTheNomination(Nominator):
    """Any update of a pod makes the nominator forget it."""

    def update(self, pod: Pod, old_field: Value, new_field: Value) -> None:
        self.delete(pod)


class CacheKeepsRemovedPods(Cache):
    """RemovePod leaves the pod in its NodeInfo."""

    def remove_pod(self, pod: Pod) -> Expr:
        return ~self.removable(pod)


class SnapshotLacksAssumedPods(Snapshot):
    """UpdateSnapshot copies assumed pods only once they are confirmed."""

    def update(self) -> Expr:
        error = super().update()
        for pod in self.universe[Pod]:
            with when(self.cache.is_assumed(pod)):
                self.pod[pod] = SnapshotPod()
        return error


class FailedBindingsAreNotRequeued(FailureHandler):
    """The failure handler takes whoever an error ended for bound."""

    def may_requeue(self, current: Any) -> Expr:
        return as_expr(False)


class DoneIsNotCalled(PriorityQueue):
    """A pod that was requeued stays in flight."""

    def done(self, pod: Pod) -> None:
        pass


MUTANTS: tuple[type[Component], ...] = (
    RequeuesRejectedPodsToBackoff,
    AssumeKeepsTheNomination,
    ForgetWakesNobody,
    EventsAreNotKept,
    HintIsTooNarrow,
    UpdateWipesTheNomination,
    CacheKeepsRemovedPods,
    SnapshotLacksAssumedPods,
    FailedBindingsAreNotRequeued,
    DoneIsNotCalled,
)


def mutated(composition: Composition, mutant: type[Component]) -> Composition:
    """The composition with a mistake."""
    return composition.patched([Patch(mutant.__name__, "mutants.py", (mutant,))])
