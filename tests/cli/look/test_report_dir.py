"""`--report DIR`: every form as a file, the same bytes each time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from podrace.analysis.stored.report_directory import DRAWINGS, FILES, file_stem
from podrace.cli import main
from podrace.reports.formats.json_schema import schema_of
from tests.cli.helpers import MINE, TINY, Shell, pretending
from tests.reports.samples import VIOLATED
from tests.reports.standards import assert_junit, assert_matches, assert_sarif

STEM = "nominated-node-race_1.13.0_S-NOMVIS"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    return Shell(capsys)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The report of one search, and that of the same search again."""
    folder = tmp_path_factory.mktemp("reports")
    for name in ("one", "two"):
        line = ["check", "72124", "--without-fix", "72259", "-o", "github", "--report", str(folder / name)]
        assert main.run(line) == 1
    return folder / "one", folder / "two"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_all_files_are_there(reports: tuple[Path, Path]) -> None:
    endings = [".trace.json", *(ending for ending in DRAWINGS if ending != ".lasso.svg")]
    expected = {*FILES, *(f"counterexamples/{STEM}{ending}" for ending in endings)}
    assert set(contents(reports[0])) == expected


def test_the_summary_shows_the_drawings(reports: tuple[Path, Path]) -> None:
    summary = (reports[0] / "summary.md").read_text(encoding="utf-8")
    assert f"](<counterexamples/{STEM}.svg>)" in summary
    assert "mermaid" not in summary


def test_the_same_search_gives_the_same_bytes(reports: tuple[Path, Path]) -> None:
    assert contents(reports[0]) == contents(reports[1])


def test_the_files_are_what_their_names_say(reports: tuple[Path, Path]) -> None:
    folder, _ = reports
    rows = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert_matches(schema_of("report"), rows)
    assert rows[0]["seconds"] is None
    assert_junit((folder / "junit.xml").read_text(encoding="utf-8"))
    assert_sarif((folder / "report.sarif").read_text(encoding="utf-8"))
    inner = folder / "counterexamples"
    assert main.run(["replay", str(inner / f"{STEM}.trace.json")]) == 0
    assert (inner / f"{STEM}.svg").read_text().startswith("<?xml")


def test_a_report_replaces_an_earlier_one(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "out" / "counterexamples" / "old.trace.json"
    old.parent.mkdir(parents=True)
    old.touch()
    with pretending(monkeypatch, "HOLDS"):
        ran = shell("check", "tiny.yaml", "--report", "out")
    assert (ran.code, ran.err) == (0, f"wrote out: {len(FILES)} files\n")
    assert set(contents(tmp_path / "out")) == set(FILES)


def test_durations_only_where_they_are_asked_for(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretending(monkeypatch, "HOLDS"):
        plain = shell("check", "tiny.yaml", "--report", "a", "-o", "json")
        timed = shell("check", "tiny.yaml", "--report", "b", "-o", "json", "--timings")
    assert [json.loads(ran.out)[0]["seconds"] for ran in (plain, timed)] == [None, 0.0]
    assert "time=" not in (tmp_path / "a" / "junit.xml").read_text()
    assert 'time="0.000"' in (tmp_path / "b" / "junit.xml").read_text()


def test_counterexamples_with_one_name_do_not_overwrite_each_other(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "again.yaml").write_text(TINY.replace("{p: {cpu: 1}}", "{p: {cpu: 1}, q: {cpu: 1}}"))
    ran = shell("check", "tiny.yaml", "again.yaml", "-P", "mine.py", "-o", "github", "--report", "out")
    assert ran.code == 1
    inner = tmp_path / "out" / "counterexamples"
    traces = sorted(path.name for path in inner.glob("*.trace.json"))
    assert traces == ["tiny_1.19.0_MY-NONE-2.trace.json", "tiny_1.19.0_MY-NONE.trace.json"]
    texts = [json.loads((inner / name).read_text())["scenario"]["text"] for name in traces]
    assert ["q:" in text for text in texts] == [True, False]


def test_other_things_are_left_alone(shell: Shell, tmp_path: Path) -> None:
    ran = shell("check", "tiny.yaml", "--report", ".")
    message = "podrace: --report: `.` holds other things (`tiny.yaml`): name a new directory\n"
    assert (ran.code, ran.out, ran.err) == (2, "", message)
    ran = shell("check", "tiny.yaml", "--report", "tiny.yaml")
    assert ran.err == "podrace: --report: `tiny.yaml` is a file: name a directory\n"
    inner = tmp_path / "out" / "counterexamples"
    inner.mkdir(parents=True)
    (inner / "thesis.pdf").touch()
    ran = shell("check", "tiny.yaml", "--report", "out")
    assert (
        ran.err == "podrace: --report: `out` holds other things (`counterexamples`): name a new directory\n"
    )
    assert (inner / "thesis.pdf").exists()


def test_a_directory_that_cannot_be_written_is_refused_before_the_search(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    ran = shell("check", "tiny.yaml", "--report", "out/deep")
    assert ran.code == 2
    assert "podrace: --report: cannot write into " in ran.err
    assert ran.err.endswith(": permission denied\n")


def test_a_disk_that_is_full_is_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with pretending(monkeypatch, "HOLDS"), monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        ran = shell("check", "tiny.yaml", "--report", "out")
    assert (ran.code, ran.err) == (
        2,
        "podrace: --report: cannot write `out/report.html`: No space left on device\n",
    )


def test_names_are_fit_for_any_file_system() -> None:
    import msgspec

    odd = msgspec.structs.replace(VIOLATED, scenario="../a b/ü", property="MY:RULE")
    assert file_stem(odd) == "..-a-b--_1.13_MY-RULE"
