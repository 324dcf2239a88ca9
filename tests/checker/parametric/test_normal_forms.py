"""Equal normal forms mean equal values; what differs only in order has one form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.parametric.normal_forms import Normal
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    TransitionSystem,
    Universe,
    Variable,
    all_of,
    any_of,
    equal,
    negate,
    select,
)
from podrace.model.language.expressions.expr import const, fresh_graph, less, variable
from tests.profiles import examples
from tests.random_systems import Draw, Vocabulary
from tests.random_universe import THING, UNIVERSE

A, B = (Variable(name, BOOL, 0, 1, 0) for name in "ab")
M, N = (Variable(name, INT, 0, 2, 0) for name in "mn")
T = Variable("t", THING, 0, 2, 0)
VARIABLES = (A, B, M, N, T)
SYSTEM = TransitionSystem("forms", Universe({}), VARIABLES, ())
STATES = list(product(*(range(v.lo, v.hi + 1) for v in VARIABLES)))


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with fresh_graph():
        yield


def values(e: Expr) -> list[int]:
    interpreter = Interpreter(SYSTEM)
    return [interpreter.evaluate(e, state) for state in STATES]


@st.composite
def expressions(draw: Draw) -> list[Expr]:
    words = Vocabulary(draw, list(VARIABLES))
    return [words.condition(2) for _ in range(6)] + [words.number(2) for _ in range(6)]


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_equal_forms_have_equal_values(data: st.DataObject) -> None:
    with fresh_graph():
        read = Normal().reader()
        found: dict[int, list[int]] = {}
        for e in data.draw(expressions()):
            for one in (e, negate(e)) if e.sort is BOOL else (e, e + e, e - 1):
                assert found.setdefault(read(one), values(one)) == values(one)


def test_one_form_for_what_differs_in_order() -> None:
    a, b, m, n, t = map(variable, VARIABLES)
    first, second = (const(THING, code) for code in (1, 2))
    read = Normal().reader()
    pairs = (
        (m + n + m, n + m * 2),
        ((m - n) + n, m),
        (m - (n - 1), (m + 1) - n),
        (negate(all_of((a, less(m, n)))), any_of((negate(less(m, n)), negate(a)))),
        (equal(a, negate(b)), equal(negate(a), b)),
        (
            select(equal(t, first), m, select(equal(t, second), n, 0)),
            select(equal(t, second), n, select(equal(t, first), m, 0)),
        ),
    )
    for one, other in pairs:
        assert read(one) == read(other)


def test_different_forms_for_what_differs() -> None:
    a, b, m, n, _ = map(variable, VARIABLES)
    read = Normal().reader()
    others = (
        m + n,
        m - n,
        n - m,
        m * 2,
        less(m, n),
        less(n, m),
        all_of((a, b)),
        any_of((a, b)),
        negate(a),
        a,
    )
    assert len({read(e) for e in others}) == len(others)


def test_variables_and_constants_are_replaced() -> None:
    a, b, _, _, t = map(variable, VARIABLES)
    first, second = UNIVERSE[next(iter(UNIVERSE.kinds()))]
    normal = Normal()
    images = {A: (B, True), B: (A, True), T: (T, False)}
    moved = normal.reader(images.__getitem__, lambda e, c: {1: 2, 2: 1}.get(c, c) if e.sort == THING else c)
    before = all_of((a, equal(t, first)))
    after = all_of((negate(b), equal(t, second)))
    assert moved(before) == normal.reader()(after)
    assert moved(before) != normal.reader()(before)


def test_a_choice_is_none_of_its_cases_unless_all_are_alike() -> None:
    a, _, m, n, t = map(variable, VARIABLES)
    first = const(THING, 1)
    read = Normal().reader()
    assert read(select(equal(t, first), m, n)) not in (read(m), read(n))
    assert read(select(equal(t, first), n, m)) != read(select(equal(t, first), m, n))
    assert read(select(equal(t, first), m, select(equal(t, const(THING, 2)), m, m))) == read(m)
    assert read(select(equal(m, 1), a, negate(a))) not in (read(a), read(negate(a)))
