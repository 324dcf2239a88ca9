"""The search: exact numbers, the rules for stopping, and agreement with the reference engine."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, zip_longest

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.systems.cube import cube
from podrace.checker.core.exploration import Budget, Exploration, Progress
from podrace.checker.explicit import explore, reference
from podrace.model.language import INT, TransitionSystem, Variable
from tests.checker.explicit.systems import counting, pell_lucas, philosophers, queue, ring
from tests.checker.machines import Careless, graph, house
from tests.profiles import examples
from tests.random_systems import systems


def untimed(found: Exploration) -> Exploration:
    return replace(found, seconds=0)


def widened(system: TransitionSystem, words: int) -> TransitionSystem:
    """The same with states of at least so many words, most of which never change."""
    padding = [Variable(f"pad{i}", INT, 0, 2**62, i) for i in range(words - 1)]
    mixed = chain.from_iterable(zip_longest(padding, system.variables))
    return replace(system, variables=tuple(v for v in mixed if v is not None))


@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(systems(), st.none() | st.integers(0, 30), st.integers(1, 4))
def test_agrees_with_the_reference_engine(system: TransitionSystem, most: int | None, words: int) -> None:
    system, budget = widened(system, words), Budget(max_states=most)
    assert untimed(explore(system, budget)) == untimed(reference.explore(system, budget))


@pytest.mark.parametrize("last", [1, 2, 31, 32, 33, 5000])
def test_a_counter(last: int) -> None:
    found = explore(counting(last))
    assert (found.states, found.transitions, found.depth) == (last + 1, last + 1, last)
    assert found.fired == (last, 1)
    assert found.complete
    assert found.stopped is None


def test_the_pocket_cube() -> None:
    """That there are 7! * 3^6 positions, within eleven turns of the solved one, is known from elsewhere."""
    found = explore(cube())
    assert (found.states, found.transitions, found.depth) == (3_674_160, 9 * 3_674_160, 11)
    assert (found.violations, found.no_way_back) == ({}, {})
    assert found.complete


@pytest.mark.parametrize("count", [2, 3, 5, 8, 11, 13])
def test_philosophers(count: int) -> None:
    found = explore(philosophers(count))
    assert found.states == pell_lucas(count)
    assert found.violations == {"no deadlock": tuple(range(count))}
    assert found.witnesses == {"someone eats": (0, count)}
    assert found.no_way_back == {"all think": tuple(range(count))}
    assert found.complete  # a resettability was asked: the violation does not end the search


@pytest.mark.parametrize("count", [1, 2, 5, 10, 14])
def test_a_token_ring(count: int) -> None:
    found = explore(ring(count))
    assert found.states == count * 2**count
    # `want` from half of the states for each station, and either `use` or `hand_on` from every state;
    # alone, a station hands the token on to itself.
    assert found.transitions == count * count * 2 ** (count - 1) + count * 2**count


@pytest.mark.parametrize("capacity", [1, 3, 12])
def test_a_queue(capacity: int) -> None:
    found = explore(queue(capacity))
    full = 2**capacity
    assert found.states == 2 * full - 1
    assert found.fired == (full - 1, full - 1, 2 * full - 2)
    assert found.constraints_hit == {f"post.letters holds at most {capacity}"}


def test_the_level_of_the_last_violation_is_finished() -> None:
    system = philosophers(6).with_predicates(resettabilities={})
    found = explore(system)
    assert found.stopped == "answered"
    assert not found.complete
    assert found.depth == 6
    assert untimed(found) == untimed(reference.explore(system))


def test_a_violation_in_the_last_level_completes_the_search() -> None:
    system = graph({(0, 1): True, (1, 2): True}, 3, invariants={"not there": {0, 1}})
    found = explore(system)
    assert found.violations == {"not there": (0, 1)}
    assert (found.complete, found.stopped, found.states) == (False, "answered", 3)
    assert untimed(found) == untimed(reference.explore(system))


def test_a_violation_at_the_start_expands_nothing() -> None:
    found = explore(counting(9, invariants={"positive": lambda value: value > 0}))
    assert (found.states, found.transitions, found.depth) == (1, 0, 0)
    assert (found.stopped, found.complete) == ("answered", False)
    assert found.violations == {"positive": ()}


def test_more_predicates_than_a_word_has_bits() -> None:
    invariants = {f"not {n}": lambda value, n=n: value != n for n in range(150)}
    witnesses = {f"at {n}": lambda value, n=n: value == n for n in range(150)}
    resettabilities = {f"back to {n}": lambda value, n=n: value == n for n in range(80)}
    found = explore(
        counting(200, invariants=invariants, witnesses=witnesses, resettabilities=resettabilities)
    )
    assert found.violations == {f"not {n}": (0,) * n for n in range(150)}
    assert found.witnesses == {f"at {n}": (0,) * n for n in range(150)}
    assert found.no_way_back == {f"back to {n}": (0,) * (n + 1) for n in range(80)}


def test_limits_that_hold_are_not_hit() -> None:
    assert explore(house()).constraints_hit == {"one key"}
    assert explore(house(Careless)).constraints_hit == frozenset()


def test_fair_transitions_end_where_there_is_no_way_back() -> None:
    edges = {(0, 1): True, (1, 2): True, (2, 0): False, (1, 3): False, (3, 3): True}
    found = explore(graph(edges, 4, resettabilities={"home": {0}, "two": {2}, "three": {3}, "any": {2, 3}}))
    assert found.no_way_back == {"home": (0,), "two": (0, 3), "three": ()}


def test_states_run_out_at_the_very_transition() -> None:
    system = philosophers(9)
    for most in (1, 2, 10, 100, 777):
        budget = Budget(max_states=most)
        found = explore(system, budget)
        assert (found.states, found.stopped, found.complete) == (most, "states", False)
        assert sum(found.fired) == found.transitions
        assert untimed(found) == untimed(reference.explore(system, budget))


def test_enough_states_are_no_bound() -> None:
    system = philosophers(9)
    assert untimed(explore(system, Budget(max_states=pell_lucas(9)))) == untimed(explore(system))


@pytest.mark.parametrize("budget", [40_000, 300_000, 700_000, 1_100_000])
def test_memory_runs_out(budget: int) -> None:
    found = explore(
        philosophers(13).with_predicates(resettabilities={}, invariants={}), Budget(max_memory=budget)
    )
    assert (found.stopped, found.complete) == ("memory", False)
    assert found.states < pell_lucas(13)


@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize("budget", [3_000_000, 5_000_000, 7_123_456])
def test_memory_is_used_to_the_end(words: int, budget: int) -> None:
    system = widened(philosophers(16).with_predicates(resettabilities={}, invariants={}), words)
    found = explore(system, Budget(max_memory=budget))
    assert found.stopped == "memory"
    most = budget / (8 * words + 4 * 8 / 7)  # with a table that is seven eighths full
    assert 0.8 * most < found.states < most


def test_memory_for_recoveries_runs_out() -> None:
    system = philosophers(12)
    enough = next(
        m
        for m in range(1 << 20, 1 << 24, 1 << 16)
        if explore(system.with_predicates(resettabilities={}, invariants={}), Budget(max_memory=m)).complete
    )
    found = explore(system, Budget(max_memory=enough))
    assert (found.states, found.stopped, found.complete) == (pell_lucas(12), "memory", False)
    assert found.no_way_back == {}


def test_time_runs_out() -> None:
    found = explore(philosophers(13), Budget(timeout=0))
    assert (found.stopped, found.complete) == ("timeout", False)
    assert 0 < found.states < pell_lucas(13)


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podrace.checker.explicit.states.budget._SECONDS_BETWEEN_REPORTS", 0)
    told: list[Progress] = []
    found = explore(philosophers(13), progress=told.append)
    assert told
    assert [p.states for p in told] == sorted(p.states for p in told)
    assert told[-1].states <= found.states
    assert all(p.memory > 0 and p.frontier >= 0 and p.depth <= found.depth for p in told)


def test_an_interrupt_leaves_the_engine_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podrace.checker.explicit.states.budget._SECONDS_BETWEEN_REPORTS", 0)

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(philosophers(13), progress=interrupt)
    assert explore(philosophers(3)).states == pell_lucas(3)
