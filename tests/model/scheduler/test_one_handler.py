"""One handler for all events of pods, from 1.35 on: in which order it works, and what it does for a deleted pod."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import Pod, PodCopy
from podrace.model.scheduler.event_handlers import Removal, Waking
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, enabled, nodes, spec


def make(release):
    on = nodes(2)
    pods = [Pod(0, "a", 1), Pod(1, "x", 1, node=on[0], graceful=False)]
    model = concrete(spec(pods, on), release)
    return model, model.part("handlers"), model.part("api"), pods, on


@pytest.mark.parametrize(("release", "queue_first"), [("1.34", True), ("1.35", False)])
def test_of_a_binding_the_cache_hears_first(release, queue_first):
    model, handlers, api, (a, _), on = make(release)
    model.do(lambda: api.bind(a, on[0]))
    assert enabled(model, lambda: handlers.handle_for_queue(a)) is queue_first
    model.do(lambda: handlers.handle_for_cache(a))
    assert enabled(model, lambda: handlers.handle_for_queue(a)) is queue_first, (
        "the cache's half has still to wake pods"
    )
    model.do(lambda: handlers.wake_queue(a))
    model.do(lambda: handlers.handle_for_queue(a))
    assert model.get(lambda: model.part("queue").contains(a)) is False


@pytest.mark.parametrize(("release", "overtakes"), [("1.34", True), ("1.35", False)])
def test_events_are_handled_in_their_order(release, overtakes):
    model, handlers, api, (a, x), _ = make(release)
    model.do(lambda: api.delete_pod(a))
    model.do(lambda: api.delete_pod(x))
    assert enabled(model, lambda: handlers.handle_for_cache(x)) is overtakes
    model.do(lambda: handlers.handle_for_queue(a))
    if release == "1.35":
        assert enabled(model, lambda: handlers.handle_for_cache(x)) is False
        model.do(lambda: handlers.look_whether_assumed(a))
    model.do(lambda: handlers.handle_for_cache(x))
    assert model.get(lambda: model.part("cache").knows(x)) is False


def test_an_assumed_pod_that_is_deleted_is_forgotten_and_wakes_parked_pods():
    model, handlers, api, (a, x), on = make("1.35")
    queue, cache = model.part("queue"), model.part("cache")
    model.do(lambda: cache.assume(a, on[0], PodCopy()))
    model.do(lambda: queue.put(a, SubQueue.NONE, PodCopy()))
    model.do(lambda: api.delete_pod(a))
    for step in (handlers.handle_for_queue, handlers.look_whether_assumed):
        model.do(lambda step=step: step(a))
    assert model.get(lambda: handlers.queue_removal) is Removal.FORGET
    assert model.get(lambda: cache.is_assumed(a)) is True
    model.do(lambda: handlers.forget_assumed(a))
    assert model.get(lambda: [cache.knows(a), cache.knows(x)]) == [False, True]
    assert model.get(lambda: handlers.queue_waking) is Waking.ALL
    model.do(lambda: handlers.wake_queue_for_room(a))
    assert model.get(handlers.is_queue_idle) is True


def test_up_to_1_34_it_stays_assumed():
    model, handlers, api, (a, _), on = make("1.34")
    model.do(lambda: model.part("cache").assume(a, on[0], PodCopy()))
    model.do(lambda: api.delete_pod(a))
    model.do(lambda: handlers.handle_for_queue(a))
    assert model.get(handlers.is_queue_idle) is True
    assert model.get(lambda: model.part("cache").is_assumed(a)) is True
