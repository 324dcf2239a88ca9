"""Parameters that a system leaves open, and what choosing them gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit.reference import ReferenceSearch, explore
from podrace.checker.parametric.parameters import with_parameters
from podrace.model.language import INT, Parameter, Transition, TransitionSystem, Variable
from podrace.model.language.expressions.expr import fresh_graph, parameter, variable
from tests.checker.unknown_parameters import parameters_of
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE


def growing(*parameters: Parameter) -> TransitionSystem:
    """A counter that grows while it is below each of the parameters."""
    with fresh_graph():
        n = Variable("n", INT, 0, 9, 0)
        steps = [
            Transition(
                "part", f"grow{i}", (), "actor", True, variable(n) < parameter(q), (), {n: variable(n) + 1}
            )
            for i, q in enumerate(parameters)
        ]
        return TransitionSystem(
            "growing", UNIVERSE, (n,), tuple(steps), witnesses={"three": variable(n) == 3}
        )


def test_the_parameters_of_a_system_are_those_it_reads_by_name() -> None:
    small, large = Parameter("small", 0, 3), Parameter("large", 2, 9)
    assert parameters_of(growing(small, large, small)) == (large, small)
    assert parameters_of(growing()) == ()


def test_two_parameters_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="growing has two parameters `size`: they cannot be told apart"):
        parameters_of(growing(Parameter("size", 0, 3), Parameter("size", 0, 4)))


def test_a_choice_fixes_what_it_names() -> None:
    system = growing(Parameter("small", 0, 3), Parameter("large", 2, 9))
    half = with_parameters(system, {"small": 1})
    assert [q.name for q in parameters_of(half)] == ["large"]
    whole = with_parameters(half, {"large": 3})
    assert parameters_of(whole) == ()
    assert explore(whole).states == 4
    assert explore(with_parameters(half, {"large": 2})).witnesses == {}


def test_a_value_outside_of_the_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"`small` is in 0\.\.3, so it cannot be 4"):
        with_parameters(growing(Parameter("small", 0, 3)), {"small": 4})


@settings(max_examples=examples(100))
@given(systems(invariants=0, parameters=2), st.integers(0, 8))
def test_choosing_is_what_the_interpreter_does_with_parameters(system: TransitionSystem, choice: int) -> None:
    chosen = {"q0": choice % 3, "q1": choice // 3 - 2}
    fixed = with_parameters(system, chosen)
    search = ReferenceSearch(fixed, Budget(max_states=200), None)
    search.run()
    told, plain = Interpreter(system, chosen), Interpreter(fixed)
    for state in search.states:
        assert told.enabled(state) == plain.enabled(state)
        for number in plain.enabled(state):
            assert told.successor(state, number) == plain.successor(state, number)
