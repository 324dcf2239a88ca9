"""Tables that hold the states themselves: who gets one, and that it gives the answers of a table of numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import engine, explore, parallel_bfs, reference
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.hash_table import owner_bits
from podrace.checker.explicit.states.workers import Workers
from podrace.model.language import INT, TransitionSystem, Variable
from tests.checker.explicit.systems import pell_lucas, philosophers, ring
from tests.checker.explicit.test_search import untimed
from tests.profiles import examples
from tests.random_systems import systems


@pytest.mark.parametrize(
    ("state_bits", "workers", "expected"),
    [
        (0, 1, 8), (56, 1, 8), (57, 1, 7), (63, 1, 1), (64, 1, 0), (56, 254, 8), (56, 255, 0),
        (62, 2, 2), (62, 3, 0), (61, 6, 3), (61, 7, 0), (63, 2, 0),
    ],
)  # fmt: skip
def test_a_state_and_its_finder_fit_into_an_entry(state_bits: int, workers: int, expected: int) -> None:
    assert owner_bits(state_bits, workers) == expected


def bits_of(system: TransitionSystem) -> int:
    return sum(v.bits for v in system.variables)


def of_bits(system: TransitionSystem, bits: int) -> TransitionSystem:
    """The same with states of so many bits, by a variable that never changes and has its highest bit set."""
    left = bits - bits_of(system)
    assert left > 0
    wide = Variable("wide", INT, 0, 2**left - 1, 2 ** (left - 1) + 1)
    return replace(system, variables=(wide, *system.variables))


def table_of(system: TransitionSystem, jobs: int = 1, memory: int | None = None) -> tuple[int, str]:
    """How many states there are, and the type of the table's entries when all are found."""
    with Workers(jobs) as workers:
        search = Search(generate(system), SearchBudget(Budget(max_memory=memory), None), workers)
        found = search.run()
        assert found.complete
        assert search.store is not None
        return found.states, str(search.store.table.dtype)


def plain(system: TransitionSystem) -> TransitionSystem:
    return system.with_predicates(resettabilities={})


def test_who_has_a_table_of_keys() -> None:
    short = plain(ring(6))
    assert table_of(short)[1] == "uint64"
    assert table_of(of_bits(short, 62), 2)[1] == "uint64"
    assert table_of(of_bits(short, 63))[1] == "uint64"
    assert table_of(of_bits(short, 62), 3)[1] == "uint32"
    assert table_of(of_bits(short, 64))[1] == "uint32"
    numbered = philosophers(5).with_predicates(invariants={})
    assert numbered.resettabilities
    assert table_of(numbered)[1] == "uint32", "its search asks for the numbers of successors"
    assert table_of(plain(numbered))[1] == "uint64"


@pytest.mark.parametrize("bits", range(56, 65))
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_states_of_any_length(bits: int, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_bfs, "MANY", 0)
    monkeypatch.setattr(parallel_bfs, "WIDE", 1)
    monkeypatch.setattr(parallel_bfs, "LARGEST_SHARE", 3)
    system = of_bits(plain(ring(6)), bits)
    assert untimed(explore(system, Budget(jobs=jobs))) == untimed(reference.explore(system))


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck), deadline=None)
@given(systems(resettabilities=0), st.integers(1, 3), st.none() | st.integers(1, 30))
def test_keys_and_numbers_give_the_same(system: TransitionSystem, jobs: int, most: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_bfs, "MANY", 0)
        patch.setattr(parallel_bfs, "WIDE", 1)
        patch.setattr(parallel_bfs, "LARGEST_SHARE", 3)
        budget = Budget(jobs=jobs, max_states=most)
        by_keys = untimed(explore(system, budget))
        patch.setattr(engine, "owner_bits", lambda bits, workers: 0)
        assert untimed(explore(system, budget)) == by_keys


def test_numbers_take_the_place_of_keys_where_memory_is_short() -> None:
    """Of 80,782 states, in 1.1 to 3.9 MB: whatever there is memory for, all are found, once each."""
    system = plain(philosophers(13)).with_predicates(invariants={}, witnesses={})
    states = pell_lucas(13)
    kinds = []
    for memory in range(1_300_000, 5_000_000, 300_000):
        found = explore(system, Budget(max_memory=memory))
        if found.complete:
            assert found.states == states
            kinds.append(table_of(system, memory=memory))
    assert set(kinds) == {(states, "uint32"), (states, "uint64")}
