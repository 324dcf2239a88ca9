"""What each operator means, and what the interpreter refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import OPERATORS, Interpreter
from podrace.model.language import BOOL, INT, Expr, Parameter, Transition, TransitionSystem, Variable, as_expr
from podrace.model.language.expressions.expr import (
    all_of,
    any_of,
    divide,
    fresh_graph,
    parameter,
    select,
    variable,
)
from tests.checker.machines import counters, house
from tests.profiles import examples
from tests.random_systems import systems
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
    assert interpreter.blocking(state, 3) == ["one key"]


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


def whole(expr: Expr, values: dict[Variable, int]) -> int:
    """The value by evaluating all that there is below, also what decides nothing."""
    known: dict[Expr, int] = {}
    for node in arguments_first(expr):
        if node.op == "const":
            known[node] = int(node.value)
        elif node.op == "var":
            known[node] = values[node.value]
        else:
            known[node] = OPERATORS[node.op](*(known[arg] for arg in node.args))
    return known[expr]


def arguments_first(expr: Expr) -> list[Expr]:
    """All nodes below an expression, each after its arguments."""
    order: list[Expr] = []
    stack, done = [(expr, False)], set()
    while stack:
        node, left = stack.pop()
        if left:
            order.append(node)
        elif node not in done:
            done.add(node)
            stack += [(node, True), *((arg, False) for arg in node.args)]
    return order


@settings(max_examples=examples(200))
@given(systems(), st.data())
def test_what_is_not_looked_at_would_not_have_decided_anything(
    system: TransitionSystem, data: st.DataObject
) -> None:
    interpreter = Interpreter(system)
    expressions = [
        e for t in system.transitions for e in (t.guard, *(c for _, c in t.constraints), *t.updates.values())
    ]
    asked = data.draw(st.lists(st.sampled_from(expressions), min_size=1, max_size=6))
    for _ in range(3):
        state = tuple(data.draw(st.integers(v.lo, v.hi)) for v in system.variables)
        values = dict(zip(system.variables, state, strict=True))
        assert [interpreter.evaluate(e, state) for e in asked] == [whole(e, values) for e in asked]


def test_an_arm_that_is_not_taken_may_need_what_nobody_gave() -> None:
    with fresh_graph():
        v = Variable("v", INT, 0, 9, 0)
        unknown = parameter(Parameter("k", 0, 9))
        choice = select(variable(v) < 5, 1, unknown)
        either = any_of([variable(v) < 5, unknown < 3])
        interpreter = one(go(as_expr(True), {}), v)
    assert [interpreter.evaluate(e, (0,)) for e in (choice, either)] == [1, 1]
    for expr in (choice, either):
        with pytest.raises(ValueError, match="the parameter `k` has no value here"):
            interpreter.evaluate(expr, (7,))
