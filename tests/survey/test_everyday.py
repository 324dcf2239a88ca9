"""The table of the survey of everyday changes, and some of its rows anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.core.result import Verdict
from podrace.model.history import CHANGES as UPSTREAM
from tests.survey import everyday
from tests.survey.changes import CHANGES, question_named
from tests.survey.everyday import FILE, RELEASES, all_questions, asked_of, decide, read, write
from tests.survey.explaining import PATCHES, UNDECIDED

ROWS = read()
PAGE = (Path(__file__).parents[2] / "docs" / "survey.md").read_text(encoding="utf-8")


def test_the_table_has_known_names_only() -> None:
    asked = [row.question for row in ROWS]
    assert set(asked) <= set(all_questions())
    assert len(set(asked)) == len(asked)
    assert [row for row in ROWS if not {v.name for v in row.violations} <= set(asked_of(row.change))] == []
    known = [violation.changes for row in ROWS for violation in row.violations]
    named = {name for changes in known if changes not in (None, UNDECIDED) for name in changes or ()}
    assert named <= {*UPSTREAM, *PATCHES}


def test_the_table_is_stored_as_it_would_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everyday, "FILE", tmp_path / "everyday.tsv")
    write(ROWS)
    assert (tmp_path / "everyday.tsv").read_bytes() == FILE.read_bytes()


def test_the_page_says_how_much_of_it_there_is() -> None:
    for release in RELEASES:
        rows = [row for row in ROWS if row.release == release]
        found = [(v.name, v.changes) for row in rows for v in row.violations]
        questions = [q for q in all_questions() if q[0] == release]
        assert f"| {release} | {len(rows)} of {len(questions)} | {len(found)} |" in PAGE
        for change in CHANGES:
            asked = [row for row in rows if row.change == change]
            there = [q for q in questions if q[1] == change]
            assert len(asked) == len(there) or f"{change}: {len(there) - len(asked)}" in PAGE, (
                release,
                change,
            )
    for changes in {v.changes for row in ROWS for v in row.violations}:
        shown = "nothing known" if changes is None else " + ".join(changes)
        counts = [
            sum(v.changes == changes for row in ROWS if row.release == release for v in row.violations)
            for release in RELEASES
        ]
        assert f"| {shown} | {' | '.join(map(str, counts))} |" in PAGE


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
def test_a_violation_is_there_and_goes_with_the_changes(change: str, cluster: str, name: str) -> None:
    row = next(row for row in ROWS if row.question == ("1.36.3", change, cluster))
    violation = next(v for v in row.violations if v.name == name)
    spec = question_named(change, cluster)
    found = decide(spec, row.release, name)
    assert found.trace is not None
    assert len(found.trace.steps) == violation.steps
    assert violation.changes is not None
    assert decide(spec, row.release, name, violation.changes).verdict is Verdict.HOLDS


@pytest.mark.ci
def test_a_pod_that_only_waits_for_its_finalizers_is_not_lost() -> None:
    """The survey first said that it is, in 5 steps."""
    assert decide(question_named("a finalizer", "together"), "1.36.3", "S-CONS").verdict is Verdict.HOLDS
