"""Union-find against the classes that a closure finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podrace.checker.core.union_find import UnionFind

GROUPS = st.lists(st.lists(st.integers(0, 11), max_size=4), max_size=12)


def closure(groups: list[list[int]]) -> list[set[int]]:
    """The classes, by joining overlapping sets until none overlap."""
    classes = [{n} for n in range(12)]
    for group in groups:
        together = [c for c in classes if c & set(group)]
        classes = [c for c in classes if c not in together] + ([set().union(*together)] if together else [])
    return classes


@given(GROUPS)
def test_classes_are_those_of_the_closure(groups: list[list[int]]) -> None:
    found = UnionFind[int]()
    for group in groups:
        found.join(group)
    for members in closure(groups):
        assert found.connected(members)
        assert len({found.find(n) for n in members}) == 1
        assert found.find(min(members)) in members
        assert not any(found.connected([n, min(members)]) for n in range(12) if n not in members)


def test_the_first_leads() -> None:
    found = UnionFind[str]()
    found.join("ab")
    found.join("cd")
    found.join("db")
    assert [found.find(name) for name in "abcde"] == ["c", "c", "c", "c", "e"]
    assert found.connected("")
