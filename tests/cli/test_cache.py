"""`podrace check` and the verdicts that it found before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace import api
from podrace.analysis import chain
from podrace.analysis.asked.method import cache_folder
from podrace.analysis.chain import FROM_CACHE
from podrace.cli.commands.init import starter_text
from tests.cli.helpers import TINY, Ran, Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PODRACE_NO_CACHE")
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "kept"))
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "starter.yaml").write_text(starter_text())
    return Shell(capsys)


class Searched(Exception):
    """A search took place."""


def no_search(*arguments: object, **options: object) -> None:
    raise Searched


VIOLATED = ("check", "starter.yaml", "--release", "1.13", "--property", "S-NOM")


def without_note(ran: Ran) -> tuple[int, list[object]]:
    rows = json.loads(ran.out)
    for row in rows:
        row["notes"] = [note for note in row["notes"] if note != FROM_CACHE]
    return ran.code, rows


@pytest.mark.ci
@pytest.mark.parametrize("line", [("check", "tiny.yaml"), VIOLATED])
def test_the_second_time_nothing_is_explored(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, line: tuple[str, ...]
) -> None:
    first = shell(*line, "-o", "json")
    monkeypatch.setattr(chain, "decide", no_search)
    second = shell(*line, "-o", "json")
    assert FROM_CACHE not in first.out
    assert FROM_CACHE in second.out
    assert without_note(second) == without_note(first)
    assert (
        f"note: {'tiny, 1.19' if len(line) == 2 else 'starter, 1.13'}: from the cache: "
        in shell(*line, "-v").out
    )
    for another in (("--no-cache",), ("--max-states", "5M"), ("--engine", "reference")):
        with pytest.raises(Searched):
            shell(*line, *another)


def test_tests_use_it_too(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "expecting.yaml").write_text(TINY + "expect: {S-CAP: holds}\n")
    assert shell("test", "expecting.yaml").code == 0
    monkeypatch.setattr(chain, "decide", no_search)
    assert shell("test", "expecting.yaml").code == 0
    with pytest.raises(Searched):
        shell("test", "expecting.yaml", "--no-cache")


def test_what_changes_is_explored_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell("check", "tiny.yaml")
    monkeypatch.setattr(chain, "decide", no_search)
    (tmp_path / "tiny.yaml").write_text(TINY.replace("One pod, one node", "Another title") + "# and words\n")
    assert shell("check", "tiny.yaml").code == 0
    (tmp_path / "tiny.yaml").write_text(TINY + "scope: {bind_failures: 1}\n")
    with pytest.raises(Searched):
        shell("check", "tiny.yaml")


def test_a_budget_that_ran_out_is_not_kept(shell: Shell, tmp_path: Path) -> None:
    assert shell(*VIOLATED, "--max-states", "10").code == 3
    assert not (tmp_path / "kept" / "verdicts").exists()
    assert shell(*VIOLATED, "--max-states", "10").out.count(FROM_CACHE) == 0


def test_damaged_entries_are_explored_again(shell: Shell, tmp_path: Path) -> None:
    first = shell("check", "tiny.yaml", "-o", "json")
    (entry,) = (tmp_path / "kept" / "verdicts").rglob("*.json")
    entry.write_text("nonsense")
    second = shell("check", "tiny.yaml", "-o", "json")
    assert second.out == first.out
    assert FROM_CACHE in shell("check", "tiny.yaml", "-o", "json").out  # and kept again


def test_where_verdicts_are_kept(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder(Path("here"), False) == Path("here")
    assert cache_folder(None, True) is None
    assert cache_folder(None, False) == tmp_path / "kept" / "verdicts"
    monkeypatch.setenv("PODRACE_NO_CACHE", "1")
    assert cache_folder(None, False) is None
    assert shell("check", "tiny.yaml", "--cache", "x", "--no-cache").err == (
        "podrace: --cache and --no-cache contradict each other: leave one of them out\n"
    )
    assert shell("check", "tiny.yaml", "--cache", "tiny.yaml").err == (
        "podrace: --cache: `tiny.yaml` is no directory: name one\n"
    )


def test_python_programs_use_and_keep_the_same_verdicts(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell("check", "tiny.yaml")
    elsewhere = tmp_path / "elsewhere"
    api.check("tiny.yaml", cache=elsewhere)
    assert any(elsewhere.iterdir())
    monkeypatch.setattr(chain, "decide", no_search)
    (found,) = api.check("tiny.yaml")
    assert (found.verdict, found.notes) == ("HOLDS", (FROM_CACHE,))
    assert api.check("tiny.yaml", cache=str(elsewhere))[0].notes == (FROM_CACHE,)
    assert api.expect("holds", "tiny.yaml", cache=elsewhere)[0].notes == (FROM_CACHE,)
    with pytest.raises(Searched):
        api.check("tiny.yaml", cache=False)
    with pytest.raises(api.UsageProblem, match="is no directory"):
        api.check("tiny.yaml", cache="tiny.yaml")
