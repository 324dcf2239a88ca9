"""Scheduling gates: a pod that has any is not tried, whatever happens, until an update shows it without."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import Pod
from podrace.model.history import resolve
from podrace.model.language import NotEnabled
from podrace.model.scheduler.framework.events import ANY_EVENT, NODE_ADD, SCHEDULING_GATES, Plugin
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import concrete, nodes, spec

SINCE = ["1.27", "1.28", "1.29", "1.31", "1.32", "1.33", "1.34"]


def make(release, **kwargs):
    pods = [Pod(0, "p", 1, gated=True, **kwargs), Pod(1, "q", 1)]
    on = nodes(2)
    scope = {"pod_creations": 1} if kwargs else {}
    model = concrete(spec(pods, on, **scope), release)
    return model, model.part("queue"), pods


def place(model, queue, pod):
    return model.get(lambda: queue.sub_queue[pod])


def gates_noted(model, queue, pod):
    """Whether the queue has the plugin of the gates among those that rejected the pod."""
    (plugin,) = [g for g in model.model.entities[Plugin] if g.name == SCHEDULING_GATES]
    return model.get(lambda: queue.rejected_by[pod][plugin])


def deliver(model, pod):
    """The queue's handler gets the next event, an update of the pod."""
    handlers = model.part("handlers")
    model.do(lambda: handlers.handle_for_queue(pod))
    model.do(lambda: handlers.update_queue(pod))


@pytest.mark.parametrize("release", SINCE)
def test_only_the_update_that_removes_the_gates_brings_the_pod_to_activeq(release):
    model, queue, (p, _) = make(release)
    for event in (ANY_EVENT, NODE_ADD):
        model.do(lambda event=event: queue.move_all(event))
        assert (place(model, queue, p), gates_noted(model, queue, p)) == (SubQueue.UNSCHEDULABLE, True)
    model.do(lambda: queue.activate(p))
    assert place(model, queue, p) is SubQueue.UNSCHEDULABLE
    model.do(lambda: model.part("users").remove_gates(p))
    assert place(model, queue, p) is SubQueue.UNSCHEDULABLE, "the update is still to be delivered"
    deliver(model, p)
    assert (place(model, queue, p), model.get(lambda: queue.gated[p])) == (SubQueue.ACTIVE, False)


@pytest.mark.parametrize("release", SINCE)
def test_a_new_pod_with_gates_is_parked(release):
    model, queue, (p, _) = make(release, exists=False)
    assert place(model, queue, p) is SubQueue.NONE
    model.do(lambda: model.part("users").create_pod(p))
    model.do(lambda: model.part("handlers").handle_for_queue(p))
    assert (place(model, queue, p), model.get(lambda: queue.gated[p])) == (SubQueue.UNSCHEDULABLE, True)


@pytest.mark.parametrize(("release", "kept"), [("1.28", True), ("1.29", False)])
def test_a_popped_pod_forgets_its_gates_from_1_29_on(release, kept):
    model, queue, (p, _) = make(release)
    model.do(lambda: model.part("users").remove_gates(p))
    deliver(model, p)
    model.do(lambda: queue.sub_queue.__setitem__(queue.universe[Pod][1], SubQueue.NONE))
    model.do(lambda: queue.pop(p))
    assert gates_noted(model, queue, p) is kept


@pytest.mark.parametrize(("release", "bindable"), [("1.26", True), ("1.27", False)])
def test_a_pod_with_gates_cannot_be_bound(release, bindable):
    model, _, (p, _) = make(release)
    assert model.get(lambda: model.part("api").can_bind(p)) is bindable


def test_up_to_1_26_the_field_is_dropped():
    model, queue, (p, _) = make("1.26")
    assert place(model, queue, p) is SubQueue.ACTIVE
    with pytest.raises(NotEnabled):
        model.do(lambda: model.part("users").remove_gates(p))


@pytest.mark.parametrize("name", ["S-STUCK", "L-PEND", "L-WAKE", "S-CONS"])
@pytest.mark.parametrize("release", ["1.27", "1.31", "1.34"])
def test_a_gated_pod_is_scheduled_once_its_gates_are_gone(release, name):
    on = nodes(1)
    pods = [Pod(0, "p", 1, gated=True), Pod(1, "x", 1, node=on[0], graceful=False)]
    cluster = spec(pods, on, pod_events=2, pod_deletions=1, flush=False)
    system = instrument(cluster, resolve(release).classes, [PROPERTIES[name]])
    (found,) = check(system, [name])
    assert (found.verdict.name, found.vacuous) == ("HOLDS", False)
