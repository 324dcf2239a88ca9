"""Records explained by runs: what was projected from a run always is, and what no run explains never is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit.states.expander import Native
from podrace.checker.trace.execution import replay
from podrace.checker.trace.validation import (
    Answer,
    Bounds,
    Candidate,
    Difference,
    Explanation,
    Observation,
    Search,
    Seen,
    positions,
)
from podrace.model.history import resolve
from podrace.model.language import State, TransitionSystem
from podrace.scenarios import find_scenarios
from tests.checker.explicit.systems import counting
from tests.checker.explicit.test_search import widened
from tests.checker.machines import counters
from tests.checker.random_runs import random_run
from tests.profiles import examples
from tests.random_systems import coupled, systems
from tests.traced import traced


class Interpreted:
    """States as the reference interpreter has them."""

    def __init__(self, system: TransitionSystem) -> None:
        self._interpreter, self._all = Interpreter(system), range(len(system.transitions))

    @property
    def initial(self) -> State:
        """Where a run begins."""
        return self._interpreter.initial

    def successors(self, state: State, possible: frozenset[int] | None) -> Iterable[tuple[int, State]]:
        """The enabled ones of the transitions, in their order, with the states that they lead to."""
        transitions, judge = self._interpreter.system.transitions, self._interpreter
        for number in self._all if possible is None else sorted(possible):
            if judge.holds(transitions[number].guard, state) and not judge.blocking(state, number):
                yield number, judge.successor(state, number)

    def agreeing(self, seen: Seen) -> Callable[[State], bool]:
        """Whether a state is as it was seen."""
        wanted = positions(self._interpreter.system, seen)
        return lambda state: all(state[place] in codes for place, codes in wanted)

    def state(self, state: State) -> State:
        """The state itself."""
        return state


USUAL = Bounds()


def explain(system: TransitionSystem, record: Sequence[Observation], bounds: Bounds = USUAL) -> Explanation:
    """Look for a run that explains the record, by the reference interpreter alone."""
    return Search(system, Interpreted(system), bounds).explain(record)


def projected(data: st.DataObject, system: TransitionSystem, most: int = 6) -> list[Observation]:
    """What may have been seen of a random run: some states, of each some variables, and who can have moved."""
    path = random_run(data, system, most)
    states = replay(system, path).states
    moments = sorted(data.draw(st.lists(st.sampled_from(range(len(states))), unique=True, max_size=4)))
    record, before = list[Observation](), 0
    for moment in moments:
        seen = {
            v.name: code
            if data.draw(st.booleans())
            else frozenset({code, data.draw(st.integers(v.lo, v.hi))})
            for v, code in zip(system.variables, states[moment], strict=True)
            if data.draw(st.booleans())
        }
        moved = {system.transitions[n].actor for n in path[before:moment]}
        possible = frozenset(n for n, t in enumerate(system.transitions) if t.actor in moved)
        hint = data.draw(st.sampled_from((None, possible)))
        record.append(Observation(seen, hint, data.draw(st.sampled_from((None, moment - before)))))
        before = moment
    return record


def altered(data: st.DataObject, system: TransitionSystem, record: list[Observation]) -> list[Observation]:
    """The record with other values here and there, or with fewer transitions that may have happened."""
    changed = []
    for observation in record:
        seen = dict(observation.seen)
        for v in system.variables:
            if v.name in seen and data.draw(st.integers(0, 3)) == 0:
                seen[v.name] = data.draw(st.integers(v.lo, v.hi))
        possible = observation.possible
        if possible and data.draw(st.integers(0, 3)) == 0:
            possible -= {min(possible)}
        changed.append(replace(observation, seen=seen, possible=possible))
    return changed


def explained_by_brute_force(system: TransitionSystem, record: Sequence[Observation], bound: int) -> bool:
    """Try every run, one transition after the other; only what was asked before is not asked again."""
    judge, names = Interpreter(system), [v.name for v in system.variables]

    def agrees(state: State, observation: Observation) -> bool:
        codes = dict(zip(names, state, strict=True))
        return all(
            codes[name] in one if isinstance(one, frozenset) else codes[name] == one
            for name, one in observation.seen.items()
        )

    @cache
    def goes_on(state: State, number: int, taken: int) -> bool:
        if number == len(record):
            return True
        observation = record[number]
        if agrees(state, observation) and goes_on(state, number + 1, 0):
            return True
        most = bound if observation.most is None else min(bound, observation.most)
        return taken < most and any(
            goes_on(judge.successor(state, t), number, taken + 1)
            for t in judge.enabled(state)
            if observation.possible is None or t in observation.possible
        )

    return goes_on(system.initial, 0, 0)


@settings(max_examples=examples(200))
@given(st.one_of(systems(), coupled()), st.data())
def test_what_was_seen_of_a_run_is_explained(system: TransitionSystem, data: st.DataObject) -> None:
    record = projected(data, system)
    found = explain(system, record, Bounds(steps=6))
    assert found.answer is Answer.EXPLAINED
    assert len(found.at) == len(record)
    assert found.nearest == ()
    for observation, moment in zip(record, found.at, strict=True):
        state = found.trace.states[moment]
        assert all(state[place] in codes for place, codes in positions(system, observation.seen))


@settings(max_examples=examples(300))
@given(st.one_of(systems(), coupled()), st.data())
def test_explained_means_that_there_is_a_run(system: TransitionSystem, data: st.DataObject) -> None:
    record = altered(data, system, projected(data, system, most=4))
    found = explain(system, record, Bounds(steps=3))
    there_is = explained_by_brute_force(system, record, 3)
    assert (found.answer is Answer.EXPLAINED) == there_is
    if found.answer is Answer.REFUSED:
        assert not explained_by_brute_force(system, record, 5)
    if not there_is:
        # The longest beginning that can be explained, and no longer one.
        assert explained_by_brute_force(system, record[: len(found.at)], 3)
        assert not explained_by_brute_force(system, record[: len(found.at) + 1], 3)
        assert found.nearest
        assert all(candidate.differences for candidate in found.nearest)


@settings(max_examples=examples(100))
@given(st.one_of(systems(), coupled()), st.data())
def test_native_code_gives_the_same(system: TransitionSystem, data: st.DataObject) -> None:
    record = altered(data, system, projected(data, system))
    slow, quick = Interpreted(system), Native(system)
    assert Search(system, quick).explain(record) == Search(system, slow).explain(record)


def at(**values: int) -> dict[str, int]:
    return {f"counting.{name[0]}[w{name[1]}]": value for name, value in values.items()}


def test_a_run_that_is_cut_where_it_was_observed() -> None:
    # Transitions 0 and 1 count up for w0 and w1. The last piece is as short as can be: none, so w1 counted before.
    record = [Observation(at(n0=0), most=0), Observation(at(n0=2)), Observation(at(n0=2, n1=1))]
    found = explain(counters(2), record)
    assert found.answer is Answer.EXPLAINED
    assert found.trace.path == (0, 0, 1)
    assert found.at == (0, 3, 3)


def test_one_of_several_values() -> None:
    w0, w1 = "counting.n[w0]", "counting.n[w1]"
    record = [Observation({w0: frozenset({1, 2}), w1: frozenset({2, 7})})]
    assert explain(counters(2), record).trace.path == (0, 1, 1)
    none = [Observation({w0: frozenset[int]()})]
    assert explain(counters(2), none).answer is Answer.REFUSED


def test_who_did_not_move_explains_nothing() -> None:
    record = [Observation(at(n0=1), most=1), Observation(at(n1=1), frozenset({0})), Observation(at(n1=2))]
    found = explain(counters(2), record)
    assert found.answer is Answer.REFUSED
    assert found.trace.path == (0,)
    assert found.at == (1,)
    assert found.nearest[0] == Candidate((0,), (Difference("counting.n[w1]", seen=1, in_system=0),))


def test_no_run_goes_back() -> None:
    found = explain(counters(2), [Observation(at(n0=2)), Observation(at(n0=1), frozenset({0, 1}))])
    assert found.answer is Answer.REFUSED
    assert [c.differences for c in found.nearest] == [(Difference("counting.n[w0]", 1, 2),)]


def test_a_bound_that_was_met_is_told() -> None:
    record = [Observation(at(n0=2, n1=2))]
    assert explain(counters(2), record, Bounds(steps=4)).answer is Answer.EXPLAINED
    assert explain(counters(2), record, Bounds(steps=3)).answer is Answer.UNKNOWN
    assert explain(counters(2), record, Bounds(states=8)).answer is Answer.UNKNOWN
    # At most three: the record says so itself, and nothing is left open.
    assert explain(counters(2), [replace(record[0], most=3)]).answer is Answer.REFUSED


def test_a_bound_without_effect_is_not_told() -> None:
    """Two steps lead everywhere, and a third would lead nowhere else."""
    found = explain(counters(1), [Observation({"counting.on": 1})], Bounds(steps=2))
    assert found.answer is Answer.REFUSED


def test_an_unknown_variable() -> None:
    with pytest.raises(ValueError, match=r"`counting\.m` is no variable of"):
        explain(counters(1), [Observation({"counting.m": 1})])


def test_an_empty_record() -> None:
    found = explain(counters(1), [])
    assert (found.answer, found.trace.path, found.at) == (Answer.EXPLAINED, (), ())


VISIBLE = ("api.", "queue.sub_queue", "queue.in_flight[", "nominator.", "cache.pod", "snapshot.")


def hazard(name: str) -> TransitionSystem:
    (scenario,) = find_scenarios(name)
    assert scenario.release is not None
    return traced(scenario.spec, resolve(scenario.release).classes, ())


def walked(system: TransitionSystem, random: Random, longest: int) -> tuple[int, ...]:
    """Random steps from the initial state, until nothing is enabled or there are enough."""
    interpreter, path = Interpreter(system), list[int]()
    state = interpreter.initial
    while len(path) < longest and (enabled := interpreter.enabled(state)):
        path.append(random.choice(enabled))
        state = interpreter.successor(state, path[-1])
    return tuple(path)


@pytest.mark.parametrize("name", ["72124", "lost-nomination", "scenarios/hazards/ghost.yaml"])
@pytest.mark.parametrize("every", [1, 3])
def test_walks_of_scenarios(name: str, every: int) -> None:
    """Every so many states of a walk are seen, in part; and once with a pod in a place where it was not."""
    system = hazard(name)
    native = Native(system)
    for walk in range(5):
        path = walked(system, Random(walk), 40)
        steps = len(path)
        states = replay(system, path).states
        record = []
        for moment in range(every, steps + 1, every):
            moved = {system.transitions[n].actor for n in path[moment - every : moment]}
            record.append(
                Observation(
                    {
                        v.name: code
                        for v, code in zip(system.variables, states[moment], strict=True)
                        if v.name.startswith(VISIBLE)
                    },
                    frozenset(n for n, t in enumerate(system.transitions) if t.actor in moved),
                )
            )
        found = Search(system, native, Bounds(steps=every)).explain(record)
        assert found.answer is Answer.EXPLAINED
        middle = len(record) // 2
        where = next(name for name in record[middle].seen if name.startswith("queue.sub_queue"))
        for code in range(4):
            changed = {**record[middle].seen, where: code}
            mutated = [*record[:middle], replace(record[middle], seen=changed), *record[middle + 1 :]]
            told = Search(system, native, Bounds(steps=every)).explain(mutated)
            assert (told.answer is Answer.EXPLAINED) == (code == record[middle].seen[where])


@pytest.mark.parametrize("words", [1, 2, 3])
def test_states_of_several_words_are_compared_whole(words: int) -> None:
    """With one value of each variable, and with several: natively as the interpreter does."""
    system = widened(counting(5), words)
    native, judge = Native(system), Interpreted(system)
    (place,) = (i for i, v in enumerate(system.variables) if v.name == "counter.value")
    plain, packed = [judge.initial], [native.initial]
    for _ in range(5):
        plain.append(next(state for _, state in judge.successors(plain[-1], None)))
        packed.append(next(state for _, state in native.successors(packed[-1], None)))
    for codes in (frozenset({2, 4}), frozenset({0, 5}), frozenset({3}), frozenset({9})):
        seen = {"counter.value": codes}
        right = [judge.agreeing(seen)(state) for state in plain]
        assert right == [state[place] in codes for state in plain]
        assert [native.agreeing(seen)(state) for state in packed] == right
