"""Several threads give the answer of one: the same states by the same numbers, so the same runs as well."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.explicit import explore, parallel_bfs, reference
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.liveness import resettability
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import (
    Entity,
    System,
    TransitionSystem,
    Value,
    all_of,
    boolean,
    integer,
    per,
    require,
    resettable,
    step,
    system_of,
)
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.checker.explicit.systems import pell_lucas, philosophers, queue, ring
from tests.checker.explicit.test_search import untimed, widened
from tests.profiles import examples
from tests.random_systems import systems


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share every level, a few parents at a time: many rounds, and many that find the same states."""
    monkeypatch.setattr(parallel_bfs, "MANY", 0)
    monkeypatch.setattr(parallel_bfs, "WIDE", 1)
    monkeypatch.setattr(parallel_bfs, "LARGEST_SHARE", 3)


def same_for_all(system: TransitionSystem, budget: Budget, *jobs: int) -> Exploration:
    alone = untimed(explore(system, budget))
    for number in jobs:
        assert untimed(explore(system, replace(budget, jobs=number))) == alone
    return alone


@pytest.mark.usefixtures("eager")
@settings(max_examples=examples(120), suppress_health_check=list(HealthCheck), deadline=None)
@given(systems(), st.none() | st.integers(1, 30), st.integers(1, 2), st.integers(2, 4))
def test_agrees_with_the_reference_engine(
    system: TransitionSystem, most: int | None, words: int, jobs: int
) -> None:
    system, budget = widened(system, words), Budget(max_states=most, jobs=jobs)
    assert untimed(explore(system, budget)) == untimed(reference.explore(system, budget))


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("system", [philosophers(9), ring(10), queue(9)], ids=lambda system: system.name)
def test_any_number_of_threads_gives_the_same(system: TransitionSystem) -> None:
    same_for_all(system, Budget(), 2, 3, 5)


def test_wide_levels_are_shared_by_themselves() -> None:
    found = same_for_all(philosophers(14), Budget(), 2)
    assert found.states == pell_lucas(14)


class Dial(Entity):
    members = 3


class Safe(System):
    """Dials go up alone, and all of them can be turned back together, until something breaks."""

    at = per(Dial, integer(0, 47))
    broken = boolean()

    @step(actor="hand")
    def turn(self, dial: Dial) -> None:
        require(self.at[dial] < 47)
        self.at[dial] = self.at[dial] + 1

    @step(actor="hand")
    def turn_back(self) -> None:
        require(~self.broken)
        for dial in self.universe[Dial]:
            self.at[dial] = 0

    @step(actor="fault", fair=False)
    def fall(self) -> None:
        require(
            all_of(self.at[dial] >= 10 for dial in self.universe[Dial])
            & (self.at[self.universe[Dial][0]] == 20)
        )
        self.broken = True

    @resettable
    def starts_again(self) -> Value:
        return all_of(self.at[dial] == 0 for dial in self.universe[Dial])

    @resettable
    def can_be_at(self, place: Annotated[int, range(17, 25)]) -> Value:
        """More of them than share a pass."""
        return self.at[self.universe[Dial][0]] == place


def test_all_look_for_ways_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_bfs, "MANY", 50_000)
    monkeypatch.setattr(parallel_bfs, "WIDE", 100)
    monkeypatch.setattr(resettability, "_SLICE", 1 << 14)  # so that there are several
    found = same_for_all(system_of(Safe), Budget(), 3)
    with Workers(2) as workers:
        search = Search(generate(system_of(Safe)), SearchBudget(Budget(), None), workers)
        assert untimed(search.run()) == untimed(found)
        assert search.parallel is not None
    assert found.states == 48**3 + 28 * 38**2
    lost = {name: len(path) for name, path in found.no_way_back.items()}
    # Broken, the first dial stands at 20, or goes on to the place after the one that is asked for.
    assert lost == {"starts_again": 41} | {
        f"can_be_at(place={place})": 41 + max(0, place - 19) for place in range(17, 25)
    }


def test_states_are_numbered_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_bfs, "MANY", 100_000)

    def table_of(jobs: int) -> tuple[list[int], list[int]]:
        with Workers(jobs) as workers:
            search = Search(generate(philosophers(14)), SearchBudget(Budget(), None), workers)
            count = search.run().states
            assert search.store is not None
            assert (search.parallel is not None) == (jobs > 1)
            return search.store.states[:count].tolist(), search.store.origins[: count // 64].tolist()

    assert table_of(2) == table_of(1)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("most", [1, 2, 50, 777, 5000])
def test_states_run_out_at_the_same_transition(most: int) -> None:
    assert same_for_all(philosophers(10), Budget(max_states=most), 2, 3).states == most


def test_memory_is_the_same_bound() -> None:
    system = philosophers(15).with_predicates(resettabilities={}, invariants={})
    words = generate(system).layout.words
    budget = Budget(max_memory=pell_lucas(15) * (8 * words + 3))
    for jobs in (1, 2):
        found = explore(system, replace(budget, jobs=jobs))
        assert (found.stopped, found.complete) == ("memory", False)
        assert found.states < pell_lucas(15)


def test_time_runs_out_for_all() -> None:
    found = explore(philosophers(15), Budget(timeout=0.001, jobs=2))
    assert found.stopped == "timeout"


def test_an_error_of_one_thread_is_told() -> None:
    def task(worker: int) -> None:
        if worker == 1:
            raise RuntimeError("broken")

    with Workers(3) as workers, pytest.raises(RuntimeError, match="broken"):
        workers.run(task)


def test_one_worker_has_no_threads() -> None:
    ranges: list[tuple[int, int]] = []
    with Workers(1) as workers:
        workers.share_out(10**9, lambda first, last: ranges.append((first, last)))
    assert ranges == [(0, 10**9)]


def test_ranges_cover_everything() -> None:
    ranges: list[tuple[int, int]] = []
    with Workers(3) as workers:
        workers.share_out(100_000, lambda first, last: ranges.append((first, last)))
    assert sorted(ranges) == [(0, 33333), (33333, 66666), (66666, 100000)]


def test_a_scenario_has_its_counts() -> None:
    (scenario,) = find_scenarios("72124")
    composition = resolve("1.13", ("72259", "77990", "90660"))
    system = instrument(scenario.spec, composition.classes, [PROPERTIES["S-NOM"]])
    (result,) = check(system, ["S-NOM"], Budget(jobs=2))
    # As in tests/races/test_catalogue.py, where one thread counts.
    assert (result.counts.states, result.counts.transitions, result.counts.depth) == (432951, 1667181, 88)
