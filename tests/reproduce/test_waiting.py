"""The scheduler waits in Pop while a pod comes into an empty activeQ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import msgspec
import pytest

from podrace.checker.explicit.state_graph import state_graph
from podrace.model.history import resolve
from podrace.reports.step import Value
from podrace.reproduce.case import Case, CaseStep
from podrace.reproduce.lockstep.lockstep import case_for
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.random_runs.random_runs import Model, RandomRun, Walker
from podrace.reproduce.timing.timing import NO_WAITS
from podrace.reproduce.tours.tour import Asked, Fate, tour
from podrace.reproduce.waiting import waiting

TEXT = """\
name: created
release: "1.36.3"
properties: [S-CAP]
nodes: {n1: {cpu: 2}}
pods:
  a: {cpu: 1, exists: false}
  b: {cpu: 1, exists: false}
scope: {pod_events: 2, pod_creations: 2, flush: false}
"""


@pytest.fixture(scope="module")
def model() -> Model:
    return Model.of(TEXT, resolve("1.36.3"))


def step(name: str, pod: str, place: str = "", *, actor: str = "someone", wait_ms: int = 0) -> CaseStep:
    changes: dict[str, Value] = {f"queue.sub_queue[{pod}]": place} if place else {}
    return CaseStep(name, actor, {"pod": pod}, wait_ms, changes)


def pop(pod: str, *, wait_ms: int = 0, drops: bool = False) -> CaseStep:
    changes: dict[str, Value] = {f"queue.sub_queue[{pod}]": "NONE", "scheduler.pod": None if drops else pod}
    return CaseStep("scheduler.pop", "scheduler", {"pod": pod}, wait_ms, changes)


def marked(model: Model, steps: Sequence[CaseStep], most: int | None = None, **others: object) -> list[int]:
    """The numbers of the steps that are marked."""
    case = case_for(RandomRun(model, (), NO_WAITS), "x")
    found = waiting(msgspec.structs.replace(case, steps=list(steps), **others), most)
    return [number for number, one in enumerate(found.steps) if one.waiting]


EDGES, MARKS = 442, 45
"""Of the graph, and in its tour."""

COMES = step("handlers.handle_for_queue", "a", "ACTIVE")


def test_a_step_is_marked_if_it_gives_an_empty_queue_the_pod_that_is_popped_next(model: Model) -> None:
    idle = step("users.create_pod", "a")
    again = step("handlers.wake_queue", "b", "ACTIVE")
    steps = [idle, COMES, pop("a"), again, pop("b")]
    assert marked(model, steps) == [1, 3]
    assert [marked(model, steps, most) for most in range(6)] == [[], [], [], [1], [1], [1, 3]]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            [COMES, step("users.create_pod", "b"), pop("a")], id="another step comes before the Pop"
        ),
        pytest.param([COMES, pop("a", wait_ms=1000)], id="time passes before the Pop"),
        pytest.param([COMES, pop("a", drops=True)], id="Pop drops the pod"),
        pytest.param([step("x.y", "b", "BACKOFF"), COMES, pop("a")], id="Pop would take b out of backoffQ"),
        pytest.param([step("x.y", "b", "ACTIVE"), COMES, pop("a")], id="b is there"),
        pytest.param([step("process.restart", "a", "ACTIVE"), pop("a")], id="another process pops"),
        pytest.param([step("x.y", "a", "ACTIVE", actor="scheduler"), pop("a")], id="the scheduler is busy"),
    ],
)
def test_no_step_is_marked_if(model: Model, steps: list[CaseStep]) -> None:
    assert marked(model, steps) == []


def test_entries_of_groups_are_left_out(model: Model) -> None:
    assert marked(model, [COMES, pop("a")], groups=[[{}]]) == []


def test_in_every_second_random_run_the_scheduler_waits(model: Model) -> None:
    walker, random = Walker(model, Counter()), Random(1)
    runs = [walker.walk(random, 30) for _ in range(6)]
    assert [run.waits for run in runs] == [False, True] * 3
    marks = [sum(one.waiting for one in case_for(run, "x").steps) for run in runs]
    assert marks[::2] == [0, 0, 0]
    assert min(marks[1::2]) > 0


class Driver:
    """Does as the model does. If Pop is `deaf`, nothing wakes it."""

    def __init__(self, *, deaf: bool) -> None:
        self.deaf, self.cases = deaf, list[Case]()

    def __call__(self, cases: Sequence[Case]) -> Mapping[str, Outcome]:
        self.cases.extend(cases)
        return {case.id: self._outcome(case) for case in cases}

    def _outcome(self, case: Case) -> Outcome:
        waits = next((number for number, one in enumerate(case.steps, 1) if one.waiting), None)
        if self.deaf and waits:
            at = waits + 1
            return Outcome(case.id, "CANNOT BE FORCED", at, "Pop still waits", (OutcomeStep(),) * at)
        return Outcome(case.id, "DONE", steps=(OutcomeStep(),) * len(case.steps))


def test_in_a_tour_the_scheduler_waits_where_both_steps_were_taken_before(model: Model) -> None:
    graph, driver = state_graph(model.system), Driver(deaf=False)
    toured = tour(model, graph, driver, Asked(1, at_once=5))
    locked = toured.count(Fate.WITHIN_LOCK, Fate.BEHIND_LOCK)
    assert (graph.edges, toured.count(Fate.TAKEN) + locked) == (EDGES, EDGES)
    seen: set[tuple[object, ...]] = set()
    marks = 0
    for case in driver.cases:
        values, taken = dict(case.initial), []
        for one in case.steps:
            edge = (tuple(sorted(map(str, values.items()))), one.step, tuple(one.args.items()))
            values |= one.changes
            taken.append(edge)
            if one.waiting:
                marks += 1
                assert edge in seen
        seen.update(taken)
    assert marks == MARKS


def test_a_tour_finds_a_pop_that_nothing_wakes(model: Model) -> None:
    graph = state_graph(model.system)
    toured = tour(model, graph, Driver(deaf=True), Asked(1, at_once=5))
    (cause,) = toured.causes
    assert cause == "scheduler.pop: CANNOT BE FORCED: Pop still waits"
    example = toured.examples[cause]
    assert example.run.waits
    assert [one.waiting for one in case_for(example.run, "x").steps[: example.at]][-2:] == [True, False]
