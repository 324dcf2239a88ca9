"""`podrace check` and the verdicts that it found before."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import pytest

from podrace import api
from podrace.analysis import chain, kept_findings, systems
from podrace.analysis.chain import FROM_CACHE
from podrace.analysis.request.method import cache_folder
from podrace.cli.commands.set_up.init import starter_text
from podrace.properties import instrument
from tests.cli.helpers import TINY, Ran, Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PODRACE_NO_CACHE")
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(
        kept_findings, "BEGUN", time.time_ns() + (1 << 60)
    )  # podrace may have been changed right now
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "starter.yaml").write_text(starter_text())
    return Shell(capsys)


class Searched(Exception):
    """A search took place."""


def no_search(*arguments: object, **options: object) -> None:
    raise Searched


VIOLATED = ("check", "starter.yaml", "--release", "1.13.0", "--property", "S-NOM")


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
    monkeypatch.setattr(chain, "check", no_search)
    second = shell(*line, "-o", "json")
    assert FROM_CACHE not in first.out
    assert FROM_CACHE in second.out
    assert without_note(second) == without_note(first)
    assert (
        f"note: {'tiny, 1.19.0' if len(line) == 2 else 'starter, 1.13.0'}: from the cache: "
        in shell(*line, "-v").out
    )
    for another in (("--no-cache",), ("--max-states", "5M"), ("--engine", "reference")):
        with pytest.raises(Searched):
            shell(*line, *another)


def not_built(*arguments: object) -> None:
    raise AssertionError("a system was built")


@pytest.mark.parametrize("command", ["check", "test"])
def test_the_second_time_no_system_is_built(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    """That takes most of the time of a verdict that is kept."""
    (tmp_path / "tiny.yaml").write_text(TINY + "expect: {S-CAP: holds}\n")
    first = shell(command, "tiny.yaml", "-o", "json")
    monkeypatch.setattr(chain, "system_of", not_built)
    second = shell(command, "tiny.yaml", "-o", "json")
    assert without_note(second) == without_note(first)
    assert (FROM_CACHE in first.out, FROM_CACHE in second.out) == (False, True)


def test_a_finding_that_is_kept_names_files_as_seen_from_here(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell("check", str(tmp_path / "tiny.yaml"))
    monkeypatch.setattr(chain, "system_of", not_built)
    (tmp_path / "below").mkdir()
    assert (
        json.loads(shell("check", str(tmp_path / "tiny.yaml"), "-o", "json").out)[0]["place"]["file"]
        == "tiny.yaml"
    )
    monkeypatch.chdir(tmp_path / "below")
    (row,) = json.loads(shell("check", str(tmp_path / "tiny.yaml"), "-o", "json").out)
    assert row["place"]["file"] == str(tmp_path / "tiny.yaml")


def test_tests_use_it_too(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "expecting.yaml").write_text(TINY + "expect: {S-CAP: holds}\n")
    assert shell("test", "expecting.yaml").code == 0
    monkeypatch.setattr(chain, "check", no_search)
    assert shell("test", "expecting.yaml").code == 0
    with pytest.raises(Searched):
        shell("test", "expecting.yaml", "--no-cache")


def test_what_changes_is_explored_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell("check", "tiny.yaml")
    monkeypatch.setattr(chain, "check", no_search)
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
    entries = list((tmp_path / "kept" / "verdicts").rglob("*.json"))
    assert len(entries) == 2  # the verdict, and the finding
    for entry in entries:
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
    Path(".podrace.yaml").write_text("check:\n  no-cache: true\n")
    assert shell("check", "tiny.yaml", "--cache", "x").err == (
        "podrace: .podrace.yaml:2: --cache and --no-cache contradict each other: leave one of them out\n"
    )
    Path(".podrace.yaml").unlink()
    assert shell("check", "tiny.yaml", "--cache", "tiny.yaml").err == (
        "podrace: --cache: `tiny.yaml` is no directory: name one\n"
    )


def test_python_programs_use_and_keep_the_same_verdicts(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Nothing is kept of a podrace that differs from its files, as with the traced systems of other tests here.
    monkeypatch.setattr(systems, "instrument", instrument)
    shell("check", "tiny.yaml")
    elsewhere = tmp_path / "elsewhere"
    api.check("tiny.yaml", cache=elsewhere)
    assert any(elsewhere.iterdir())
    (found,) = api.check("tiny.yaml")
    assert (found.verdict, found.notes) == ("HOLDS", (FROM_CACHE,))
    assert api.check("tiny.yaml", cache=str(elsewhere))[0].notes == (FROM_CACHE,)
    assert api.expect("holds", "tiny.yaml", cache=elsewhere)[0].notes == (FROM_CACHE,)
    monkeypatch.setattr(chain, "check", no_search)
    with pytest.raises(Searched):
        api.check("tiny.yaml", cache=False)
    with pytest.raises(api.UsageProblem, match="is no directory"):
        api.check("tiny.yaml", cache="tiny.yaml")


def test_a_kept_verdict_that_was_rewritten_is_found_again(shell: Shell, tmp_path: Path) -> None:
    """VIOLATED rewritten to HOLDS, with all that a reader can compute anew."""
    first = shell(*VIOLATED, "-o", "json")
    paths = list((tmp_path / "kept" / "verdicts").rglob("*.json"))
    assert len(paths) == 2
    for path in paths:
        written = json.loads(path.read_bytes())
        good: dict[str, object] = {"verdict": "HOLDS", "run": None, "trace": None, "stopped": None}
        known = json.loads(written["entry"])
        text = json.dumps(known | {n: v for n, v in good.items() if n in known}, separators=(",", ":"))
        digest = hashlib.sha256(f"{written['key']}\n{text}".encode()).hexdigest()
        rewritten = {**written, "entry": text}
        path.write_text(
            json.dumps({name: digest if name == "hash" else value for name, value in rewritten.items()})
        )
    second = shell(*VIOLATED, "-o", "json")
    assert json.loads(second.out)[0]["verdict"] == "VIOLATED"
    assert (second.code, second.out) == (first.code, first.out)


def test_a_cache_from_elsewhere_is_explored_again(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As one that CI gives back: only with the same secret is it believed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "there"))
    shell("check", "tiny.yaml")
    monkeypatch.setattr(chain, "check", no_search)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "here"))
    with pytest.raises(Searched):
        shell("check", "tiny.yaml")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PODRACE_NO_CACHE")
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "kept"))
    monkeypatch.setenv("PODRACE_KEY", "the secret of this project")
    shell("check", "tiny.yaml")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    assert FROM_CACHE in shell("check", "tiny.yaml", "-o", "json").out


def test_a_cache_that_others_can_write_is_refused(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PODRACE_KEY", raising=False)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs").chmod(0o777)
    refused = shell("check", "tiny.yaml", "--cache", "theirs")
    assert (refused.code, refused.err) == (
        2,
        "podrace: --cache: others may write into `theirs`: run `chmod go-w theirs`, name another, or use --no-cache\n",
    )
    kept = tmp_path / "kept"
    kept.mkdir()
    kept.chmod(0o775)
    assert shell("check", "tiny.yaml").err == (
        f"podrace: the cache: others may write into `{kept}`: run `chmod go-w {kept}`, name another, or use --no-cache\n"
    )
    assert shell("check", "tiny.yaml", "--no-cache").code == 0
    monkeypatch.setenv("PODRACE_KEY", "too short")
    kept.chmod(0o755)
    assert shell("check", "tiny.yaml").err == (
        "podrace: PODRACE_KEY: a secret has at least 16 characters: write a longer one\n"
    )
