"""What is recorded of a pod that is rejected although it had a node: by a Permit plugin, or as a victim that waits."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ExtensionPoint, Node, Pod, PodCopy, PodObject
from podrace.model.history import resolve
from podrace.model.language import Component, Concrete
from podrace.model.scheduler import Binding
from podrace.model.scheduler.cycles.binding import BindingPhase
from podrace.model.scheduler.framework.events import (
    ASSIGNED_POD_DELETE,
    DEFAULT_PREEMPTION,
    NODE_ADD,
    PERMIT_PLUGIN,
    UNSCHEDULABLE_TIMEOUT,
    Plugin,
    default_plugins,
)
from podrace.model.scheduler.framework.waiting_pods import PermitAnswer
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import concrete, nodes, spec

PARKED, BACKOFF = SubQueue.UNSCHEDULABLE, SubQueue.BACKOFF
WAITS = [ExtensionPoint.PERMIT]


def rejected(release: str, by: str):
    """A pod after an attempt that ended in a rejection: at Permit, by the plugin while it waited, or by preemption then."""
    on = nodes(2)
    pod, other = Pod(0, "p", 1, extension_points=WAITS), Pod(1, "other", 1, node=on[0])
    model = concrete(spec([pod, other], on, permit_rejections=1), release)
    scheduler, binding, waiting = (model.part(n) for n in ("scheduler", "binding", "waiting"))
    for call in (
        lambda: scheduler.pop(pod),
        lambda: scheduler.take_snapshot(pod),
        lambda: scheduler.filter(pod, on[0]),
        lambda: scheduler.assume(pod, on[0]),
        lambda: scheduler.start_binding(pod),
        lambda: scheduler.permit(pod, PermitAnswer.REJECT if by == "permit" else PermitAnswer.WAIT),
    ):
        model.do(call)
    if by == "permit":
        model.do(lambda: scheduler.forget(pod))
        model.do(lambda: scheduler.fail(pod))
    else:
        if model.get(lambda: binding.phase[pod]) is BindingPhase.ANNOUNCE:
            model.do(lambda: binding.announce(pod))
            model.do(lambda: model.part("handlers").handle_for_queue(pod))
        model.do(lambda: (waiting.refuse if by == "plugin" else waiting.preempt)(pod))
        for step in (binding.wait_on_permit, binding.forget):
            model.do(partial(step, pod))
        if model.get(lambda: binding.phase[pod]) is BindingPhase.WAKE:
            model.do(lambda: binding.wake_queue(pod))
        model.do(lambda: binding.fail(pod))
    for step in (model.part("failure").read, model.part("failure").requeue):
        model.do(partial(step, pod))
    return model, model.part("queue"), pod, other


def recorded(model, queue, pod) -> set[str]:
    found = model.get(lambda: {p.name: queue.rejected_by[pod][p] for p in queue.universe[Plugin]})
    return {name for name, so in found.items() if so}


@pytest.mark.parametrize(
    ("by", "release", "plugins", "place"),
    [
        ("permit", "1.27", set(), PARKED),
        ("permit", "1.28", {PERMIT_PLUGIN}, PARKED),
        ("permit", "1.36", {PERMIT_PLUGIN}, PARKED),
        ("plugin", "1.28", set(), PARKED),
        ("plugin", "1.29", {PERMIT_PLUGIN}, PARKED),
        ("plugin", "1.36", {PERMIT_PLUGIN}, PARKED),
        ("victim", "1.28", set(), PARKED),
        ("victim", "1.29", {DEFAULT_PREEMPTION}, PARKED),
        ("victim", "1.35", {DEFAULT_PREEMPTION}, PARKED),
        ("victim", "1.36", set(), BACKOFF),
    ],
)
def test_who_is_recorded(by, release, plugins, place):
    """119046 for the scheduling cycle, 119785 for WaitOnPermit. Before, the pod was parked without a record.

    From 1.36 on preemption ends the wait with an error (135719), which is nobody's rejection.
    """
    model, queue, pod, _ = rejected(release, by)
    assert recorded(model, queue, pod) == plugins
    assert model.get(lambda: queue.sub_queue[pod]) is place


@pytest.mark.parametrize("event", [NODE_ADD, ASSIGNED_POD_DELETE])
@pytest.mark.parametrize(
    ("by", "release", "place"),
    [
        ("plugin", "1.31", BACKOFF),
        ("plugin", "1.35", BACKOFF),
        ("victim", "1.31", BACKOFF),
        ("victim", "1.32", PARKED),
        ("victim", "1.35", PARKED),
    ],
)
def test_which_events_move_it(by, release, place, event):
    """A plugin that says nothing of events has asked for all; DefaultPreemption has asked for none that counts since 1.32."""
    model, queue, pod, other = rejected(release, by)
    about = model.model.entities[Node][0] if event is NODE_ADD else other
    model.do(lambda: queue.move_all(event, about=about))
    assert model.get(lambda: queue.sub_queue[pod]) is place
    model.do(lambda: queue.move_all(UNSCHEDULABLE_TIMEOUT))
    assert model.get(lambda: queue.sub_queue[pod]) is BACKOFF


@pytest.mark.parametrize(("release", "place"), [("1.31", BACKOFF), ("1.32", PARKED), ("1.33", PARKED)])
def test_which_events_move_a_victim_without_hints(release, place):
    """SchedulerQueueingHints off: what is registered counts, and since 1.32 DefaultPreemption registers nothing."""
    classes = resolve(release, gates={"SchedulerQueueingHints": False}).classes
    on = nodes(2)
    pod = Pod(0, "p", 1, extension_points=WAITS)
    model = Concrete(build_cluster(spec([pod, Pod(1, "other", 1, node=on[0])], on), classes))
    queue = model.part("queue")
    model.do(lambda: queue.pop(pod))
    model.do(lambda: queue.record_rejection(pod, queue.only(DEFAULT_PREEMPTION)))
    model.do(lambda: queue.requeue(pod, PodCopy()))
    assert model.get(lambda: queue.sub_queue[pod]) is PARKED
    model.do(lambda: queue.move_all(NODE_ADD, about=on[0]))
    assert model.get(lambda: queue.sub_queue[pod]) is place


@pytest.mark.parametrize(("name", "place"), [(PERMIT_PLUGIN, BACKOFF), (DEFAULT_PREEMPTION, PARKED)])
def test_an_event_while_it_waited_has_it_tried_again(name, place):
    on = nodes(2)
    pod = Pod(0, "p", 1, extension_points=WAITS)
    model = concrete(spec([pod, Pod(1, "other", 1, node=on[0])], on), "1.35")
    queue = model.part("queue")
    model.do(lambda: queue.pop(pod))
    model.do(lambda: queue.move_all(NODE_ADD, about=on[0]))
    model.do(lambda: queue.record_rejection(pod, queue.only(name)))
    model.do(lambda: queue.requeue(pod, PodCopy()))
    assert model.get(lambda: queue.sub_queue[pod]) is place


@pytest.mark.parametrize(
    ("by", "release", "place"),
    [
        ("permit", "1.31", PARKED),
        ("plugin", "1.31", PARKED),
        ("permit", "1.32", BACKOFF),
        ("plugin", "1.32", BACKOFF),
        ("plugin", "1.36", BACKOFF),
        ("victim", "1.32", PARKED),
        ("victim", "1.35", PARKED),
    ],
)
def test_the_condition_that_the_scheduler_writes_itself_moves_it(by, release, place):
    """A plugin that has asked for all events has asked for updates of the pod; before hints, one of the status moved nobody."""
    model, queue, pod, _ = rejected(release, by)
    failure, handlers = model.part("failure"), model.part("handlers")
    for step in (failure.nominate, failure.patch, handlers.handle_for_queue):
        model.do(partial(step, pod))
    assert model.get(lambda: queue.sub_queue[pod]) is PARKED
    model.do(lambda: handlers.update_queue(pod))
    assert model.get(lambda: queue.sub_queue[pod]) is place
    assert model.get(lambda: queue.copy[pod].failed) is True


@pytest.mark.parametrize("release", ["1.32", "1.36"])
@pytest.mark.parametrize("name", [PERMIT_PLUGIN, DEFAULT_PREEMPTION, "NodeResourcesFit", "InterPodAffinity"])
def test_an_update_of_a_pod_in_flight_is_kept_for_all_in_flight(name, release):
    on = nodes(4)
    pod, other = (Pod(i, f"p{i}", 1, extension_points=WAITS) for i in range(2))
    model = concrete(spec([pod, other], on), release)
    queue, plugins = model.part("queue"), model.model.entities[Plugin]
    for q in (pod, other):
        model.do(partial(queue.pop, q))
    old, new = PodObject(exists=True), PodObject(exists=True, failed=True)
    model.do(lambda: queue.update(pod, old, new))
    (plugin,) = (g for g in plugins if g.name == name)
    kept = model.get(lambda: [queue.in_flight_events[q][plugin] for q in (pod, other)])
    assert kept == [name == PERMIT_PLUGIN] * 2


@pytest.mark.parametrize(("release", "place"), [("1.31", PARKED), ("1.32", BACKOFF), ("1.36", BACKOFF)])
def test_an_assigned_pod_that_begins_to_terminate_moves_it(release, place):
    """updateAssignedPodInCache; before hints AssignedPodUpdated asked for affinity terms."""
    model, queue, pod, other = rejected(release, "plugin")
    api, handlers = model.part("api"), model.part("handlers")
    model.do(lambda: api._commit(other, api.pod[other].replace(terminating=True)))
    model.do(lambda: handlers.handle_for_cache(other))
    model.do(lambda: handlers.wake_queue(other))
    assert model.get(lambda: queue.sub_queue[pod]) is place


@pytest.mark.parametrize(("release", "place"), [("1.31", PARKED), ("1.32", BACKOFF), ("1.36", BACKOFF)])
def test_a_removed_node_moves_it(release, place):
    """127464: deleteNodeFromCache moves before it removes the node."""
    model, queue, pod, _ = rejected(release, "plugin")
    (n0,) = model.model.entities[Node]
    handlers = model.part("handlers")
    model.do(lambda: model.part("node_watch").publish(n0, False))
    model.do(lambda: handlers.handle_node(n0))
    assert model.get(lambda: queue.sub_queue[pod]) is place
    assert model.get(lambda: (handlers.node_busy, model.part("cache").live[n0])) == (release != "1.31",) * 2


def test_without_permit_plugins_nothing_is_added():
    assert [p.name for p in default_plugins(permit=True)][len(default_plugins()) :] == [
        PERMIT_PLUGIN,
        DEFAULT_PREEMPTION,
    ]
    on = nodes(2)
    model = concrete(spec([Pod(0, "p", 1)], on), "1.36")
    assert len(model.model.entities[Plugin]) == len(default_plugins())


class Unrecorded(Binding):
    """As if WaitOnPermit's rejection were an error, which is tried again."""

    def record_refusal(self, pod: Pod) -> None:
        """Not recorded."""


@pytest.mark.parametrize(
    ("release", "changes", "verdict", "states", "steps"),
    [
        ("1.34", (), "VIOLATED", 18406, 47),
        ("1.34", (Unrecorded,), "HOLDS", 102913, None),
        ("1.35", (), "VIOLATED", 23798, 39),
    ],
)
def test_a_waiting_victim_is_parked_for_good(
    release: str, changes: tuple[type[Component], ...], verdict: str, states: int, steps: int | None
):
    """v waits on n1, where p has to go, which preempts it; v would fit on n2, and only the flush would try it again.

    That p can be stuck as well is 140082: in 1.35, p is held back for as long as v exists (134730), in 1.34 it is bound.
    """
    on = (Node(0, "n1", 1, {"disk": "ssd"}), Node(1, "n2", 1))
    v = Pod(0, "v", 1, 0, extension_points=WAITS)
    p = Pod(1, "p", 1, 10, node_selector={"disk": "ssd"}, exists=False)
    classes = (*changes, *resolve(release).classes)
    stuck = PROPERTIES["S-STUCK"].ignoring(frozenset({"p"}))
    (found,) = check(
        instrument(spec([v, p], on, pod_events=2, pod_creations=1, flush=False), classes, [stuck]),
        ["S-STUCK"],
    )
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
