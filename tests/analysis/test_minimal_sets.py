"""Minimal sets that suffice."""

from __future__ import annotations

from podrace.analysis.compare.minimal_changes import minimal_sets


def test_all_minimal_sets_smallest_first() -> None:
    enough = [{"c"}, {"a", "b"}, {"a", "c", "d"}]
    assert minimal_sets("abcd", lambda chosen: set(chosen) in enough) == [("c",), ("a", "b")]


def test_nothing_may_suffice_already_or_nothing_at_all() -> None:
    assert minimal_sets("ab", lambda _: True) == [()]
    assert minimal_sets("ab", lambda _: False) == []


def test_each_subset_is_asked_about_once_and_no_superset_of_an_answer() -> None:
    asked: list[tuple[str, ...]] = []

    def suffices(chosen: tuple[str, ...]) -> bool:
        asked.append(chosen)
        return chosen == ("a",)

    minimal_sets("abc", suffices)
    assert asked == [(), ("a",), ("b",), ("c",), ("b", "c")]
