"""Writes of a pod's status that fail: the condition with the nomination, and the withdrawal of lower nominations."""

from __future__ import annotations

from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import ExtensionPoint, Pod, PodCopy
from podrace.model.history import resolve
from podrace.model.language import Expr, any_of, as_expr, before, boolean, when
from podrace.model.scheduler.cycles.failure import FailurePhase
from podrace.model.scheduler.framework.status import Phase
from podrace.model.scheduler.framework.waiting_pods import Signal
from podrace.model.scheduler.preemption.async_preemption import AsyncPhase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import Property, instrument
from tests.model.clusters import concrete, enabled, nodes, spec


class NominatedPodsPreemptNobody(Property):
    """No pod looks for victims while it is nominated, the snapshot shows a victim that terminates there, and the watch has told everything."""

    id = "T-TWICE"

    broken = boolean()

    def observe(self) -> None:
        told = self.pod_watch.log.length == 0
        waits = any_of(
            self.nominator.nominated_to(p, n)
            & self.scheduler.in_flight(p)
            & self.snapshot.on(q, n)
            & self.snapshot.pod[q].terminating
            for p in self.pods
            for q in self.pods
            for n in self.nodes
        )
        begins = before(lambda: self.scheduler.phase == Phase.REREAD_PREEMPTOR) & (
            self.scheduler.phase == Phase.DRY_RUN
        )
        with when(told & waits & begins):
            self.broken = True

    def holds(self) -> Expr:
        return ~as_expr(self.broken)


@pytest.mark.parametrize(
    ("release", "failures", "expected"),
    [
        ("1.19", 0, ("HOLDS", 14_402, None)),
        ("1.19", 1, ("VIOLATED", 449, 19)),
        ("1.36", 0, ("HOLDS", 11_735, None)),
        ("1.36", 1, ("VIOLATED", 1_357, 21)),
    ],
)
def test_a_nomination_in_memory_only_does_not_keep_the_pod_from_preempting_again(
    release: str, failures: int, expected: tuple[str, int, int | None]
) -> None:
    on = nodes(1)
    pods = [Pod(0, "v", 1, 0, node=on[0]), Pod(1, "p", 1, 10)]
    cluster = spec(pods, on, pod_events=2, status_failures=failures, pod_gc=False)
    classes = resolve(release).classes
    (found,) = check(instrument(cluster, classes, [NominatedPodsPreemptNobody]), ["T-TWICE"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == expected


def with_lower_nomination(release: str, **scope: Any) -> Any:
    """p has chosen n0, to which a lower pod is nominated, as everybody knows."""
    on = nodes(2)
    pods = [Pod(0, "v", 2, 0, node=on[0]), Pod(1, "low", 1, 5), Pod(2, "p", 2, 10)]
    model = concrete(spec(pods, on, **scope), release)
    model.do(lambda: model.part("api").set_nomination(pods[1], on[0]))
    model.do(lambda: model.part("queue").put(pods[1], SubQueue.UNSCHEDULABLE, PodCopy(nominated=on[0])))
    model.do(lambda: model.part("nominator").add(pods[1], on[0], on[0]))
    return model, pods, on


@pytest.mark.parametrize("failures", [0, 1])
def test_a_failed_withdrawal_lets_the_evictions_go_on_and_activates_the_preemptor(failures: int) -> None:
    model, (v, low, p), (n0,) = with_lower_nomination("1.36", status_failures=failures)
    goroutine, api = model.part("async_preemption"), model.part("api")
    model.do(lambda: goroutine.start(p, n0, {v: True}, v))
    model.do(lambda: goroutine.begin(p, n0))
    assert enabled(model, lambda: goroutine.fail_to_clear_nomination(p, low)) is bool(failures)
    clear = goroutine.fail_to_clear_nomination if failures else goroutine.clear_nomination
    model.do(lambda: clear(p, low))
    assert model.get(lambda: api.pod[low].nominated) is (n0 if failures else None)
    model.do(lambda: goroutine.leave(p))
    model.do(lambda: goroutine.evict_last(p, v, True))
    assert model.get(lambda: api.pod[v].terminating) is True
    model.do(lambda: goroutine.leave_last(p))
    assert model.get(lambda: goroutine.phase[p]) is (AsyncPhase.ACTIVATE if failures else AsyncPhase.NONE)


@pytest.mark.parametrize("release", ["1.33", "1.34", "1.36.3", "1.37.2"])
def test_the_withdrawal_of_a_pod_that_is_gone_is_a_failure_too(release: str) -> None:
    model, (v, low, p), (n0,) = with_lower_nomination(release, pod_deletions=1)
    goroutine, api = model.part("async_preemption"), model.part("api")
    model.do(lambda: goroutine.start(p, n0, {v: True}, v))
    model.do(lambda: goroutine.begin(p, n0))
    model.do(lambda: model.part("users").delete_pod(low))
    model.do(lambda: goroutine.clear_nomination(p, low))
    assert model.get(lambda: [goroutine.failed[p], goroutine.cancelled[p]]) == [True, False]
    model.do(lambda: goroutine.leave(p))
    model.do(lambda: goroutine.evict_last(p, v, True))
    assert model.get(lambda: api.pod[v].terminating) is True
    if enabled(model, lambda: goroutine.leave_last(p)):
        model.do(lambda: goroutine.leave_last(p))
    assert model.get(lambda: goroutine.phase[p]) is AsyncPhase.ACTIVATE


def test_in_the_cycle_a_pod_that_is_gone_does_not_matter() -> None:
    model, (_, low, p), (n0,) = with_lower_nomination("1.32", pod_deletions=1)
    scheduler, preemption = model.part("scheduler"), model.part("preemption")

    def clearing() -> None:
        scheduler.phase, scheduler.pod, scheduler.nominee = Phase.CLEAR_NOMINATIONS, p, n0
        preemption.commit(p, n0)

    model.do(clearing)
    model.do(lambda: model.part("users").delete_pod(low))
    model.do(lambda: scheduler.clear_lower_nomination(p, low))
    assert model.get(lambda: [scheduler.phase, scheduler.nominee]) == [Phase.FAIL, n0]


def test_in_the_cycle_a_failed_withdrawal_is_only_logged() -> None:
    model, (_, low, p), (n0,) = with_lower_nomination("1.32", status_failures=1)
    scheduler, preemption = model.part("scheduler"), model.part("preemption")

    def clearing() -> None:
        scheduler.phase, scheduler.pod, scheduler.nominee = Phase.CLEAR_NOMINATIONS, p, n0
        preemption.commit(p, n0)

    model.do(clearing)
    model.do(lambda: scheduler.fail_to_clear_nomination(p, low))
    assert model.get(lambda: model.part("api").pod[low].nominated) is n0
    assert model.get(lambda: [scheduler.phase, scheduler.nominee]) == [Phase.FAIL, n0]


def test_up_to_1_33_the_withdrawal_of_the_own_nomination_may_fail_too() -> None:
    model, (_, low, _), (n0,) = with_lower_nomination("1.33", status_failures=1)
    scheduler = model.part("scheduler")

    def hopeless() -> None:
        scheduler.phase, scheduler.pod = Phase.CLEAR_OWN_NOMINATION, low

    model.do(hopeless)
    model.do(lambda: scheduler.fail_to_clear_own_nomination(low))
    assert model.get(lambda: model.part("api").pod[low].nominated) is n0
    assert model.get(lambda: scheduler.phase) is Phase.FAIL


def test_a_failed_patch_writes_neither_condition_nor_nomination() -> None:
    on = nodes(1)
    pods = [Pod(0, "p", 2)]
    model = concrete(spec(pods, on, status_failures=1), "1.36")
    failure = model.part("failure")

    def patching() -> None:
        failure.phase[pods[0]], failure.nominee[pods[0]], failure.unschedulable[pods[0]] = (
            FailurePhase.PATCH,
            on[0],
            True,
        )

    model.do(patching)
    model.do(lambda: failure.lose_patch(pods[0]))
    api = model.part("api")
    found = model.get(lambda: [api.pod[pods[0]].failed, api.pod[pods[0]].nominated, failure.phase[pods[0]]])
    assert found == [
        False,
        None,
        FailurePhase.NONE,
    ]


# --- evictions that fail ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "waits", "phase", "signal"),
    [
        ("1.34", True, AsyncPhase.EVICT_LAST, Signal.PREEMPTED),
        ("1.35", True, AsyncPhase.EVICT_LAST, Signal.PREEMPTED),
        ("1.35", False, AsyncPhase.EVICT_LAST, Signal.NONE),
        ("1.36", True, AsyncPhase.ACTIVATE, Signal.AWAITED),
    ],
)
def test_after_a_failed_eviction_the_last_victim_is_spared_unless_it_waits(
    release: str, waits: bool, phase: AsyncPhase, signal: Signal
) -> None:
    """Up to 1.35 the last was tried with a cancelled context: no call gets through, but a waiting pod is rejected in memory."""
    on = nodes(2)
    points = [ExtensionPoint.PERMIT]
    pods = [Pod(0, "v", 1, 0, node=on[0]), Pod(1, "last", 1, 0, extension_points=points), Pod(2, "p", 2, 10)]
    model = concrete(spec(pods, on, write_failures=1), release)
    v, last, p = pods
    goroutine, waiting = model.part("async_preemption"), model.part("waiting")
    if waits:
        model.do(lambda: waiting.add(last))
    model.do(lambda: goroutine.start(p, on[0], {v: True, last: True}, last))
    model.do(lambda: goroutine.begin(p, on[0]))
    model.do(lambda: goroutine.evict(p, v, False))
    model.do(lambda: goroutine.leave(p))
    assert model.get(lambda: goroutine.phase[p]) is phase
    if phase is AsyncPhase.EVICT_LAST:
        assert enabled(model, lambda: goroutine.evict_last(p, last, True)) is waits
        assert enabled(model, lambda: goroutine.evict_last(p, last, False)) is False
        assert enabled(model, lambda: goroutine.fail_to_evict_last(p, last)) is not waits
        model.do(
            lambda: goroutine.evict_last(p, last, True) if waits else goroutine.fail_to_evict_last(p, last)
        )
    assert model.get(lambda: waiting.signal[last]) is signal
    assert model.get(lambda: model.part("api").pod[last].terminating) is False
