"""Terms have the values that the interpreter gives: every operator on every value, and random expressions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.reduction.value_analysis import transition_roots
from podrace.checker.smt.theories import Term, Theory
from podrace.checker.smt.translate import constant, fitted, translate
from podrace.model.language import (
    BOOL,
    INT,
    Expr,
    State,
    TransitionSystem,
    Variable,
    clamp,
    negate,
    select,
    topological,
)
from podrace.model.language.expressions.expr import equal, fresh_graph, less, variable
from tests.profiles import examples
from tests.random_systems import systems
from tests.random_universe import UNIVERSE
from tests.tools.symbolic.bit_vectors import THEORIES, width

BOTH = pytest.mark.parametrize("theory", THEORIES.values(), ids=THEORIES)
RANGES = ((-3, 2), (0, 3), (1, 4), (5, 7), (-9, -7))

OPERATORS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "eq": equal,
    "lt": less,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // clamp(b, 1, 4),
    "ite": lambda a, b: select(less(a, 2), a, b),
    "ite of bools": lambda a, b: select(less(a, 2), less(a, b), equal(a, b)),
    "eq of bools": lambda a, b: equal(less(a, 2), less(b, 1)),
    "and": lambda a, b: less(a, 2) & less(1, b),
    "or": lambda a, b: less(a, 2) | negate(less(1, b)),
}


def value(term: Term, node: Expr, theory: Theory) -> int:
    """The code of a term without free constants."""
    found = z3.simplify(term)
    return int(z3.is_true(found)) if node.sort is BOOL else theory.code(found, node.lo)


@BOTH
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_on_every_value(operator: str, theory: Theory) -> None:
    for (a_lo, a_hi), (b_lo, b_hi) in product(RANGES, RANGES):
        with fresh_graph():
            a, b = Variable("a", INT, a_lo, a_hi, a_lo), Variable("b", INT, b_lo, b_hi, b_lo)
            node = OPERATORS[operator](variable(a), variable(b))
        interpreter = Interpreter(TransitionSystem("pair", UNIVERSE, (a, b), ()))
        for state in product(range(a_lo, a_hi + 1), range(b_lo, b_hi + 1)):
            numbers = dict(zip((a, b), state, strict=True))
            terms = translate(
                topological([node]),
                theory,
                lambda leaf, numbers=numbers: theory.number(numbers[leaf.value], leaf.lo, leaf.hi),  # type: ignore[misc]
            )
            expected = interpreter.evaluate(node, state)
            assert value(terms[node], node, theory) == expected, (node, state)
            if node.sort is INT:
                wider = fitted(theory, terms[node], node, node.lo - 20, node.hi + 9)
                assert theory.code(z3.simplify(wider), node.lo - 20) == expected
                narrow = fitted(theory, terms[node], node, expected, expected)
                assert theory.code(z3.simplify(narrow), expected) == expected


@BOTH
@settings(max_examples=examples(50), deadline=None)
@given(system=systems(), data=st.data())
def test_random_expressions(theory: Theory, system: TransitionSystem, data: st.DataObject) -> None:
    state: State = tuple(data.draw(st.integers(v.lo, v.hi)) for v in system.variables)

    def leaf(node: Expr) -> Term:
        v = node.value
        return constant(theory, v.sort, state[system.position[v]], v.lo, v.hi)

    nodes = topological([*transition_roots(system), *system.witnesses.values()])
    interpreter, terms = Interpreter(system), translate(nodes, theory, leaf)
    for node in nodes:
        assert value(terms[node], node, theory) == interpreter.evaluate(node, state), node


@BOTH
def test_what_is_shared_stays_shared(theory: Theory) -> None:
    with fresh_graph():
        node = variable(Variable("n", INT, 0, 1, 0))
        for _ in range(64):  # a tree would have 2^64 leaves
            node = select(less(node, 1), node + 1, node * 1)
            node = clamp(node, 0, 1)
    nodes = topological([node])
    terms = translate(nodes, theory, lambda leaf: theory.unknown("n", 0, 1))
    assert len(terms) == len(nodes) < 1000


@BOTH
def test_a_decided_node_is_a_constant_and_what_only_it_saw_is_gone(theory: Theory) -> None:
    with fresh_graph():
        a, b, gone = (variable(Variable(name, INT, 0, 3, 0)) for name in ("a", "b", "gone"))
        low = less(gone, 2)
        node = select(low & less(b, 3), a, select(negate(low), gone, b))
    terms = translate(
        topological([node]),
        theory,
        lambda leaf: theory.unknown(leaf.value.name, leaf.lo, leaf.hi),
        lambda e: (1, 1) if e is low else (0, 0) if e.op == "not" else (e.lo, e.hi),
    )
    assert z3.is_true(terms[low])
    written = terms[node].sexpr()
    assert "gone" not in written
    assert "a" in written


@pytest.mark.parametrize(
    ("lo", "hi", "bits"),
    [(0, 0, 1), (0, 1, 1), (0, 7, 3), (5, 8, 4), (-1, 0, 1), (-4, 3, 3), (-5, 3, 4), (-1, 4, 4)],
)
def test_widths(lo: int, hi: int, bits: int) -> None:
    assert width(lo, hi) == bits


@BOTH
@pytest.mark.parametrize(("lo", "hi"), [(0, 3), (0, 4), (2, 5), (-4, 3), (-3, 2), (-9, -7)])
def test_an_unknown_has_the_values_of_its_range(theory: Theory, lo: int, hi: int) -> None:
    term = theory.unknown("n", lo, hi)
    solver, found = z3.Solver(), set()
    solver.add(*theory.within(term, lo, hi))
    while solver.check() == z3.sat:
        number = theory.code(solver.model().eval(term, model_completion=True), lo)
        found.add(number)
        solver.add(term != theory.number(number, lo, hi))
    assert found == set(range(lo, hi + 1))
