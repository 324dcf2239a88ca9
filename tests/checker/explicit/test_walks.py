"""Random walks, step by step: what they pick is what the interpreter would, and batches change nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.codegen.program import generate
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit import reference
from podrace.checker.explicit.states.successors import ALL
from podrace.checker.explicit.walks import simulation
from podrace.checker.explicit.walks.simulation import Tally, Walkers, walk_at_random
from podrace.checker.llvm.machine_code import compile_system
from podrace.checker.reduction.slicing import step_name
from podrace.checker.trace.execution import replay
from podrace.model.language import INT, State, Transition, TransitionSystem, Universe, Variable, as_expr
from podrace.model.language.expressions.expr import fresh_graph
from tests.checker.machines import counters, graph
from tests.profiles import examples
from tests.random_systems import systems

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def walkers(system: TransitionSystem, seed: int, length: int, by_step: bool, at_once: int = 32) -> Walkers:
    program = generate(system)
    return Walkers(program, compile_system(program.ir), seed, length, by_step, at_once)


def mix(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def expected_path(
    system: TransitionSystem, seed: int, walk: int, length: int, by_step: bool
) -> tuple[list[int], list[State]]:
    """The transitions and states of a walk up to its end or its first violation, by the interpreter."""
    interpreter = Interpreter(system)
    state, path, states = system.initial, [], [system.initial]
    stream = mix(mix(seed) + (walk + 1) * GAMMA & MASK)
    for step in range(length):
        enabled = interpreter.enabled(state)
        if not enabled:
            break
        bits = mix(stream + (step + 1) * GAMMA & MASK)
        high, low = bits >> 32, bits & 0xFFFFFFFF
        if by_step:
            names = list(dict.fromkeys(step_name(system.transitions[n]) for n in enabled))
            name = names[high * len(names) >> 32]
            instances = [n for n in enabled if step_name(system.transitions[n]) == name]
            path.append(instances[low * len(instances) >> 32])
        else:
            path.append(enabled[high * len(enabled) >> 32])
        state = interpreter.successor(state, path[-1])
        states.append(state)
        if not all(interpreter.holds(e, state) for e in system.invariants.values()):
            break
    return path, states


def plain(tally: Tally) -> tuple[object, ...]:
    arrays = (tally.fired, tally.hits, tally.values, tally.earliest)
    return (
        *(a.tolist() for a in arrays), tally.walks, tally.steps, tally.resting, tally.longest, tally.broken,
    )  # fmt: skip


@settings(max_examples=examples(100))
@given(systems(resettabilities=0), st.integers(0, MASK), st.booleans())
def test_a_walk_is_that_of_the_interpreter(system: TransitionSystem, seed: int, by_step: bool) -> None:
    native = walkers(system, seed, 12, by_step)
    for walk in (0, 1, 1000):
        path, _ = expected_path(system, seed, walk, 12, by_step)
        assert native.path(walk, len(path)) == tuple(path)


@settings(max_examples=examples(100))
@given(systems(resettabilities=0), st.integers(0, 9), st.booleans(), st.integers(1, 9))
def test_what_is_counted_is_what_the_interpreter_counts(
    system: TransitionSystem, seed: int, by_step: bool, at_once: int
) -> None:
    length, interpreter = 9, Interpreter(system)
    if not all(interpreter.holds(e, system.initial) for e in system.invariants.values()):
        return
    native = walkers(system, seed, length, by_step, at_once)
    found = native.walk(0, 20)
    fired: Counter[int] = Counter()
    visited, reached = {system.initial}, dict.fromkeys(system.witnesses, (ALL, ALL))
    constraints: set[str] = set()
    walks = steps = stuck = longest = 0
    broken = None
    for walk in range(20):
        path, states = expected_path(system, seed, walk, length, by_step)
        fired.update(path)
        visited.update(states)
        walks, steps, longest = walks + 1, steps + len(path), max(longest, len(path))
        violated = not all(interpreter.holds(e, states[-1]) for e in system.invariants.values())
        stuck += len(path) < length and not violated
        ended = violated or len(path) == length
        for state in states[:-1] if ended else states:
            constraints |= interpreter.constraints_hit(state)
        for witness, e in system.witnesses.items():
            at = [i for i, s in enumerate(states) if i > 0 and interpreter.holds(e, s)]
            reached[witness] = min(reached[witness], (at[0], walk)) if at else reached[witness]
        if violated:
            broken = (walk, len(path))
            break
    assert (found.walks, found.steps, found.resting, found.longest) == (walks, steps, stuck, longest)
    assert found.broken == broken
    assert found.fired[: len(system.transitions)].tolist() == [
        fired[i] for i in range(len(system.transitions))
    ]
    assert native.constraints_hit(found) == constraints
    assert list(map(tuple, found.earliest.tolist())) == list(reached.values())
    seen = native.values_seen(found)
    for i, v in enumerate(system.variables):
        assert seen[v] == {state[i] for state in visited}


@settings(max_examples=examples(60))
@given(systems(resettabilities=0, witnesses=0), st.integers(0, 9))
def test_walks_visit_reachable_states_only(system: TransitionSystem, seed: int) -> None:
    reachable, waiting, interpreter = {system.initial}, [system.initial], Interpreter(system)
    while waiting:
        state = waiting.pop()
        new = {interpreter.successor(state, n) for n in interpreter.enabled(state)} - reachable
        reachable |= new
        waiting += new
    assert len(reachable) == reference.explore(system.with_predicates(invariants={})).states
    native = walkers(system.with_predicates(invariants={}), seed, 15, True)
    for walk in range(5):
        steps = native.walk(walk, walk + 1).steps
        assert set(replay(system, native.path(walk, steps)).states) <= reachable


@settings(max_examples=examples(40))
@given(systems(resettabilities=0), st.integers(0, MASK), st.booleans())
def test_batches_and_threads_change_nothing(system: TransitionSystem, seed: int, by_step: bool) -> None:
    answers = [
        plain(
            walk_at_random(
                system, seed=seed, walks=70, length=20, by_step=by_step, jobs=jobs, at_once=at_once
            )[0]
        )
        for jobs, at_once in ((1, 1), (1, 5), (1, 64), (2, 32), (3, 2))
    ]
    assert answers == answers[:1] * len(answers)


@pytest.mark.parametrize("stretch", [1, 1 << 19])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_first_violation_is_that_of_the_least_walk(
    monkeypatch: pytest.MonkeyPatch, jobs: int, stretch: int
) -> None:
    """From 0 to 1 in one of 40 walks, about: after that, a violation 30 steps later; the others go round."""
    monkeypatch.setattr(simulation, "_STRETCH", stretch)
    edges = {(0, n): True for n in range(1, 41)} | {(n, n): True for n in range(2, 41)}
    edges |= {(n, n + 1 if n > 40 else 41): True for n in (1, *range(41, 70))}
    system = graph(edges, 71, invariants={"low": set(range(70))})
    found, native, _ = walk_at_random(
        system, seed=5, walks=1000, length=40, by_step=False, jobs=jobs, at_once=7
    )
    firsts = [native.path(walk, 1)[0] for walk in range(1000)]
    assert found.broken == (firsts.index(0), 31)
    assert found.walks == firsts.index(0) + 1
    assert found.steps == 40 * firsts.index(0) + 31


def uneven() -> TransitionSystem:
    """A step with nine instances and one with a single instance, all of them always enabled."""
    with fresh_graph():
        at = Variable("at", INT, 0, 1, 0)

        def make(step: str, number: int) -> Transition:
            return Transition(
                "part", step, (("number", number),), "actor", True, as_expr(True), (), {at: as_expr(1)}
            )

        many = [make("many", n) for n in range(9)]
        return TransitionSystem(
            "uneven", Universe({}), (at,), (*many[:4], make("single", 0), *many[4:]), {}, {}, {}
        )


@pytest.mark.parametrize(("by_step", "share"), [(True, 1 / 2), (False, 1 / 10)])
def test_what_has_the_same_chance(by_step: bool, share: float) -> None:
    """Within five standard deviations; the instances of the step among themselves are alike."""
    total = 40_000
    found = walkers(uneven(), 3, 100, by_step).walk(0, total // 100)
    assert found.steps == total
    assert abs(found.fired[4] - total * share) < 5 * (total * share * (1 - share)) ** 0.5
    each = total * (1 - share) / 9
    others = np.delete(found.fired, 4)
    assert np.abs(others - each).max() < 5 * each**0.5


def test_seeds_differ() -> None:
    system = counters(6)
    assert len({walkers(system, seed, 12, True).path(0, 12) for seed in range(20)}) == 20
    native = walkers(system, 0, 12, True)
    assert len({native.path(walk, 12) for walk in range(20)}) == 20


@pytest.mark.parametrize(("length", "stretch"), [(50, 32), (2, 100)])
def test_workers_meet_after_about_so_many_steps(
    length: int, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Walks that are short are taken many at once; who asks for the time or for progress is not kept waiting by long ones."""
    monkeypatch.setattr(simulation, "_STRETCH", 200)
    told: list[int] = []
    total, _, _ = walk_at_random(
        counters(2), seed=1, walks=1024, length=length, by_step=False,
        progress=lambda tally, seconds: told.append(tally.walks),
    )  # fmt: skip
    assert told == [*range(stretch, 1024, stretch), 1024]
    assert total.walks == 1024


def test_few_walks_are_shared_out_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    walk = Walkers.walk

    def noted(self: Walkers, first: int, last: int, *rest: Any) -> Tally:
        asked.append((first, last))
        return walk(self, first, last, *rest)

    monkeypatch.setattr(Walkers, "walk", noted)
    walk_at_random(counters(2), seed=1, walks=100, length=5, by_step=False, jobs=2)
    assert sorted(asked) == [(0, 0), (0, 50), (50, 100)]
