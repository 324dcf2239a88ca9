"""The reference engine: exact counts worked out by hand, the stopping rules, and oracles."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings

from podrace.checker.core.exploration import Budget, Exploration, Progress
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit.reference import explore
from podrace.checker.trace.execution import replay
from podrace.model.language import State, TransitionSystem
from tests.checker.machines import Careless, counters, graph, house
from tests.profiles import examples
from tests.random_systems import systems


def numbers(found: Exploration) -> tuple[int, int, int]:
    return found.states, found.transitions, found.depth


@pytest.mark.parametrize(
    ("count", "states", "transitions", "depth"),
    # noise is the sum of the counters, so it adds no state; each state has one way on for each
    # counter below 2: n * 2 * 3^(n-1) transitions.
    [(1, 3, 2, 2), (2, 9, 12, 4), (3, 27, 54, 6), (4, 81, 216, 8)],
)
def test_counters(count: int, states: int, transitions: int, depth: int) -> None:
    found = explore(counters(count))
    assert numbers(found) == (states, transitions, depth)
    assert found.complete
    assert found.stopped is None
    assert found.fired == (*[transitions // count] * count, 0)


def test_house() -> None:
    # Both out or waiting: 4 states with 0 in (key free). One in: 2 choices of who, times out or waiting: 4.
    found = explore(house())
    assert found.states == 8
    # ask: 2 of OUT/OUT, 1 of each mixed, 1 of each "in, out" -> 2 + 1 + 1 + 2; enter: 1 + 1 + 2; leave: 4.
    assert found.transitions == 6 + 4 + 4
    assert found.constraints_hit == {"one key"}
    assert found.witnesses == {"in": (0, 2)}
    assert found.violations == {}
    assert found.no_way_back == {}
    assert found.complete


def test_a_shortest_violation_is_found_and_its_level_finished() -> None:
    system = house(Careless).with_predicates(resettabilities={})
    found = explore(system)
    # ask and enter, twice: the fourth level has the first state with two in.
    assert found.violations == {"alone": (0, 1, 2, 3)}
    assert found.depth == 4
    assert not found.complete
    assert found.stopped == "answered"


def test_two_parents_share_a_successor_and_each_transition_counts() -> None:
    # A diamond: 0 -> 1, 2 -> 3.
    found = explore(graph({(0, 1): True, (0, 2): True, (1, 3): True, (2, 3): True}, 4))
    assert numbers(found) == (4, 4, 2)
    assert found.fired == (1, 1, 1, 1)


def test_of_two_shortest_runs_the_one_found_first_is_given() -> None:
    edges = {(0, 2): True, (0, 1): True, (1, 3): True, (2, 3): True}
    found = explore(graph(edges, 4, witnesses={"end": {3}}))
    assert found.witnesses == {"end": (0, 3)}


def test_everything_violated_at_the_start_stops_at_once() -> None:
    found = explore(counters(invariants=["never"], witnesses=["some_done", "none_done"]))
    assert numbers(found) == (1, 0, 0)
    assert found.stopped == "answered"
    assert not found.complete
    assert found.violations == {"never": ()}
    assert found.witnesses == {"none_done": ()}


def test_one_invariant_that_holds_keeps_the_search_alive() -> None:
    found = explore(counters(invariants=["never", "always"]))
    assert numbers(found) == (9, 12, 4)
    assert found.complete
    assert found.violations == {"never": ()}


def test_witnesses_neither_stop_a_search_nor_keep_it_alive() -> None:
    reached = explore(counters(witnesses=["always"]))
    assert reached.complete
    assert reached.states == 9
    unreached = explore(counters(invariants=["none_done"], witnesses=["all_done"]))
    assert unreached.stopped == "answered"
    assert unreached.witnesses == {}
    # Levels 0 to 2 of the grid: 1 + 2 + 3 states, and the transitions of the first two.
    assert numbers(unreached) == (6, 2 + 4, 2)


def test_recoveries_keep_a_search_alive() -> None:
    found = explore(counters(invariants=["never"], resettabilities=["none_done"]))
    assert found.complete
    assert found.states == 9
    assert found.no_way_back == {"none_done": (0, 0)}


@pytest.mark.parametrize("limit", range(1, 9))
def test_a_limit_of_states_is_exact(limit: int) -> None:
    found = explore(counters(invariants=["always"], resettabilities=["none_done"]), Budget(max_states=limit))
    assert found.states == limit
    assert found.stopped == "states"
    assert not found.complete
    assert found.no_way_back == {}


def test_the_transition_that_needed_one_state_too_many_is_counted() -> None:
    found = explore(counters(), Budget(max_states=2))
    # The first successor is stored as state 2, the second would be state 3.
    assert numbers(found) == (2, 2, 1)
    assert found.fired == (1, 1, 0)
    assert numbers(explore(counters(), Budget(max_states=1))) == (1, 1, 0)


def test_enough_room_is_no_limit() -> None:
    found = explore(counters(), Budget(max_states=9))
    assert found.complete
    assert found.stopped is None


def test_time_and_memory_run_out() -> None:
    late = explore(counters(), Budget(timeout=-1.0))
    assert late.stopped == "timeout"
    assert numbers(late) == (1, 0, 0)
    full = explore(counters(), Budget(max_memory=0))
    assert full.stopped == "memory"
    assert full.states == 1
    assert not full.complete


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podrace.checker.explicit.reference.SECONDS_BETWEEN_REPORTS", 0.0)
    seen: list[Progress] = []
    explore(counters(), progress=seen.append)
    assert [p.states for p in seen] == [1, 3, 5, 6, 7, 8, 8, 9, 9]
    assert [p.frontier for p in seen] == [1, 2, 2, 3, 3, 3, 2, 2, 1]
    assert [p.depth for p in seen] == [0, 1, 1, 2, 2, 2, 3, 3, 4]


def test_a_limit_counts_as_hit_only_where_the_guard_holds() -> None:
    found = explore(house(count=1))
    # One worker: the key is never taken when it enters, but "enter" is not enabled inside either.
    assert found.constraints_hit == frozenset()
    assert found.states == 3


def test_the_way_back_takes_fair_steps_only() -> None:
    # 0 <-> 1 fair, 1 -> 2 fair, 2 -> 0 unfair: from 2, fair steps lead nowhere.
    edges = {(0, 1): True, (1, 0): True, (1, 2): True, (2, 0): False}
    found = explore(graph(edges, 3, resettabilities={"home": {0}, "two": {2}}))
    assert found.no_way_back == {"home": (0, 2)}
    fair = explore(graph({**edges, (2, 0): True}, 3, resettabilities={"home": {0}, "two": {2}}))
    assert fair.no_way_back == {}


def test_of_the_states_with_no_way_back_the_first_is_told() -> None:
    # Unfair steps lead from 0 to the dead ends 2 and 1, found in that order.
    found = explore(graph({(0, 2): False, (0, 1): False, (0, 0): True}, 3, resettabilities={"home": {0}}))
    assert found.no_way_back == {"home": (0,)}


def reachable(system: TransitionSystem) -> dict[State, int]:
    """Oracle: every reachable state with its distance, by relaxation instead of a queue."""
    interpreter = Interpreter(system)
    distance = {system.initial: 0}
    changed = True
    while changed:
        changed = False
        for state, d in list(distance.items()):
            for t in interpreter.enabled(state):
                target = interpreter.successor(state, t)
                if distance.get(target, d + 2) > d + 1:
                    distance[target] = d + 1
                    changed = True
    return distance


def fairly_leading_to(system: TransitionSystem, states: Iterable[State], goal: set[State]) -> set[State]:
    """The states from which fair transitions alone lead into `goal`: added until nothing more is to be added."""
    interpreter = Interpreter(system)
    fair = {
        s: {interpreter.successor(s, t) for t in interpreter.enabled(s) if system.transitions[t].fair}
        for s in states
    }
    found, before = set(goal), -1
    while len(found) > before:
        before = len(found)
        found |= {s for s, targets in fair.items() if targets & found}
    return found


@settings(max_examples=examples(300))
@given(systems(invariants=0))
def test_a_complete_search_agrees_with_brute_force(system: TransitionSystem) -> None:
    found = explore(system)
    distance = reachable(system)
    interpreter = Interpreter(system)
    assert found.complete
    assert found.states == len(distance)
    assert found.depth == max(distance.values())
    fired = [0] * len(system.transitions)
    for state in distance:
        for t in interpreter.enabled(state):
            fired[t] += 1
    assert found.fired == tuple(fired)
    assert found.transitions == sum(fired)
    assert found.constraints_hit == {
        constraint
        for state in distance
        for number, transition in enumerate(system.transitions)
        if interpreter.holds(transition.guard, state)
        for constraint in interpreter.blocking(state, number)
    }
    for name, witness in system.witnesses.items():
        depths = [d for s, d in distance.items() if interpreter.holds(witness, s)]
        assert (len(found.witnesses[name]) if name in found.witnesses else None) == min(depths, default=None)


@settings(max_examples=examples(300))
@given(systems(invariants=0, witnesses=0))
def test_states_with_no_way_back_agree_with_brute_force(system: TransitionSystem) -> None:
    found = explore(system)
    distance = reachable(system)
    interpreter = Interpreter(system)
    for name, resettability in system.resettabilities.items():
        recovering = {s for s in distance if interpreter.holds(resettability, s)}
        with_a_way_back = fairly_leading_to(system, distance, recovering)
        no_way_back = {s: d for s, d in distance.items() if s not in with_a_way_back}
        assert (name in found.no_way_back) == bool(no_way_back)
        if no_way_back:
            end = replay(system, found.no_way_back[name]).states[-1]
            assert end in no_way_back
            assert len(found.no_way_back[name]) == min(no_way_back.values())


@settings(max_examples=examples(300))
@given(systems(resettabilities=0))
def test_violations_agree_with_brute_force(system: TransitionSystem) -> None:
    found = explore(system)
    distance = reachable(system)
    interpreter = Interpreter(system)
    shortest = {
        name: min((d for s, d in distance.items() if not interpreter.holds(e, s)), default=None)
        for name, e in system.invariants.items()
    }
    for name, depth in shortest.items():
        assert (len(found.violations[name]) if name in found.violations else None) == depth
    answered = bool(shortest) and None not in shortest.values()
    last = max((d for d in shortest.values() if d is not None), default=0)
    assert found.stopped == ("answered" if answered else None)
    assert found.complete != answered
    assert found.states == sum(d <= last for d in distance.values()) if answered else len(distance)
