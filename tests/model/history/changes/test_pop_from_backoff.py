"""PreEnqueue and backoffQ, with SchedulerPopFromBackoffQ and without."""

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import Pod
from podrace.model.history import resolve
from podrace.model.language import Concrete
from podrace.model.scheduler.preemption.async_preemption import AsyncPhase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import nodes, spec

POP, ASYNC = "SchedulerPopFromBackoffQ", "SchedulerAsyncPreemption"


def place(model, pod):
    queue = model.part("queue")
    return model.get(lambda: queue.sub_queue[pod]), model.get(lambda: queue.gated[pod])


@pytest.mark.parametrize(
    ("release", "gates", "entered", "flushed"),
    [
        # PreEnqueue is asked when a pod enters backoffQ, so that the preemptor is parked at once ...
        ("1.33.6", {}, SubQueue.UNSCHEDULABLE, None),
        ("1.34", {}, SubQueue.UNSCHEDULABLE, None),
        # ... or else when its backoff is over.
        ("1.32.2", {ASYNC: True}, SubQueue.BACKOFF, (SubQueue.UNSCHEDULABLE, True)),
        ("1.34", {POP: False}, SubQueue.BACKOFF, (SubQueue.UNSCHEDULABLE, True)),
        ("1.36.3", {POP: False}, SubQueue.BACKOFF, (SubQueue.UNSCHEDULABLE, True)),
        # Nothing holds it where the scheduling cycle evicts.
        ("1.34", {POP: False, ASYNC: False}, SubQueue.BACKOFF, (SubQueue.ACTIVE, False)),
    ],
)
def test_when_preemption_holds_a_pod_that_backs_off(release, gates, entered, flushed):
    pods = [Pod(0, "p", 1, priority=1), Pod(1, "v", 1)]
    model = Concrete(build_cluster(spec(pods, nodes(1)), resolve(release, gates=gates).classes))
    queue, preemption = model.part("queue"), model.part("async_preemption")
    (p, _) = pods
    model.do(lambda: queue.put(p, SubQueue.NONE, queue.copy[p]))
    model.do(lambda: preemption.phase.__setitem__(p, AsyncPhase.EVICT))
    model.do(lambda: queue.requeue(p, queue.copy[p]))  # no plugin rejected it: it is tried again
    assert place(model, p)[0] is entered
    if flushed is not None:
        model.do(lambda: queue.flush_backoff(p))
        assert place(model, p) == flushed
