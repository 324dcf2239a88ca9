"""Searches with sleep sets from the first state on give the answers of the reference, to the last count."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit import engine, explore, parallel_bfs, reference
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states import budget as pace
from podrace.checker.explicit.states import sleep_sets
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.store import Store
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.reduction.independence import independent_transitions
from podrace.model.language import TransitionSystem
from tests.checker.explicit.systems import philosophers, queue, ring
from tests.checker.explicit.test_search import untimed, widened
from tests.profiles import examples
from tests.random_systems import coupled, systems


@pytest.fixture
def sleepy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sleep sets from the beginning, whatever they save; threads share every level, a few parents at a time."""
    monkeypatch.setattr(engine, "AFTER", -1)
    monkeypatch.setattr(sleep_sets, "_LEAST_SHARE", -1.0)
    monkeypatch.setattr(parallel_bfs, "MANY", 0)
    monkeypatch.setattr(parallel_bfs, "WIDE", 1)
    monkeypatch.setattr(parallel_bfs, "LARGEST_SHARE", 3)


def slept(system: TransitionSystem, jobs: int = 1) -> tuple[int, int]:
    """How many states a search finds, and how many of their successors it does not look up."""
    with Workers(jobs) as workers:
        search = Search(generate(system), SearchBudget(Budget(), None), workers)
        states = search.run().states
        assert search.sleep_sets.on
        batches = [search.batch, *(search.parallel.batches if search.parallel else ())]
        return states, sum(int(batch.tally[1]) for batch in batches)


def copied(system: TransitionSystem, times: int) -> TransitionSystem:
    """The same with so many copies of each transition: more of them than a word has bits."""
    return replace(system, transitions=system.transitions * times)


@pytest.mark.usefixtures("sleepy")
@settings(max_examples=examples(200), suppress_health_check=list(HealthCheck), deadline=None)
@given(
    coupled() | systems(),
    st.sampled_from([1, 1, 2, 13, 40]),
    st.integers(1, 3),
    st.integers(1, 3),
    st.none() | st.integers(1, 300),
    st.sampled_from([2, 16, 1 << 14]),
)
def test_agrees_with_the_reference_engine(
    system: TransitionSystem, times: int, words: int, jobs: int, most: int | None, ring_length: int
) -> None:
    system, budget = copied(widened(system, words), times), Budget(max_states=most, jobs=jobs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sleep_sets, "_SMALLEST_RING", ring_length)
        assert untimed(explore(system, budget)) == untimed(reference.explore(system, budget))


@pytest.mark.usefixtures("sleepy")
@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("ring_length", [4, 1 << 14])
def test_states_get_the_same_numbers(jobs: int, ring_length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sleep_sets, "_SMALLEST_RING", ring_length)

    def numbered(after: int) -> tuple[list[int], list[int]]:
        monkeypatch.setattr(engine, "AFTER", after)
        with Workers(jobs) as workers:
            search = Search(generate(philosophers(10)), SearchBudget(Budget(), None), workers)
            count = search.run().states
            assert search.store is not None
            return search.store.states[:count].tolist(), search.store.origins[: count // 64].tolist()

    assert numbered(-1) == numbered(1 << 60)


def plainly(system: TransitionSystem, knows: bool) -> tuple[int, int]:
    """The same of a search that does nothing else, one state after the other; what it does not look up has been found.

    If it `knows`, what was found before a state was expanded sleeps after it as well.
    """
    beside, interpreter = independent_transitions(system), Interpreter(system)
    found, asleep = {system.initial: 0}, {system.initial: 0}
    waiting, slept = [system.initial], 0
    for state in waiting:
        sleeping = before = known = asleep.pop(state)
        count, new = len(found), []
        for t in interpreter.enabled(state):
            after = interpreter.successor(state, t)
            if sleeping >> t & 1:
                assert after in found
                slept += 1
            elif after not in found:
                found[after] = len(found)
                waiting.append(after)
                new.append((after, t, before))
            elif knows and found[after] < count:
                known |= 1 << t
            before |= 1 << t
        for after, t, earlier in new:
            asleep[after] = (earlier | known) & beside[t]
    return len(found), slept


@pytest.mark.usefixtures("sleepy")
@pytest.mark.parametrize("system", [ring(8), philosophers(8)], ids=lambda system: system.name)
def test_what_sleeps(system: TransitionSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    system = system.with_predicates(invariants={}, witnesses={})
    states, asleep = plainly(system, knows=True)
    assert asleep > states
    assert slept(system) == (states, asleep)
    monkeypatch.setattr(engine, "owner_bits", lambda bits, workers: 0)
    assert slept(system) == (states, asleep)


@pytest.mark.usefixtures("sleepy")
@pytest.mark.parametrize("system", [ring(8), philosophers(8)], ids=lambda system: system.name)
@pytest.mark.parametrize("jobs", [2, 3])
def test_what_sleeps_where_workers_know_of_earlier_rounds_only(system: TransitionSystem, jobs: int) -> None:
    system = system.with_predicates(invariants={}, witnesses={})
    (_, least), (_, most) = (plainly(system, knows) for knows in (False, True))
    assert least < slept(system, jobs)[1] <= most


@pytest.mark.usefixtures("sleepy")
def test_the_ring_grows_and_keeps_what_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """With looks at the clock after every few transitions, so that there is time to make room."""
    system = philosophers(10).with_predicates(resettabilities={}, invariants={}, witnesses={})
    states, whole = slept(system)
    monkeypatch.setattr(sleep_sets, "_SMALLEST_RING", 4)
    some = slept(system)
    monkeypatch.setattr(pace.Pace, "quantum", 1, raising=False)
    monkeypatch.setattr(pace.Pace, "__init__", lambda self: None)
    monkeypatch.setattr(pace.Pace, "measuring", lambda self, done: nullcontext())
    assert some[0] == slept(system)[0] == states
    assert some[1] < slept(system)[1] <= whole


class _Unread:
    """A ring of which only the length is looked at."""

    length = 16

    @property
    def array(self) -> None:
        raise AssertionError("rows are copied, and there is no memory for more of them")


def test_a_ring_that_may_not_grow_is_left_alone() -> None:
    """It is asked to after every slice of work, by millions of states that wait."""
    system = philosophers(5)
    with Workers(1) as workers:
        store = Store(1, SearchBudget(Budget(max_memory=1 << 20), None), 0, workers)
        sets = sleep_sets.SleepSets(system)
        sets.on, sets._rows = True, _Unread()  # type: ignore[assignment]
        before = store.fixed_bytes
        sets.make_room(0, 1 << 20, store)
        assert (store.fixed_bytes, sets._reserved) == (before, 0)
        with pytest.raises(AssertionError, match="rows are copied"):
            sets.make_room(0, 1 << 6, store)
        assert sets._reserved == store.fixed_bytes - before == (1 << 7) * sets.words * 8


@pytest.mark.usefixtures("sleepy")
@pytest.mark.usefixtures("sleepy")
@pytest.mark.parametrize("room", [0, 238, 259, 1000])
def test_states_found_where_none_may_sleep_have_no_rows(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Near the limit of states none sleeps. With room for 238 more, some sleep again where levels are narrow: not by rows of other states."""
    system = ring(5).with_predicates(invariants={}, witnesses={})
    whole = reference.explore(system)
    assert whole.states == 160
    monkeypatch.setattr(sleep_sets, "_SMALLEST_RING", 16)
    assert untimed(explore(system, Budget(max_states=160 + room))) == untimed(whole)


def test_they_begin_once_a_search_is_not_small_and_end_where_they_do_not_pay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def on(system: TransitionSystem) -> bool:
        with Workers(1) as workers:
            search = Search(generate(system), SearchBudget(Budget(), None), workers)
            search.run()
            return search.sleep_sets.on

    assert not on(queue(9))
    large = philosophers(14)
    assert on(large)
    monkeypatch.setattr(sleep_sets, "_LEAST_SHARE", 0.99)
    monkeypatch.setattr(sleep_sets, "_JUDGED_AFTER", 1000)
    assert not on(large)
