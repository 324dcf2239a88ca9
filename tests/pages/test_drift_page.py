"""The table of docs/drift.md says what `podrace drift` says about each tree that was looked at."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from podrace.analysis.upstream.drifted import counted, drifts
from podrace.analysis.upstream.held import hold
from podrace.model.history.trees import read_trees
from podrace.model.history.versions import canonical
from podrace.model.history.versions.gates import gates
from tests.upstream_trees import tree_of

PAGE = (Path(__file__).parents[2] / "docs" / "drift.md").read_text(encoding="utf-8")
ROWS = {
    (cells[0], cells[1]): tuple(map(int, cells[2:]))
    for cells in (line.strip("| ").split(" | ") for line in PAGE.splitlines())
    if re.fullmatch(r"\d+\.\d+\.\d+", cells[0])
}
TREES = read_trees().by_version


def test_the_trees_of_the_record_are_there() -> None:
    assert list(ROWS) == list(pairwise(TREES))


@pytest.mark.parametrize(("old", "new"), ROWS)
def test_the_record_says_the_same(old: str, new: str) -> None:
    """It cannot follow the callers of renamed functions, and takes some changes as ones to read."""
    cannot, read, *others = ROWS[old, new]
    counts = counted(drifts(TREES[old], TREES[new]))
    assert cannot + read == counts["cannot matter"] + counts["read this"]
    assert 0 <= cannot - counts["cannot matter"] <= 10
    before, after = canonical(old), canonical(new)
    assert before is not None
    assert after is not None
    changed = sum(gate.at(before) != gate.at(after) for gate in gates().values())
    assert others == [counts["new"], counts["gone"], changed, counts["outside"]]


@pytest.mark.representatives(4)
@pytest.mark.ci
@pytest.mark.parametrize(("old", "new"), ROWS)
def test_the_real_trees_say_the_same(old: str, new: str) -> None:
    held = hold(tree_of(new), None, old, update=False)
    counts = counted(held.drifted)
    told = (
        counts["cannot matter"],
        counts["read this"],
        counts["new"],
        counts["gone"],
        len(held.gates),
        counts["outside"],
    )
    assert told == ROWS[old, new]
