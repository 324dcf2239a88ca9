"""Preemption reads its preemptor again by name, and goes on with the object that it finds: that of another pod, if the preemptor was recreated."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.model.environment.names import Recreation
from podrace.model.environment.objects import Node, Pod, PodObject
from podrace.model.language import Concrete
from podrace.model.scheduler.framework.status import NodeStatus
from tests.model.clusters import concrete, enabled, nodes, spec


def recreated(
    release: str, cpu: int = 2, priority: int = 10, found: bool = True
) -> tuple[Concrete, Pod, Pod]:
    """The cycle of a pod for which no node has room, and which is gone; another has its name, and the lister (up to 1.18 the API server) shows it."""
    (on,) = nodes(2)
    v = Pod(0, "v", 2, 0, node=on, graceful=False)
    gone = Pod(1, "gone", 2, 10)
    again = Pod(2, "again", cpu, priority, exists=False, recreates="gone")
    model = concrete(spec([v, gone, again], (on,)), release)
    scheduler = model.part("scheduler")
    for step in (scheduler.pop, scheduler.take_snapshot, partial(scheduler.filter, node=on)):
        model.do(partial(step, gone))
    for shown in (model.part("api").pod, model.part("pod_watch").lister):
        model.do(partial(shown.__setitem__, gone, PodObject()))
        model.do(partial(shown.__setitem__, again, PodObject(exists=found)))
    model.do(partial(scheduler.reread_preemptor, gone))
    return model, gone, again


@pytest.mark.parametrize("release", ["1.18", "1.22", "1.32", "1.36", "1.37"])
def test_preemption_goes_on_for_the_pod_that_has_the_name(release: str) -> None:
    model, gone, again = recreated(release)
    scheduler, (on,) = model.part("scheduler"), model.part("api").universe[Node]
    assert [enabled(model, partial(scheduler.dry_run, pod, on)) for pod in (gone, again)] == [False, True]
    model.do(partial(scheduler.dry_run, again, on))
    assert model.get(lambda: scheduler.verdict[on]) is NodeStatus.CANDIDATE
    model.do(partial(scheduler.choose_candidate, again, on))
    if release in ("1.36", "1.37"):
        goroutine = model.part("async_preemption")
        evicts_for = [on, None] if release == "1.37" else [None, on]  # preempts-for-the-popped
        assert model.get(lambda: [goroutine.node[pod] for pod in (gone, again)]) == evicts_for
        # The cycle is that of the pod which is gone, and its failure handler takes over.
        assert [enabled(model, partial(scheduler.fail, pod)) for pod in (gone, again)] == [True, False]
        (recreation,) = model.part("api").universe[Recreation]
        assert model.get(lambda: scheduler.stands_in[recreation]) is False


@pytest.mark.parametrize(("cpu", "priority", "status"), [(3, 10, NodeStatus.NO_CANDIDATE), (2, 0, NodeStatus.NO_CANDIDATE), (1, 1, NodeStatus.CANDIDATE)])  # fmt: skip
def test_what_counts_is_what_the_other_pod_asks_for(cpu: int, priority: int, status: NodeStatus) -> None:
    model, _, again = recreated("1.36", cpu, priority)
    scheduler, (on,) = model.part("scheduler"), model.part("api").universe[Node]
    model.do(partial(scheduler.dry_run, again, on))
    assert model.get(lambda: scheduler.verdict[on]) is status


def test_preemption_for_a_pod_that_is_gone_ends_if_nobody_has_its_name() -> None:
    model, gone, _ = recreated("1.36", found=False)
    assert enabled(model, partial(model.part("scheduler").fail, gone))
