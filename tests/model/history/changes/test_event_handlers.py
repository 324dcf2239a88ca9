"""What moved parked pods in 1.33 and 1.34, and does so no more."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.model.environment.objects import Pod, PodCopy, PodObject
from podrace.model.scheduler.framework.events import ASSIGNED_POD_DELETE, NODE_ADD
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, nodes, spec


@pytest.mark.parametrize(
    ("release", "moved"), [("1.32", False), ("1.33", True), ("1.34", True), ("1.35", False)]
)
def test_a_binding_moved_those_that_respected_the_nomination_of_the_bound_pod(
    release: str, moved: bool
) -> None:
    on, p = nodes(2, 2), Pod(0, "p", 1)
    model = concrete(spec([p], on), release)
    nominated, handlers = PodObject(exists=True, nominated=on[0]), model.part("handlers")
    pending = PodObject(exists=True)
    for bound in (nominated.replace(node=on[0]), nominated.replace(node=on[1])):
        assert model.get(partial(handlers.nomination_wakes, p, nominated, bound)) is moved
        assert model.get(partial(handlers.nomination_wakes, p, pending, bound)) is False


@pytest.mark.parametrize(("release", "gated"), [("1.33", False), ("1.34", True), ("1.35", True)])
def test_a_pod_that_preemption_holds_back_heard_of_everything(release: str, gated: bool) -> None:
    p = Pod(0, "p", 1)
    model = concrete(spec([p], nodes(2)), release)
    queue = model.part("queue")
    model.do(lambda: queue.gated.__setitem__(p, True))
    events = NODE_ADD, ASSIGNED_POD_DELETE
    assert [model.get(partial(queue.is_gated_for, p, event)) for event in events] == [gated, False]


@pytest.mark.parametrize("release", ["1.33", "1.34", "1.35"])
def test_a_pod_with_scheduling_gates_never_did(release: str) -> None:
    p = Pod(0, "p", 1, gated=True)
    model = concrete(spec([p], nodes(2)), release)
    queue = model.part("queue")
    model.do(partial(queue.put, p, SubQueue.UNSCHEDULABLE, PodCopy(gated=True)))
    model.do(lambda: queue.gated.__setitem__(p, True))
    assert model.get(partial(queue.is_gated_for, p, NODE_ADD)) is True
