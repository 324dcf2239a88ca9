"""SPIN, which shares no code with podrace, finds the same verdicts, states and transitions.

On the seed scenarios (where they have more than a million states, on a smaller backlog; `make campaign` runs them as
they are), and on random systems, one by one and many at a time.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from podrace.checker import explicit as native
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit import reference
from podrace.checker.reduction.questions import explored_slice
from podrace.model.history import Composition
from podrace.model.language import INT, State, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import less, variable
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import Scenario
from tests.checker.export.combined import many_systems, one_of, recoverable, step
from tests.checker.export.tools import require_spin
from tests.checker.test_scenarios_agree import CASES, IDS
from tests.profiles import by_profile, examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE
from tests.tools.spin import SpinAnswer, run_spin
from tests.tools.spin import verdict as spin_verdict

LARGE = (
    "nominated-node-race S-NOMVIS 1.13.0",
    "nominated-node-race S-NOMVIS 1.13.0 + 72259",
    "nominated-node-race S-NOM 1.13.0 + 72259",
    "forgotten-move-request S-STUCK 1.13.0",
    "forgotten-move-request S-STUCK 1.13.0 + 73309",
    "preemption-of-nobody S-GAIN 1.21.0 + 101560",
    "untainted-arrival S-READY 1.13.0",
)
"""What SPIN needs more than a few seconds for."""
TOO_LARGE = ("untainted-arrival S-READY 1.13.0",)
"""Of these, what one undelivered event makes no smaller: 40 million states without the property, so only the campaign asks SPIN."""
FAST_COMPILATION = ("-O0",)
IN_EVERY_RUN = (
    "removed-node-blocks-pods S-ERR 1.8.0 + 53647",
    "forgotten-wakes-nobody S-STUCK 1.22.0",
    "update-in-flight S-CYCLE 1.31.0 + 118438",
    "missed-deletion S-LEAK 1.22.0",
)
"""What every run asks SPIN, whose programs take seconds to compile. The others are asked by `make nightly`."""
ASKABLE = [
    number
    for number, (scenario, name, _) in enumerate(CASES)
    if PROPERTIES[name].kind != "liveness" and scenario.name != "protected-by-budget"
]
"""A liveness is none of SPIN's invariants. The other one is too big for SPIN's numbers: see below."""


@pytest.fixture(autouse=True)
def _spin() -> None:
    require_spin()


ROUNDED = 1e-7
"""By how much SPIN's larger numbers may be off, of which it prints eight figures."""


def sliced(scenario: Scenario, name: str, composition: Composition, events: int | None) -> TransitionSystem:
    """What `podrace check` explores; `events` replaces the bound on undelivered pod events."""
    spec = scenario.spec
    if events is not None:
        spec = replace(spec, scope=replace(spec.scope, pod_events=events))
    return explored_slice(instrument(spec, composition.classes, [PROPERTIES[name]]), name)


def spin(system: TransitionSystem, states: int, *options: str) -> SpinAnswer:
    with tempfile.TemporaryDirectory() as folder:
        return run_spin(system, Path(folder), states=states, options=options or FAST_COMPILATION)


def agree(system: TransitionSystem, *options: str) -> SpinAnswer:
    """SPIN's answer, which must be podrace's: on the whole state graph, and on whether each invariant holds."""
    graph = native.explore(replace(system, invariants={}, witnesses={}, resettabilities={}))
    found = spin(system, graph.states, *options)
    near = ROUNDED if graph.transitions >= 100_000_000 else 0
    assert found.states == graph.states
    assert found.transitions == pytest.approx(graph.transitions, rel=near, abs=0)
    assert found.holds == (not native.explore(system).violations)
    return found


def every_state(system: TransitionSystem) -> list[State]:
    """The reachable states, by the interpreter alone."""
    interpreter, seen, waiting = Interpreter(system), {system.initial}, [system.initial]
    while waiting:
        state = waiting.pop()
        for number in interpreter.enabled(state):
            following = interpreter.successor(state, number)
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return list(seen)


def breaches(system: TransitionSystem) -> int:
    """How many pairs of a reachable state and an invariant that it breaks there are."""
    interpreter = Interpreter(system)
    return sum(
        not interpreter.holds(e, state) for state in every_state(system) for e in system.invariants.values()
    )


def case_of(number: int) -> Any:
    marks = [] if IDS[number] in IN_EVERY_RUN else [pytest.mark.nightly]
    return pytest.param(number, id=IDS[number], marks=marks)


@pytest.mark.parametrize("case", [case_of(number) for number in ASKABLE if IDS[number] not in TOO_LARGE])
def test_on_scenarios(case: int) -> None:
    system = sliced(*CASES[case], events=1 if IDS[case] in LARGE else None)
    agree(system)


def test_what_every_run_asks_can_be_asked() -> None:
    assert set(IN_EVERY_RUN) <= {IDS[number] for number in ASKABLE}


def test_sums_of_shifted_priorities_are_refused() -> None:
    """The chooser adds 2^31 to each priority: SPIN's numbers have 32 bits, so nothing is written rather than nonsense."""
    number = IDS.index("protected-by-budget S-NOM 1.22.0")
    with pytest.raises(ValueError, match="the value 2147483648 does not fit SPIN's 32 bits"):
        spin(sliced(*CASES[number], events=None), 1)


@pytest.mark.campaign
@pytest.mark.parametrize("name", LARGE)
def test_on_large_scenarios(name: str) -> None:
    agree(sliced(*CASES[IDS.index(name)], events=None), "-O2")


@pytest.mark.parametrize(
    ("name", "states", "recovering"),
    [
        ("removed-node-blocks-pods L-ISO 1.8.0", 709, 412),
        ("removed-node-blocks-pods L-ISO 1.8.0 + 53647", 913, 913),
    ],
)
def test_on_the_resettability_of_a_seed(name: str, states: int, recovering: int) -> None:
    """SPIN has no such property, but it can count from how many states there is a way back."""
    system = sliced(*CASES[IDS.index(name)], events=None)
    answer = native.explore(system)
    assert answer.states == states
    assert bool(answer.no_way_back) == (recovering < states)
    assert spin(recoverable(system, "L-ISO"), 1_000_000).errors == recovering


@pytest.mark.parametrize(
    ("name", "states", "verdict"),
    [
        ("heartbeats L-PEND 1.13.0", 2953, None),
        pytest.param("parked-for-ever L-WAKE 1.13.0 + 70366", 13852, "VIOLATED", marks=pytest.mark.ci),
    ],
)
def test_of_a_liveness_spin_knows_the_runs_that_come_to_rest(
    name: str, states: int, verdict: str | None
) -> None:
    """Both are violated, the first only by runs that go on for ever: that SPIN finds no error is no verdict on it."""
    system = sliced(*CASES[IDS.index(name)], events=None)
    answer = native.explore(system)
    assert answer.violations or answer.lassos
    found = agree(replace(system, livenesses={}))
    assert found.states == states
    assert spin_verdict(system, found) == verdict


def test_on_variables_that_nobody_reads() -> None:
    """SPIN merges states that only they tell apart, unless it is told not to."""
    read, unread = (Variable(name, INT, 0, 2, 0) for name in ("read", "unread"))
    system = TransitionSystem(
        name="unread",
        universe=UNIVERSE,
        variables=(read, unread),
        transitions=(
            step("count", less(variable(read), 2), {read: variable(read) + 1}),
            step("one", as_expr(True), {unread: as_expr(1)}),
            step("two", as_expr(True), {unread: as_expr(2)}),
        ),
    )
    assert agree(system).states == 9


@settings(max_examples=examples(12))
@given(systems())
def test_on_random_systems(system: TransitionSystem) -> None:
    found = agree(system)
    assert found.errors == breaches(system)


@settings(max_examples=examples(6))
@given(systems(invariants=0, witnesses=0, resettabilities=2))
def test_on_resettabilities_of_random_systems(system: TransitionSystem) -> None:
    answer = reference.explore(system)
    for name in system.resettabilities:
        recovering = spin(recoverable(system, name), answer.states**2 + answer.states).errors
        assert (name in answer.no_way_back) == (recovering < answer.states)


def agree_together(parts: list[TransitionSystem]) -> None:
    """One run of SPIN on all of them; the sums must be those that the reference engine finds one by one."""
    graphs = [reference.explore(replace(p, invariants={}, witnesses={}, resettabilities={})) for p in parts]
    found = spin(one_of(parts), 1 + sum(g.states for g in graphs))
    assert found.states == 1 + sum(g.states for g in graphs)
    assert found.transitions == len(parts) + sum(g.transitions for g in graphs)
    assert found.errors == sum(map(breaches, parts))


@pytest.mark.parametrize("batch", range(by_profile(fast=1, full=3)))
def test_on_many_random_systems(batch: int) -> None:
    agree_together(many_systems(by_profile(fast=10, full=40), seed=batch))


@pytest.mark.campaign
@pytest.mark.parametrize("batch", range(100))
def test_on_thousands_of_random_systems(batch: int) -> None:
    agree_together(many_systems(40, seed=1000 + batch))
