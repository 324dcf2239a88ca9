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
PAGE = (Path(__file__).parents[2] / "docs" / "notebook" / "survey.md").read_text(encoding="utf-8")


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


def table(name: str) -> list[list[str]]:
    """The rows of a table of the page, without its head."""
    inside = PAGE.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in inside.strip().splitlines()[2:]]


def test_every_question_is_answered() -> None:
    assert {row.question for row in ROWS} == set(all_questions())


def test_every_violation_is_judged() -> None:
    """By each member of its set; what has no set, or only searches that were given up, by a row of its own."""
    judged = {member: words for member, _, words in table("members")}
    read_by_hand = {
        (release, change, name): words
        for releases, change, name, words in table("unmatched")
        for release in releases.split(", ")
    }
    assert all((*judged.values(), *read_by_hand.values()))
    found = [(row, violation) for row in ROWS for violation in row.violations]
    matched = [v.changes for _, v in found if v.changes is not None and v.changes != UNDECIDED]
    assert {member for changes in matched for member in changes} == set(judged)
    others = {(r.release, r.change, v.name) for r, v in found if v.changes is None or v.changes == UNDECIDED}
    assert others == set(read_by_hand)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("release", "change", "cluster", "name"),
    [
        ("1.36.3", "the pod's node loses its zone", "together", "S-STUCK"),
        ("1.36.3", "a pod is relabelled", "together", "S-STUCK"),
        ("1.36.3", "an autoscaler", "zones", "S-STUCK"),
        ("1.36.3", "a pod is deleted", "together", "S-GHOST"),
        ("1.34.4", "taint eviction", "zones", "S-FRESH"),
        ("1.34.4", "a descheduler", "1 waits", "S-ROOM"),
        ("1.34.4", "a controller", "1 bound, 1 waits", "S-UNIQ"),
    ],
)
def test_a_violation_is_there_and_goes_with_the_changes(
    release: str, change: str, cluster: str, name: str
) -> None:
    row = next(row for row in ROWS if row.question == (release, change, cluster))
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
