"""The binding cycle in 1.35 and 1.36: what it announces, how preemption stops it, and how it ends."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.environment.faults import Fault
from podrace.model.environment.objects import ClusterSpec, ExtensionPoint, Node, Pod, PodCopy, Scope
from podrace.model.history import resolve
from podrace.model.scheduler.cycles.binding import BindingPhase, Reply
from podrace.model.scheduler.event_handlers import Removal
from podrace.model.scheduler.framework.status import Phase
from podrace.model.scheduler.framework.waiting_pods import Signal
from podrace.model.scheduler.preemption.async_preemption import AsyncPhase
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import concrete, enabled, nodes, race_72124, spec

PERMIT, PRE_BIND = ExtensionPoint.PERMIT, ExtensionPoint.PRE_BIND


def started(release, points, waits=False, nominated=None, with_fixes=(), **scope):
    """v is assumed on n0, and its binding cycle has just begun; p is the pod that may preempt it."""
    on = nodes(2, 2)
    v, p = Pod(0, "v", 2, 0, extension_points=points), Pod(1, "p", 2, 10)
    model = concrete(spec([v, p], on, **scope), release, with_fixes)
    copy = PodCopy(nominated=None if nominated is None else on[nominated])
    model.do(lambda: model.part("queue").pop(p))
    model.do(lambda: model.part("queue").pop(v))
    model.do(lambda: model.part("cache").assume(v, on[0], copy))
    if waits:
        model.do(lambda: model.part("waiting").add(v))
    model.do(lambda: model.part("binding").start(v, on[0], copy))
    return model, v, p, on


def phase(model, pod):
    return model.get(lambda: model.part("binding").phase[pod])


def nominated_at_api(model, pod):
    return model.get(lambda: model.part("api").pod[pod].nominated)


# --- the nomination before the wait ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "waits", "first", "then"),
    [
        ((), False, "BIND", None),
        ((PERMIT,), False, "BIND", None),
        ((PERMIT,), True, "ANNOUNCE", "WAIT_ON_PERMIT"),
        ((PRE_BIND,), False, "ANNOUNCE", "PRE_BIND"),
        ((PERMIT, PRE_BIND), True, "ANNOUNCE", "WAIT_ON_PERMIT"),
    ],
)
def test_a_pod_is_nominated_only_if_there_is_something_to_wait_for(points, waits, first, then):
    model, v, _, (n0, _) = started("1.35", points, waits)
    assert phase(model, v) is BindingPhase[first]
    if then:
        model.do(lambda: model.part("binding").announce(v))
        assert phase(model, v) is BindingPhase[then]
        assert nominated_at_api(model, v) is n0
        assert model.get(lambda: model.part("nominator").node[v]) is None
    model, v, *_ = started("1.34", points, waits)
    assert phase(model, v) is BindingPhase[then or first]


@pytest.mark.parametrize(
    ("points", "waits", "after"), [((PERMIT, PRE_BIND), True, True), ((PRE_BIND,), False, False)]
)
def test_events_are_kept_until_the_pod_cannot_be_rejected_any_more(points, waits, after):
    model, v, _, _ = started("1.35", points, waits)
    queue = model.part("queue")
    assert model.get(lambda: queue.in_flight[v]) is True
    model.do(lambda: model.part("binding").announce(v))
    assert model.get(lambda: queue.in_flight[v]) is after


@pytest.mark.parametrize(("nominated", "written"), [(None, True), (0, False), (1, True)])
def test_a_nomination_that_the_assumed_object_has_is_not_written_again(nominated, written):
    model, v, _, (n0, _) = started("1.36", (PRE_BIND,), nominated=nominated)
    model.do(lambda: model.part("binding").announce(v))
    assert nominated_at_api(model, v) is (n0 if written else None)
    assert phase(model, v) is BindingPhase.PRE_BIND


def test_a_nomination_that_cannot_be_written_stops_nothing():
    model, v, _, _ = started("1.36", (PRE_BIND,), status_failures=1)
    model.do(lambda: model.part("binding").fail_to_announce(v))
    assert nominated_at_api(model, v) is None
    assert phase(model, v) is BindingPhase.PRE_BIND
    model, v, _, _ = started("1.36", (PRE_BIND,), nominated=0, status_failures=1)
    assert not enabled(model, lambda: model.part("binding").fail_to_announce(v))


def test_an_error_before_the_wait_leaves_the_pod_in_the_map():
    model, v, _, _ = started("1.36", (PERMIT, PRE_BIND), waits=True, plugin_errors=1)
    model.do(lambda: model.part("binding").fail_pre_flight(v))
    assert phase(model, v) is BindingPhase.FORGET
    assert model.get(lambda: model.part("waiting").signal[v]) is Signal.AWAITED
    assert nominated_at_api(model, v) is None
    assert model.get(lambda: model.part("faults").left[Fault.PLUGIN_ERROR]) == 0


@pytest.mark.parametrize(("release", "kept"), [("1.34", True), ("1.35", False), ("1.36", False)])
def test_a_binding_clears_the_nomination_and_a_bound_pod_gets_none(release, kept):
    on, p = nodes(2, 2), Pod(0, "p", 1)
    model = concrete(spec([p], on), release)
    api = model.part("api")
    model.do(lambda: api.set_nomination(p, on[0]))
    model.do(lambda: api.bind(p, on[0]))
    assert nominated_at_api(model, p) is (on[0] if kept else None)
    model.do(lambda: api.set_nomination(p, on[1]))
    assert nominated_at_api(model, p) is (on[1] if kept else None)
    # The condition is part of the same patch.
    model.do(lambda: api.patch_status(p, True, on[0]))
    assert model.get(lambda: api.pod[p].failed) is kept


def expectation():
    """a fails in PreBind once, and goes elsewhere; b waits for the room that was kept for it."""
    on = (Node(0, "n1", 2, {"disk": "ssd"}), Node(1, "n2", 2))
    pods = (
        Pod(0, "a", 2, extension_points=[PRE_BIND]),
        Pod(1, "b", 1, node_selector={"disk": "ssd"}, exists=False),
    )
    return ClusterSpec(
        "expectation", pods, on, Scope(pod_events=2, pod_creations=1, plugin_errors=1, flush=False)
    )


@pytest.mark.parametrize(
    ("release", "without", "verdict"),
    [
        ("1.34", (), "HOLDS"),
        ("1.35", (), "VIOLATED"),
        ("1.35", ("133021",), "HOLDS"),
        ("1.36", (), "VIOLATED"),
        ("1.36", ("133021",), "HOLDS"),
    ],
)
def test_a_nomination_that_is_announced_can_outlive_its_attempt(release, without, verdict):
    """In 1.36 as well, if the lister did not show it yet when the failure was handled."""
    classes = resolve(release, (), without).classes
    (found,) = check(instrument(expectation(), classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    assert found.verdict.name == verdict


# --- preemption in memory -----------------------------------------------------------------------------------


def evicting(model, v, p, on):
    """The goroutine of p is about to evict v, its only victim."""

    def begin():
        preemption = model.part("async_preemption")
        preemption.start(p, on[0], {v: True}, v)
        preemption.phase[p] = AsyncPhase.EVICT_LAST

    model.do(begin)
    model.do(lambda: model.part("async_preemption").evict_last(p, v, True))


def exists(model, pod):
    return model.get(lambda: model.part("api").pod[pod].exists)


@pytest.mark.parametrize(("release", "rejected"), [("1.35", True), ("1.36", False)])
def test_a_waiting_victim_comes_back_with_an_error(release, rejected):
    model, v, p, on = started(release, (PERMIT,), waits=True)
    model.do(lambda: model.part("binding").announce(v))
    evicting(model, v, p, on)
    assert exists(model, v) is True
    assert model.get(lambda: model.part("waiting").signal[v]) is Signal.PREEMPTED
    model.do(lambda: model.part("binding").wait_on_permit(v))
    assert model.get(lambda: model.part("binding").rejected[v]) is rejected
    model.do(lambda: model.part("binding").forget(v))
    assert phase(model, v) is (BindingPhase.FAIL_AND_WAKE if rejected else BindingPhase.WAKE)


def test_a_permit_plugins_rejection_stays_a_verdict():
    model, v, _, _ = started("1.36", (PERMIT,), waits=True)
    model.do(lambda: model.part("binding").announce(v))
    model.do(lambda: model.part("waiting").reject(v))
    model.do(lambda: model.part("binding").wait_on_permit(v))
    assert model.get(lambda: model.part("binding").rejected[v]) is True


@pytest.mark.parametrize("signal", ["allow", "reject"])
@pytest.mark.parametrize(("release", "survives"), [("1.35", True), ("1.36", False)])
def test_a_victim_that_was_answered_just_before_is_deleted(release, survives, signal):
    model, v, p, on = started(release, (PERMIT,), waits=True)
    waiting = model.part("waiting")
    model.do(lambda: getattr(waiting, signal)(v))
    evicting(model, v, p, on)
    assert exists(model, v) is survives
    assert model.get(lambda: waiting.signal[v]) is {"allow": Signal.ALLOWED, "reject": Signal.REFUSED}[signal]


@pytest.mark.parametrize(("release", "removal"), [("1.35", Removal.NONE), ("1.36", Removal.FORGET)])
def test_a_deleted_pod_that_was_allowed_just_before_is_forgotten(release, removal):
    model, v, _, _ = started(release, (PERMIT,), waits=True)
    handlers = model.part("handlers")
    model.do(lambda: model.part("waiting").allow(v))
    model.do(lambda: model.part("api").delete_pod(v))
    model.do(lambda: handlers.handle_for_queue(v))
    model.do(lambda: handlers.look_whether_assumed(v))
    model.do(lambda: handlers.reject_waiting(v))
    assert model.get(lambda: handlers.queue_removal) is removal


@pytest.mark.parametrize(("release", "stopped"), [("1.35", False), ("1.36", True)])
def test_a_victim_in_pre_bind_is_stopped_in_memory(release, stopped):
    model, v, p, on = started(release, (PRE_BIND,))
    binding = model.part("binding")
    model.do(lambda: binding.announce(v))
    evicting(model, v, p, on)
    assert exists(model, v) is stopped
    assert phase(model, v) is (BindingPhase.PRE_BIND_CANCELLED if stopped else BindingPhase.PRE_BIND)
    assert enabled(model, lambda: binding.pre_bind(v, True)) is not stopped
    if stopped:
        model.do(lambda: binding.stop_pre_bind(v))
        model.do(lambda: binding.forget(v))
        assert phase(model, v) is BindingPhase.WAKE


@pytest.mark.parametrize("step", ["before", "after"])
def test_a_victim_on_either_side_of_pre_bind_is_deleted(step):
    model, v, p, on = started("1.36", (PRE_BIND,))
    binding = model.part("binding")
    if step == "after":
        model.do(lambda: binding.announce(v))
        model.do(lambda: binding.pre_bind(v, True))
    evicting(model, v, p, on)
    assert exists(model, v) is False


@pytest.mark.parametrize(("fixes", "then"), [((), AsyncPhase.NONE), (("140054",), AsyncPhase.ACTIVATE)])
def test_140054_is_about_victims_in_pre_bind_as_well(fixes, then):
    model, v, p, on = started("1.36", (PRE_BIND,), with_fixes=fixes)
    model.do(lambda: model.part("binding").announce(v))
    evicting(model, v, p, on)
    model.do(lambda: model.part("async_preemption").leave_last(p))
    assert model.get(lambda: model.part("async_preemption").phase[p]) is then


# --- the end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "reply", "after"),
    [
        ("1.35", Reply.ANSWERED, "FINISH"),
        ("1.35", Reply.FAILED, "FINISH_FAILED"),
        ("1.36", Reply.ANSWERED, "NONE"),
        ("1.36", Reply.FAILED, "FORGET"),
        ("1.36", Reply.LOST, "FORGET"),
    ],
)
def test_from_1_36_on_the_end_of_a_binding_is_not_reported(release, reply, after):
    model, v, _, _ = started(release, (), bind_failures=1, lost_replies=1)
    model.do(lambda: model.part("binding").bind(v, reply))
    assert phase(model, v) is BindingPhase[after]


@pytest.mark.parametrize(("fixes", "repeated"), [((), False), (("138855",), True)])
def test_138855_repeats_a_call_that_failed_for_the_moment(fixes, repeated):
    model, v, _, (n0, _) = started("1.36", (), with_fixes=fixes, bind_failures=1)
    binding = model.part("binding")
    assert enabled(model, lambda: binding.bind(v, Reply.TRANSIENT)) is repeated
    if repeated:
        model.do(lambda: binding.bind(v, Reply.TRANSIENT))
        model.do(lambda: binding.bind(v, Reply.ANSWERED))
        assert model.get(lambda: model.part("api").pod[v].node) is n0


def test_with_138855_a_lost_reply_is_still_a_failure():
    model, v, _, (n0, _) = started("1.36", (), with_fixes=("138855",), lost_replies=1)
    model.do(lambda: model.part("binding").bind(v, Reply.LOST))
    assert model.get(lambda: model.part("api").pod[v].node) is n0
    assert phase(model, v) is BindingPhase.FORGET


# --- free where nobody waits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["133021", "135502", "138855"])
def test_where_no_plugin_has_work_and_no_call_fails_nothing_is_added(key):
    other = ((key,), ()) if key == "138855" else ((), (key,))
    counts = []
    for added, removed in (((), ()), other):
        classes = resolve("1.36", added, removed).classes
        (found,) = check(instrument(race_72124(pod_events=1), classes, [PROPERTIES["S-CONS"]]), ["S-CONS"])
        counts.append((found.counts.states, found.counts.transitions, found.counts.depth))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("release", "without", "stopped"),
    [("1.32", (), False), ("1.35", ("async-preemption",), False), ("1.36", ("async-preemption",), True)],
)
def test_without_async_preemption_the_cycle_stops_its_victims_in_the_same_way(release, without, stopped):
    on = nodes(2, 2)
    v, p = Pod(0, "v", 2, 0, extension_points=[PRE_BIND]), Pod(1, "p", 2, 10)
    model = concrete(spec([v, p], on), release, (), without)
    scheduler, preemption = model.part("scheduler"), model.part("preemption")
    model.do(lambda: model.part("cache").assume(v, on[0], PodCopy()))

    def choose():
        model.part("binding").phase[v] = BindingPhase.PRE_BIND
        preemption.victim[v] = True
        scheduler.pod = p
        scheduler.nominee = on[0]
        scheduler.phase = Phase.EVICT

    model.do(model.part("snapshot").update)
    model.do(choose)
    steps = (lambda: scheduler.evict(p, v, True)), (lambda: scheduler.reject_waiting(p, v))
    assert [enabled(model, step) for step in steps] == [not stopped, stopped]
    model.do(steps[stopped])
    assert exists(model, v) is stopped
    assert model.get(lambda: preemption.victim[v]) is False


# --- a Binding for which an error comes back -----------------------------------------------------------------


@pytest.mark.parametrize("deleted", [False, True])
def test_a_binding_in_doubt_is_executed_later_unless_the_pod_cannot_be_bound_any_more(deleted):
    model, v, _, (n0, n1) = started("1.36", (), late_bindings=1, pod_deletions=1)
    process = model.part("process")
    model.do(lambda: process.bind_in_doubt(v))
    assert phase(model, v) is BindingPhase.FORGET
    assert model.get(lambda: model.part("api").pod[v].node) is None
    assert not enabled(model, lambda: process.land_late(v, n1))
    if deleted:
        model.do(lambda: model.part("users").delete_pod(v))
    model.do(lambda: process.land_late(v, n0))
    assert model.get(lambda: model.part("api").pod[v].node) is (None if deleted else n0)
    assert not enabled(model, lambda: process.land_late(v, n0))


def test_without_the_bound_no_binding_is_in_doubt():
    model, v, _, _ = started("1.36", (), lost_replies=1)
    assert not enabled(model, lambda: model.part("process").bind_in_doubt(v))


@pytest.mark.parametrize(("late", "told"), [(1, False), (2, True)])
def test_a_verdict_says_that_a_pod_has_one_binding_in_doubt_at_a_time(late, told):
    cluster = spec([Pod(0, "a", 1, 0)], nodes(1), late_bindings=late, flush=False)
    (found,) = check(instrument(cluster, resolve("1.36").classes, [PROPERTIES["S-CONS"]]), ["S-CONS"])
    assert found.verdict.name == "HOLDS"
    assert ("late Bindings of one pod: 1 at a time" in found.coverage.constraints_hit) is told
