"""The states around a run."""

from __future__ import annotations

from podrace.checker.trace.execution import replay
from podrace.checker.trace.nearby_states import Move, nearby_states
from podrace.model.language import INT, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import add, equal, less, variable
from tests.random_universe import UNIVERSE

N = Variable("n", INT, 0, 9, 0)
n = variable(N)


def system(most: int) -> TransitionSystem:
    """Count up by one while below `most`, or begin again."""
    steps = (
        Transition("m", "count", (), "one", True, less(n, most), (), {N: add(n, 1)}),
        Transition("m", "again", (), "other", True, less(0, n), (), {N: as_expr(0, INT)}),
    )
    return TransitionSystem("s", UNIVERSE, (N,), steps, {"I": less(n, 2)})


def test_all_states_where_they_are_few() -> None:
    around = nearby_states(system(2), replay(system(2), (0, 0)), equal(n, 2))
    assert (around.states, around.whole, around.refused) == (3, True, False)
    assert around.moves == (Move(0, 1, 0), Move(1, 2, 0), Move(1, 0, 1), Move(2, 0, 1))
    assert (around.run, around.bad) == ((0, 1, 2), (2,))


def test_one_step_from_the_run_where_they_are_many() -> None:
    around = nearby_states(system(9), replay(system(9), (0, 0)), equal(n, 2), few=5)
    assert (around.states, around.whole) == (4, False)
    assert around.moves == (Move(0, 1, 0), Move(1, 2, 0), Move(1, 0, 1), Move(2, 3, 0), Move(2, 0, 1))
    assert around.run == (0, 1, 2)


def test_a_run_that_comes_back_to_a_state() -> None:
    around = nearby_states(system(9), replay(system(9), (0, 1, 0)), few=5)
    assert around.run == (0, 1, 0, 1)


def test_too_many_states_are_counted_and_not_told() -> None:
    around = nearby_states(system(9), replay(system(9), (0,) * 5), few=3, most=6)
    assert (around.states, around.refused) == (7, True)
    assert around.moves == around.run == around.bad == ()


def test_exactly_as_many_as_can_be_read() -> None:
    assert not nearby_states(system(9), replay(system(9), (0,) * 5), few=3, most=7).refused
    assert nearby_states(system(9), replay(system(9), (0,) * 5), few=10).whole
    assert not nearby_states(system(9), replay(system(9), (0,) * 5), few=9).whole
