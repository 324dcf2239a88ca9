"""Scope costs nothing: what a scenario does not use makes no state.

Each test explores a scenario twice: as it is, and with a model from which the mechanism was cut out of the source.
"""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import cache

import pytest

from podrace.checker import explicit as native
from podrace.model.environment.actors import Users
from podrace.model.environment.objects import ClusterSpec, ExtensionPoint, Node, Pod
from podrace.model.environment.watch import PodWatch
from podrace.model.history import resolve
from podrace.model.history.changes.cycles.failure import NodeChecked
from podrace.model.language import as_expr, require
from podrace.model.scheduler import (
    Binding,
    EventHandlers,
    Filters,
    Preemption,
    PriorityQueue,
    Process,
    Scheduler,
    WaitingPods,
)
from podrace.model.scheduler.cycles.binding import BindingPhase
from podrace.model.scheduler.framework.waiting_pods import PermitAnswer
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from tests.checker.slices import slice_system
from tests.model.clusters import nodes, race_72124, spec
from tests.profiles import by_profile


class CycleWithoutPlugins(Scheduler):
    def cycle_points(self, pod):
        return ()

    def reserve(self, pod: Pod, ok: bool):
        require(False)

    def permit(self, pod: Pod, answer: PermitAnswer):
        require(False)

    def forget(self, pod: Pod):
        require(False)

    def reject_waiting(self, pod: Pod, victim: Pod):
        require(False)

    def require_deletion(self, victim):
        pass


class BindingWithoutPlugins(Binding):
    def begin(self, pod):
        self.phase[pod] = BindingPhase.BIND

    def wait_on_permit(self, pod: Pod):
        require(False)

    def pre_bind(self, pod: Pod, ok: bool):
        require(False)


class NobodyWaits(WaitingPods):
    def permit(self, pod: Pod):
        require(False)

    def refuse(self, pod: Pod):
        require(False)


class HandlersWithoutPermit(EventHandlers):
    def rejects_waiting(self, pod):
        return as_expr(False)

    def reject_waiting(self, pod: Pod):
        require(False)


class PreemptionWithoutBudgets(Preemption):
    def violating(self, pod, node):
        return dict.fromkeys(self.potential_victims(pod, node), as_expr(False))

    def has_room(self, pod, violates):
        return as_expr(True)

    def has_enough(self, pod):
        return as_expr(False)


class FiltersWithoutTaints(Filters):
    def plugins(self):
        kept = super().plugins()
        return {name: kept[name] for name in ("NodeResourcesFit", "InterPodAffinity")}


class NeverRestarted(Process):
    def restart(self):
        require(False)

    def change_leader(self):
        require(False)

    def land(self, pod: Pod, node: Node):
        require(False)


class NeverInterrupted(PodWatch):
    def resume(self):
        require(False)


class FailureWithoutNodeCheck(NodeChecked):
    def begin(self, pod, attempt):
        super().begin(pod, replace(attempt, missing=None))

    def check_node(self, pod: Pod, node: Node):
        require(False)

    def remove_node(self, pod: Pod, node: Node):
        require(False)


class QueueWithoutGates(PriorityQueue):
    def has_gates(self, pod, copy):
        return as_expr(False)


class NobodyRemovesGates(Users):
    def remove_gates(self, pod: Pod):
        require(False)


class QueueWithoutBackoff(PriorityQueue):
    def backing_off_sub_queue(self):
        return SubQueue.ACTIVE

    def flush_backoff(self, pod: Pod):
        require(False)


MECHANISMS = {
    "plugins between AssumePod and the Binding": (
        CycleWithoutPlugins,
        BindingWithoutPlugins,
        NobodyWaits,
        HandlersWithoutPermit,
    ),
    "budgets": (PreemptionWithoutBudgets,),
    "taints": (FiltersWithoutTaints,),
    "restarts, hand-overs and relists": (NeverRestarted, NeverInterrupted),
    "the check of a missing node": (FailureWithoutNodeCheck,),
}
GATES = (QueueWithoutGates, NobodyRemovesGates)


EVENTS = by_profile(fast=1, full=2)


@cache
def as_it_is(release: str):
    """The counts of the cluster with every mechanism, once for all of them."""
    return counts(race_72124(pod_events=EVENTS, write_failures=1), release)


def counts(cluster: ClusterSpec, release: str, cut=(), name="S-CONS"):
    classes = (*cut, *resolve(release).classes)
    sliced = slice_system(instrument(cluster, classes, [PROPERTIES[name]]), invariants=[name])
    found = native.explore(sliced)
    assert found.complete
    return found.states, found.transitions, found.depth


@pytest.mark.parametrize("release", [pytest.param("1.12", marks=pytest.mark.nightly), "1.19", "1.22"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_mechanism_that_is_not_used_makes_no_state(mechanism, release):
    cluster = race_72124(pod_events=EVENTS, write_failures=1)
    assert counts(cluster, release, MECHANISMS[mechanism]) == as_it_is(release)


@pytest.mark.parametrize("release", ["1.14", "1.22"])
def test_without_backoff_there_is_no_backoff_queue(release):
    cluster = race_72124(pod_events=EVENTS, backoff=False)
    without = counts(cluster, release)
    assert counts(cluster, release, (QueueWithoutBackoff,)) == without
    waiting = dataclasses.replace(cluster, scope=dataclasses.replace(cluster.scope, backoff=True))
    assert counts(waiting, release) > without


@pytest.mark.parametrize("release", ["1.19", "1.28", "1.34"])
def test_without_gated_pods_scheduling_gates_make_no_state(release):
    cluster = race_72124(pod_events=EVENTS)
    assert counts(cluster, release, GATES) == counts(cluster, release)


def test_gates_that_are_used_make_states():
    pods = [Pod(0, "p", 2, gated=True), Pod(1, "q", 1)]
    used = spec(pods, nodes(2), pod_events=2)
    assert counts(used, "1.34") != counts(used, "1.34", GATES)
    assert counts(used, "1.26") == counts(used, "1.26", GATES)


def test_the_comparison_can_fail():
    on = nodes(2)
    pods = [Pod(0, "p", 2, extension_points=[ExtensionPoint.PERMIT]), Pod(1, "q", 1)]
    used = spec(pods, on, pod_events=2)
    cut = MECHANISMS["plugins between AssumePod and the Binding"]
    assert counts(used, "1.22") > counts(used, "1.22", cut)
