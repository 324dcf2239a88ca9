"""Every choice of unknown numbers: what is noted of each cell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.core.result import EngineDisagreement, Verdict
from podrace.checker.exhaust import Exhausted, exhaust, runs_to_witnesses
from podrace.checker.family.outcome import FirstReached
from podrace.checker.parametric.explorer import Explorer
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


def reaching(cap: int) -> ParametricSystem:
    """The same number, which is never to be 9, with a witness that only a number of at least `cap` reaches."""
    up = up_to_cap()
    (n,) = up.system.variables
    with fresh_graph():
        system = replace(
            up.system,
            invariants={"never 9": negate(equal(variable(n), 9))},
            witnesses={"far": equal(variable(n), cap)},
        )
    return replace(up, system=system)


def executed(found: Exhausted, name: str = "never 9", budget: Budget | None = None) -> dict[str, int]:
    return runs_to_witnesses(found.parametric, name, found.witnesses, budget or Budget())


def test_a_witness_is_executed_in_a_choice_that_reaches_it() -> None:
    found = exhaust(reaching(3), "never 9", Budget(jobs=1))
    assert found.witnesses["far"].example == {CAP: 3}
    assert executed(found) == {"far": 3}
    assert executed(exhaust(up_to_cap(), "never 2", Budget()), "never 2") == {}


def test_a_witness_that_no_run_reaches_is_refused() -> None:
    """The search of all choices together claims too much, or of the wrong choice, or too early."""
    found = exhaust(reaching(3), "never 9", Budget(jobs=1))
    for depth, cap in ((3, 2), (2, 3)):
        false = replace(found, witnesses={"far": FirstReached(depth, {CAP: cap})})
        with pytest.raises(
            EngineDisagreement, match=f"reach `far` after {depth} steps, but one by itself does not"
        ):
            executed(false)


def test_a_witness_whose_run_the_interpreter_refuses_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = replace(
        exhaust(reaching(3), "never 9", Budget(jobs=1)), witnesses={"far": FirstReached(3, {CAP: 2})}
    )
    explore = Explorer.explore

    def mistaken(self: Explorer, *given: Any) -> Exploration:
        return replace(explore(self, *given), witnesses={"far": (0, 0, 0)})

    monkeypatch.setattr(Explorer, "explore", mistaken)
    with pytest.raises(EngineDisagreement, match="but the reference interpreter says: step 3 of 3"):
        executed(found)


def test_a_witness_without_memory_to_execute_it_counts_as_not_reached() -> None:
    found = exhaust(reaching(3), "never 9", Budget(jobs=1))
    assert executed(found, budget=Budget(max_memory=1000)) == {}
