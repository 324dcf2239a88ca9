"""Journals: a batch that was stopped goes on with nothing lost and nothing done twice."""

from __future__ import annotations

import json
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
    with pytest.raises(
        JournalProblem,
        match="is the journal of other jobs, or of another podrace: name another file, or remove it",
    ):
        Journal(path, {"what": "cubes"}, int)
    path.write_text("name: tiny\n")
    with pytest.raises(JournalProblem, match="is no journal: name another file"):
        Journal(path, ABOUT, int)
    assert path.read_text() == "name: tiny\n"


DISTURBED = (
    "this line, or one before it, is not as podrace wrote it here: "
    "remove this line and all after it, and what they say is done again"
)


def disturbed(lines: list[str], at: int, change: str) -> list[str]:
    if change == "deleted":
        return [*lines[:at], *lines[at + 1 :]]
    if change == "doubled":
        return [*lines[: at + 1], *lines[at:]]
    if change == "moved":
        return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
    name, result, signed = json.loads(lines[at])
    edited = {
        "edited": [name, result + 1, signed],
        "renamed": ["#7", result, signed],
        "unsigned": [name, result],
        "text": [name, "x", signed],
        "nothing": None,
    }[change]
    return [*lines[:at], json.dumps(edited, separators=(",", ":")), *lines[at + 1 :]]


@pytest.mark.parametrize(
    ("change", "found_at"),
    [("deleted", 3), ("doubled", 4), ("moved", 3), ("edited", 3), ("renamed", 3), ("unsigned", 3), ("text", 3),
     ("nothing", 3)],
)  # fmt: skip
def test_a_line_that_was_changed_is_named(tmp_path: Path, change: str, found_at: int) -> None:
    path = tmp_path / "j"
    run(path, 4, [])
    whole = path.read_text().splitlines()
    path.write_text("\n".join([*disturbed(whole, 2, change), ""]))
    with pytest.raises(JournalProblem) as problem:
        Journal(path, ABOUT, int)
    assert str(problem.value) == f"{path}:{found_at}: {DISTURBED}"
    path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines()[: found_at - 1]))
    again: list[int] = []
    assert run(path, 4, again) == {"#0": 0, "#1": 1, "#2": 4, "#3": 9}  # the remedy is one
    assert again == list(range(found_at - 2, 4))


def test_lines_of_another_key_or_another_journal_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "j"
    run(path, 2, [])
    with Journal(tmp_path / "other", {"what": "cubes"}, int) as other:
        other.add("#0", 5)
    header, *_ = path.read_text().splitlines()
    moved = (tmp_path / "other").read_text().splitlines()[1]
    whole = path.read_text()
    path.write_text(f"{header}\n{moved}\n")
    with pytest.raises(JournalProblem, match="j:2: this line, or one before it"):
        Journal(path, ABOUT, int)
    path.write_text(whole)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    with pytest.raises(JournalProblem, match="j:2: this line, or one before it"):
        Journal(path, ABOUT, int)


def test_without_a_key_there_is_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PODRACE_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JournalProblem) as problem:
        Journal(tmp_path / "j", ABOUT, int)
    assert str(problem.value) == (
        f"{tmp_path}/j: cannot be signed, since `{tmp_path}/file/podrace/key` cannot be written or is another user's: "
        "set PODRACE_KEY to a secret of at least 16 characters"
    )
    assert not (tmp_path / "j").exists()


def test_results_of_jobs_that_are_not_asked_for_are_refused(tmp_path: Path) -> None:
    run(tmp_path / "j", 3, [])
    with pytest.raises(JournalProblem, match="j: has the result of `#2`, which is not asked for: remove it"):
        run(tmp_path / "j", 2, [])


def test_two_runs_do_not_write_into_one(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "j", ABOUT, int),
        pytest.raises(JournalProblem, match="j: is in use by another run: name another file"),
    ):
        Journal(tmp_path / "j", ABOUT, int)
    run(tmp_path / "j", 1, [])


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "j").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalProblem, match="j: cannot be used: it is a link"):
        Journal(tmp_path / "j", ABOUT, int)
    assert (tmp_path / "elsewhere").read_text() == ""


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalProblem, match="cannot be used: No such file or directory"):
        Journal(tmp_path / "nowhere" / "j", ABOUT, int)
