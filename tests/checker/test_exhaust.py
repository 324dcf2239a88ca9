"""Every choice of unknown numbers: what is noted of each cell."""

from __future__ import annotations

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.exhaust import exhaust
from podrace.checker.parametric.parametric_system import ParametricSystem
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


def test_what_is_decided_did_not_run_out_of_anything() -> None:
    found = exhaust(up_to_cap(), "never 2", Budget(jobs=1))
    assert found.stopped == frozenset()
    told = sorted(
        (one.cell.example[CAP], one.verdict, one.trace and len(one.trace.steps)) for one in found.cells
    )
    assert told == [(1, Verdict.HOLDS, None), (2, Verdict.VIOLATED, 2)]
    violated = max(found.cells, key=lambda one: one.cell.example[CAP])
    assert found.smallest(violated) == {CAP: 2}
    undecided = exhaust(up_to_cap(), "never 2", Budget(jobs=1, max_states=1))
    assert undecided.stopped == {"states"}
    assert {(one.verdict, one.trace) for one in undecided.cells} == {(Verdict.INCONCLUSIVE, None)}
