"""The interpreter that remembers says what the other one says, and asks it no more often than it has to."""

from __future__ import annotations

from itertools import islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.core.remembering import RememberingInterpreter
from podrace.model.language import INT, Expr, Parameter, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import fresh_graph, parameter, select, variable
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE


@settings(max_examples=examples(100))
@given(system=systems(), data=st.data())
def test_random_systems(system: TransitionSystem, data: st.DataObject) -> None:
    """Every expression of the transitions, in states in any order and again."""
    ranges = [range(v.lo, v.hi + 1) for v in system.variables]
    some = data.draw(st.permutations([*islice(product(*ranges), 200)])) * 2
    plain, remembering = Interpreter(system), RememberingInterpreter(system)
    for state in some:
        assert remembering.enabled(state) == plain.enabled(state)
        for transition in system.transitions:
            for update in transition.updates.values():
                assert remembering.evaluate(update, state) == plain.evaluate(update, state)


def test_each_combination_of_what_is_read_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Expr, tuple[int, ...]]] = []
    plain = Interpreter.evaluate

    def noted(self: Interpreter, expr: Expr, state: tuple[int, ...]) -> int:
        asked.append((expr, state))
        return plain(self, expr, state)

    with fresh_graph():
        a, b, c = (Variable(name, INT, 0, 2, 0) for name in "abc")
        both = select(variable(a) == 1, variable(c) + 5, 7)
        one, nothing = variable(b) + 1, as_expr(4)
        given_ = parameter(Parameter("size", 0, 9)) + variable(b)
    system = TransitionSystem("three", UNIVERSE, (a, b, c), ())
    interpreter = RememberingInterpreter(system, {"size": 3})
    monkeypatch.setattr(Interpreter, "evaluate", noted)
    for state in product(range(3), repeat=3):
        assert interpreter.evaluate(both, state) == (state[2] + 5 if state[0] == 1 else 7)
        assert interpreter.evaluate(one, state) == state[1] + 1
        assert interpreter.evaluate(nothing, state) == 4
        assert interpreter.evaluate(given_, state) == state[1] + 3
    times = [sum(expr is e for e, _ in asked) for expr in (both, one, nothing, given_)]
    assert times == [9, 3, 1, 3]


def test_an_expression_deeper_than_the_call_stack_and_a_variable_of_another_system() -> None:
    with fresh_graph():
        v, foreign = Variable("v", INT, 0, 9, 0), variable(Variable("w", INT, 0, 9, 0))
        deep = variable(v)
        for i in range(5000):
            deep = select(deep == i % 7, i, deep)
    system = TransitionSystem("one", UNIVERSE, (v,), ())
    interpreter = RememberingInterpreter(system)
    assert interpreter.evaluate(deep, (3,)) == Interpreter(system).evaluate(deep, (3,))
    for _ in range(2):
        with pytest.raises(ValueError, match="`w` is not a variable of one"):
            interpreter.evaluate(foreign, (3,))
