"""What a cycle that ends in an error leaves to the failure handler (schedule_one.go, v1.36.3)."""

from __future__ import annotations

from podrace.model.environment.objects import Pod
from podrace.model.scheduler.framework.status import Phase
from tests.model.clusters import concrete, nodes, spec


def test_the_condition_of_a_cycle_that_ends_in_an_error_says_scheduler_error() -> None:
    pod = Pod(0, "p", 1)
    model = concrete(spec([pod], nodes(1)), "1.36.3")
    scheduler = model.part("scheduler")
    model.do(lambda: scheduler.end_in_error(pod))
    found = model.get(lambda: (scheduler.phase, scheduler.error, scheduler.scheduler_error))
    assert found == (Phase.FAIL, True, True)
