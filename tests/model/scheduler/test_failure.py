"""The failure handler: when Done is called, and when there is nothing to write."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from podrace.model.environment.objects import Node, Pod
from podrace.model.language import Concrete
from podrace.model.scheduler.cycles.failure import FailurePhase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, enabled, nodes, spec


def failing(release: str, **scope: Any) -> tuple[Concrete, Pod, Node]:
    """A model whose pod p fits nowhere, and whose failure handler is about to read it in the lister."""
    (n0,) = nodes(1)
    p = Pod(0, "p", 2)
    model = concrete(spec([p], (n0,), **scope), release)
    scheduler = model.part("scheduler")
    for step in (
        lambda: scheduler.pop(p),
        lambda: scheduler.take_snapshot(p),
        lambda: scheduler.filter(p, n0),
        lambda: scheduler.reread_preemptor(p),
    ):
        model.do(step)
    if enabled(model, lambda: scheduler.dry_run(p, n0)):
        model.do(lambda: scheduler.dry_run(p, n0))
    model.do(lambda: scheduler.fail(p))
    return model, p, n0


@pytest.mark.parametrize("release", ["1.32", "1.34", "1.36.3"])
def test_a_pod_that_is_not_requeued_is_in_flight_until_the_handler_returns(release: str) -> None:
    model, p, _ = failing(release, pod_deletions=1)
    failure, queue = model.part("failure"), model.part("queue")
    model.do(lambda: model.part("users").delete_pod(p))
    model.do(lambda: model.part("pod_watch").store(p))
    seen = []
    for step in (failure.read, failure.nominate, failure.patch):
        model.do(partial(step, p))
        seen.append(model.get(lambda: queue.in_flight[p]))
    assert seen == [True, True, False]


def test_a_condition_that_the_object_at_hand_carries_is_not_written_again() -> None:
    model, p, n0 = failing("1.36.3", external_binds=1, pod_events=3)
    failure, api, queue = (model.part(name) for name in ("failure", "api", "queue"))
    scheduler = model.part("scheduler")

    def do(*steps: Callable[[], object]) -> None:
        for step in steps:
            model.do(step)

    do(lambda: failure.read(p), lambda: failure.requeue(p), lambda: failure.nominate(p))
    assert not model.get(lambda: failure.noted[p])  # the first time it is news
    do(lambda: failure.patch(p), lambda: model.part("pod_watch").store(p))
    do(lambda: queue.flush_unschedulable(p))
    if model.get(lambda: queue.sub_queue[p]) is SubQueue.BACKOFF:
        do(lambda: queue.flush_backoff(p))
    do(lambda: scheduler.pop(p), lambda: scheduler.take_snapshot(p), lambda: scheduler.filter(p, n0))
    do(lambda: model.part("users").bind_pod(p, n0))
    do(lambda: scheduler.reread_preemptor(p), lambda: scheduler.fail(p))
    do(lambda: failure.read(p), lambda: failure.requeue(p), lambda: failure.nominate(p))
    do(lambda: failure.patch(p))
    assert model.get(lambda: (api.pod[p].failed, failure.phase[p])) == (False, FailurePhase.NONE)


def test_nothing_is_noted_where_no_condition_can_go() -> None:
    model, p, _ = failing("1.36.3")
    failure = model.part("failure")
    for step in (failure.read, failure.requeue, failure.nominate):
        model.do(partial(step, p))
    assert not model.get(lambda: failure.noted[p])
