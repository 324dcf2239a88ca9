"""The native engine and the reference agree on everything but time, on random systems.

This is what makes a fast answer believable: the reference evaluates the expressions one by one, in code
that the native engine does not share.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.model.language import TransitionSystem
from tests.checker.machines import Careless, counters, graph, house
from tests.checker.results import engine_contract, timeless
from tests.checker.slices import slice_system
from tests.profiles import examples
from tests.random_systems import systems


@settings(max_examples=examples(300))
@given(systems())
def test_on_random_systems(system: TransitionSystem) -> None:
    engine_contract(system)


@settings(max_examples=examples(150))
@given(systems(resettabilities=0))
def test_where_a_search_may_end_early(system: TransitionSystem) -> None:
    engine_contract(system)


@settings(max_examples=examples(150))
@given(systems())
def test_on_slices_of_random_systems(system: TransitionSystem) -> None:
    engine_contract(slice_system(system))


@settings(max_examples=examples(150))
@given(systems(), st.integers(1, 40))
def test_where_states_run_out(system: TransitionSystem, limit: int) -> None:
    found = engine_contract(system, Budget(max_states=limit))
    assert found.states <= limit


@settings(max_examples=examples(100))
@given(systems(invariants=3))
def test_on_results(system: TransitionSystem) -> None:
    if system.invariants or system.resettabilities:
        expected = check(system, engine="reference")
        found = check(system, engine="native")
        assert [replace(timeless(r), engine="") for r in found] == [
            replace(timeless(r), engine="") for r in expected
        ]


@pytest.mark.parametrize(
    ("system", "states"),
    [
        (counters(5), 243),
        (counters(4, invariants=["not_all_done"], resettabilities=["none_done"]), 81),
        (counters(4, invariants=["none_done"]), 15),
        (house(), 8),
        # None in: 4. One in: 2 * 2, with its key or after the other gave it back. Both in: the last has it.
        (house(Careless), 4 + 8 + 2),
        (graph({(0, 1): False, (1, 2): True, (2, 1): True}, 3, resettabilities={"home": {0}}), 3),
        (graph({}, 3, witnesses={"here": {0}}), 1),
        (graph({(0, 1): True}, 3, invariants={"no": set()}), 1),
    ],
)
@pytest.mark.parametrize("limit", [None, 1, 2, 7])
def test_on_small_machines(system: TransitionSystem, states: int, limit: int | None) -> None:
    found = engine_contract(system, Budget(max_states=limit))
    assert found.states == (states if limit is None else min(states, limit))
