"""Drawings of counterexamples."""

from __future__ import annotations

import re
import shutil
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from podrace.reports.document import Finding
from podrace.reports.graphs import KINDS, Kind, render, to_dot
from podrace.reports.graphs.render import RenderError, format_of, write_graph
from podrace.reports.graphs.style import NotDrawn
from tests.reports.golden import assert_golden
from tests.reports.samples import AT_ONCE, HOLDS, NO_WAY_BACK, STARVED, VIOLATED
from tests.reports.shown import SHOWN


@pytest.fixture
def no_system_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be found on the PATH."""
    monkeypatch.setenv("PATH", "")


def test_dot_source() -> None:
    assert_golden("violated.dot", to_dot(VIOLATED))


def test_a_trap_says_that_there_is_no_way_out() -> None:
    assert "L-ISO: there is no way out" in to_dot(NO_WAY_BACK)


def test_a_finding_without_counterexample_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="has no counterexample to draw") as caught:
        to_dot(HOLDS)
    assert str(caught.value) == "nominated-node-race, 1.13 + 72259: S-NOM has no counterexample to draw"


@pytest.mark.usefixtures("no_system_programs")
@pytest.mark.parametrize("finding", [VIOLATED, NO_WAY_BACK, AT_ONCE], ids=lambda f: f.property)
def test_svg_without_a_system_package(finding: Finding, tmp_path: Path) -> None:
    write_graph(to_dot(finding), tmp_path / "race.svg")
    root = ElementTree.parse(tmp_path / "race.svg").getroot()
    assert root.tag.endswith("svg")
    (style,) = root.iter("{http://www.w3.org/2000/svg}style")
    assert style is root[0]
    assert (
        style.text == "@media (prefers-color-scheme: dark) { svg { filter: invert(0.9) hue-rotate(180deg) } }"
    )
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert finding.trace is not None
    for step in finding.trace:
        assert texts.count(str(step.number)) == 2  # on its rail, and with its sentence


@pytest.mark.parametrize("kind", ["lanes", "cluster"])
def test_dot_source_of_every_kind(kind: Kind) -> None:
    assert_golden(f"shown-{kind}.dot", to_dot(SHOWN, kind))


def test_dot_source_of_a_lasso() -> None:
    assert_golden("starved-lasso.dot", to_dot(STARVED, "lasso"))


@pytest.mark.usefixtures("no_system_programs")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_rendered(kind: Kind) -> None:
    finding = STARVED if kind == "lasso" else SHOWN
    drawn = render.render(to_dot(finding, kind), "svg")
    assert drawn == render.render(to_dot(finding, kind), "svg")
    texts = {e.text for e in ElementTree.fromstring(drawn).iter() if e.tag.endswith("text")}
    wanted = {
        "lanes": {"p is bound to n1.", "views differ on p", "event of p"},
        "cluster": {"n1", "3 cpu", "n2", "1 cpu", "assumed", "nominated"},
        "lasso": {"1  pop(p)", "4  write(q, not ok)", "indefinitely"},
    }
    assert wanted[kind] <= {(text or "").replace("\xa0", " ") for text in texts}


def test_arrows_lead_from_causes_to_effects() -> None:
    dot = to_dot(SHOWN)
    ends = re.findall(r"(bead\d+) -> a\d+from|a\d+to -> (bead\d+)", dot)
    assert ["".join(end) for end in ends] == [
        "bead1",
        "bead2",
        "bead2",
        "bead3",
    ]  # 1 -> 3 follows from the other two


@pytest.mark.parametrize(
    ("finding", "kind", "message"),
    [
        (VIOLATED, "cluster", "nominated-node-race, 1.13: S-NOM: the states of the cluster are not known; draw the steps: --graph-kind lanes"),
        (VIOLATED, "lasso", "nominated-node-race, 1.13: S-NOM: the run does not go on indefinitely; draw its steps: --graph-kind lanes"),
        (replace(SHOWN, trace=(replace(SHOWN.story[1], number=1),)), "cluster", "late, 1.13: S-CAP: no step changes the cluster; draw the steps: --graph-kind lanes"),
    ],
)  # fmt: skip
def test_what_is_not_drawn(finding: Finding, kind: Kind, message: str) -> None:
    with pytest.raises(NotDrawn) as caught:
        to_dot(finding, kind)
    assert str(caught.value) == message


@pytest.mark.usefixtures("no_system_programs")
def test_png_without_a_system_package(tmp_path: Path) -> None:
    write_graph(to_dot(VIOLATED), tmp_path / "race.png")
    assert (tmp_path / "race.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_dot_needs_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "find_program", lambda: pytest.fail("looked for a program"))
    write_graph("digraph {}\n", tmp_path / "race.dot")
    assert (tmp_path / "race.dot").read_text() == "digraph {}\n"


def test_drawings_are_the_same_each_time() -> None:
    dot = to_dot(VIOLATED)
    assert render.render(dot, "svg") == render.render(to_dot(VIOLATED), "svg")


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
