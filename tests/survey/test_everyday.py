"""The table of the survey of everyday changes, and some of its rows anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.core.result import Verdict
from tests.survey.changes import CHANGES, question_named, questions
from tests.survey.everyday import ASKED, decide, read

ROWS = read()
PAGE = (Path(__file__).parents[2] / "docs" / "survey.md").read_text(encoding="utf-8")


def test_the_table_has_known_names_only() -> None:
    asked = [(change, spec.name) for change, spec in questions()]
    rows = [(row.change, row.cluster) for row in ROWS]
    assert set(rows) <= set(asked)
    assert len(set(rows)) == len(rows)
    assert {name for row in ROWS for name in row.violated} <= set(ASKED)
    assert CHANGES.keys() - {row.change for row in ROWS} == {"a pod shrinks"}  # not asked yet


def test_the_page_says_how_much_of_it_there_is() -> None:
    violations = [(row, name) for row in ROWS for name in row.violated]
    undecided = [row for row, _ in violations if row.undecided]
    whole = f"Asked were, on 1.36.3, {len(ROWS)} of {len(list(questions()))} questions"
    assert f"{whole}, {len(ASKED)} safety properties each: {len(violations)} are violated" in PAGE
    assert f"of {len(undecided)} it is not known" in PAGE
    for name in {name for _, name in violations}:
        count = sum(found == name for _, found in violations)
        assert f"- {name}, {count}: " in PAGE


@pytest.mark.ci
@pytest.mark.parametrize(
    ("change", "cluster", "name"),
    [
        ("the pod's node loses its zone", "together", "S-STUCK"),
        ("a pod is relabelled", "together", "S-STUCK"),
        ("an autoscaler", "zones", "S-STUCK"),
        ("a pod is deleted", "together", "S-GHOST"),
    ],
)
def test_a_violation_is_there_and_goes_with_the_patches(change: str, cluster: str, name: str) -> None:
    row = next(row for row in ROWS if (row.change, row.cluster) == (change, cluster))
    spec = question_named(change, cluster)
    found = decide(spec, name, patched=False)
    assert found.trace is not None
    assert len(found.trace.steps) == row.violated[name]
    assert decide(spec, name, patched=True).verdict is Verdict.HOLDS


@pytest.mark.ci
def test_a_pod_that_only_waits_for_its_finalizers_is_not_lost() -> None:
    """The survey first said that it is, in 5 steps."""
    assert decide(question_named("a finalizer", "together"), "S-CONS", patched=False).verdict is Verdict.HOLDS
