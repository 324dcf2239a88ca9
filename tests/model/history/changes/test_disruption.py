"""The condition DisruptionTarget from 1.32 to 1.34: the PATCH of a victim that is gone, and who knows of the condition."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.model.environment.objects import Pod
from podrace.model.environment.watch import Handler
from podrace.model.history.changes.preemption.disruption import Told
from podrace.model.history.registry.change import CHANGES
from podrace.model.language import Concrete
from podrace.model.scheduler.framework.status import Phase
from podrace.model.scheduler.preemption.async_preemption import AsyncPhase
from tests.model.clusters import concrete, enabled, nodes, spec

CHANGE = CHANGES["gone-victims-condition"]
AS_BEFORE = ("1.32", "1.32.13", "1.33", "1.33.13", "1.34.2", "1.34.4")


@pytest.mark.parametrize("release", AS_BEFORE)
def test_the_patch_was_an_error_in(release: str) -> None:
    assert not CHANGE.is_in(release)


@pytest.mark.parametrize("release", ["1.25", "1.31.14", "1.34", "1.35", "1.36.3"])
def test_the_patch_was_none_in(release: str) -> None:
    assert CHANGE.is_in(release)


class Evicting:
    """p preempts v, which fills the only node, and then preempts it again."""

    def __init__(self, release: str, *, graceful: bool = False, **scope: int) -> None:
        (self.n,) = nodes(2)
        self.v, self.p = Pod(0, "v", 2, 0, node=self.n, graceful=graceful), Pod(1, "p", 2, 10)
        scope = {"pod_events": 6, "pod_deletions": 1, **scope}
        self.model: Concrete = concrete(spec([self.v, self.p], (self.n,), **scope), release)
        part = self.model.part
        self.scheduler, self.failure, self.queue = part("scheduler"), part("failure"), part("queue")
        self.goroutine, self.handlers, self.watch = (
            part("async_preemption"),
            part("handlers"),
            part("pod_watch"),
        )

    def chooses(self, before_snapshot: tuple[str, ...] = ()) -> None:
        """A cycle of p, up to the choice of the node."""
        model, scheduler, p, n = self.model, self.scheduler, self.p, self.n
        model.do(lambda: scheduler.pop(p))
        for step in before_snapshot:
            model.do(partial(getattr(self.handlers, step), self.v))
        model.do(lambda: scheduler.take_snapshot(p))
        nominated = model.get(lambda: scheduler.phase) is Phase.FILTERING_NOMINATED
        if nominated:
            model.do(lambda: scheduler.filter_nominated(p, n))
        model.do(lambda: scheduler.filter(p, n))
        model.do(lambda: scheduler.reread_preemptor(p))
        model.do(lambda: scheduler.dry_run(p, n))
        model.do(lambda: scheduler.choose_candidate(p, n))

    def fails(self) -> None:
        """The failure handler of that cycle."""
        model, p = self.model, self.p
        model.do(lambda: self.scheduler.fail(p))
        for step in ("read", "requeue", "nominate", "patch"):
            model.do(partial(getattr(self.failure, step), p))

    def begins(self) -> None:
        self.model.do(lambda: self.goroutine.begin(self.p, self.n))
        self.model.do(lambda: self.goroutine.leave(self.p))

    def evicts(self) -> None:
        self.model.do(lambda: self.goroutine.evict_last(self.p, self.v, True))

    def condition(self) -> Told:
        return self.model.get(lambda: self.watch.condition[self.v])

    def learns(self) -> None:
        self.model.do(lambda: self.handlers.learn_of_condition(self.v))


@pytest.mark.parametrize("release", ["1.33.6", "1.34", "1.34.4"])
def test_a_victim_that_somebody_else_deleted_activates_the_preemptor(release: str) -> None:
    case = Evicting(release)
    case.chooses()
    case.fails()
    case.begins()
    case.model.do(lambda: case.model.part("api").delete_pod(case.v))
    case.evicts()
    assert case.model.get(lambda: case.goroutine.phase[case.p]) is AsyncPhase.ACTIVATE


def test_in_1_35_nobody_minds() -> None:
    case = Evicting("1.35")
    case.chooses()
    case.fails()
    case.begins()
    case.model.do(lambda: case.model.part("api").delete_pod(case.v))
    case.evicts()
    case.model.do(lambda: case.goroutine.leave_last(case.p))
    assert case.model.get(lambda: case.goroutine.phase[case.p]) is AsyncPhase.NONE


@pytest.mark.parametrize(
    ("known", "phase"), [(False, AsyncPhase.ACTIVATE), (True, AsyncPhase.NONE)], ids=("unknown", "known")
)
def test_a_second_goroutine_minds_unless_the_snapshot_has_the_condition(
    known: bool, phase: AsyncPhase
) -> None:
    case = Evicting("1.33.6")
    case.chooses()
    case.fails()
    case.begins()
    assert case.condition() is Told.NONE
    assert not enabled(case.model, lambda: case.handlers.learn_of_condition(case.v))
    case.evicts()
    assert case.condition() is Told.APART
    case.model.do(lambda: case.queue.flush_unschedulable(case.p))
    case.chooses(("learn_of_condition",) if known else ())
    assert case.model.get(lambda: case.model.part("snapshot").carries[case.v]) is known
    case.fails()
    case.begins()
    assert case.model.get(lambda: case.goroutine.carries[case.p][case.v]) is known
    case.evicts()
    assert case.model.get(lambda: case.goroutine.phase[case.p]) is phase


def test_the_condition_is_told_once_and_before_the_deletion() -> None:
    case = Evicting("1.34.4")
    case.chooses()
    case.fails()
    case.begins()
    case.evicts()
    case.learns()
    assert case.condition() is Told.TOLD
    assert case.model.get(lambda: case.watch.lister[case.v].exists) is True
    assert not enabled(case.model, lambda: case.handlers.learn_of_condition(case.v))
    case.model.do(lambda: case.handlers.handle_for_cache(case.v))
    assert case.condition() is Told.NONE


def test_a_victim_that_is_terminating_because_of_a_preemption_has_the_condition() -> None:
    case = Evicting("1.34.4", graceful=True)
    case.chooses()
    case.fails()
    case.begins()
    case.evicts()
    case.model.do(lambda: case.handlers.handle_for_cache(case.v))
    assert case.condition() is Told.TOLD
    assert case.model.get(lambda: case.model.part("cache").pod[case.v].terminating) is True


def test_one_that_a_user_deletes_has_none() -> None:
    case = Evicting("1.34.4", graceful=True)
    case.model.do(lambda: case.model.part("api").delete_pod(case.v))
    case.model.do(lambda: case.handlers.handle_for_cache(case.v))
    assert case.condition() is Told.NONE
    case.model.do(lambda: case.model.part("api").evict_pod(case.v))
    assert case.condition() is Told.NONE


@pytest.mark.parametrize(
    ("graceful", "told"), [(False, Told.NONE), (True, Told.WITHIN)], ids=("gone", "terminating")
)
def test_after_an_interruption_the_condition_comes_with_what_became_of_the_pod(
    graceful: bool, told: Told
) -> None:
    case = Evicting("1.34.4", graceful=graceful, relists=1)
    case.chooses()
    case.fails()
    case.begins()
    case.evicts()
    case.model.do(case.watch.resume)
    assert case.condition() is told
    assert not enabled(case.model, lambda: case.handlers.learn_of_condition(case.v))
    assert case.model.get(lambda: case.watch.next[Handler.CACHE]) == 0
    case.model.do(lambda: case.handlers.handle_for_cache(case.v))
    assert case.condition() is (Told.TOLD if graceful else Told.NONE)


@pytest.mark.parametrize(
    ("graceful", "told"), [(False, Told.NONE), (True, Told.TOLD)], ids=("gone", "terminating")
)
def test_a_new_process_lists_objects_with_their_conditions(graceful: bool, told: Told) -> None:
    case = Evicting("1.34.4", graceful=graceful, restarts=1)
    case.chooses()
    case.fails()
    case.begins()
    case.evicts()
    case.model.do(case.model.part("process").restart)
    assert case.condition() is told


@pytest.mark.parametrize("release", ["1.31", "1.32", "1.32.13"])
def test_in_the_cycle_it_is_postfilter_that_fails(release: str) -> None:
    case = Evicting(release)
    case.chooses()
    case.model.do(lambda: case.model.part("api").delete_pod(case.v))
    case.model.do(lambda: case.scheduler.evict(case.p, case.v, True))
    assert case.model.get(lambda: case.scheduler.nominee) is None


def test_in_the_cycle_a_known_victim_counts_as_deleted() -> None:
    case = Evicting("1.32")
    case.chooses()
    case.model.do(lambda: case.scheduler.evict(case.p, case.v, True))
    case.fails()
    case.model.do(lambda: case.queue.flush_unschedulable(case.p))
    case.model.do(lambda: case.queue.flush_backoff(case.p))
    case.chooses(("learn_of_condition",))
    case.model.do(lambda: case.scheduler.evict(case.p, case.v, True))
    assert case.model.get(lambda: case.scheduler.nominee) is case.n


def test_the_snapshot_is_gone_with_its_cycle() -> None:
    case = Evicting("1.33.6")
    snapshot = case.model.part("snapshot")
    case.model.do(snapshot.update)
    assert case.model.get(lambda: (snapshot.live[case.n], snapshot.on(case.v, case.n))) == (True, True)
    case.model.do(snapshot.clear)
    assert case.model.get(lambda: (snapshot.live[case.n], snapshot.on(case.v, case.n))) == (False, False)
