"""A pod that PreEnqueue of DefaultPreemption holds back: which events wake it."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import Pod, PodCopy
from podrace.model.scheduler.framework.events import ANY_EVENT, ASSIGNED_POD_DELETE, NODE_ADD, Plugin
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, nodes, spec

SINCE_134 = ["1.34.0", "1.34.4", "1.35.4", "1.36.3", "1.37.2"]
PARKED, RETRIED = SubQueue.UNSCHEDULABLE, SubQueue.ACTIVE


def held_back(release, rejected):
    """A model with a held-back pod, its queue, and where an event moves the pod. `rejected`: NodeResourcesFit rejected it, too."""
    on = nodes(1)
    v, p = Pod(0, "v", 1, 0, node=on[0]), Pod(1, "p", 1, 10)
    model = concrete(spec([v, p], on, backoff=False), release)
    queue = model.part("queue")
    (fit,) = [g for g in model.model.entities[Plugin] if g.name == "NodeResourcesFit"]
    model.do(lambda: queue.put(p, SubQueue.UNSCHEDULABLE, PodCopy()))

    def hold() -> None:
        queue.gated[p] = True
        queue.rejected_by[p][fit] = rejected

    model.do(hold)

    def after(event):
        model.do(lambda: queue.move_all(event, about=v if event == ASSIGNED_POD_DELETE else None))
        return model.get(lambda: queue.sub_queue[p])

    return after


@pytest.mark.parametrize("release", SINCE_134)
def test_the_hint_of_default_preemption_answers_skip(release):
    after = held_back(release, False)
    assert [after(event) for event in (NODE_ADD, ASSIGNED_POD_DELETE)] == [PARKED, PARKED]
    flushed = RETRIED if release == "1.37.2" else PARKED  # 139162
    assert after(ANY_EVENT) is flushed


def test_without_a_hint_any_event_wakes():
    """1.33: DefaultPreemption registered for deletions without a hint, and gated pods were not left out."""
    assert held_back("1.33.6", False)(ASSIGNED_POD_DELETE) is RETRIED


@pytest.mark.parametrize("release", ["1.33.6", *SINCE_134])
def test_another_plugin_that_rejected_the_pod_wakes_it(release):
    after = held_back(release, True)
    assert after(ASSIGNED_POD_DELETE) is RETRIED
