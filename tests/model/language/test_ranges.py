"""Ranges where a step can run: never narrower than what is possible, and exact where people rely on it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.model.language import (
    Component,
    Model,
    ModelError,
    TransitionSystem,
    Universe,
    all_of,
    any_of,
    boolean,
    build,
    clamp,
    integer,
    negate,
    require,
    select,
    step,
    total,
    trace_system,
    when,
)  # fmt: skip
from podrace.model.language.expressions.expr import Variable, divide, fresh_graph, remainder, variable
from podrace.model.language.expressions.ranges import range_where
from podrace.model.language.expressions.sorts import BOOL, INT
from tests.profiles import examples

X, Y, B = Variable("x", INT, -2, 3, 0), Variable("y", INT, 0, 4, 0), Variable("b", BOOL, 0, 1, 0)


def numbers(depth: int = 3) -> st.SearchStrategy[Any]:
    leaves = st.one_of(
        st.just(lambda: variable(X)),
        st.just(lambda: variable(Y)),
        st.integers(-3, 5).map(lambda n: lambda: n),
    )
    if not depth:
        return leaves
    inner, conditions = numbers(depth - 1), truths(depth - 1)
    pairs = st.tuples(inner, inner)
    return st.one_of(
        leaves,
        pairs.map(lambda p: lambda: total((p[0](), p[1]()))),
        pairs.map(lambda p: lambda: total((p[0](), 0)) - p[1]()),
        pairs.map(lambda p: lambda: total((p[0](), 0)) * p[1]()),
        st.tuples(inner, st.integers(1, 4)).map(lambda p: lambda: divide(p[0](), p[1])),
        st.tuples(inner, st.integers(1, 4)).map(lambda p: lambda: remainder(p[0](), p[1])),
        pairs.map(lambda p: lambda: divide(p[0](), clamp(p[1](), 1, 9))),
        st.tuples(conditions, pairs).map(lambda p: lambda: select(p[0](), p[1][0](), p[1][1]())),
    )


def truths(depth: int = 3) -> st.SearchStrategy[Any]:
    leaves = st.one_of(st.just(lambda: variable(B)), st.booleans().map(lambda b: lambda: b))
    if not depth:
        return leaves
    inner, values = truths(depth - 1), numbers(depth - 1)
    return st.one_of(
        leaves,
        inner.map(lambda a: lambda: negate(a())),
        st.tuples(inner, inner).map(lambda p: lambda: all_of((p[0](), p[1]()))),
        st.tuples(inner, inner).map(lambda p: lambda: any_of((p[0](), p[1]()))),
        st.tuples(values, values).map(lambda p: lambda: total((p[0](), 0)) < p[1]()),
        st.tuples(values, values).map(lambda p: lambda: total((p[0](), 0)) == p[1]()),
    )


@settings(max_examples=examples(500))
@given(numbers(), st.lists(truths(), max_size=3))
def test_every_possible_value_is_in_the_range(value: Any, known: list[Any]) -> None:
    with fresh_graph():
        term, conditions = total((value(), 0)), [all_of((k(),)) for k in known]
        lo, hi = range_where(term, conditions)
        wanted = range_where(term, conditions, (-2, 3))
        judge = Interpreter(TransitionSystem("none", Universe({}), (X, Y, B), ()))
        for state in product(range(-2, 4), range(5), range(2)):
            if all(judge.holds(c, state) for c in conditions):
                assert lo <= judge.evaluate(term, state) <= hi
                assert wanted[0] <= judge.evaluate(term, state) <= wanted[1]


def ranged(value: Any, *known: Any) -> tuple[int, int]:
    with fresh_graph():
        x, y, b = variable(X), variable(Y), variable(B)
        return range_where(value(x, y, b), [k(x, y, b) for k in known])


@pytest.mark.parametrize(
    ("value", "known", "range_"),
    [
        (lambda x, y, b: x + 1, [lambda x, y, b: x < 3], (-1, 3)),
        (lambda x, y, b: x + 1, [lambda x, y, b: x != 3], (-1, 3)),
        (lambda x, y, b: x + y, [lambda x, y, b: x + y <= 3, lambda x, y, b: x >= 0], (0, 3)),
        (lambda x, y, b: y - x, [lambda x, y, b: x < y, lambda x, y, b: x >= 1], (1, 3)),
        (lambda x, y, b: y - x, [lambda x, y, b: x <= y, lambda x, y, b: x >= 1], (0, 3)),
        (lambda x, y, b: y - x, [lambda x, y, b: y < x], (-3, -1)),
        (lambda x, y, b: y - x, [lambda x, y, b: y <= x, lambda x, y, b: b], (-3, 0)),
        (lambda x, y, b: y - 1, [lambda x, y, b: negate(b) | (y > 0), lambda x, y, b: b], (0, 3)),
        (lambda x, y, b: select(b, y + 1, y), [lambda x, y, b: negate(b) | (y < 4)], (0, 4)),
        (lambda x, y, b: y * 2, [lambda x, y, b: y == 2], (4, 4)),
        (lambda x, y, b: y - (y > 0), [], (0, 3)),
        (lambda x, y, b: y + (y < 4), [], (1, 4)),
        (lambda x, y, b: y - (x > 0), [], (-1, 4)),
        (lambda x, y, b: y - (x > 0), [lambda x, y, b: (x <= 0) | (y > 0)], (0, 4)),
        (lambda x, y, b: y + (y < 4) - (y > 3), [], (1, 4)),
        (lambda x, y, b: y - (y > 0) - (y > 1), [], (0, 2)),
        (lambda x, y, b: y - (y > 0) * 2, [], (-1, 2)),
        (lambda x, y, b: y - 2, [lambda x, y, b: y // 2 > 0], (0, 2)),
        (lambda x, y, b: y + 1, [lambda x, y, b: y // 2 < 2], (1, 4)),
        (lambda x, y, b: y // 2, [lambda x, y, b: y < 2], (0, 0)),
        (lambda x, y, b: y - 1, [lambda x, y, b: y % 3 > 0], (0, 3)),
        (lambda x, y, b: y + 1, [lambda x, y, b: y % 3 == 0], (1, 4)),
        (lambda x, y, b: x, [lambda x, y, b: x % 3 == 2], (-1, 2)),
        (lambda x, y, b: x, [lambda x, y, b: x % 4 < 2, lambda x, y, b: x < 3], (0, 1)),
        (lambda x, y, b: y % 3, [lambda x, y, b: y >= 3], (0, 1)),
        (lambda x, y, b: x, [lambda x, y, b: x * 2 < 3], (-2, 1)),
        (lambda x, y, b: x, [lambda x, y, b: x * 2 >= -3], (-1, 3)),
    ],
)
def test_what_guards_say(value: Any, known: list[Any], range_: tuple[int, int]) -> None:
    assert ranged(value, *known) == range_


def test_choices_upon_choices_are_told_apart_in_bounded_work() -> None:
    with fresh_graph():
        x, y, b = variable(X), variable(Y), variable(B)
        sum_ = total((y, 0))
        for i in range(40):
            sum_ = clamp(select((x == i % 5) & b, sum_ + 1, select(sum_ == i % 3, sum_ - 1, sum_)), -9, 9)
        assert range_where(sum_ + 1, [b, x < 3]) == (-8, 10)
        assert range_where(select(b, sum_, 0), [negate(b)], (0, 0)) == (0, 0)


class Counter(Component):
    fails = integer(0, 3)
    on = boolean()

    @step(actor="a")
    def fail(self) -> None:
        require(self.fails < 3)
        self.fails = self.fails + 1

    @step(actor="a")
    def recover(self) -> None:
        with when(self.fails > 0):
            self.fails = self.fails - 1


class World(Model):
    counter: Counter


def test_a_guard_makes_a_clamp_unnecessary() -> None:
    class Clamped(Counter):
        def fail(self) -> None:
            require(self.fails < 3)
            self.fails = clamp(self.fails + 1, 0, 3)

        def recover(self) -> None:
            with when(self.fails > 0):
                self.fails = clamp(self.fails - 1, 0, 3)

    def updates(system: TransitionSystem) -> list[str]:
        return [repr(e) for t in system.transitions for e in t.updates.values()]

    plain, clamped = (trace_system(build(World, Universe({}), c)) for c in ([], [Clamped]))
    assert updates(plain) == updates(clamped)
    assert len(updates(plain)) == 2


def test_without_a_guard_the_line_is_named() -> None:
    class Unguarded(Counter):
        def fail(self) -> None:
            self.fails = self.fails + 1

    with pytest.raises(
        ModelError,
        match=r"`counter\.fails` holds 0\.\.3, but the assigned value can be 1\.\.4: widen the variable, `require` first",
    ) as caught:
        trace_system(build(World, Universe({}), [Unguarded]))
    assert caught.value.location[0] == __file__


def test_a_condition_that_is_counted_may_be_its_own_guard() -> None:
    class Saturating(Counter):
        def fail(self) -> None:
            self.fails = self.fails + (self.fails < 3)

        def recover(self) -> None:
            self.fails = self.fails - (self.fails > 0)

    system = trace_system(build(World, Universe({}), [Saturating]))
    up, down = system.transitions
    interpreter = Interpreter(system)
    assert [interpreter.successor((n, 0), 0) for n in range(4)] == [(1, 0), (2, 0), (3, 0), (3, 0)]
    assert [interpreter.successor((n, 0), 1) for n in range(4)] == [(0, 0), (0, 0), (1, 0), (2, 0)]
    assert (up.step, down.step) == ("fail", "recover")


def test_a_condition_about_something_else_is_no_guard() -> None:
    class Careless(Counter):
        def recover(self) -> None:
            self.fails = self.fails - self.on

    with pytest.raises(ModelError, match=r"can be -1\.\.3: widen the variable, `require` first"):
        trace_system(build(World, Universe({}), [Careless]))


def test_a_guard_that_comes_after_says_nothing_of_what_came_before() -> None:
    class Late(Counter):
        def fail(self) -> None:
            self.fails = self.fails + 1
            require(self.fails < 3)

    with pytest.raises(ModelError, match=r"can be 1\.\.4"):
        trace_system(build(World, Universe({}), [Late]))
