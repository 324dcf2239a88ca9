"""The drawing of a counterexample."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import pytest

from podrace.reports import render
from podrace.reports.document import Finding
from podrace.reports.graph import to_dot
from podrace.reports.render import RenderError, format_of, write_graph
from tests.reports.golden import assert_golden
from tests.reports.samples import AT_ONCE, HOLDS, TRAPPED, VIOLATED, WORDS


@pytest.fixture
def no_system_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be found on the PATH."""
    monkeypatch.setenv("PATH", "")


def test_dot_source() -> None:
    assert_golden("violated.dot", to_dot(VIOLATED, WORDS))


def test_a_trap_says_that_there_is_no_way_out() -> None:
    assert "L-ISO: there is no way out" in to_dot(TRAPPED)


def test_a_finding_without_counterexample_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="has no counterexample to draw") as caught:
        to_dot(HOLDS)
    assert str(caught.value) == "nominated-node-race, 1.13 + 72259: S-NOM has no counterexample to draw"


@pytest.mark.usefixtures("no_system_programs")
@pytest.mark.parametrize("finding", [VIOLATED, TRAPPED, AT_ONCE], ids=lambda f: f.property)
def test_svg_without_a_system_package(finding: Finding, tmp_path: Path) -> None:
    write_graph(to_dot(finding, WORDS), tmp_path / "race.svg")
    root = ElementTree.parse(tmp_path / "race.svg").getroot()
    assert root.tag.endswith("svg")
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert finding.trace is not None
    for step in finding.trace:
        assert str(step.number) in texts
        assert step.call in texts


@pytest.mark.usefixtures("no_system_programs")
def test_png_without_a_system_package(tmp_path: Path) -> None:
    write_graph(to_dot(VIOLATED, WORDS), tmp_path / "race.png")
    assert (tmp_path / "race.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_dot_needs_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "find_program", lambda: pytest.fail("looked for a program"))
    write_graph("digraph {}\n", tmp_path / "race.dot")
    assert (tmp_path / "race.dot").read_text() == "digraph {}\n"


def test_drawings_are_the_same_each_time() -> None:
    dot = to_dot(VIOLATED, WORDS)
    assert render.render(dot, "svg") == render.render(to_dot(VIOLATED, WORDS), "svg")


@pytest.mark.parametrize("name", ["race.pdf", "race", "race.", "svg"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(RenderError) as caught:
        format_of(Path(name))
    assert str(caught.value) == f"cannot draw `{Path(name).name}`: the ending must be .svg, .png or .dot"


def test_endings_may_be_upper_case() -> None:
    assert format_of(Path("RACE.PNG")) == "png"


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "no" / "race.dot"
    with pytest.raises(RenderError) as caught:
        write_graph("digraph {}\n", path)
    assert str(caught.value) == f"cannot write `{path}`: No such file or directory"


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(RenderError) as caught:
        render.render("this is no graph", "svg")
    program = Path(sysconfig.get_path("scripts")) / "graphviz-pure"
    assert str(caught.value).startswith(f"cannot draw with {program}: ")
    assert str(caught.value).endswith("; write a .dot file instead")


def test_nothing_to_draw_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RenderError) as caught:
        render.render("digraph {}", "svg")
    assert str(caught.value) == (
        "nothing to draw with: `pip install graphviz-pure`, or write a .dot file, which needs no program"
    )
