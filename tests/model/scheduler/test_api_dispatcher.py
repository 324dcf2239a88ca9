"""Asynchronous API calls: the queue with its merging, what callers make of it, and what comes of it in small clusters."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, ExtensionPoint, Pod, PodCopy, PodObject
from podrace.model.history import resolve
from podrace.model.language import Component, Concrete
from podrace.model.scheduler import FailureHandler
from podrace.model.scheduler.api_dispatcher import CallType, Condition, Patch, Stage
from podrace.model.scheduler.cycles.binding import BindingPhase, Reply
from podrace.model.scheduler.preemption.async_preemption import AsyncPhase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.model.clusters import enabled, nodes, spec

ON = {"SchedulerAsyncAPICalls": True}
UNSCHEDULABLE, ERROR = Condition.UNSCHEDULABLE, Condition.ERROR
NOTHING = {"kind": CallType.NONE, "patch": {"condition": Condition.UNSAID, "overrides": False, "node": None},
           "nominated": None, "failed": False}  # fmt: skip


class Dispatching:
    """p is pending, and its calls go through the dispatcher."""

    def __init__(
        self, release: str = "1.36.3", points: tuple[ExtensionPoint, ...] = (), **scope: Any
    ) -> None:
        self.n0, self.n1 = on = nodes(2, 2)
        self.p, self.q = Pod(0, "p", 1, 10, extension_points=points), Pod(1, "q", 1, 0)
        classes = resolve(release, gates=ON).classes
        self.model = Concrete(build_cluster(spec([self.p, self.q], on, **scope), classes))
        self.dispatcher = self.model.part("api_dispatcher")

    def add(self, condition=Condition.UNSAID, to=(), nominated=None, failed=False) -> None:
        """A patch with this condition; `to` holds what the nomination is to be, if it is to be overridden."""
        patch = Patch(condition=condition, overrides=bool(to), node=to[0] if to else None)
        self.model.do(lambda: self.dispatcher.add_patch(self.p, patch, nominated, failed))

    def step(self, name: str) -> None:
        self.model.do(lambda: getattr(self.dispatcher, name)(self.p))

    def can(self, name: str) -> bool:
        return enabled(self.model, lambda: getattr(self.dispatcher, name)(self.p))

    @property
    def stage(self) -> Stage:
        return self.model.get(lambda: self.dispatcher.stage[self.p])

    @property
    def patch(self) -> tuple[Condition, bool, object]:
        call = self.model.get(lambda: self.dispatcher.call[self.p])
        return tuple(call["patch"].values())

    @property
    def call(self) -> dict[str, Any]:
        return self.model.get(lambda: self.dispatcher.call[self.p])

    @property
    def status(self) -> tuple[bool, object]:
        found = self.model.get(lambda: self.model.part("api").pod[self.p])
        return found["failed"], found["nominated"]


@pytest.fixture
def case() -> Dispatching:
    return Dispatching(status_failures=1, bind_failures=1)


def test_a_patch_is_queued_sent_answered_and_finalized(case: Dispatching) -> None:
    case.add(UNSCHEDULABLE, (case.n0,))
    assert (case.stage, case.status) == (Stage.QUEUED, (False, None))
    case.step("execute")
    assert (case.stage, case.status) == (Stage.SENT, (False, None))
    case.step("patch")
    assert (case.stage, case.status) == (Stage.ANSWERED, (True, case.n0))
    case.step("finalize")
    assert (case.stage, case.call) == (Stage.NONE, NOTHING)


def test_a_patch_that_fails_is_forgotten(case: Dispatching) -> None:
    case.add(UNSCHEDULABLE)
    case.step("execute")
    case.step("lose_patch")
    case.step("finalize")
    assert (case.stage, case.call, case.status) == (Stage.NONE, NOTHING, (False, None))
    assert not case.can("lose_patch")


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        # ModeNoop keeps the nomination that waits, and a patch without a condition that condition.
        ((UNSCHEDULABLE, ["n0"]), (ERROR, []), (ERROR, True, "n0")),
        ((UNSCHEDULABLE, []), (Condition.UNSAID, ["n1"]), (UNSCHEDULABLE, True, "n1")),
        ((UNSCHEDULABLE, ["n0"]), (Condition.UNSAID, [None]), (UNSCHEDULABLE, True, None)),
        ((ERROR, ["n0"]), (UNSCHEDULABLE, ["n1"]), (UNSCHEDULABLE, True, "n1")),
        ((Condition.UNSAID, ["n0"]), (UNSCHEDULABLE, []), (UNSCHEDULABLE, True, "n0")),
    ],
)
@pytest.mark.parametrize("flying", [False, True])
def test_a_patch_is_merged_with_the_one_before(case: Dispatching, first, second, merged, flying) -> None:
    def node(name):
        return getattr(case, name) if name else None

    case.add(first[0], tuple(map(node, first[1])))
    if flying:
        case.step("execute")
    case.add(second[0], tuple(map(node, second[1])))
    assert case.patch == (merged[0], merged[1], node(merged[2]))
    assert case.stage is (Stage.SENT if flying else Stage.QUEUED)
    if flying:
        case.step("patch")
        case.step("finalize")
        assert case.stage is Stage.QUEUED
        assert case.patch == (merged[0], merged[1], node(merged[2]))


def test_a_patch_that_would_change_nothing_takes_the_one_that_waits_with_it(case: Dispatching) -> None:
    case.add(UNSCHEDULABLE, failed=True)
    assert case.stage is Stage.NONE
    case.add(Condition.UNSAID, (case.n0,), nominated=case.n0)
    assert case.stage is Stage.NONE
    case.add(Condition.UNSAID, (case.n0,))
    assert case.stage is Stage.QUEUED
    case.add(Condition.UNSAID, (None,))
    assert (case.stage, case.call) == (Stage.NONE, NOTHING)


def test_one_that_would_change_nothing_is_kept_while_another_is_in_flight(case: Dispatching) -> None:
    case.add(Condition.UNSAID, (case.n0,))
    case.step("execute")
    case.add(Condition.UNSAID, (None,))
    assert case.stage is Stage.SENT
    case.step("patch")
    case.step("finalize")
    assert (case.stage, case.status) == (Stage.QUEUED, (False, case.n0))
    # The object that it was made from did not show the nomination: nothing is written.
    case.step("execute")
    assert case.stage is Stage.ANSWERED
    case.step("finalize")
    assert (case.stage, case.status) == (Stage.NONE, (False, case.n0))


def test_an_update_that_is_handled_in_time_has_it_written(case: Dispatching) -> None:
    case.add(Condition.UNSAID, (case.n0,))
    case.step("execute")
    case.add(Condition.UNSAID, (None,))
    case.step("patch")
    case.model.do(
        lambda: case.dispatcher.sync(case.p, PodObject(exists=True, nominated=case.n0, failed=False))
    )
    case.step("finalize")
    case.step("execute")
    assert case.stage is Stage.SENT
    case.step("patch")
    assert case.status == (False, None)


def test_an_older_update_drops_a_patch_that_waits(case: Dispatching) -> None:
    """What the failure handler reads from the lister may be ahead of what the handler is given."""
    case.add(Condition.UNSAID, (None,), nominated=case.n0)
    assert case.stage is Stage.QUEUED
    case.model.do(lambda: case.dispatcher.sync(case.p, PodObject(exists=True, nominated=None, failed=False)))
    assert (case.stage, case.call) == (Stage.NONE, NOTHING)


def test_a_patch_in_flight_is_what_it_is(case: Dispatching) -> None:
    case.add(UNSCHEDULABLE)
    case.step("execute")
    case.model.do(lambda: case.dispatcher.sync(case.p, PodObject(exists=True, failed=True)))
    case.step("patch")
    assert case.status == (True, None)


def bound(case: Dispatching) -> object:
    return case.model.get(lambda: case.model.part("api").pod[case.p].node)


@pytest.mark.parametrize("flying", [False, True])
@pytest.mark.parametrize("reply", [Reply.ANSWERED, Reply.FAILED])
def test_a_binding_takes_the_place_of_a_patch_and_waits_for_one_in_flight(
    case: Dispatching, flying: bool, reply: Reply
) -> None:
    model, p, binding = case.model, case.p, case.model.part("binding")
    model.do(lambda: model.part("queue").pop(p))
    model.do(lambda: model.part("cache").assume(p, case.n0, PodCopy()))
    case.add(UNSCHEDULABLE)
    if flying:
        case.step("execute")
    model.do(lambda: binding.start(p, case.n0, PodCopy()))
    assert not enabled(model, lambda: binding.bind(p, reply))
    model.do(lambda: binding.queue_binding(p))
    assert not enabled(model, lambda: binding.queue_binding(p))
    assert enabled(model, lambda: binding.bind(p, reply)) is not flying
    # A patch is less relevant: it is dropped.
    case.add(Condition.UNSAID, (case.n1,))
    assert case.call["kind"] is CallType.BINDING
    if flying:
        case.step("patch")
        case.step("finalize")
        assert case.status == (True, None)
    model.do(lambda: binding.bind(p, reply))
    assert bound(case) is (case.n0 if reply is Reply.ANSWERED else None)
    assert model.get(lambda: binding.phase[p]) is BindingPhase.POSTED
    case.step("finalize")
    after = BindingPhase.NONE if reply is Reply.ANSWERED else BindingPhase.FORGET
    assert (case.stage, case.call, model.get(lambda: binding.phase[p])) == (Stage.NONE, NOTHING, after)


def test_a_nomination_for_what_is_expected_is_queued() -> None:
    case = Dispatching(points=(ExtensionPoint.PRE_BIND,))
    model, p, binding = case.model, case.p, case.model.part("binding")
    model.do(lambda: model.part("queue").pop(p))
    model.do(lambda: model.part("cache").assume(p, case.n0, PodCopy()))
    model.do(lambda: binding.start(p, case.n0, PodCopy()))
    model.do(lambda: binding.announce(p))
    assert (case.stage, case.patch) == (Stage.QUEUED, (Condition.UNSAID, True, case.n0))


def test_without_the_gate_there_is_nothing() -> None:
    on = nodes(2)
    p = Pod(0, "p", 1)
    model = Concrete(build_cluster(spec([p], on, status_failures=1), resolve("1.36.3").classes))
    for name in ("execute", "patch", "lose_patch", "finalize"):
        assert not enabled(model, lambda name=name: getattr(model.part("api_dispatcher"), name)(p))


def test_a_new_process_has_no_calls(case: Dispatching) -> None:
    case.add(UNSCHEDULABLE)
    case.model.do(lambda: case.model.part("process").start_anew())
    assert (case.stage, case.call) == (Stage.NONE, NOTHING)


LATE = Path(__file__).parents[3] / "scenarios" / "hazards" / "late-condition.yaml"


@pytest.mark.parametrize(("gates", "states", "steps"), [({}, 1560, 26), (ON, 3131, 30)])
def test_a_slow_failure_handler_queues_its_patch_when_the_binding_has_left_the_queue(
    gates: dict[str, bool], states: int, steps: int
) -> None:
    (scenario,) = find_scenarios(str(LATE))
    classes = resolve("1.34", gates=gates).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-COND"]]), ["S-COND"])
    assert (found.verdict.name, found.counts.states) == ("VIOLATED", states)
    assert found.trace is not None
    assert len(found.trace.steps) == steps


class Noted(FailureHandler):
    """Without the gate the model has this only where a scope needs it (A-CONDITION): what the object says is not written again."""

    def note(self, pod: Pod, made_from: PodCopy | PodObject) -> None:
        self.noted[pod] = made_from.failed


@pytest.mark.parametrize(
    ("name", "gates", "verdict", "states", "steps"),
    [
        ("late-patch", {}, "HOLDS", 440, None),
        ("late-patch", ON, "VIOLATED", 635, 24),
        ("synced-condition", {}, "HOLDS", 13394, None),
        ("synced-condition", ON, "VIOLATED", 14728, 46),
    ],
)
def test_only_where_nobody_waits_a_bound_pod_is_said_to_be_unschedulable(
    name: str, gates: dict[str, bool], verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(LATE.with_name(f"{name}.yaml")))
    patches: tuple[type[Component], ...] = () if gates else (Noted,)
    classes = (*patches, *resolve("1.36", gates=gates).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-COND"]]), ["S-COND"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


def preempting(**scope: Any) -> ClusterSpec:
    """v fills the node, and p preempts it."""
    (n0,) = nodes(2)
    pods = [Pod(0, "v", 2, 0, node=n0, graceful=False), Pod(1, "p", 2, 10)]
    return spec(pods, (n0,), flush=False, pod_events=3, **scope)


@pytest.mark.parametrize(("gates", "states"), [({}, 363), (ON, 811)], ids=("waiting", "queued"))
@pytest.mark.parametrize("identifier", ["S-COND", "S-STUCK", "L-PEND"])
def test_a_preemption_comes_to_its_end(identifier: str, gates: dict[str, bool], states: int) -> None:
    patches: tuple[type[Component], ...] = () if gates else (Noted,)
    classes = (*patches, *resolve("1.36.3", gates=gates).classes)
    (found,) = check(instrument(preempting(), classes, [PROPERTIES[identifier]]), [identifier])
    assert (found.verdict.name, found.counts.states) == ("HOLDS", states)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("gates", "in_queue", "withdrawn"),
    [(ON, "q", "p"), (ON, "", "pq"), (ON, "pq", ""), ({}, "q", ""), ({}, "", "")],
)
def test_a_nominated_pod_in_no_sub_queue_passes_for_one_of_priority_0(
    gates: dict[str, bool], in_queue: str, withdrawn: str
) -> None:
    """p preempts on n0, where p itself and the more important q are nominated: their objects are found in the queue only."""
    (n0,) = on = nodes(2)
    p, q = Pod(0, "p", 1, 10), Pod(1, "q", 1, 20)
    model = Concrete(build_cluster(spec([p, q], on), resolve("1.36.3", gates=gates).classes))
    queue, nominator, goroutine = (model.part(name) for name in ("queue", "nominator", "async_preemption"))

    def nominate() -> None:
        for pod in (p, q):
            nominator.node[pod] = n0
            if pod.name not in in_queue:
                queue.sub_queue[pod] = SubQueue.NONE
        goroutine.phase[p] = AsyncPhase.BEGIN
        goroutine.node[p] = n0

    model.do(nominate)
    model.do(lambda: goroutine.begin(p, n0))
    due = {pod.name: model.get(partial(lambda pod: goroutine.to_clear[p][pod], pod)) for pod in (p, q)}
    found = "".join(name for name, is_due in due.items() if is_due)
    assert found == withdrawn
    if gates and withdrawn:
        assert model.get(lambda: goroutine.phase[p]) is AsyncPhase.CLEAR
        model.do(lambda: goroutine.clear_nomination(p, p))
        # A bare object says that there is nothing to withdraw: the patch is dropped.
        assert model.get(lambda: model.part("api_dispatcher").call[p])["kind"] is CallType.NONE
