"""Symmetry: what is proved is true, answers and lengths stay the same, and a wrong permutation would be noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker import explicit as native
from podrace.checker.codegen.state_layout import Layout
from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit import reference
from podrace.checker.explicit.reduced_reference import explore_symmetric
from podrace.checker.reduction.dependence import dependence_of
from podrace.checker.reduction.exchange import Exchange
from podrace.checker.reduction.permutation import Permutation
from podrace.checker.reduction.slicing import step_name
from podrace.checker.reduction.symmetry import Symmetry, symmetry_of
from podrace.checker.trace.trace import confirm, confirm_witness
from podrace.model.language import State, TransitionSystem
from tests.checker.machines import counters
from tests.checker.reduction.test_agreement import find_example, plain
from tests.profiles import examples
from tests.random_systems import systems
from tests.symmetric_systems import Process, alike

MOST = 400
"""How many states of a system are looked at one by one."""


def answers(system: TransitionSystem, found: Exploration) -> tuple[Any, ...]:
    """What symmetry preserves, beside the depth from a symmetric initial state."""
    lengths = [{n: len(path) for n, path in runs.items()} for runs in (found.violations, found.witnesses)]
    fired = {step_name(system.transitions[i]) for i, times in enumerate(found.fired) if times}
    return lengths, fired, found.constraints_hit, found.stopped


def as_native(system: TransitionSystem, symmetry: Symmetry) -> Symmetry:
    """With the representatives that the native engine chooses."""
    return replace(symmetry, key=Layout(system.variables).pack)


def some_states(system: TransitionSystem) -> Iterator[State]:
    acting = Interpreter(system)
    seen, waiting = {system.initial}, [system.initial]
    for state in waiting:
        yield state
        for number in acting.enabled(state):
            following = acting.successor(state, number)
            if following not in seen and len(seen) < MOST:
                seen.add(following)
                waiting.append(following)


def maps(system: TransitionSystem, p: Permutation, state: State) -> bool:
    """Whether the permutation is an automorphism as far as this state and its image show."""
    acting = Interpreter(system)
    image = p(state)
    there = {(system.transitions[i].step, p(acting.successor(state, i))) for i in acting.enabled(state)}
    here = {(system.transitions[i].step, acting.successor(image, i)) for i in acting.enabled(image)}
    predicates = [*system.invariants.values(), *system.witnesses.values()]
    same = all(acting.evaluate(e, state) == acting.evaluate(e, image) for e in predicates)
    return same and here == there and acting.constraints_hit(state) == acting.constraints_hit(image)


SYSTEMS = st.one_of(alike(), alike(spoiled=True))


@settings(max_examples=examples(100))
@given(st.one_of(SYSTEMS, systems(resettabilities=0)))
def test_what_is_proved_is_true(system: TransitionSystem) -> None:
    symmetry = symmetry_of(system)
    if symmetry is not None:
        for state in some_states(system):
            assert all(maps(system, p, state) for p in symmetry.permutations)


@settings(max_examples=examples(50))
@given(alike())
def test_the_permutations_are_a_group(system: TransitionSystem) -> None:
    symmetry = symmetry_of(system)
    assert symmetry is not None
    for state in list(some_states(system))[:20]:
        orbit = {state, *(p(state) for p in symmetry.permutations)}
        assert {p(s) for p, s in product(symmetry.permutations, orbit)} == orbit
        assert len({symmetry.canonical(s) for s in orbit}) == 1


@settings(max_examples=examples(100))
@given(SYSTEMS)
def test_answers_and_lengths_are_the_same(system: TransitionSystem) -> None:
    agree(system)


@pytest.mark.campaign
@settings(max_examples=5000, suppress_health_check=list(HealthCheck))
@given(SYSTEMS)
def test_answers_of_thousands_of_systems(system: TransitionSystem) -> None:
    agree(system)


def agree(system: TransitionSystem) -> None:
    """The answers with symmetry, if there is one, are those without, and every run is one of the system."""
    symmetry = symmetry_of(system)
    if symmetry is not None:
        full, found = reference.explore(system), explore_symmetric(system, symmetry)
        assert answers(system, found) == answers(system, full)
        symmetric = all(p(system.initial) == system.initial for p in symmetry.permutations)
        assert found.depth == full.depth if symmetric else found.depth <= full.depth
        assert full.states / (len(symmetry.permutations) + 1) <= found.states <= full.states
        for name, path in found.violations.items():
            confirm(system, path, name)
        for name, path in found.witnesses.items():
            confirm_witness(system, path, name)


@settings(max_examples=examples(60))
@given(alike())
def test_the_native_engine_folds_alike(system: TransitionSystem) -> None:
    symmetry = symmetry_of(system)
    assert symmetry is not None
    expected = explore_symmetric(system, as_native(system, symmetry))
    assert plain(native.explore(system, symmetry=symmetry)) == plain(expected)


@settings(max_examples=examples(60))
@given(alike())
def test_partial_order_reduction_may_be_added(system: TransitionSystem) -> None:
    symmetry, dependence = symmetry_of(system), dependence_of(system)
    assert symmetry is not None
    full = reference.explore(system)
    found = explore_symmetric(system, as_native(system, symmetry), dependence=dependence)
    assert found.violations.keys() == full.violations.keys()
    if full.complete:
        assert found.witnesses.keys() == full.witnesses.keys()
        assert answers(system, found)[1:3] == answers(system, full)[1:3]
    natively = native.explore(system, dependence=dependence, symmetry=symmetry)
    assert answers(system, natively)[1:] == answers(system, found)[1:]
    assert (natively.states, natively.fired, natively.pruned) == (found.states, found.fired, found.pruned)
    # A native run may be shorter than the one by which a reduced search found the state.
    assert (natively.violations.keys(), natively.witnesses.keys()) == (
        found.violations.keys(),
        found.witnesses.keys(),
    )


def unproved(system: TransitionSystem) -> Symmetry | None:
    """An exchange that nobody has checked."""
    first, second, *_ = system.universe[Process]
    candidate = Exchange(system, [(first, second)])
    if candidate.variables is None:
        return None
    return Symmetry(((first, second),), (candidate.permutation(),))


def test_a_permutation_that_is_not_proved_would_be_noticed() -> None:
    def goes_wrong(system: TransitionSystem) -> bool:
        symmetry = unproved(system)
        if symmetry is None:
            return False
        try:
            found = explore_symmetric(system, symmetry)
        except StopIteration:  # a run between representatives that is no run of the system
            return True
        return answers(system, found) != answers(system, reference.explore(system))

    system = find_example(alike(spoiled=True), 1000, goes_wrong)
    first, second, *_ = system.universe[Process]
    assert not Exchange(system, [(first, second)]).is_automorphism()


@pytest.mark.parametrize(
    ("count", "group", "states"),
    [(2, 2, 6), (3, 6, 10), (4, 24, 15), (5, 24, 45)],  # of five, only four change places
)
def test_counters_fold_to_multisets(count: int, group: int, states: int) -> None:
    system = counters(count, witnesses=["all_done"])
    symmetry = symmetry_of(system)
    assert symmetry is not None
    assert len(symmetry.permutations) + 1 == group
    assert symmetry.names == (f"symmetry of {', '.join(f'w{i}' for i in range(min(count, 4)))}",)
    for found in (explore_symmetric(system, symmetry), native.explore(system, symmetry=symmetry)):
        assert (found.states, found.depth) == (states, 2 * count)
        confirm_witness(system, found.witnesses["all_done"], "all_done")


def test_recoveries_are_searched_without() -> None:
    assert symmetry_of(counters(2, resettabilities=["all_done"])) is None


def test_several_threads_fold_alike() -> None:
    """Thirteen counters, four of which change places: beyond the 100,000 states from which threads share the work."""
    system = counters(13, witnesses=["all_done"])
    symmetry = symmetry_of(system)
    one = native.explore(system, Budget(jobs=1), symmetry=symmetry)
    two = native.explore(system, Budget(jobs=2), symmetry=symmetry)
    assert one.states == 15 * 3**9
    assert replace(one, seconds=0.0) == replace(two, seconds=0.0)


def test_a_folded_search_is_not_kept_on_disk(tmp_path: Path) -> None:
    system = counters(2, witnesses=["all_done"])
    with pytest.raises(ValueError, match="cannot be kept on disk"):
        native.explore(system, Budget(disk=tmp_path), symmetry=symmetry_of(system))
