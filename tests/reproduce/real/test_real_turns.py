"""What a step of one goroutine must not do to another, on the real scheduler: runs in which the driver once let go the wrong one, or nobody."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.reproduce.lockstep.lockstep import case_for, difference_of
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.random_runs.random_runs import Model, RandomRun, Walker
from podrace.reproduce.running import built_for, run_cases
from podrace.reproduce.timing.timing import Timetable
from podrace.scenarios import parse_scenario
from tests.reproduce.real.test_real import CHOSEN, go_or_skip

VERSION = "1.36.3"
SCENARIOS = Path(__file__).parents[3] / "scenarios"

PREEMPTED = """
nodes: {n1: {cpu: 2}}
pods:
  v: {cpu: 2, priority: 0, nodeName: n1, terminationGracePeriodSeconds: 0}
  p: {cpu: 2, priority: 10}
scope: {pod_events: 4}
"""

BOUND_WHILE_PREEMPTING = (
    "scheduler.pop(pod=p)", "scheduler.take_snapshot(pod=p)", "scheduler.filter(pod=p, node=n1)", "scheduler.reread_preemptor(pod=p)",
    "scheduler.dry_run(pod=p, node=n1)", "scheduler.choose_candidate(pod=p, node=n1)", "async_preemption.begin(pod=p, node=n1)",
    "async_preemption.leave(pod=p)", "async_preemption.evict_last(pod=p, victim=v, ok=True)", "handlers.handle_for_cache(pod=v)",
    "scheduler.fail(pod=p)", "failure.read(pod=p)", "failure.requeue(pod=p)", "failure.nominate(pod=p)", "failure.patch(pod=p)",
    "queue.flush_unschedulable(pod=p)", "scheduler.pop(pod=p)", "scheduler.take_snapshot(pod=p)", "scheduler.filter(pod=p, node=n1)",
    "scheduler.assume(pod=p, node=n1)", "scheduler.start_binding(pod=p)", "binding.bind(pod=p, reply=ANSWERED)",
    "async_preemption.leave_last(pod=p)",
)  # fmt: skip
"""p is bound while the goroutine that evicted its victim has not yet noted that the preemption is over."""


def timed(model: Model, labels: tuple[str, ...]) -> RandomRun:
    """The run with these steps, and the waits before them."""
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    path = tuple(numbers[label] for label in labels)
    states = replay(model.system, path).states
    table = Timetable(model.system, model.composition)
    for number, before, after in zip(path, states, states[1:], strict=False):
        assert table.take(model.system.transitions[number], before, after)
    return RandomRun(model, path, table.timing)


def differences(runs: list[RandomRun]) -> list[str]:
    """What differs on the real scheduler, run by run."""
    if f"v{VERSION}" not in CHOSEN and VERSION not in CHOSEN:
        pytest.skip(f"{VERSION} is not chosen")
    built = built_for(parse_version(VERSION), go_or_skip(), say=print)
    cases = [case_for(run, str(number)) for number, run in enumerate(runs)]
    outcomes = run_cases(built, cases)
    found = [difference_of(run, outcomes[case.id]) for run, case in zip(runs, cases, strict=True)]
    return [difference.words for difference in found if difference is not None]


@pytest.mark.real
def test_a_binding_that_ends_leaves_the_preemption_of_the_pod_alone() -> None:
    assert differences([timed(Model.of(PREEMPTED, resolve(VERSION)), BOUND_WHILE_PREEMPTING)]) == []


@pytest.mark.real
def test_the_cycle_of_a_group_goes_on_after_it_has_evicted() -> None:
    """A member that preempts in the scheduling cycle is assumed by fail: the goroutine stands at its look for lower nominations."""
    text = (SCENARIOS / "groups" / "room-of-the-untried.yaml").read_text(encoding="utf-8")
    gates = parse_scenario(text, "room-of-the-untried.yaml").feature_gates
    walker = Walker(Model.of(text, resolve(VERSION, gates=gates)), Counter())
    runs = [walker.walk(Random(f"group {number}"), 60) for number in range(12)]
    assert (walker.taken["scheduler.evict"], walker.taken["scheduler.fail"]) == (12, 12)
    assert differences(runs) == []
