"""The schedule of one system's run, tried on another."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.trace.cross_system_replay import MOST_BETWEEN, ReplayedAcross, replay_across
from podrace.checker.trace.execution import replay
from podrace.model.language import INT, Expr, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import equal, variable
from tests.checker.random_runs import random_run
from tests.random_systems import systems
from tests.random_universe import UNIVERSE

PHASE, NOTED = Variable("phase", INT, 0, 9, 0), Variable("noted", INT, 0, 9, 0)
phase, noted = variable(PHASE), variable(NOTED)


def step(actor: str, name: str, guard: Expr, updates: dict[Variable, int]) -> Transition:
    made = {v: as_expr(value, INT) for v, value in updates.items()}
    return Transition("m", name, (), actor, True, guard, (), made)


def system(*transitions: Transition) -> TransitionSystem:
    return TransitionSystem("s", UNIVERSE, (PHASE, NOTED), transitions)


DECIDE = step("worker", "decide", equal(phase, 0), {PHASE: 1})
WRITE = step("worker", "write", equal(phase, 1), {PHASE: 3})
LATE = step("worker", "write", equal(phase, 2), {PHASE: 3})
NOTE = step("worker", "note", equal(phase, 1), {PHASE: 2, NOTED: 1})
TAKE = step("other", "take", equal(noted, 0), {NOTED: 2})
SCHEDULE = [
    (f"m.{name}()", actor) for name, actor in (("decide", "worker"), ("write", "worker"), ("take", "other"))
]


def test_the_same_system_takes_all() -> None:
    assert replay_across(system(DECIDE, WRITE, TAKE), SCHEDULE) == ReplayedAcross((0, 1, 2), (0, 1, 2), None)


def test_a_step_more_and_a_step_that_is_not_possible_any_more() -> None:
    assert replay_across(system(DECIDE, LATE, TAKE, NOTE), SCHEDULE) == ReplayedAcross(
        (0, 3, 1), (0, None, 1), 2
    )


def test_only_the_actor_itself_takes_further_steps() -> None:
    other = step("friend", "note", equal(phase, 1), {PHASE: 2})
    assert replay_across(system(DECIDE, LATE, TAKE, other), SCHEDULE) == ReplayedAcross((0,), (0,), 1)


def test_a_step_that_the_other_system_does_not_have() -> None:
    assert replay_across(system(DECIDE), SCHEDULE) == ReplayedAcross((0,), (0,), 1)


@settings(deadline=None)
@given(systems(), systems(), st.data())
def test_what_is_retraced_can_be_executed(
    one: TransitionSystem, other: TransitionSystem, data: st.DataObject
) -> None:
    chosen = [one.transitions[number] for number in random_run(data, one, 5)]
    schedule = [(t.label, t.actor) for t in chosen]
    assert replay_across(one, schedule).stopped_at is None
    tried = replay_across(other, schedule)
    trace = replay(other, tried.path)
    assert [at for at in tried.follows if at is not None] == list(
        range(tried.stopped_at if tried.stopped_at is not None else len(schedule))
    )
    between = 0
    for taken, at in zip(trace.steps, tried.follows, strict=True):
        between = between + 1 if at is None else 0
        assert between <= MOST_BETWEEN
        if at is not None:
            assert taken.label == schedule[at][0]
