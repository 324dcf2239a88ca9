"""Walks against the interpreter: what is offered, what is told, what is saved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.analysis import systems
from podrace.analysis.request.plan import Selection
from podrace.analysis.shown.steps import steps_of
from podrace.analysis.stored.replayed import replayed
from podrace.analysis.walk.explorer import Explorer
from podrace.analysis.walk.nearest import beginning_in, nearest, what_can_go_wrong
from podrace.analysis.walk.opened import opened
from podrace.analysis.walk.stored_walk import stored_walk
from podrace.analysis.walk.walk import MOST_BRANCHES, Walk
from podrace.base.problems import UsageProblem
from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.execution import replay
from podrace.reports.stored import format_trace, parse_trace
from tests.cli.helpers import TINY
from tests.profiles import examples
from tests.traced import traced

BUDGET = Budget(timeout=60)
LENGTH = 12


@pytest.fixture(scope="module", autouse=True)
def _traced_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systems, "instrument", traced)
        yield


@pytest.fixture(scope="module")
def race() -> Explorer:
    return opened(Selection(("72124",)))[0]


@pytest.fixture(scope="module")
def lost() -> Explorer:
    return opened(Selection(("update-lost",)))[0]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Explorer:
    file = tmp_path_factory.mktemp("walk") / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    return opened(Selection((str(file),)))[0]


def drawn(explorer: Explorer, data: st.DataObject, length: int = LENGTH) -> Walk:
    walk = Walk()
    for _ in range(data.draw(st.integers(0, length))):
        choices = explorer.shown(walk).choices
        if not choices:
            break
        walk = walk.taking(data.draw(st.sampled_from([one.number for one in choices])))
    return walk


@settings(max_examples=examples(15))
@given(st.data())
def test_what_is_offered_is_enabled_and_nothing_else_is(race, data):
    walk = drawn(race, data)
    shown, trace = race.shown(walk), replay(race.system, walk.path)
    interpreter, state = Interpreter(race.system), trace.states[-1]
    assert race.state_after(walk.path) == state
    assert sorted(one.number for one in shown.choices) == interpreter.enabled(state)
    assert [one.sentence for one in shown.steps] == [one.sentence for one in steps_of(race.system, trace)]
    for one in shown.choices:
        (told,) = steps_of(race.system, replay(race.system, (*walk.path, one.number)))[-1:]
        assert one.sentence == told.sentence
    violated = [name for name, e in race.system.invariants.items() if not interpreter.holds(e, state)]
    assert sorted(one.property for one in shown.violated) == sorted(violated)


@settings(max_examples=examples(20))
@given(st.data())
def test_of_every_other_step_a_condition_is_false(race, data):
    walk = drawn(race, data)
    state, interpreter = race.state_after(walk.path), Interpreter(race.system)
    barred = race.barred(walk)
    assert len(barred) == race.shown(walk).barred
    for one in barred:
        t = race.system.transitions[one.number]
        assert one.conditions
        named = [c.constraint for c in one.conditions]
        assert ("" in named) is not interpreter.holds(t.guard, state)
        assert {name for name in named if name} == set(interpreter.blocking(state, one.number))


@settings(max_examples=examples(6))
@given(st.data())
def test_a_saved_walk_is_replayed_step_by_step(lost, data):
    walk = drawn(lost, data)
    if not walk.path:
        with pytest.raises(UsageProblem, match=r"^the walk has no step yet: take one, then save it$"):
            stored_walk(lost, walk)
        return
    stored = parse_trace(format_trace(stored_walk(lost, walk)), "walk.json")
    found = replayed(stored)
    assert (found.violated, found.changed) == (True, False)
    assert [one.sentence for one in found.steps] == [one.sentence for one in lost.shown(walk).steps]


@settings(max_examples=examples(20))
@given(st.data())
def test_a_line_tells_the_walk(lost, data):
    walk = drawn(lost, data)
    assert lost.along(Walk(), lost.line(walk)).path == walk.path


@settings(max_examples=examples(12))
@given(st.data())
def test_the_nearest_state_from_here_is_the_nearest(tiny, data):
    """A breadth-first walk by the interpreter finds none that is nearer."""
    walk = drawn(tiny, data, 4)
    found = nearest(tiny, walk, "cache: p on n", BUDGET, from_here=True)
    assert found.walk is not None
    assert found.walk.path[: len(walk.path)] == walk.path
    end, interpreter = tiny.state_after(found.walk.path), Interpreter(tiny.system)
    level = {tiny.state_after(walk.path)}
    assert {beginning_in(tiny.system, *level).initial} == level
    for _ in range(len(found.walk.path) - len(walk.path)):
        assert end not in level
        level = {interpreter.successor(s, n) for s in level for n in interpreter.enabled(s)}
    assert end in level
    assert nearest(tiny, found.walk, "cache: p on n", BUDGET, from_here=True).walk == found.walk


def test_a_nearest_state_is_told_with_what_was_searched(race):
    found = nearest(race, Walk(), "S-NOMVIS", BUDGET, from_here=False)
    assert found.walk is not None
    assert found.walk.at == 15
    assert found.words.endswith("15 steps from the start, and no fewer (875 states searched).")
    assert [(one.property, one.asked) for one in race.shown(found.walk).violated] == [
        ("S-NOM", True),
        ("S-NOMVIS", True),
    ]
    stored = stored_walk(race, found.walk)
    assert (stored.property, len(stored.steps), stored.fixed_by) == (
        "S-NOM",
        15,
        ("72259", "77990", "90660"),
    )


def test_what_can_go_wrong_is_asked_of_the_properties_of_the_scenario(race):
    found = what_can_go_wrong(race, Walk(), BUDGET)
    assert [(name, one.walk and one.walk.at) for name, one in found.items()] == [
        ("S-NOM", 15),
        ("S-NOMVIS", 15),
    ]
    violated = found["S-NOM"].walk
    assert violated is not None
    assert what_can_go_wrong(race, violated, BUDGET)["S-NOM"].words.endswith(
        "0 steps from here, and no fewer (1 state searched)."
    )


def test_a_trace_is_walked_along_and_left(race, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = nearest(race, Walk(), "S-NOMVIS", BUDGET, from_here=False)
    assert found.walk is not None
    (tmp_path / "race.json").write_text(format_trace(stored_walk(race, found.walk)))
    explorer, walk = opened(Selection(("race.json",)))
    assert (walk.at, walk.path) == (0, found.walk.path)
    other = next(one.number for one in explorer.shown(walk.to(4)).choices if one.number != walk.path[4])
    left = walk.to(4).taking(other)
    assert (left.path, left.branches) == ((*walk.path[:4], other), (walk.path,))
    assert left.onto(1) == Walk(walk.path, 4, (left.path,))
    with pytest.raises(
        UsageProblem, match=r"^race\.json: a trace has the release, .*: leave out these options$"
    ):
        opened(Selection(("race.json",), release="1.14"))


def test_a_step_that_cannot_come_says_why(race):
    with pytest.raises(UsageProblem) as refused:
        race.along(Walk(), "scheduler.pop(p); scheduler.pop(q)")
    assert str(refused.value) == (
        "step 2: scheduler.pop(q) cannot be taken there: it needs: scheduler.phase is IDLE "
        "(there: scheduling cycle: the cycle phase POPPED)"
    )
    with pytest.raises(
        UsageProblem, match=r"^step 1: `pop` is no step of nominated-node-race: write it as `line` does$"
    ):
        race.along(Walk(), "pop")


STEPS = st.lists(st.tuples(st.sampled_from(["take", "to", "onto"]), st.integers(0, 3)), max_size=30)


@given(STEPS)
def test_no_walk_is_lost(moves):
    """What was taken is on the walk, or the beginning of a branch, as long as there are no more than a few."""
    walk, taken = Walk(), {Walk().path}
    for move, number in moves:
        if move == "take":
            walk = walk.taking(number)
        elif move == "to":
            walk = walk.to(min(number, len(walk.path)))
        elif walk.branches:
            walk = walk.onto(number % len(walk.branches) + 1)
        taken.add(walk.path)
        assert 0 <= walk.at <= len(walk.path)
        assert len(walk.branches) <= MOST_BRANCHES
        assert walk.path not in walk.branches
        if len(walk.branches) < MOST_BRANCHES:
            kept = [walk.path, *walk.branches]
            assert all(any(path[: len(one)] == one for path in kept) for one in taken)
