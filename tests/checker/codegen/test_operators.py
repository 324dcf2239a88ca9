"""Every operator, compiled, against its evaluation in Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from podrace.checker.codegen import expansion
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit import explore
from podrace.model.language import (
    INT,
    Expr,
    Parameter,
    Transition,
    TransitionSystem,
    Universe,
    Variable,
    as_expr,
)
from podrace.model.language.expressions.expr import (
    add,
    clamp,
    divide,
    equal,
    fresh_graph,
    less,
    multiply,
    negate,
    select,
    subtract,
    variable,
)
from podrace.model.language.expressions.of_lists import count
from tests.profiles import examples


def assignment(value: Expr, variables: list[Variable], **predicates: Any) -> TransitionSystem:
    """A system with one transition, once: it assigns `value` to a variable that can just hold it."""
    done = Variable("done", INT, 0, 1, 0)
    target = Variable("target", value.sort, value.lo, value.hi, value.lo)
    step = Transition(
        part="part",
        step="assign",
        args=(),
        actor="nobody",
        fair=True,
        guard=equal(variable(done), 0),
        constraints=(),
        updates={target: value, done: as_expr(1)},
    )
    kept = tuple(v for v in (*variables, target, done) if v.lo != v.hi)
    return TransitionSystem("assignment", Universe({}), kept, (step,), **predicates)


# Ranges of one bit up to almost a word, on both sides of what 32 bits hold.
EDGES = (0, 1, 2, 3, 7, 100, 2**31 - 1, 2**31, 2**40, 2**61)
BOUNDS = st.sampled_from([*EDGES, *(-edge for edge in EDGES)])


@st.composite
def numbers(draw: Any) -> tuple[Expr, list[Variable]]:
    """An int expression over two or three variables with initial values near the ends of their ranges."""
    variables = []
    for i in range(draw(st.integers(2, 3))):
        lo, hi = sorted((draw(BOUNDS), draw(BOUNDS)))
        start = draw(st.sampled_from([lo, hi, min(lo + 1, hi), (lo + hi) // 2, min(max(0, lo), hi)]))
        variables.append(Variable(f"v{i}", INT, lo, hi, start))
    pool = [*map(variable, variables), *(as_expr(draw(BOUNDS)) for _ in range(2))]
    for _ in range(draw(st.integers(1, 6))):
        a, b, c = (draw(st.sampled_from(pool)) for _ in range(3))
        kind = draw(st.sampled_from(("add", "sub", "mul", "div", "ite", "eq", "clamp", "junction")))
        if kind == "add":
            made = add(a, b)
        elif kind == "sub":
            made = subtract(a, b)
        elif kind == "mul":
            made = multiply(a, b)
        elif kind == "div":
            made = divide(a, clamp(b, 1, max(1, b.hi)))
        elif kind == "ite":
            made = select(less(a, b), b, c)
        elif kind == "eq":
            made = count((equal(a, b), negate(equal(b, c)), less(a, c)))
        elif kind == "junction":
            made = select((less(a, b) | equal(b, c)) & negate(equal(a, c)), a, b)
        else:
            made = clamp(a, -5, 5)
        if -(2**63) <= made.lo and made.hi < 2**63:
            pool.append(made)
    return pool[-1], variables


@pytest.fixture(params=[0, 1 << 30], ids=["side by side", "one by one"])
def one_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All transitions computed in the same way."""
    monkeypatch.setattr(expansion, "FEW_NODES", request.param)


@pytest.mark.usefixtures("one_way")
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_operators_mean_the_same(data: Any) -> None:
    with fresh_graph():
        value, variables = data.draw(numbers())
        assume(value.op not in ("const", "var"))
        bare = assignment(value, variables)
        expected = Interpreter(bare).evaluate(value, bare.initial)
        target = bare.transitions[0].updates
        target_variable = next(v for v in target if v.name == "target")
        reached = equal(variable(target_variable), expected) & (variable(bare.variables[-1]) > 0)
        found = explore(bare.with_predicates(witnesses={"expected": reached}))
    assert found.witnesses == {"expected": (0,)}
    assert (found.states, found.transitions) == (2, 1)


def test_a_value_beyond_a_word_is_refused() -> None:
    with fresh_graph():
        v = Variable("v", INT, 0, 2**40, 0)
        far = less(variable(v), multiply(variable(v), variable(v)))
        with pytest.raises(ValueError, match="needs more than 64 bits"):
            explore(assignment(far, [v]))


def test_a_parameter_without_a_value_is_refused() -> None:
    with fresh_graph():
        parameter = as_expr(Parameter("size", 0, 3))
        with pytest.raises(ValueError, match="`size` has no value: native code needs one for each parameter"):
            explore(assignment(parameter, []))
