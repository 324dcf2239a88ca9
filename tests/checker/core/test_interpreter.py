"""What each operator means, and what the interpreter refuses."""

from __future__ import annotations

import pytest

from podrace.checker.core.interpreter import OPERATORS, Interpreter
from podrace.model.language import BOOL, INT, Expr, Parameter, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expr import all_of, divide, fresh_graph, parameter, select, variable
from tests.checker.machines import counters, house
from tests.random_universe import UNIVERSE


@pytest.mark.parametrize(
    ("op", "args", "value"),
    [
        ("not", (0,), 1),
        ("not", (1,), 0),
        ("and", (1, 1, 1), 1),
        ("and", (1, 0, 1), 0),
        ("or", (0, 0), 0),
        ("or", (0, 1), 1),
        ("eq", (3, 3), 1),
        ("eq", (3, -3), 0),
        ("lt", (2, 3), 1),
        ("lt", (3, 3), 0),
        ("lt", (-4, 3), 1),
        ("add", (2, -5), -3),
        ("sub", (2, 5), -3),
        ("mul", (-2, 5), -10),
        ("div", (7, 2), 3),
        ("div", (-7, 2), -4),
        ("div", (-1, 4), -1),
        ("ite", (1, 5, 6), 5),
        ("ite", (0, 5, 6), 6),
    ],
)
def test_operators(op: str, args: tuple[int, ...], value: int) -> None:
    assert OPERATORS[op](*args) == value


def one(transition: Transition, *variables: Variable) -> Interpreter:
    return Interpreter(TransitionSystem("one", UNIVERSE, variables, (transition,)))


def go(guard: Expr, updates: dict[Variable, Expr]) -> Transition:
    return Transition("part", "go", (), "actor", True, guard, (), updates)


def test_updates_all_read_the_old_state() -> None:
    with fresh_graph():
        a, b = Variable("a", INT, 0, 9, 1), Variable("b", INT, 0, 9, 2)
        interpreter = one(go(as_expr(True), {a: variable(b), b: variable(a)}), a, b)
    assert interpreter.successor((1, 2), 0) == (2, 1)


def test_an_expression_deeper_than_the_call_stack() -> None:
    with fresh_graph():
        v = Variable("v", BOOL, 0, 1, 0)
        interpreter = one(go(variable(v), {}), v)
        w = Variable("w", INT, 0, 9, 0)
        deep: Expr = variable(w)
        interpreter = one(go(as_expr(True), {}), w)
        for i in range(5000):
            deep = select(deep == i % 7, i, deep)
    # 0 becomes 0, and stays: i % 7 == 0 would have to meet the value, which then becomes i.
    value = 3
    for i in range(5000):
        value = i if value == i % 7 else value
    assert interpreter.evaluate(deep, (3,)) == value


def test_a_state_is_remembered_only_until_the_next() -> None:
    with fresh_graph():
        v = Variable("v", INT, 0, 9, 0)
        double = variable(v) * 2
        interpreter = one(go(as_expr(True), {}), v)
    assert [interpreter.evaluate(double, (n,)) for n in (1, 2, 1)] == [2, 4, 2]


def test_enabled_and_constraints() -> None:
    system = house()
    interpreter = Interpreter(system)
    labels = [t.label for t in system.transitions]
    assert labels == [f"room.{s}(worker={w})" for s in ("ask", "enter", "leave") for w in ("w0", "w1")]
    state = system.initial
    for label in ("room.ask(worker=w0)", "room.enter(worker=w0)", "room.ask(worker=w1)"):
        state = interpreter.successor(state, labels.index(label))
    assert [labels[n] for n in interpreter.enabled(state)] == ["room.leave(worker=w0)"]
    assert interpreter.constraints_hit(state) == {"one key"}
    assert interpreter.blocking(state, 3) == ["one key"]
    assert interpreter.constraints_hit(system.initial) == frozenset()


def test_a_parameter_needs_a_value() -> None:
    with fresh_graph():
        v = Variable("v", INT, 0, 9, 0)
        size = parameter(Parameter("size", 1, 5))
        system = one(go(variable(v) < size, {}), v).system
    with pytest.raises(ValueError, match="the parameter `size` has no value here: give one in `parameters`"):
        Interpreter(system).enabled((3,))
    assert Interpreter(system, {"size": 4}).enabled((3,)) == [0]
    assert Interpreter(system, {"size": 3}).enabled((3,)) == []


def test_a_foreign_variable_is_refused() -> None:
    with fresh_graph():
        foreign = variable(Variable("foreign", BOOL, 0, 1, 0))
    system = counters()
    with pytest.raises(ValueError, match="`foreign` is not a variable of counters"):
        Interpreter(system).evaluate(foreign, system.initial)


def test_an_unknown_operator_is_refused() -> None:
    strange = object.__new__(Expr)
    strange.op, strange.args, strange.value = "sqrt", (), None
    system = counters()
    with pytest.raises(ValueError, match="`sqrt` is no operator of the modelling language"):
        Interpreter(system).evaluate(strange, system.initial)


def test_leaving_a_range_is_a_mistake_in_the_system() -> None:
    with fresh_graph():
        v = Variable("v", INT, 0, 3, 3)
        interpreter = one(go(as_expr(True), {v: variable(v) + 1}), v)
    with pytest.raises(ValueError, match=r"part\.go\(\) sets `v` to 4, outside 0\.\.3"):
        interpreter.successor((3,), 0)
    assert interpreter.successor((2,), 0) == (3,)


def test_a_variable_with_one_value_may_be_assigned_it() -> None:
    with fresh_graph():
        fixed, v = Variable("fixed", INT, 2, 2, 2), Variable("v", BOOL, 0, 1, 0)
        interpreter = one(go(all_of(()), {fixed: as_expr(2), v: as_expr(True)}), v)
    assert interpreter.successor((0,), 0) == (1,)


def test_division_rounds_down_like_the_folded_constant() -> None:
    with fresh_graph():
        v = Variable("v", INT, -7, 7, 0)
        interpreter = one(go(as_expr(True), {}), v)
        for code in range(-7, 8):
            for by in (1, 2, 3):
                assert interpreter.evaluate(divide(variable(v), by), (code,)) == divide(code, by).value
