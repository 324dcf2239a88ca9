"""`podrace batch`: command lines of a file as jobs, with a journal; what is no such file is refused before anything runs."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from podrace.analysis import batch
from podrace.checker.jobs.bound_process import Answer
from tests.cli.helpers import TINY, Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def test_each_line_is_run_and_the_worst_code_is_that_of_the_batch(shell: Shell) -> None:
    Path("lines").write_text("version\n\n# none\npodrace check nothing  # no such scenario\n")
    ran = shell("batch", "lines", "-j", "1")
    assert ran.code == 2
    first, second = ran.out.split("$ podrace ")[1:]
    assert first.startswith("version\npodrace ")
    assert "[0, " in first
    assert second.startswith("check nothing\npodrace: ")
    assert "[2, " in second


def test_a_journal_has_the_lines_that_are_done(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("tiny.yaml").write_text(TINY)
    Path("lines").write_text("version\nschema\nfixes --file tiny.yaml\n")
    asked: list[str] = []

    def answer(program: str, words: Sequence[str], columns: int) -> Answer:
        asked.append(words[0])
        if words[0] == "fixes" and len(asked) == 3:
            raise KeyboardInterrupt
        return Answer({"version": 0, "schema": 3, "fixes": 1}[words[0]], f"{words[0]}\n", "")

    monkeypatch.setattr(batch, "answer_of", answer)
    line = ["batch", "lines", "-j", "1", "--journal", "j", "-o", "json"]
    assert shell(*line).code == 130
    again = shell(*line)
    assert (again.code, asked) == (1, ["version", "schema", "fixes", "fixes"])
    rows = [(row["line"], row["command"], row["code"], row["out"]) for row in json.loads(again.out)]
    assert rows == [
        (1, "version", 0, "version\n"),
        (2, "schema", 3, "schema\n"),
        (3, "fixes --file tiny.yaml", 1, "fixes\n"),
    ]
    Path("tiny.yaml").write_text(TINY + "\n")
    changed = shell(*line)
    assert (changed.code, changed.out) == (2, "")
    assert (
        "j: is the journal of other jobs, or of another podrace: name another file, or remove it"
        in changed.err
    )


@pytest.mark.parametrize(
    "words",
    ["--patch mine.py", "--patch mine.py:Mine", "--patch=mine.py:Mine", "-Pmine.py", "-P mine.py:Mine"],
)
def test_a_journal_is_about_the_files_that_options_name(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    Path("mine.py").write_text("class Mine: pass\n")
    Path("lines").write_text(f"check 72124 {words}\n")
    monkeypatch.setattr(batch, "answer_of", lambda program, words, columns: Answer(0, "", ""))
    line = ["batch", "lines", "-j", "1", "--journal", "j"]
    assert [shell(*line).code, shell(*line).code] == [0, 0]
    Path("mine.py").write_text("class Mine: other = 1\n")
    assert shell(*line).code == 2


def test_a_command_that_is_killed_is_run_again(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("lines").write_text("version\n")
    codes = [-signal.SIGKILL, -signal.SIGKILL, 0]
    monkeypatch.setattr(batch, "answer_of", lambda program, words, columns: Answer(codes.pop(0), "", ""))
    assert shell("batch", "lines", "-j", "1").code == 0
    assert not codes
    codes = [-signal.SIGKILL] * 4
    lost = shell("batch", "lines", "-j", "1")
    assert (lost.code, len(codes)) == (2, 1)
    assert "cannot go on: `version` was killed by signal 9, 3 times in a row" in lost.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# nothing\n", "lines: has no command line: write one a line, such as `check 72124 --jobs 1`"),
        ("version\nrm -r x\n", "lines:2: begin the line with a command such as `check`, not with `rm`"),
        ("batch lines\n", "lines:1: begin the line with a command such as `check`, not with `batch`"),
        ("check 'a\n", "lines:1: is no command line: No closing quotation"),
    ],
)
def test_what_is_no_list_of_commands_is_refused(shell: Shell, text: str, why: str) -> None:
    Path("lines").write_text(text)
    ran = shell("batch", "lines")
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {why}\n")


def test_a_file_that_is_not_there_is_named(shell: Shell) -> None:
    ran = shell("batch", "lines")
    assert (ran.code, ran.err) == (2, "podrace: lines: cannot be read: No such file or directory\n")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "there is no Ray cluster at `127.0.0.1:1`: Connection refused"),
        ("nonsense", "`nonsense` is no address of a Ray cluster: write HOST:PORT, `auto` or `local`"),
    ],
)
def test_a_cluster_that_is_not_there(shell: Shell, address: str, said: str) -> None:
    pytest.importorskip("ray", reason="Ray is an optional extra")
    Path("lines").write_text("version\n")
    for command in (["batch", "lines"], ["prove", "--pods", "1", "--nodes", "1", "--property", "S-CAP"]):
        ran = shell(*command, "--ray", address)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.endswith(f"podrace: --ray: {said}\n")


@pytest.mark.ci
def test_a_batch_loses_nothing_when_a_worker_of_a_cluster_is_killed(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ray = pytest.importorskip("ray", reason="Ray is an optional extra")
    Path("lines").write_text("version\nproperties\nfixes\nraces\n")
    here = shell("batch", "lines", "-j", "1", "-o", "json")
    work = batch.run_line

    def fragile(words: Sequence[str]) -> batch.Ran:
        found = work(words)
        with (tmp_path / "done").open("a") as file:
            file.write(f"{words[0]}\n")
        if words[0] == "fixes" and not (tmp_path / "killed").exists():
            (tmp_path / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    monkeypatch.setattr(batch, "run_line", fragile)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        there = shell("batch", "lines", "--ray", "local", "-o", "json")
    finally:
        ray.shutdown()
    assert sorted((tmp_path / "done").read_text().split()) == [
        "fixes",
        "fixes",
        "properties",
        "races",
        "version",
    ]

    def untimed(text: str) -> object:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in json.loads(text)]

    assert (there.code, untimed(there.out)) == (here.code, untimed(here.out))
