"""`--graph-kind`: which drawing is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.cli.terminal.output import draw
from podrace.reports.graphs import Kind
from tests.cli.helpers import Shell
from tests.cli.races import wiped

BEGINNINGS = {
    "lanes": "digraph counterexample {",
    "cluster": "digraph cluster {",
}


@pytest.mark.parametrize("kind", ["lanes", "cluster"])
def test_every_kind(kind: Kind, tmp_path: Path) -> None:
    target = tmp_path / "race.dot"
    assert draw([wiped().finding], target, kind=kind) == [target]
    first = target.read_bytes()
    assert first.startswith(BEGINNINGS[kind].encode())
    draw([wiped().finding], target, kind=kind)
    assert target.read_bytes() == first


def test_a_run_that_ends_is_no_lasso(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw([wiped().finding], tmp_path / "race.dot", kind="lasso") == []
    assert not (tmp_path / "race.dot").exists()
    assert capsys.readouterr().err == (
        "not drawn: wiped-nomination, 1.14.0 + 90660: S-NOM: the run does not go on indefinitely; draw its steps: --graph-kind lanes\n"
    )


def test_markdown_shows_the_drawing_that_is_made_with_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Shell(capsys)
    shell("check", "72124", "--save-trace", "race.json", "--closing", "0")
    ran = shell("explain", "race.json", "-o", "markdown", "--graph", "my race.svg")
    assert "\n![nominated-node-race, 1.13.0: S-NOMVIS](<my%20race.svg>)\n\n<details>" in ran.out
    assert "mermaid" not in ran.out
    assert (tmp_path / "my race.svg").read_bytes().startswith(b"<?xml")
    for options in ((), ("--graph", "race.dot"), ("--graph", "race.svg", "--graph-kind", "cluster")):
        assert "```mermaid\n" in shell("explain", "race.json", "-o", "markdown", *options).out
    assert "digraph counterexample {" in Path("race.dot").read_text()
    assert "as the scheduler believes" in Path("race.svg").read_text().replace("&#160;", " ")


def test_a_kind_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Shell(capsys)("check", "72124", "--graph-kind", "cluster")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "podrace: --graph-kind says how to draw: name the file with --graph FILE\n"
