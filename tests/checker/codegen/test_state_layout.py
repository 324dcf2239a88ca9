"""Packing of states into words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.checker.codegen.state_layout import Layout
from podrace.model.language import INT, Variable


def variable(bits: int, lo: int = 0) -> Variable:
    return Variable(f"v{bits}", INT, lo, lo + (1 << bits) - 1, lo)


@st.composite
def variables_and_state(draw: Any) -> tuple[list[Variable], tuple[int, ...]]:
    ranges = draw(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 2**62)), max_size=12))
    variables = [Variable(f"v{i}", INT, lo, lo + size, lo) for i, (lo, size) in enumerate(ranges)]
    return variables, tuple(draw(st.integers(v.lo, v.hi)) for v in variables)


@given(variables_and_state())
def test_unpacking_undoes_packing(case: tuple[list[Variable], tuple[int, ...]]) -> None:
    variables, state = case
    layout = Layout(variables)
    words = layout.pack(state)
    assert len(words) == layout.words
    assert all(0 <= word < 2**64 for word in words)
    assert layout.unpack(words) == state


@given(variables_and_state())
def test_fields_do_not_overlap(case: tuple[list[Variable], tuple[int, ...]]) -> None:
    used: dict[int, int] = {}
    for field in Layout(case[0]).fields.values():
        assert field.mask < 2**64
        assert not used.get(field.word, 0) & field.mask
        used[field.word] = used.get(field.word, 0) | field.mask


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([], 1),
        ([64], 1),
        ([63, 1, 1], 2),
        ([40, 40, 24, 24], 2),
        # In order of declaration this would take three words.
        ([30, 40, 34, 24], 2),
        ([64, 0, 64, 0], 2),
    ],
)
def test_few_words_are_used(sizes: list[int], words: int) -> None:
    assert Layout([variable(bits) for bits in sizes]).words == words


def test_variables_keep_their_order_where_that_costs_nothing() -> None:
    fields = list(Layout([variable(3), variable(9), variable(5)]).fields.values())
    assert [(f.word, f.shift) for f in fields] == [(0, 0), (0, 3), (0, 12)]


def test_a_variable_wider_than_a_word_is_refused() -> None:
    with pytest.raises(ValueError, match="`v65` needs 65 bits"):
        Layout([variable(65)])


def test_no_bits_behind_a_full_word_are_shifted_within_it() -> None:
    """By 64, native code would shift by an amount that LLVM gives no meaning."""
    single = Variable("single", INT, 5, 5, 5)
    field = Layout([variable(64), single]).fields[single]
    assert (field.word, field.shift, field.bits, field.mask) == (0, 63, 0, 0)
