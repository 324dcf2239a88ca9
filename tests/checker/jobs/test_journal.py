"""Journals: a batch that was stopped goes on with nothing lost and nothing done twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.jobs import Here, Job, Journal, JournalProblem, run_jobs

ABOUT = {"what": "squares"}


def run(path: Path, count: int, asked: list[int]) -> dict[str, int]:
    def square(number: int) -> int:
        asked.append(number)
        return number * number

    with Journal(path, ABOUT, int) as journal:
        return {
            c.name: r for c, r in run_jobs(square, [Job(f"#{i}", i) for i in range(count)], Here(), journal)
        }


def test_what_is_noted_is_not_done_again(tmp_path: Path) -> None:
    asked: list[int] = []
    run(tmp_path / "j", 2, asked)
    assert run(tmp_path / "j", 4, asked) == {"#0": 0, "#1": 1, "#2": 4, "#3": 9}
    assert asked == [0, 1, 2, 3]


def test_a_journal_that_was_cut_off_anywhere_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j"
    run(path, 3, [])
    whole = path.read_bytes()
    for size in range(len(whole.split(b"\n")[0]) + 1, len(whole)):
        path.write_bytes(whole[:size])
        assert run(path, 3, []) == {"#0": 0, "#1": 1, "#2": 4}
        assert path.read_bytes() == whole


def test_the_journal_of_other_jobs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"
    run(path, 1, [])
    with pytest.raises(JournalProblem, match="is the journal of other jobs: name another file, or remove it"):
        Journal(path, {"what": "cubes"}, int)
    path.write_text("name: tiny\n")
    with pytest.raises(JournalProblem, match="is no journal: name another file"):
        Journal(path, ABOUT, int)
    assert path.read_text() == "name: tiny\n"


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j"
    run(path, 2, [])
    header, _, second, _ = path.read_text().split("\n")
    path.write_text(f'{header}\n["#0", "x"]\n{second}\n')
    with pytest.raises(JournalProblem, match="j:2: is damaged"):
        Journal(path, ABOUT, int)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalProblem, match="cannot be used: No such file or directory"):
        Journal(tmp_path / "nowhere" / "j", ABOUT, int)
