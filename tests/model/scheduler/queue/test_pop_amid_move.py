"""Pop takes a lock of its own since 1.31: what it can meet while parked pods are being moved."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

import pytest

from podrace.checker import explicit as native
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, Node, Pod, PodCopy, PodObject
from podrace.model.history import resolve
from podrace.model.language import (
    Component,
    Concrete,
    Expr,
    Value,
    all_of,
    any_of,
    as_expr,
    boolean,
    per,
    require,
    step,
    trace_system,
)
from podrace.model.scheduler import PriorityQueue, Scheduler
from podrace.model.scheduler.framework.events import ASSIGNED_POD_DELETE, ClusterEvent, Plugin
from podrace.model.scheduler.framework.status import Phase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, enabled, nodes, spec


def make(release: str, **scope: Any) -> tuple[Concrete, Any, Any, list[Pod], Pod]:
    """Two parked pods that NodeResourcesFit rejected, the second of higher priority; and a pod on the node."""
    on = nodes(2)
    pods = [Pod(0, "low", 1, 1), Pod(1, "high", 1, 10)]
    gone = Pod(2, "gone", 2, node=on[0])
    model = concrete(spec([*pods, gone], on, **scope), release)
    queue = model.part("queue")
    for pod in pods:
        model.do(partial(queue.put, pod, SubQueue.UNSCHEDULABLE, PodCopy()))
        model.do(partial(rejected, queue, pod))
    return model, queue, model.part("scheduler"), pods, gone


def rejected(queue: Any, pod: Pod) -> None:
    for plugin in queue.universe[Plugin]:
        queue.rejected_by[pod][plugin] = plugin.name == "NodeResourcesFit"


def move(model: Concrete, queue: Any, gone: Pod) -> None:
    model.do(lambda: queue.move_all(ASSIGNED_POD_DELETE, about=gone))


def met(model: Concrete, scheduler: Any, pods: list[Pod]) -> list[bool]:
    """Which of the pods Pop can take amid the last move."""
    return [enabled(model, lambda pod=pod: scheduler.pop_amid_move(pod)) for pod in pods]


@pytest.mark.parametrize(
    ("release", "backoff", "amid"),
    [
        ("1.30", False, [False, False]),
        ("1.31", False, [True, True]),
        ("1.31", True, [False, False]),
        ("1.32", True, [False, False]),
        ("1.33", True, [True, True]),
        ("1.36", True, [True, True]),
    ],
)
def test_pop_may_come_before_a_pod_of_higher_priority_is_moved(release, backoff, amid):
    """In backoffQ it looks since 1.33 only (pop-from-backoff)."""
    model, queue, scheduler, pods, gone = make(release, backoff=backoff)
    assert met(model, scheduler, pods) == [False, False], "nothing was moved yet"
    move(model, queue, gone)
    assert met(model, scheduler, pods) == amid
    assert enabled(model, lambda: scheduler.pop(pods[0])) is (backoff and release >= "1.33")


@pytest.mark.parametrize(("amid", "place"), [(False, SubQueue.UNSCHEDULABLE), (True, SubQueue.ACTIVE)])
def test_the_event_of_the_move_is_recorded_when_the_pod_is_in_flight_already(amid, place):
    """It has been moved for this event, is rejected again, and comes back for the same event once more."""
    model, queue, scheduler, (low, high), gone = make("1.36", backoff=False)
    move(model, queue, gone)
    model.do(lambda: (scheduler.pop_amid_move if amid else scheduler.pop)(high))
    assert model.get(lambda: scheduler.phase) is Phase.POPPED
    model.do(lambda: rejected(queue, high))
    model.do(lambda: queue.requeue(high, PodCopy()))
    assert model.get(lambda: queue.sub_queue[high]) is place
    assert model.get(lambda: any_of(queue.just_moved[p] for p in (low, high))) is False


@pytest.mark.parametrize("amid", [False, True])
def test_up_to_1_31_the_popped_pod_counts_as_tried_before_the_move_request(amid):
    model, queue, scheduler, (_, high), gone = make("1.31", backoff=False)
    move(model, queue, gone)
    model.do(lambda: (scheduler.pop_amid_move if amid else scheduler.pop)(high))
    assert model.get(lambda: queue.moved) is amid


CALLS = {
    "add": lambda q, p: q.add(p, PodObject(exists=True)),
    "update": lambda q, p: q.update(p, PodObject(exists=True), PodObject(exists=True, failed=True)),
    "delete": lambda q, p: q.delete(p),
    "activate": lambda q, p: q.activate(p),
    "requeue": lambda q, p: q.requeue(p, PodCopy()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_move_ends_before_the_next_call_that_takes_the_lock(name):
    model, queue, scheduler, pods, gone = make("1.36", backoff=False)
    move(model, queue, gone)
    model.do(lambda: CALLS[name](queue, gone))
    assert met(model, scheduler, pods) == [False, False]


def test_a_move_ends_before_an_update_of_an_assigned_pod_that_no_plugin_asked_for():
    """AssignedPodUpdated takes the lock, whether or not it moves a pod."""
    model, queue, scheduler, pods, gone = make("1.36", backoff=False)
    move(model, queue, gone)
    assigned = PodObject(exists=True, node=gone.node)
    model.do(
        lambda: model.part("handlers").wake_for_assigned(
            gone, assigned, PodObject(exists=True, node=gone.node, terminating=True)
        )
    )
    assert met(model, scheduler, pods) == [False, False]


def test_nothing_is_noted_while_the_cycle_has_still_to_take_the_lock():
    model, queue, scheduler, pods, gone = make("1.36", backoff=False)
    for phase, noted in ((Phase.FILTERING, False), (Phase.DRY_RUN, False), (Phase.ASSUMED, True)):

        def set_phase(phase: Phase = phase) -> None:
            scheduler.phase = phase

        model.do(set_phase)
        for pod in pods:
            model.do(partial(queue.put, pod, SubQueue.UNSCHEDULABLE, PodCopy()))
        move(model, queue, gone)
        assert model.get(lambda: any_of(queue.just_moved[p] for p in pods)) is noted


# --- the same, in as many steps as upstream takes ------------------------------------------------------


class SlowMoves(PriorityQueue):
    """A move under the queue's lock, pod by pod, and its event last. All that takes the lock waits: it calls `settle`."""

    moving = boolean()
    left = per(Pod, boolean())
    worth = per(Pod, per(Plugin, boolean()))

    def settle(self) -> None:
        require(~as_expr(self.moving))

    def pop(self, pod: Pod) -> Any:
        require(self.is_head(pod))
        return self._take(pod)

    def _move(self, which: Mapping[Pod, Value], event: ClusterEvent, about: Any = None) -> None:
        self.settle()
        self.moving = True
        for pod, wanted in which.items():
            parked = self.sub_queue[pod] == SubQueue.UNSCHEDULABLE
            self.left[pod] = (
                parked & wanted & ~self.is_gated_for(pod, event) & self.is_woken_by(pod, event, about)
            )
        for pod in self.universe[Pod]:
            for plugin in self.universe[Plugin]:
                self.worth[pod][plugin] = self.hints.wakes(plugin, pod, event, about)

    @step(actor="mover", each="pod")
    def move_one(self, pod: Pod) -> None:
        """One pod after the other, in any order."""
        require(self.left[pod])
        self.sub_queue[pod] = self.entering(pod, self.retry_sub_queue(pod), self.copy[pod])
        self.left[pod] = False

    @step(actor="mover")
    def end_move(self) -> None:
        """addEventIfAnyInFlight, and the lock is let go."""
        require(self.moving & ~any_of(self.left[p] for p in self.universe[Pod]))
        self.moving = False
        for pod in self.universe[Pod]:
            for plugin in self.universe[Plugin]:
                worth = self.in_flight[pod] & self.worth[pod][plugin]
                self.in_flight_events[pod][plugin] = self.in_flight_events[pod][plugin] | worth
                self.worth[pod][plugin] = False


class FiltersTakeTheLock(Scheduler):
    """NominatedPodsForNode takes the queue's lock; and there is no step that stands for a Pop amid a move."""

    @step(actor="scheduler")
    def pop_amid_move(self, pod: Pod) -> None:
        require(False)

    @step(actor="scheduler")
    def filter(self, pod: Pod, node: Node) -> None:
        self.queue.settle()
        super().filter(pod, node)

    @step(actor="scheduler")
    def filter_nominated(self, pod: Pod, node: Node) -> None:
        self.queue.settle()
        super().filter_nominated(pod, node)

    @step(actor="scheduler")
    def dry_run(self, pod: Pod, node: Node) -> None:
        self.queue.settle()
        super().dry_run(pod, node)


class NoPopAmidMoves(Scheduler):
    """As if Pop waited for a move to end."""

    @step(actor="scheduler")
    def pop_amid_move(self, pod: Pod) -> None:
        require(False)


def seen(cluster: ClusterSpec, release: str, *changes: type[Component]) -> set[str]:
    """Which views of scheduling cycle and queue are reached, each with the last move over."""
    model = build_cluster(cluster, (*changes, *resolve(release).classes))
    queue, scheduler = model.parts["queue"], model.parts["scheduler"]
    waiting = [p for p in cluster.pods if p.node is None]

    def view(popped: Pod, heard: bool, parked: tuple[SubQueue, ...], phase: Phase) -> Expr:
        plugins = queue.universe[Plugin]
        others = zip((p for p in waiting if p is not popped), parked, strict=True)
        return all_of(
            [
                scheduler.at(phase, popped),
                any_of(queue.in_flight_events[popped][g] for g in plugins) == as_expr(heard),
                *(queue.sub_queue[q] == place for q, place in others),
                ~as_expr(queue.moving) if SlowMoves in changes else as_expr(True),
            ]
        )

    places = product(SubQueue, repeat=len(waiting) - 1)
    views = product(waiting, (False, True), list(places), (Phase.POPPED, Phase.FAILING))
    witnesses = {repr(v): (lambda v=v: view(*v)) for v in views}
    return set(native.explore(trace_system(model, witnesses=witnesses)).witnesses)


@pytest.mark.parametrize(
    ("release", "backoff", "views", "without"),
    [("1.32", False, 20, 18), ("1.32", True, 23, 23), ("1.36", False, 20, 18), ("1.36", True, 26, 23)],
)
def test_the_same_is_reached_as_with_moves_in_several_steps(release, backoff, views, without):
    (n0,) = on = nodes(2)
    pods = [
        Pod(0, "low", 2, 1, preempts=False),
        Pod(1, "high", 2, 10, preempts=False),
        Pod(2, "gone", 2, 20, node=n0, graceful=False),
    ]
    cluster = spec(pods, on, pod_events=1, pod_deletions=1, flush=False, backoff=backoff)
    found = seen(cluster, release)
    assert found == seen(cluster, release, FiltersTakeTheLock, SlowMoves)
    assert len(found) == views
    assert len(seen(cluster, release, NoPopAmidMoves)) == without
