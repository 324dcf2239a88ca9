"""The forms of `podrace check`: which there are, and what goes to which stream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest

from podrace.cli.configuration.arguments import ReportForm
from podrace.reports.formats.forms import FORMS
from podrace.reports.formats.json_schema import schema_of
from tests.cli.helpers import TINY, Shell, pretending

DOCUMENTED = ["text", *FORMS]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "tiny.yaml").write_text(TINY)
    return Shell(capsys)


def test_the_option_knows_every_form() -> None:
    assert list(get_args(ReportForm)) == DOCUMENTED


@pytest.mark.parametrize("form", DOCUMENTED)
@pytest.mark.parametrize(("verdict", "code"), [("HOLDS", 0), ("VIOLATED", 1), ("INCONCLUSIVE", 3)])
def test_the_exit_code_does_not_depend_on_the_form(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, form: str, verdict: Any, code: int
) -> None:
    with pretending(monkeypatch, verdict):
        ran = shell("check", "tiny.yaml", "-o", form)
    assert (ran.code, ran.err) == (code, "")


@pytest.mark.parametrize("form", FORMS)
def test_forms_for_programs_have_no_colours(shell: Shell, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pretending(monkeypatch, "VIOLATED"):
        assert "\x1b" not in shell("check", "tiny.yaml", "-o", form).out


def test_junit_says_what_the_exit_code_says(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def root(*arguments: str) -> Any:
        return ElementTree.fromstring(shell("check", *arguments, "-o", "junit").out)

    with pretending(monkeypatch, "HOLDS"):  # the races are expected to be there before their fixes
        assert int(root().get("failures")) > 0
    with pretending(monkeypatch, "INCONCLUSIVE"):
        found = root("tiny.yaml")
        assert (found.get("failures"), found.get("errors")) == ("0", "1")


def test_a_vacuous_proof_fails_in_every_form(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "alone.yaml").write_text(
        TINY.replace("pods: {p: {cpu: 1}}", "pods: {p: {cpu: 1, nodeName: n}}")
    )
    ran = shell("check", "alone.yaml", "--property", "S-NOM", "-o", "junit", "--fail-on-vacuous")
    assert ran.code == 1
    assert '<testsuites name="podrace" tests="1" failures="1" errors="0">' in ran.out
    ran = shell("check", "alone.yaml", "--property", "S-NOM", "-o", "junit")
    assert ran.code == 0
    assert '<testsuites name="podrace" tests="1" failures="0" errors="0">' in ran.out


def test_the_step_summary_of_github(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    with pretending(monkeypatch, "VIOLATED"):
        ran = shell("check", "tiny.yaml", "-o", "github")
        assert ran.out.startswith("::error title=tiny%2C 1.19.0%3A S-CAP VIOLATED::")
        assert summary.read_text().startswith("before\n# podrace\n\n| ")
        assert "```mermaid\nsequenceDiagram\n" in summary.read_text()
        shell("check", "tiny.yaml", "-o", "markdown")
        assert summary.read_text().count("# podrace\n") == 1
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "summary.md"))
        ran = shell("check", "tiny.yaml", "-o", "github")
    assert ran.code == 2
    assert ran.err == (
        f"podrace: GITHUB_STEP_SUMMARY: cannot write `{tmp_path}/no/summary.md`: No such file or directory\n"
    )


def test_findings_know_their_place(shell: Shell, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "tiny.yaml").write_text(f"# a comment\n{TINY}")
    for given, shown in (
        ("inner/tiny.yaml", "inner/tiny.yaml"),
        ("./inner/../tiny.yaml", "tiny.yaml"),
        (str(tmp_path / "tiny.yaml"), "tiny.yaml"),
    ):
        (row,) = json.loads(shell("check", given, "-o", "json").out)
        assert row["place"]["file"] == shown
    (row,) = json.loads(shell("check", "inner/tiny.yaml", "-o", "json").out)
    assert row["place"] == {"file": "inner/tiny.yaml", "line": 5, "lines": {"n": 6, "p": 7}}
    (row,) = json.loads(shell("check", "inner/tiny.yaml", "--property", "S-NOM", "-o", "json").out)
    assert row["place"]["line"] == 1


def test_a_file_elsewhere_keeps_its_whole_name(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    (row,) = json.loads(shell("check", "../tiny.yaml", "-o", "json").out)
    assert Path(row["place"]["file"]).is_absolute()
    assert Path(row["place"]["file"]).samefile(tmp_path / "tiny.yaml")


def test_the_version_for_programs(shell: Shell) -> None:
    known = json.loads(shell("version", "-o", "json").out)
    assert shell("version").out == f"podrace {known['podrace']}\n"
    assert known["forms"] == DOCUMENTED
    assert "1.13.0" in known["releases"]
    assert "72259" in known["fixes"]
    assert known["trace_version"] == 1


@pytest.mark.parametrize("name", ["report", "ask", "trace"])
def test_schemas(shell: Shell, name: str) -> None:
    assert json.loads(shell("schema", name).out) == schema_of(name)
