"""Lockstep: random runs, what differs by cause, and its shrinking, with a stand-in for the real scheduler; and, where Go is, with the real one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from rich.console import Console

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.execution import replay
from podrace.model.history import Composition, resolve
from podrace.model.language import Component
from podrace.reports.lockstep import Cause, Lockstep
from podrace.reports.reproduction import Differing
from podrace.reports.stored import format_trace, parse_trace
from podrace.reports.text.lockstep_text import print_lockstep
from podrace.reproduce.case import Case
from podrace.reproduce.lockstep.lockstep import (
    WITHIN_LOCKS,
    Compared,
    Difference,
    Play,
    case_for,
    difference_of,
    lockstep,
)
from podrace.reproduce.lockstep.request import plays, run_of, stored_run
from podrace.reproduce.lockstep.shrinking import shrunk, smaller_clusters
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import find_go
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.random_runs.quick_steps import QuickSteps
from podrace.reproduce.random_runs.random_runs import Model, Walker, Wanted, random_runs
from podrace.reproduce.random_runs.varied_clusters import varied_cluster
from podrace.reproduce.running import built_for
from podrace.scenarios import parse_scenario
from tests.reproduce.lockstep.mutants import MUTANTS, mutated

FEW = Wanted(clusters=2, runs=4, seed=1)
DIFFERED = Path(__file__).parent / "data" / "differed"
"""Runs that differed once because of the driver: shrunk, and stored."""


def as_the_model(cases: Sequence[Case]) -> Mapping[str, Outcome]:
    """A scheduler that does what the model does."""
    return {
        case.id: Outcome(case.id, "DONE", steps=tuple(OutcomeStep(real=step.changes) for step in case.steps))
        for case in cases
    }


def with_a_mistake(cases: Sequence[Case]) -> Mapping[str, Outcome]:
    """A scheduler that leaves a pod in flight when its attempt has failed."""
    return {case.id: _mistaken(case) for case in cases}


def _mistaken(case: Case) -> Outcome:
    steps = []
    for step in case.steps:
        wrong = [v for v in step.changes if v.startswith("queue.in_flight[")]
        differs = [Differing(v, False, True) for v in wrong if step.step == "failure.requeue"]
        steps.append(OutcomeStep(differs=tuple(differs)))
    return Outcome(case.id, "DIFFERS" if any(s.differs for s in steps) else "DONE", steps=tuple(steps))


def test_clusters_are_scenario_files() -> None:
    for number in range(300):
        scenario = parse_scenario(varied_cluster(number), "random.yaml")
        assert 1 <= len(scenario.spec.nodes) <= 3
        assert 2 <= len([pod for pod in scenario.spec.pods if pod.recreates is None]) <= 4
    assert varied_cluster(7) == varied_cluster(7) != varied_cluster(8)


RARER = (
    "hostPorts: ", "finishes: true", "pod_updates: ", "recreates: ", "disruption_controller: true", "evictions: ", "scale_downs: ",
    "scale_down_looks_again: true",
)  # fmt: skip


def test_half_of_the_clusters_have_something_rarer() -> None:
    """Each kind of it in some, and none where it is switched off; the rest of the cluster is the same."""
    clusters = [varied_cluster(number) for number in range(300)]
    plain = [varied_cluster(number, rarer=False) for number in range(300)]
    assert [word for word in RARER if not any(word in text for text in clusters)] == []
    assert [word for word in RARER if any(word in text for text in plain)] == []
    assert 100 < sum(text == other for text, other in zip(clusters, plain, strict=True)) < 200
    for text, other in zip(clusters, plain, strict=True):
        assert text.splitlines()[:2] == other.splitlines()[:2]


def test_the_same_seed_gives_the_same_runs() -> None:
    composition = resolve("1.36.3")
    runs = [(run.path, run.timing) for run in random_runs(composition, FEW)]
    assert runs == [(run.path, run.timing) for run in random_runs(composition, FEW)]
    assert all(20 <= len(path) <= 60 for path, _ in runs if len(path) >= 20)
    other = Wanted(clusters=2, runs=4, seed=2)
    assert runs != [(run.path, run.timing) for run in random_runs(composition, other)]


def test_quick_steps_are_those_of_the_interpreter() -> None:
    model = Model.of(varied_cluster(5), resolve("1.34.4"))
    interpreter, quick = Interpreter(model.system), QuickSteps(model.system)
    random = Random(3)
    for _ in range(4):
        state = model.system.initial
        for _ in range(15):
            enabled = interpreter.enabled(state)
            assert quick.enabled(state) == enabled
            if not enabled:
                break
            number = random.choice(enabled)
            assert quick.successor(state, number) == interpreter.successor(state, number)
            state = interpreter.successor(state, number)


def test_rare_steps_are_taken_sooner() -> None:
    model = Model.of(varied_cluster(5), resolve("1.36.3"))
    usual = Counter({f"{t.part}.{t.step}": 1000 for t in model.system.transitions})
    usual["scheduler.pop"] = 0
    runs = [Walker(model, Counter(usual)).walk(Random(i), 1) for i in range(20)]
    first = [model.system.transitions[run.path[0]].step for run in runs]
    assert first == ["pop"] * 20


def test_steps_that_cannot_be_forced_are_left_out() -> None:
    wanted = Wanted(clusters=2, runs=4, without=("scheduler.pop", *WITHIN_LOCKS))
    for run in random_runs(resolve("1.33.6"), wanted):
        steps = {(t.part, t.step) for t in (run.model.system.transitions[n] for n in run.path)}
        assert ("scheduler", "pop") not in steps


def test_a_scheduler_that_does_as_the_model_is_in_step() -> None:
    found = lockstep(resolve("1.36.3"), FEW, as_the_model)
    assert found.runs == 8
    assert not found.causes
    assert sum(found.taken.values()) == found.steps > 100
    assert set(found.taken) <= found.known


@pytest.fixture(scope="module")
def example() -> Difference:
    """What the first runs find that differ from the mistaken scheduler."""
    found = lockstep(
        resolve("1.36.3"),
        Wanted(clusters=6, runs=10, seed=1),
        with_a_mistake,
        lambda compared: bool(compared.causes),
    )
    assert list(found.causes) == ["failure.requeue: queue.in_flight"]
    return found.examples["failure.requeue: queue.in_flight"]


def test_differences_are_told_by_cause_and_shrunk(example: Difference) -> None:
    found = shrunk(example, with_a_mistake)
    small, stopped = found.difference, found.stopped
    assert not stopped
    labels = [small.run.model.system.transitions[n].label for n in small.run.path]
    assert labels[-1].startswith("failure.requeue(")
    assert small.cause == example.cause
    assert small.at == len(labels) <= 12
    spec = small.run.model.scenario.spec
    assert (len(spec.pods), len(spec.nodes)) == (1, 1)


def test_shrinking_ends_when_time_is_up(example: Difference) -> None:
    """What there is by then is a difference of the same cause: as it was without any time, and smaller with more. A try takes a second here."""
    sizes = []
    for seconds in (0, 2, 53):
        tries = list[str]()

        def play(cases: Sequence[Case], tries: list[str] = tries) -> Mapping[str, Outcome]:
            tries.extend(case.id for case in cases)
            return with_a_mistake(cases)

        found = shrunk(example, play, seconds=seconds, clock=partial(len, tries))
        small, said, stopped = found.difference, found.tries, found.stopped
        assert stopped
        assert said == len(tries) == seconds
        again = difference_of(small.run, with_a_mistake([case_for(small.run, "x")])["x"])
        cause, at = (again.cause, again.at) if again else ("", 0)
        assert (cause, at) == (example.cause, small.at)
        sizes.append(small.at)
    assert sizes[0] == example.at > sizes[-1]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(("stopped", "words"), [(False, ""), (True, ", not shrunk to the end: time was up")])
def test_what_was_stored_is_said(stopped: bool, words: str) -> None:
    cause = Cause("failure.requeue: queue.in_flight", 3, "step 5, failure.requeue(p1)", 5, "x.json", stopped)
    text = StringIO()
    console = Console(file=text, width=200)
    print_lockstep(console, [Lockstep("v1.36.3", "1.36.3", 0, 4, 100, 3000, 7.0, (cause,), {"a.b": 3000})])
    assert f"step 5, failure.requeue(p1) (5 steps, x.json{words})\n" in text.getvalue()


def test_what_cannot_be_forced_is_a_difference() -> None:
    run = next(run for run in random_runs(resolve("1.36.3"), FEW) if len(run.path) > 3)
    outcome = Outcome("x", "CANNOT BE FORCED", 2, "p1 of n2 is held: scheduler at NextPod>", (OutcomeStep(),))
    found = difference_of(run, outcome)
    assert found is not None
    assert found.at == 2
    assert found.cause.endswith(": CANNOT BE FORCED: p of n is held")


def test_what_differs_after_a_step_that_was_not_forced_comes_of_that() -> None:
    """It says why the step was not forced, not what the real scheduler lacks because of that."""
    run = next(run for run in random_runs(resolve("1.36.3"), FEW) if len(run.path) > 3)
    lacks = OutcomeStep(differs=(Differing("snapshot.pod[p].node", "n1", None),))
    outcome = Outcome("x", "CANNOT BE FORCED", 2, "nobody is let go: nobody is held", (OutcomeStep(), lacks))
    found = difference_of(run, outcome)
    assert found is not None
    assert found.cause.endswith(": CANNOT BE FORCED: nobody is let go")


def test_a_pod_that_a_flush_took_along_is_no_difference() -> None:
    composition = resolve("1.36.3")
    runs = random_runs(composition, Wanted(clusters=8, runs=20, seed=3))
    run, number = next((run, i) for run in runs for i, pods in enumerate(run.timing.ahead) if pods)
    pod = min(run.timing.ahead[number])
    steps = [OutcomeStep() for _ in run.path]
    ahead = Differing(f"queue.sub_queue[{pod}]", "BACKOFF", "ACTIVE")
    steps[number] = OutcomeStep(differs=(ahead,))
    assert difference_of(run, Outcome("x", "DIFFERS", number + 1, "", tuple(steps))) is None
    steps[number] = OutcomeStep(differs=(msgspec.structs.replace(ahead, real="NONE"),))
    assert difference_of(run, Outcome("x", "DIFFERS", number + 1, "", tuple(steps))) is not None


def test_a_difference_is_stored_and_read_again(example: Difference) -> None:
    stored = parse_trace(format_trace(stored_run(example)), "x.json")
    run = run_of(stored, "x.json")
    assert run.path == example.run.path[: example.at]
    assert difference_of(run, with_a_mistake([case_for(run, "x")])["x"]) is not None


def test_smaller_clusters_lack_one_thing_each() -> None:
    text = "nodes: {n1: {cpu: 1}, n2: {cpu: 1}}\npods: {p1: {cpu: 1, priority: 1}}\nscope: {restarts: 1}\n"
    found = list(smaller_clusters(text))
    assert len(found) == 4
    assert all(parse_scenario(each, "x.yaml").spec.pods for each in found)


def test_the_waits_are_in_the_case() -> None:
    runs = random_runs(resolve("1.36.3"), Wanted(clusters=2, runs=10))
    run = next(run for run in runs if any(run.timing.waits))
    case = case_for(run, "x")
    assert tuple(step.wait_ms for step in case.steps) == run.timing.waits
    assert len(replay(run.model.system, run.path).steps) == len(case.steps)
    assert not case.epilogue


# --- with the real scheduler ------------------------------------------------------------------------------


VERSION = os.environ.get("PODRACE_LOCKSTEP", "1.36.3")
REAL = Wanted(clusters=4, runs=25, seed=3, without=tuple(WITHIN_LOCKS))


@pytest.fixture(scope="module")
def play() -> Play:
    return plays(built_for(parse_version(VERSION), find_go(), print))


@pytest.fixture(scope="module")
def unchanged(play: Play) -> Compared:
    return lockstep(resolve(VERSION), REAL, play)


@pytest.mark.lockstep
def test_the_model_is_in_step(unchanged: Compared) -> None:
    assert unchanged.runs == REAL.clusters * REAL.runs
    words = [
        f"{count} {cause}: {unchanged.examples[cause].words}" for cause, count in unchanged.causes.items()
    ]
    assert not words, "\n".join(words)


@pytest.mark.lockstep
@pytest.mark.parametrize("file", sorted(DIFFERED.glob("*.json")), ids=lambda file: file.stem)
def test_what_differed_once_is_in_step(file: Path) -> None:
    stored = parse_trace(file.read_text(encoding="utf-8"), file.name)
    run = run_of(stored, file.name)
    played = plays(built_for(parse_version(stored.release), find_go(), print))([case_for(run, "it")])
    assert (played["it"].verdict, played["it"].why) == ("DONE", "")


@pytest.mark.lockstep
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mistake_in_the_model_is_found(mutant: type[Component], play: Play, unchanged: Compared) -> None:
    composition: Composition = mutated(resolve(VERSION), mutant)
    wanted: Any = Wanted(clusters=40, runs=25, seed=3, without=tuple(WITHIN_LOCKS))
    found = lockstep(
        composition, wanted, play, lambda compared: bool(set(compared.causes) - set(unchanged.causes))
    )
    assert set(found.causes) - set(unchanged.causes)
