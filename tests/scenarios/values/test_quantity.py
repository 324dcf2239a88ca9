"""Quantities: exact, and scaled to the greatest unit that they have in common."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.scenarios.values.quantity import (
    parse_bytes,
    parse_count,
    parse_cpu,
    show_bytes,
    show_cpu,
    unit_of,
)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0", 0),
        ("1000", 1000),
        ("1k", 1000),
        ("128Mi", 128 << 20),
        ("1.5G", 1_500_000_000),
        ("0.5Ki", 512),
        ("1e9", 10**9),
        ("1E3", 1000),
        ("1Pi", 1 << 50),
        ("1025Ti", None),
        ("1e99", None),
        ("0.5", None),
        ("100m", None),
        ("1KB", None),
        ("1K", None),
        ("-1", None),
        (" 1", None),
        ("٣", None),
    ],
)
def test_bytes(text: str, amount: int | None) -> None:
    assert parse_bytes(text) == amount


@pytest.mark.parametrize(
    ("text", "count"), [("1", 1), ("1125899906842624", 1 << 50), ("1125899906842625", None), ("1.0", None)]
)
def test_counts(text: str, count: int | None) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0, "0"), (3 << 30, "3Gi"), (1536 << 20, "1536Mi"), (5_000_000, "5M"), (1001, "1001"), (1 << 50, "1Pi")],
)
def test_bytes_are_shown_short(amount: int, shown: str) -> None:
    assert show_bytes(Fraction(amount)) == shown


@given(st.integers(0, 1 << 50))
def test_what_is_shown_means_the_same(amount: int) -> None:
    assert parse_bytes(show_bytes(Fraction(amount))) == amount


@given(st.integers(0, 10**9))
def test_shown_cpu_means_the_same(milli: int) -> None:
    assert parse_cpu(show_cpu(Fraction(milli, 1000))) == Fraction(milli, 1000)


AMOUNTS = st.lists(st.fractions(min_value=0, max_value=1000, max_denominator=1000), max_size=6)


@given(AMOUNTS)
def test_scaled_amounts_are_whole_and_have_no_factor_in_common(amounts: list[Fraction]) -> None:
    unit = unit_of(amounts)
    scaled = [a / unit for a in amounts]
    assert all(s.denominator == 1 for s in scaled)
    assert unit_of(scaled) == 1


@given(AMOUNTS, AMOUNTS)
def test_scaling_keeps_every_comparison_of_sums(one: list[Fraction], two: list[Fraction]) -> None:
    unit = unit_of([*one, *two])
    left, right = (sum((a / unit for a in amounts), Fraction(0)) for amounts in (one, two))
    assert (left > right) == (sum(one) > sum(two))
