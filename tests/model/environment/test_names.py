"""Names that are used again: what is kept by UID belongs to one pod, what is asked for by name to whichever has it."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.names import Recreation, namesakes
from podrace.model.environment.objects import Pod, PodCopy
from podrace.model.environment.watch import Handler
from podrace.model.history import resolve
from podrace.model.history.changes.preemption.disruption import Told
from podrace.model.language import trace_system
from podrace.model.scheduler.cycles.failure import FailurePhase
from podrace.model.scheduler.preemption.async_preemption import AsyncPhase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, enabled, nodes, race_72124, spec


class Twice:
    """A node that `filler` fills; `web`, which asks for all of it, and `again`, which takes the name of web."""

    def __init__(
        self,
        release: str = "1.36",
        filled: bool = True,
        bound: bool = False,
        gated: bool = False,
        **scope: int,
    ) -> None:
        (self.node,) = nodes(2)
        self.web = Pod(
            0, "web", 2, preempts=False, graceful=False, node=self.node if bound else None, gated=gated
        )
        self.again = Pod(1, "again", 2, exists=False, graceful=False, recreates="web")
        self.other = Pod(2, "other", 2, 5 if bound else 0, node=self.node if filled else None)
        pods = [self.web, self.again, self.other]
        self.model = concrete(spec(pods, (self.node,), **scope), release)
        part = self.model.part
        self.api, self.watch, self.queue = part("api"), part("pod_watch"), part("queue")
        self.failure, self.scheduler, self.handlers = part("failure"), part("scheduler"), part("handlers")
        self.nominator, self.goroutine = part("nominator"), part("async_preemption")

    def ends_and_comes_back(self) -> None:
        (recreation,) = self.model.part("api").universe[Recreation]
        self.model.do(lambda: self.api.delete_pod(self.web))
        self.model.do(lambda: self.model.part("stateful_sets").recreate(recreation))

    def fails(self) -> None:
        """An attempt at web, up to the failure handler."""
        self.model.do(lambda: self.scheduler.pop(self.web))
        for step in ("take_snapshot", "filter", "reread_preemptor", "fail"):
            args = (self.web, self.node) if step == "filter" else (self.web,)
            self.model.do(partial(getattr(self.scheduler, step), *args))

    def hears(self) -> None:
        """The handler for unassigned pods is given the deletion of web, and the creation of again."""
        self.model.do(lambda: self.handlers.handle_for_queue(self.web))
        if enabled(self.model, lambda: self.handlers.look_whether_assumed(self.web)):
            self.model.do(lambda: self.handlers.look_whether_assumed(self.web))
        self.model.do(lambda: self.handlers.handle_for_queue(self.again))

    def sub_queue(self, pod: Pod) -> SubQueue:
        found: SubQueue = self.model.get(lambda: self.queue.sub_queue[pod])
        return found


def test_nothing_of_it_is_there_where_no_name_is_used_again() -> None:
    system = trace_system(build_cluster(race_72124(), resolve("1.36").classes))
    assert [t.label for t in system.transitions if t.part == "stateful_sets"] == []
    assert [v.name for v in system.variables if v.name.startswith("stateful_sets")] == []


def test_who_shares_a_name() -> None:
    case = Twice()
    universe = case.model.part("api").universe
    assert namesakes(universe, case.web) == (case.again,)
    assert namesakes(universe, case.again) == (case.web,)
    assert namesakes(universe, case.other) == ()


def test_a_user_does_not_create_it() -> None:
    case = Twice(pod_creations=1)
    assert not enabled(case.model, lambda: case.model.part("users").create_pod(case.again))


def test_a_delete_by_name_hits_whoever_has_it() -> None:
    case = Twice()
    case.ends_and_comes_back()
    case.model.do(lambda: case.api.evict_pod(case.web))
    assert case.model.get(lambda: case.api.pod[case.again].exists) is False


def test_so_does_a_patch_of_the_status() -> None:
    case = Twice(pod_events=5)
    case.ends_and_comes_back()
    case.model.do(lambda: case.api.patch_status(case.web, True, case.node))
    assert case.model.get(lambda: case.api.pod[case.again].failed) is True
    assert case.model.get(lambda: case.api.pod[case.again].nominated) is case.node
    case.model.do(lambda: case.api.clear_nomination(case.web))
    assert case.model.get(lambda: case.api.pod[case.again].nominated) is None
    case.model.do(lambda: case.api.set_nomination(case.web, case.node))
    assert case.model.get(lambda: case.api.pod[case.again].nominated) is case.node
    assert case.model.get(lambda: case.api.pod[case.web].exists) is False


@pytest.mark.parametrize(
    ("release", "bound"), [("1.13", True), ("1.22", True), ("1.23", False), ("1.36", False)]
)
def test_the_uid_of_a_binding_counts_from_1_23_on(release: str, bound: bool) -> None:
    case = Twice(release)
    case.ends_and_comes_back()
    assert case.model.get(lambda: case.api.can_bind(case.web)) is bound
    case.model.do(lambda: case.api.bind(case.web, case.node))
    assert case.model.get(lambda: case.api.pod[case.again].assigned) is bound


def test_the_lister_has_one_object_of_a_name() -> None:
    case = Twice()
    case.ends_and_comes_back()
    assert case.model.get(lambda: case.watch.under_name(case.again).exists) is True, "the store has web still"
    case.model.do(lambda: case.watch.store(case.web))
    assert case.model.get(lambda: case.watch.under_name(case.web).exists) is False
    case.model.do(lambda: case.watch.store(case.again))
    assert case.model.get(lambda: case.watch.under_name(case.web).pending) is True


@pytest.mark.parametrize(
    ("release", "queued"), [("1.20", True), ("1.28", True), ("1.35", True), ("1.36", False)]
)
def test_a_failed_attempt_whose_pod_was_recreated(release: str, queued: bool) -> None:
    case = Twice(release)
    case.fails()
    case.ends_and_comes_back()
    case.model.do(lambda: case.watch.store(case.web))
    case.model.do(lambda: case.watch.store(case.again))
    case.model.do(lambda: case.failure.read(case.web))
    if not queued:
        assert case.model.get(lambda: case.failure.phase[case.web]) is FailurePhase.NONE
        assert case.model.get(lambda: case.queue.in_flight[case.web]) is False
        assert case.sub_queue(case.again) is SubQueue.NONE
        return
    for step in ("requeue", "nominate", "patch"):
        case.model.do(partial(getattr(case.failure, step), case.web))
    hints = release in ("1.28", "1.35")
    assert case.sub_queue(case.web) is SubQueue.NONE
    assert case.sub_queue(case.again) is (SubQueue.BACKOFF if hints else SubQueue.UNSCHEDULABLE)
    assert case.model.get(lambda: case.queue.in_flight[case.web]) is hints
    assert case.model.get(lambda: case.api.pod[case.again].failed) is True


def test_where_the_lister_has_nobody_the_status_is_patched_by_name() -> None:
    case = Twice()
    case.fails()
    case.ends_and_comes_back()
    case.model.do(lambda: case.watch.store(case.web))
    for step in ("read", "nominate", "patch"):
        case.model.do(partial(getattr(case.failure, step), case.web))
    assert case.model.get(lambda: case.api.pod[case.again].failed) is True


def test_the_nominator_asks_the_lister_by_name() -> None:
    case = Twice()
    case.ends_and_comes_back()
    case.model.do(lambda: case.watch.store(case.web))
    case.model.do(lambda: case.nominator.add(case.web, case.node, None))
    assert case.model.get(lambda: case.nominator.nominated_to(case.web, case.node)) is False
    case.model.do(lambda: case.watch.store(case.again))
    case.model.do(lambda: case.queue.put(case.web, SubQueue.NONE, PodCopy()))
    case.model.do(lambda: case.nominator.add(case.web, case.node, None))
    assert case.model.get(lambda: case.nominator.nominated_to(case.web, case.node)) is True
    assert case.model.get(lambda: case.nominator.has_object(case.web)) is False
    case.hears()
    assert case.model.get(lambda: case.nominator.nominated_to(case.web, case.node)) is False


def test_a_pod_that_is_gone_counts_with_what_has_its_name_in_the_queue() -> None:
    case = Twice()
    case.ends_and_comes_back()
    case.hears()
    case.model.do(lambda: case.nominator.add(case.web, case.node, None))
    assert case.model.get(lambda: case.nominator.nominated_to(case.web, case.node)) is True
    assert case.model.get(lambda: case.nominator.has_object(case.web)) is True


def test_a_new_pod_takes_the_place_of_a_ghost_in_the_queue() -> None:
    case = Twice()
    case.fails()
    case.model.do(lambda: case.failure.read(case.web))
    case.ends_and_comes_back()
    case.model.do(lambda: case.handlers.handle_for_queue(case.web))
    case.model.do(lambda: case.handlers.look_whether_assumed(case.web))
    case.model.do(lambda: case.failure.requeue(case.web))
    assert case.sub_queue(case.web) is SubQueue.UNSCHEDULABLE
    case.model.do(lambda: case.handlers.handle_for_queue(case.again))
    assert (case.sub_queue(case.web), case.sub_queue(case.again)) == (SubQueue.NONE, SubQueue.ACTIVE)


def test_a_pod_does_not_come_back_while_another_has_its_name_in_the_queue() -> None:
    case = Twice()
    case.fails()
    case.model.do(lambda: case.failure.read(case.web))
    case.ends_and_comes_back()
    case.hears()
    case.model.do(lambda: case.failure.requeue(case.web))
    assert (case.sub_queue(case.web), case.sub_queue(case.again)) == (SubQueue.NONE, SubQueue.ACTIVE)
    assert case.model.get(lambda: case.queue.in_flight[case.web]) is False


def test_an_update_makes_the_entry_of_a_ghost_its_own() -> None:
    case = Twice()
    case.ends_and_comes_back()
    case.hears()
    case.model.do(lambda: case.queue.delete(case.again))
    case.model.do(lambda: case.queue.put(case.web, SubQueue.BACKOFF, case.queue.copy[case.web]))
    pending = case.watch.lister
    case.model.do(lambda: case.queue.update(case.again, pending[case.again], pending[case.again]))
    assert (case.sub_queue(case.web), case.sub_queue(case.again)) == (SubQueue.NONE, SubQueue.BACKOFF)


def test_a_deletion_takes_out_whatever_has_the_name() -> None:
    case = Twice("1.35")
    case.fails()
    case.ends_and_comes_back()
    case.model.do(lambda: case.watch.store(case.web))
    case.model.do(lambda: case.watch.store(case.again))
    case.model.do(lambda: case.failure.read(case.web))
    case.model.do(lambda: case.failure.requeue(case.web))
    assert case.sub_queue(case.again) is SubQueue.BACKOFF
    case.model.do(lambda: case.handlers.handle_for_queue(case.web))
    assert case.sub_queue(case.again) is SubQueue.NONE


@pytest.mark.parametrize(("release", "holds"), [("1.34", False), ("1.35", True), ("1.36.3", True)])
def test_a_preemptor_waits_for_whoever_has_the_name_of_its_last_victim(release: str, holds: bool) -> None:
    case = Twice(release, filled=False, bound=True)
    model, p, n = case.model, case.other, case.node
    model.do(lambda: case.goroutine.start(p, n, {case.web: True, case.again: False}, case.web))
    model.do(lambda: case.goroutine.begin(p, n))
    model.do(lambda: case.goroutine.leave(p))
    assert model.get(lambda: case.goroutine.holds(p)) is holds
    model.do(lambda: case.goroutine.evict_last(p, case.web, True))
    (recreation,) = model.part("api").universe[Recreation]
    model.do(lambda: model.part("stateful_sets").recreate(recreation))
    model.do(lambda: case.watch.store(case.web))
    assert model.get(lambda: case.goroutine.holds(p)) is False
    model.do(lambda: case.watch.store(case.again))
    assert model.get(lambda: case.goroutine.holds(p)) is holds
    assert (model.get(lambda: case.goroutine.phase[p]) is AsyncPhase.EVICTED) is holds


@pytest.mark.parametrize(
    ("release", "fixed", "ended"),
    [("1.34", False, False), ("1.35", False, True), ("1.36", False, True), ("1.36", True, False)],
)
def test_a_list_that_shows_another_pod_where_one_ran(release: str, fixed: bool, ended: bool) -> None:
    (on,) = nodes(2)
    web = Pod(0, "web", 2, node=on, graceful=False)
    again = Pod(1, "again", 2, exists=False, recreates="web")
    model = concrete(spec([web, again], (on,), relists=1), release, ("141255",) if fixed else ())
    part = model.part
    (recreation,) = part("api").universe[Recreation]
    handlers, watch = part("handlers"), part("pod_watch")
    model.do(lambda: part("api").delete_pod(web))
    model.do(lambda: part("stateful_sets").recreate(recreation))
    model.do(watch.resume)
    assert model.get(lambda: watch.log.length) == (2 if fixed else 1)
    assert model.get(lambda: part("cache").on(web, on)) is True
    if fixed:
        model.do(lambda: handlers.handle_for_cache(web))
        model.do(lambda: handlers.wake_queue(web))
        assert model.get(lambda: watch.lister[again].exists) is False
        model.do(lambda: handlers.handle_for_queue(web))
        model.do(lambda: handlers.look_whether_assumed(web))
        model.do(lambda: handlers.handle_for_queue(again))
    else:
        assert not enabled(model, lambda: handlers.handle_for_cache(again))
        model.do(lambda: handlers.handle_swap_for_cache(recreation))
        assert model.get(lambda: watch.lister[web].exists) is False
    if not fixed and not ended:
        assert not enabled(model, lambda: handlers.wake_queue(again))
        model.do(lambda: handlers.wake_queue_for_swap(recreation))
        model.do(lambda: handlers.handle_for_queue(again))
    assert model.get(handlers.has_ended_itself) is ended
    assert model.get(lambda: part("cache").knows(web)) is False
    assert model.get(lambda: part("queue").sub_queue[again]) is SubQueue.ACTIVE
    assert model.get(lambda: watch.log.length) == 0


def test_the_handler_that_hears_of_a_swap_goes_on_after_its_own_move() -> None:
    """1.34, where each half of an event has a goroutine: Pop comes amid no move of the cache handler's any more."""
    case = Twice("1.34", filled=False, bound=True, relists=1)
    model, (recreation,) = case.model, case.api.universe[Recreation]
    case.ends_and_comes_back()
    model.do(case.watch.resume)
    for handler, met in ((Handler.QUEUE, True), (Handler.CACHE, False)):

        def moved(handler: Handler = handler) -> None:
            case.queue.just_moved[case.other] = True
            case.queue.mover = case.handlers.goroutine_of(handler)

        model.do(moved)
        heard = model.get(
            lambda: (case.handlers.handle_swap_for_cache(recreation), case.queue.just_moved[case.other])[1]
        )
        assert heard is met


@pytest.mark.parametrize("release", ["1.13", "1.34", "1.36"])
def test_a_list_that_shows_another_pod_where_one_waited(release: str) -> None:
    case = Twice(release, relists=1)
    model, (recreation,) = case.model, case.api.universe[Recreation]
    model.do(lambda: case.nominator.add(case.web, case.node, None))
    case.ends_and_comes_back()
    model.do(case.watch.resume)
    model.do(lambda: case.handlers.handle_swap_for_queue(recreation))
    assert (case.sub_queue(case.web), case.sub_queue(case.again)) == (SubQueue.NONE, SubQueue.ACTIVE)
    # The entry is the same, and so is its nomination: it goes over to the new UID where an update keeps what memory has (77990).
    kept = release != "1.13"
    assert model.get(lambda: case.nominator.nominated_to(case.again, case.node)) is kept
    assert model.get(lambda: case.nominator.nominated_to(case.web, case.node)) is False
    assert model.get(lambda: case.watch.log.length) == 0
    assert model.get(lambda: case.watch.lister[case.web].exists) is False


@pytest.mark.parametrize("release", ["1.27", "1.34", "1.36"])
def test_where_a_gated_pod_waited_the_other_one_has_lost_its_gates(release: str) -> None:
    """Update tells that the gates are gone: they were the first pod's."""
    case = Twice(release, gated=True, relists=1)
    (recreation,) = case.api.universe[Recreation]
    assert case.sub_queue(case.web) is SubQueue.UNSCHEDULABLE
    case.ends_and_comes_back()
    case.model.do(case.watch.resume)
    case.model.do(lambda: case.handlers.handle_swap_for_queue(recreation))
    assert (case.sub_queue(case.web), case.sub_queue(case.again)) == (SubQueue.NONE, SubQueue.ACTIVE)
    assert case.model.get(lambda: case.queue.gated[case.again]) is False


def test_the_other_pod_has_waited_as_long_as_the_one_whose_entry_it_has() -> None:
    """Update of an entry that is there: QueuedPodInfo keeps its Timestamp, and activeQ its order."""
    case = Twice(relists=1, filled=False)
    model, (recreation,) = case.model, case.api.universe[Recreation]

    def precedes(pod: Pod) -> bool:
        found: bool = model.get(lambda: case.queue.precedes(pod, case.other))
        return found

    assert (precedes(case.web), precedes(case.again)) == (True, True), "as they come in the scenario"
    model.do(lambda: case.queue.clock.arrived(case.again))
    assert (precedes(case.web), precedes(case.again)) == (True, False)
    case.ends_and_comes_back()
    model.do(case.watch.resume)
    model.do(lambda: case.handlers.handle_swap_for_queue(recreation))
    assert model.get(lambda: case.queue.is_head(case.again)) is True


def test_one_that_somebody_else_has_bound_by_then() -> None:
    case = Twice(relists=1)
    model, (recreation,) = case.model, case.api.universe[Recreation]
    case.ends_and_comes_back()
    model.do(lambda: case.api.bind(case.again, case.node))
    model.do(case.watch.resume)
    model.do(lambda: case.handlers.handle_for_cache(case.again))
    model.do(lambda: case.handlers.wake_queue(case.again))
    model.do(lambda: case.handlers.handle_swap_for_queue(recreation))
    assert case.sub_queue(case.web) is SubQueue.NONE
    assert model.get(lambda: case.watch.log.length) == 0


def test_the_condition_of_a_victim_that_a_list_swaps_goes_with_the_cached_object() -> None:
    """1.33: the cache's handler was told that web is a victim; the Update to again takes web's object out."""
    case = Twice("1.33.6", filled=False, bound=True, relists=1)
    model, (recreation,) = case.model, case.api.universe[Recreation]

    def told() -> Told:
        found: Told = model.get(lambda: case.watch.condition[case.web])
        return found

    model.do(lambda: case.api.evict_pod(case.web))
    model.do(lambda: case.handlers.learn_of_condition(case.web))
    assert told() is Told.TOLD
    model.do(lambda: model.part("stateful_sets").recreate(recreation))
    model.do(case.watch.resume)
    assert told() is Told.TOLD
    model.do(lambda: case.handlers.handle_swap_for_cache(recreation))
    assert told() is Told.NONE
    assert model.get(lambda: model.part("cache").knows(case.web)) is False
