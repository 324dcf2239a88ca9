"""Reserve, permit and pre-bind: what happens between AssumePod and the Binding, release by release."""

from __future__ import annotations

import pytest

from podrace.checker import explicit as native
from podrace.checker.explicit import reference
from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ExtensionPoint, Pod, PodCopy
from podrace.model.history import CHANGES, resolve
from podrace.model.language import NotEnabled, any_of, as_expr, trace_system
from podrace.model.scheduler.cycles.binding import BindingPhase
from podrace.model.scheduler.event_handlers import Removal
from podrace.model.scheduler.framework.status import Phase
from podrace.model.scheduler.framework.waiting_pods import PermitAnswer, Signal
from podrace.properties import PROPERTIES, instrument
from tests.checker.slices import slice_system
from tests.model.clusters import concrete, enabled, nodes, spec

ALL = tuple(ExtensionPoint)
KEYS = (
    "buffered-signal",
    "framework",
    "permit-in-cycle",
    "permit-timers",
    "reject-on-delete",
    "reserve-after-assume",
    "waiting-victims-kept",
    "waiting-victims-rejected",
)


def assumed(release="1.22", points=ALL, **scope):
    """A pod that has just been assumed on n0."""
    on, pod = nodes(2), Pod(0, "p", 1, extension_points=points)
    model = concrete(spec([pod], on, **scope), release)
    scheduler = model.part("scheduler")
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    model.do(lambda: scheduler.filter(pod, on[0]))
    if ExtensionPoint.RESERVE in points and release == "1.18":
        model.do(lambda: scheduler.reserve_first(pod, on[0], True))
    model.do(lambda: scheduler.assume(pod, on[0]))
    model.do(lambda: scheduler.start_binding(pod))
    return model, pod, scheduler, model.part("binding")


def phase(model, pod):
    return model.get(lambda: model.part("binding").phase[pod])


def test_an_assumed_pod_passes_reserve_permit_and_pre_bind():
    model, pod, scheduler, binding = assumed()
    model.do(lambda: scheduler.reserve(pod, True))
    model.do(lambda: scheduler.permit(pod, PermitAnswer.WAIT))
    assert model.get(lambda: scheduler.phase) is Phase.IDLE
    assert phase(model, pod) is BindingPhase.WAIT_ON_PERMIT
    with pytest.raises(NotEnabled):
        model.do(lambda: binding.wait_on_permit(pod))
    model.do(lambda: model.part("waiting").permit(pod))
    model.do(lambda: binding.wait_on_permit(pod))
    assert phase(model, pod) is BindingPhase.PRE_BIND
    assert model.get(lambda: model.part("waiting").signal[pod]) is Signal.NONE
    model.do(lambda: binding.pre_bind(pod, True))
    assert phase(model, pod) is BindingPhase.BIND


def test_a_pod_without_plugins_passes_within_one_step():
    model, pod, _, _ = assumed(points=())
    assert phase(model, pod) is BindingPhase.BIND


@pytest.mark.parametrize(("fails", "condition"), [("reserve", False), ("permit", True)])
def test_a_failure_in_the_scheduling_cycle_forgets_the_pod(fails, condition):
    model, pod, scheduler, _ = assumed(plugin_errors=1, permit_rejections=1)
    model.do(lambda: scheduler.reserve(pod, fails != "reserve"))
    if fails == "permit":
        model.do(lambda: scheduler.permit(pod, PermitAnswer.REJECT))
    assert model.get(lambda: model.part("cache").is_assumed(pod)) is True
    model.do(lambda: scheduler.forget(pod))
    assert model.get(lambda: model.part("cache").knows(pod)) is False
    model.do(lambda: scheduler.fail(pod))
    assert model.get(lambda: model.part("failure").unschedulable[pod]) is condition
    assert model.get(lambda: model.part("queue").moved) is False


def test_a_failure_needs_a_fault():
    model, pod, scheduler, _ = assumed()
    with pytest.raises(NotEnabled):
        model.do(lambda: scheduler.reserve(pod, False))


@pytest.mark.parametrize(
    ("first", "second", "kept"), [("allow", "reject", "ALLOWED"), ("reject", "allow", "REFUSED")]
)
def test_the_first_signal_counts(first, second, kept):
    model, pod, _, _ = assumed(points=[ExtensionPoint.PERMIT])
    model.do(lambda: model.part("scheduler").permit(pod, PermitAnswer.WAIT))
    waiting = model.part("waiting")
    for signal in (first, second):
        model.do(lambda signal=signal: getattr(waiting, signal)(pod))
    assert model.get(lambda: waiting.signal[pod]) is Signal[kept]


@pytest.mark.parametrize("release", ["1.15", "1.16", "1.17"])
@pytest.mark.parametrize("signal", ["permit", "refuse"])
def test_a_signal_before_the_binding_cycle_listens_was_lost(release, signal):
    model, pod, _, binding = assumed(release, [ExtensionPoint.PERMIT], permit_rejections=1)
    waiting = model.part("waiting")
    model.do(lambda: binding.permit(pod, PermitAnswer.WAIT))
    model.do(lambda: getattr(waiting, signal)(pod))
    assert model.get(lambda: waiting.signal[pod]) is Signal.AWAITED
    model.do(lambda: waiting.listen(pod))
    for again in (waiting.permit, waiting.refuse):
        with pytest.raises(NotEnabled):
            model.do(lambda again=again: again(pod))
    if release == "1.17":
        assert "time_out" not in dir(type(waiting))
        return
    model.do(lambda: waiting.time_out(pod))
    model.do(lambda: binding.wait_on_permit(pod))
    assert phase(model, pod) is BindingPhase.FORGET


def test_a_plugin_that_has_not_spoken_is_waited_for():
    model, pod, _, binding = assumed("1.16", [ExtensionPoint.PERMIT])
    waiting = model.part("waiting")
    model.do(lambda: binding.permit(pod, PermitAnswer.WAIT))
    model.do(lambda: waiting.listen(pod))
    with pytest.raises(NotEnabled):
        model.do(lambda: waiting.time_out(pod))


@pytest.mark.parametrize(
    ("release", "verdict", "states", "steps"),
    [
        ("1.15", "HOLDS", 308, None),
        ("1.16", "HOLDS", 308, None),
        ("1.17", "VIOLATED", 16, 8),
        ("1.18", "HOLDS", 27, None),
    ],
)
def test_only_in_1_17_a_pod_waited_for_ever_for_a_permission_that_it_had(release, verdict, states, steps):
    pod = Pod(0, "p", 2, extension_points=[ExtensionPoint.PERMIT])
    system = instrument(
        spec([pod], nodes(2), pod_events=2, flush=False), resolve(release).classes, [PROPERTIES["L-PROG"]]
    )
    (found,) = check(system, ["L-PROG"])
    assert (found.verdict.name, found.counts.states) == (verdict, states)
    assert (None if found.trace is None else len(found.trace.steps)) == steps


@pytest.mark.parametrize(
    ("release", "in_cycle"), [("1.15", False), ("1.16", False), ("1.17", False), ("1.18", True)]
)
def test_the_permit_plugins_were_asked_by_the_binding_cycle(release, in_cycle):
    model, pod, _, _ = assumed(release, [ExtensionPoint.PERMIT])
    assert (phase(model, pod) is BindingPhase.NONE) is in_cycle
    assert (phase(model, pod) is BindingPhase.PERMIT) is not in_cycle


def test_reserve_came_before_assume():
    model, pod, scheduler, _ = assumed("1.18", [ExtensionPoint.RESERVE])
    assert phase(model, pod) is BindingPhase.BIND
    assert model.get(lambda: scheduler.phase) is Phase.IDLE


def test_there_were_no_plugins():
    model, pod, _, _ = assumed("1.14")
    assert phase(model, pod) is BindingPhase.BIND


@pytest.mark.parametrize(
    ("release", "signal"),
    [
        ("1.15", Signal.AWAITED),
        ("1.16", Signal.AWAITED),
        ("1.17", Signal.REFUSED),
        ("1.18", Signal.REFUSED),
    ],
)
def test_a_waiting_pod_that_is_deleted(release, signal):
    model, pod, _, binding = assumed(release, [ExtensionPoint.PERMIT])
    handlers, waiting = model.part("handlers"), model.part("waiting")
    if release != "1.18":
        model.do(lambda: binding.permit(pod, PermitAnswer.WAIT))
        model.do(lambda: waiting.listen(pod))
    else:
        model.do(lambda: model.part("scheduler").permit(pod, PermitAnswer.WAIT))
    model.do(lambda: model.part("api").delete_pod(pod))
    model.do(lambda: handlers.handle_for_queue(pod))
    if signal is Signal.REFUSED:
        model.do(lambda: handlers.reject_waiting(pod))
    assert model.get(lambda: waiting.signal[pod]) is signal
    assert model.get(lambda: handlers.queue_removal) is Removal.NONE


@pytest.mark.parametrize(
    ("release", "gone", "signal"),
    [
        ("1.15", True, Signal.AWAITED),
        ("1.16", True, Signal.PREEMPTED),
        ("1.17", True, Signal.PREEMPTED),
        ("1.18", True, Signal.PREEMPTED),
        ("1.22", False, Signal.PREEMPTED),
    ],
)
def test_a_victim_that_waits_for_permission(release, gone, signal):
    on = nodes(2)
    v = Pod(0, "v", 2, 0, extension_points=[ExtensionPoint.PERMIT])
    p = Pod(1, "p", 2, 10)
    model = concrete(spec([v, p], on), release)
    waiting, scheduler, preemption = (model.part(n) for n in ("waiting", "scheduler", "preemption"))
    model.do(lambda: model.part("cache").assume(v, on[0], PodCopy()))
    model.do(lambda: waiting.add(v))
    if release in ("1.15", "1.16", "1.17"):
        model.do(lambda: waiting.listen(v))
    model.do(model.part("snapshot").update)

    def choose() -> None:
        preemption.victim[v] = True
        scheduler.pod = p
        scheduler.nominee = on[0]
        scheduler.phase = Phase.EVICT

    model.do(choose)
    if release == "1.22":
        with pytest.raises(NotEnabled):
            model.do(lambda: scheduler.evict(p, v, True))
    else:
        model.do(lambda: scheduler.evict(p, v, True))
    if release != "1.15":
        model.do(lambda: scheduler.reject_waiting(p, v))
    pod = model.part("api").pod
    assert model.get(lambda: pod[v].terminating | ~as_expr(pod[v].exists)) is gone
    assert model.get(lambda: waiting.signal[v]) is signal
    assert model.get(lambda: preemption.victim[v]) is False


@pytest.mark.parametrize("key", KEYS)
def test_every_change_is_seen_in_a_cluster_that_uses_plugins(key):
    assert key in CHANGES
    on = nodes(2)
    points = [ExtensionPoint.RESERVE, ExtensionPoint.PERMIT]
    cluster = spec([Pod(0, "v", 2, 0, extension_points=points), Pod(1, "p", 2, 10)], on)

    def shape(composition):
        system = trace_system(build_cluster(cluster, composition.classes))
        return [
            (t.label, repr(t.enabled), {v.name: repr(e) for v, e in t.updates.items()})
            for t in system.transitions
        ]

    # In the order in which they were undone upstream, as some can only be seen without those after them.
    later = {
        "waiting-victims-rejected": ["waiting-victims-kept"],
        "buffered-signal": ["permit-in-cycle"],
        "permit-timers": ["permit-in-cycle", "buffered-signal"],
    }
    without = later.get(key, [])
    assert shape(resolve("1.22", (), [*without, key])) != shape(resolve("1.22", (), without))


@pytest.mark.parametrize(
    "release",
    ["1.15", "1.22", *(pytest.param(r, marks=pytest.mark.nightly) for r in ("1.17", "1.18", "1.35", "1.36"))],
)
def test_both_engines_agree_where_plugins_have_work(release):
    pod = Pod(0, "p", 2, extension_points=ALL)
    cluster = spec([pod], nodes(2), pod_events=2, permit_rejections=1, plugin_errors=1, flush=False)
    model = build_cluster(cluster, resolve(release).classes)
    api, waiting = model.parts["api"], model.parts["waiting"]
    witnesses = {
        "p is bound": lambda: as_expr(api.pod[pod].node).is_some,
        "p is rejected": lambda: any_of([waiting.signal[pod] == Signal.REFUSED]),
    }
    claim = {"exists": lambda: as_expr(api.pod[pod].exists)}
    system = slice_system(trace_system(model, invariants=claim, witnesses=witnesses))
    found, expected = native.explore(system), reference.explore(system)
    assert (found.states, found.transitions, found.depth, found.fired) == (
        expected.states, expected.transitions, expected.depth, expected.fired,
    )  # fmt: skip
    assert set(found.witnesses) == set(witnesses)


def test_a_rejected_pod_wakes_nobody():
    """Room that a rejected pod gives back is not announced (until 1.23): a smaller pod stays parked."""
    on = nodes(2)
    pods = [Pod(0, "big", 2, 10, extension_points=[ExtensionPoint.PERMIT]), Pod(1, "small", 1)]
    scope = {"pod_events": 2, "permit_rejections": 1, "pod_deletions": 1, "flush": False}
    system = instrument(spec(pods, on, **scope), resolve("1.22").classes, [PROPERTIES["S-STUCK"]])
    found = native.explore(slice_system(system, invariants=["S-STUCK"]))
    assert "S-STUCK" in found.violations


def test_an_error_of_reserve_before_assume_ends_the_attempt():
    """Nothing is assumed yet: there is nothing to forget (scheduleOne, 1.18)."""
    on, pod = nodes(2), Pod(0, "p", 1, extension_points=[ExtensionPoint.RESERVE])
    model = concrete(spec([pod], on, plugin_errors=1), "1.18")
    scheduler = model.part("scheduler")
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    model.do(lambda: scheduler.filter(pod, on[0]))
    model.do(lambda: scheduler.reserve_first(pod, on[0], False))
    assert model.get(lambda: (scheduler.phase, model.part("cache").knows(pod))) == (Phase.FAIL, False)
    assert enabled(model, lambda: scheduler.fail(pod))
