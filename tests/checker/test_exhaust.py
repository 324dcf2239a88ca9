"""Every choice of unknown numbers: what is noted of each."""

from __future__ import annotations

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.exhaust import exhaust
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.checker.search import Engine
from podrace.model.language import INT, Parameter, Transition, TransitionSystem, Variable
from podrace.model.language.expressions.expr import equal, fresh_graph, less, negate, parameter, variable
from tests.random_universe import UNIVERSE

CAP = Parameter("cap", 1, 3)


def up_to_cap() -> ParametricSystem:
    """A number that grows up to the unknown one, and is never to be 2."""
    n = Variable("n", INT, 0, 9, 0)
    with fresh_graph():
        grows = Transition(
            "part", "grow", (), "actor", True, less(variable(n), parameter(CAP)), (), {n: variable(n) + 1}
        )
        never = {"never 2": negate(equal(variable(n), 2))}
        return ParametricSystem(TransitionSystem("up", UNIVERSE, (n,), (grows,), invariants=never), (CAP,))


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_who_is_decided_did_not_stop_for_want_of_anything(engine: Engine) -> None:
    found = exhaust(up_to_cap(), "never 2", Budget(jobs=1), engine=engine)
    assert found.result.stopped is None
    told = {one.values[CAP]: (one.verdict, one.steps, one.stopped) for one in found.searched}
    assert {v: t for v, t in told.items() if v == 1} == {1: (Verdict.HOLDS, None, None)}
    assert {t for v, t in told.items() if v > 1} == {(Verdict.VIOLATED, 2, None)}
    undecided = exhaust(up_to_cap(), "never 2", Budget(jobs=1, max_states=1), engine=engine)
    assert undecided.result.stopped == "states"
    assert {(one.verdict, one.steps, one.stopped) for one in undecided.searched} == {
        (Verdict.INCONCLUSIVE, None, "states")
    }
