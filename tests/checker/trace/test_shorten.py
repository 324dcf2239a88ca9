"""Runs without what they do not need."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.shrinking import shorten
from podrace.checker.trace.trace import ReplayError, confirm
from podrace.model.language import INT, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expr import add, equal, less, variable
from tests.random_systems import UNIVERSE, systems

N, M = Variable("n", INT, 0, 9, 0), Variable("m", INT, 0, 9, 0)
n, m = variable(N), variable(M)

COUNT = Transition("s", "count", (), "one", True, less(n, 9), (), {N: add(n, 1)})
IDLE = Transition("s", "idle", (), "other", True, less(m, 9), (), {M: add(m, 1)})
FOLLOW = Transition("s", "follow", (), "other", True, equal(m, 1), (), {M: as_expr(5, INT)})
SYSTEM = TransitionSystem("s", UNIVERSE, (N, M), (COUNT, IDLE, FOLLOW), {"I": less(n, 2)})


def test_what_makes_no_difference_is_left_out_with_what_follows_from_it() -> None:
    assert shorten(SYSTEM, (1, 0, 2, 1, 0, 1), "I") == (0, 0)


def test_a_run_that_violates_nothing() -> None:
    with pytest.raises(ValueError, match="does not violate `I`"):
        shorten(SYSTEM, (0, 1), "I")


@settings(deadline=None)
@given(systems(), st.data())
def test_no_single_step_can_be_left_out(made: TransitionSystem, data: st.DataObject) -> None:
    interpreter = Interpreter(made)
    state, path = made.initial, list[int]()
    for _ in range(8):
        able = interpreter.enabled(state)
        if not able:
            break
        path.append(data.draw(st.sampled_from(able)))
        state = interpreter.successor(state, path[-1])
        for name in [name for name, e in made.invariants.items() if not interpreter.holds(e, state)]:
            short = shorten(made, tuple(path), name)
            assert confirm(made, short, name).path == short
            rest = iter(path)
            assert all(number in rest for number in short)
            for i in range(len(short)):
                with pytest.raises((ReplayError, ValueError)):
                    confirm(made, (*short[:i], *short[i + 1 :]), name)
