"""What the code of a system need not compute: what a few bits of the state tell."""

from __future__ import annotations

import pytest

from podrace.checker.codegen.lowering import Literals, in_order, width
from podrace.checker.codegen.state_layout import Layout
from podrace.model.language import BOOL, INT, Variable, equal, negate, topological
from podrace.model.language.expressions.expr import fresh_graph, less, variable


def test_comparisons_with_a_constant_and_their_negations_are_free() -> None:
    """Of a field of several bits, too, whose negation is no pattern of its own."""
    wide, narrow, flag = (
        Variable("w", INT, 0, 5, 0),
        Variable("n", INT, 3, 4, 3),
        Variable("f", BOOL, 0, 1, 0),
    )
    with fresh_graph():
        w, n, f = variable(wide), variable(narrow), variable(flag)
        free = [equal(w, 2), negate(equal(w, 2)), equal(n, 3), negate(equal(n, 3)), f, negate(f), w, n]
        stored = [less(w, 2), equal(w, n), w + 1, f & equal(w, 2)]
        literals = Literals(Layout((wide, narrow, flag)), topological([*free, *stored]))
        assert [e in literals.free for e in free] == [True] * len(free)
        assert [e in literals.free for e in stored] == [False] * len(stored)
        assert literals.of(negate(equal(w, 2))) is None
        assert literals.of(negate(equal(w, 2)), False) == literals.of(equal(w, 2))


@pytest.mark.parametrize(
    ("lo", "hi", "bits"),
    [(-(2**31), 2**31 - 1, 32), (0, 2**31, 64), (-(2**31) - 1, 0, 64), (-(2**63), 2**63 - 1, 64)],
)
def test_a_number_has_as_many_bits_as_its_range_asks_for(lo: int, hi: int, bits: int) -> None:
    with fresh_graph():
        assert width(variable(Variable("n", INT, lo, hi, 0))) == bits


@pytest.mark.parametrize(("lo", "hi"), [(0, 2**63), (-(2**63) - 1, 0)])
def test_what_no_word_holds_is_refused(lo: int, hi: int) -> None:
    with fresh_graph(), pytest.raises(ValueError, match="needs more than 64 bits"):
        width(variable(Variable("n", INT, lo, hi, 0)))


def test_what_is_needed_comes_after_its_arguments_and_without_what_is_known() -> None:
    with fresh_graph():
        a, b, c = (variable(Variable(name, INT, 0, 9, 0)) for name in "abc")
        shared, outer, own = a + b, less(a, b), a + b + c
        free = frozenset({a, b, c})
        found = [id(e) for e in in_order([own, outer, shared], free)]
        assert found == [id(shared), id(own), id(outer)]
        assert [id(e) for e in in_order([own], free | {shared})] == [id(own)]
        assert in_order([shared], free | {shared}) == []
