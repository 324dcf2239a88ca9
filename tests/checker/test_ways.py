"""The essentially different ways to a violation, against all sets of kinds of steps."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result, Verdict
from podrace.checker.reduction.questions import UnknownProperty
from podrace.checker.search import check
from podrace.checker.trace.execution import confirm
from podrace.checker.ways import Ways, find_ways, kind_of_step, minimal_sets
from podrace.model.language import (
    BOOL,
    Component,
    Entity,
    Model,
    Transition,
    TransitionSystem,
    Universe,
    Variable,
    all_of,
    boolean,
    build,
    clamp,
    constraint,
    equal,
    integer,
    negate,
    per,
    require,
    step,
    trace_system,
)
from podrace.model.language.expressions.expr import const, fresh_graph, variable
from tests.profiles import examples
from tests.random_systems import coupled, systems


class Key(Entity):
    """Something that opens a door."""


class How(Enum):
    SLOWLY = "slowly"
    FAST = "fast"


class House(Component):
    """A door that can be opened with a key, or by knocking three times, or once if there is light."""

    has = per(Key, boolean())
    knocks = integer(0, 3)
    open = boolean()
    lights = boolean()

    @step(actor="guest")
    def find(self, key: Key) -> None:
        """Find a key."""
        self.has[key] = True

    @step(actor="guest")
    def unlock(self, key: Key, how: How) -> None:
        """Open the door with a key."""
        require(self.has[key])
        self.open = True

    @step(actor="guest")
    def knock(self) -> None:
        """Knock once."""
        constraint("nobody knocks more than three times", self.knocks < 3)
        self.knocks = clamp(self.knocks + 1, 0, 3)

    @step(actor="host")
    def answer(self) -> None:
        """Open the door to who has knocked."""
        require((self.knocks == 3) | (self.knocks >= 1) & self.lights)
        self.open = True

    @step(actor="host")
    def switch(self, on: bool) -> None:
        """Switch the light."""
        self.lights = on


class Street(Model):
    house: House


def house(keys: int = 2) -> TransitionSystem:
    model = build(Street, Universe({Key: [Key(i, f"k{i}") for i in range(keys)]}))
    part = model.parts["house"]
    return trace_system(
        model, "house", invariants={"closed": lambda: ~part.open, "dark": lambda: ~part.lights}
    )


def told(found: Ways) -> list[tuple[tuple[str, ...], int]]:
    return [(way.kinds, len(way.trace.steps)) for way in found.ways]


def test_all_ways_are_found_the_shorter_first_whatever_the_key() -> None:
    found = find_ways(house(), "closed", 8, engine="reference")
    assert found.result.stopped is None
    assert told(found) == [
        (("house.find", "house.unlock(how=SLOWLY)"), 2),
        (("house.find", "house.unlock(how=FAST)"), 2),
        (("house.knock", "house.answer"), 4),
    ]
    assert found.common == ()
    assert found.own(found.ways[2]) == ("house.knock", "house.answer")
    assert (found.searches, found.result.coverage.constraints_hit) == (12, ())
    assert (found.result.verdict, found.result.trace) == (Verdict.VIOLATED, found.ways[0].trace)


def test_a_longer_run_is_taken_if_it_does_without_a_kind_of_step() -> None:
    """With light, the door opens after 3 steps; the way in the dark takes 4, and none of them can be left out."""
    system = house(0)
    (shortest,) = check(system, ["closed"], engine="reference")
    assert shortest.trace is not None
    assert [s.label.partition("(")[0] for s in shortest.trace.steps] == [
        "house.knock",
        "house.switch",
        "house.answer",
    ]
    assert told(find_ways(system, "closed", 8, engine="reference")) == [(("house.knock", "house.answer"), 4)]


def test_what_every_way_takes_is_named_once() -> None:
    found = find_ways(house(1), "dark", 8, engine="reference")
    assert (told(found), found.common) == ([(("house.switch(on=True)",), 1)], ("house.switch(on=True)",))
    assert found.own(found.ways[0]) == ()


def test_each_run_is_one_of_the_whole_system() -> None:
    system = house()
    for way in find_ways(system, "closed", 8, engine="reference").ways:
        assert confirm(system, way.trace.path, "closed") == way.trace
        kinds = [kind_of_step(system.transitions[number]) for number in way.trace.path]
        assert tuple(dict.fromkeys(kinds)) == way.kinds


def test_it_ends_at_as_many_as_are_asked_for_and_says_whether_there_are_more() -> None:
    two = find_ways(house(), "closed", 2, engine="reference")
    assert (len(two.ways), two.result.stopped) == (2, "most")
    three = find_ways(house(), "closed", 3, engine="reference")
    assert (len(three.ways), three.result.stopped) == (3, None)


def test_a_budget_that_runs_out_is_told() -> None:
    few = find_ways(house(), "closed", 8, Budget(max_states=3), engine="reference")
    assert few.result.stopped == "states"
    none = find_ways(house(), "closed", 8, Budget(timeout=0.0), engine="reference")
    assert (none.ways, none.result.stopped, none.searches) == ((), "timeout", 0)


def test_the_time_is_kept_also_after_a_search_that_ran_out_of_states(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)

    def second_runs_out(*arguments: Any, **more: Any) -> list[Result]:
        (result,) = check(*arguments, **more)
        clock.now += 1.0
        if clock.now == 1.0:
            return [result]
        return [replace(result, verdict=Verdict.INCONCLUSIVE, stopped="states", trace=None)]

    monkeypatch.setattr("podrace.checker.ways.time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr("podrace.checker.ways.check", second_runs_out)
    found = find_ways(house(), "closed", 8, Budget(timeout=2.0), engine="reference")
    assert (len(found.ways), found.result.stopped, found.searches) == (1, "states", 2)


def test_no_way_to_what_cannot_be_violated() -> None:
    model = build(Street, Universe({Key: [Key(0, "k")]}))
    part = model.parts["house"]
    never = trace_system(model, "house", invariants={"fine": lambda: part.knocks <= 3})
    found = find_ways(never, "fine", 1, engine="reference")
    assert (found.ways, found.result.stopped, found.common, found.searches) == ((), None, (), 1)


def test_a_violation_from_the_start_is_a_way_without_steps() -> None:
    model = build(Street, Universe({Key: [Key(0, "k")]}))
    part = model.parts["house"]
    broken = trace_system(model, "house", invariants={"open": lambda: part.open})
    found = find_ways(broken, "open", 4, engine="reference")
    assert (told(found), found.result.stopped, found.common) == ([((), 0)], None, ())


def test_progress_is_told_after_each_search() -> None:
    seen: list[tuple[int, int]] = []
    found = find_ways(
        house(), "closed", 8, engine="reference", watch=lambda n, known: seen.append((n, known))
    )
    assert [n for n, _ in seen] == list(range(1, found.searches + 1))
    assert seen[0] == (1, 0)
    assert seen[-1][1] == 3


def test_mistakes_of_a_caller() -> None:
    with pytest.raises(UnknownProperty, match="house has no invariant `closd`"):
        find_ways(house(), "closd", 1)
    with pytest.raises(ValueError, match="at least 1 way"):
        find_ways(house(), "closed", 0)


@st.composite
def recipes(draw: Any) -> TransitionSystem:
    """Facts that steps bring about, each where some others are there or are not: often in several ways."""
    with fresh_graph():
        facts = [Variable(f"fact{i}", BOOL, 0, 1, 0) for i in range(draw(st.integers(2, 4)))]
        steps = []
        for number in range(draw(st.integers(2, 7))):
            wanted = draw(
                st.dictionaries(st.sampled_from(facts[:-1]), st.sampled_from([1, 1, 1, 0]), max_size=2)
            )
            changed = draw(st.sampled_from([*facts, facts[-1]]))
            value = 1 if changed is facts[-1] else draw(st.sampled_from([1, 1, 1, 0]))
            steps.append(
                Transition(
                    part="cook", step=f"step{number}", args=(), actor="cook", fair=True,
                    guard=all_of(equal(variable(fact), const(BOOL, there)) for fact, there in wanted.items()),
                    constraints=(), updates={changed: const(BOOL, value)},
                )
            )  # fmt: skip
        done = negate(variable(facts[-1]))
        return TransitionSystem("recipe", Universe({}), tuple(facts), tuple(steps), {"invariant0": done})


def violated_by(system: TransitionSystem, name: str, kinds: tuple[str, ...]) -> bool:
    part = replace(system, transitions=tuple(t for t in system.transitions if kind_of_step(t) in kinds))
    (result,) = check(part, [name], engine="reference")
    return result.verdict is Verdict.VIOLATED


@settings(max_examples=examples(120), deadline=None)
@given(
    recipes() | coupled(resettabilities=0) | systems(invariants=1, witnesses=1, resettabilities=1),
)
def test_they_are_the_minimal_sets_of_kinds_that_lead_to_a_violation(
    system: TransitionSystem,
) -> None:
    kinds = list(dict.fromkeys(map(kind_of_step, system.transitions)))
    assume(system.invariants and len(kinds) <= 7)
    found = find_ways(system, "invariant0", 1_000, engine="reference")
    expected = minimal_sets(kinds, lambda chosen: violated_by(system, "invariant0", chosen))
    event(f"{len(expected)} ways")
    assert found.result.stopped is None
    assert {frozenset(way.kinds) for way in found.ways} == {frozenset(one) for one in expected}
    assert len(found.ways) == len(expected)
    for way in found.ways:
        part = replace(
            system, transitions=tuple(t for t in system.transitions if kind_of_step(t) in way.kinds)
        )
        (shortest,) = check(part, ["invariant0"], engine="reference")
        assert shortest.trace is not None
        assert len(way.trace.steps) == len(shortest.trace.steps)


@settings(max_examples=examples(80), deadline=None)
@given(recipes())
def test_what_is_found_within_a_budget_is_true(system: TransitionSystem) -> None:
    """Each way violates; none has all kinds of another; and if it ends by itself, they are the same as without a budget."""
    few = find_ways(system, "invariant0", 2, Budget(max_states=3), engine="reference")
    event(f"{len(few.ways)} ways, {few.result.stopped}")
    kinds = [frozenset(way.kinds) for way in few.ways]
    assert not any(a < b for a in kinds for b in kinds)
    for way in few.ways:
        confirm(system, way.trace.path, "invariant0")
    if few.result.stopped is None:
        whole = find_ways(system, "invariant0", 3, engine="reference")
        assert {frozenset(way.kinds) for way in whole.ways} == set(kinds)
    else:
        assert few.result.stopped in ("most", "states")
