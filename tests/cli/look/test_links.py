"""Options that name what is written: no link leads them to a file that nobody named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from podrace.analysis.request.option_files import OutputDirectory, refuse_links, write_text
from podrace.analysis.stored.report_directory import FILES
from podrace.base.problems import UsageProblem
from podrace.cli.commands.set_up.init import starter_text
from podrace.reproduce.running import CASES, refuse_unusable
from tests.cli.helpers import MINE, TINY, Shell, pretending

KEPT = "not podrace's\n"


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory beside the working directory, with a file that is not podrace's."""
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept.dot").write_text(KEPT)
    (tmp_path / "outside" / "report.html").write_text(KEPT)
    monkeypatch.chdir(tmp_path / "work")
    Path("tiny.yaml").write_text(TINY)
    Path("mine.py").write_text(MINE)
    return tmp_path / "outside"


def untouched(outside: Path) -> bool:
    return {p.name: p.read_text() for p in outside.iterdir()} == {"kept.dot": KEPT, "report.html": KEPT}


def the_directory(outside: Path) -> str:
    Path("out").symlink_to(outside)
    return "out"


def a_directory_above(outside: Path) -> str:
    Path("above").symlink_to(outside.parent)
    return "above/outside"


def a_directory_above_and_back(outside: Path) -> str:
    Path("above").symlink_to(outside)
    return "above/../outside"


@pytest.mark.parametrize("link", [the_directory, a_directory_above, a_directory_above_and_back])
def test_no_report_goes_through_a_link_to_its_directory(
    shell: Shell, outside: Path, monkeypatch: pytest.MonkeyPatch, link: Callable[[Path], str]
) -> None:
    named = link(outside)
    with pretending(monkeypatch, "HOLDS"):
        ran = shell("check", "tiny.yaml", "--report", named)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"podrace: --report: `{Path(named).parts[0]}` is a link, and podrace writes through none: name what it leads to\n"
    )
    assert untouched(outside)


@pytest.mark.parametrize("place", ["report.html", "counterexamples", "counterexamples/kept.dot"])
def test_no_report_goes_through_a_link_in_its_directory(
    shell: Shell, outside: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    link = Path("out", place)
    link.parent.mkdir(parents=True)
    link.symlink_to(outside if place == "counterexamples" else outside / link.name)
    with pretending(monkeypatch, "HOLDS"):
        ran = shell("check", "tiny.yaml", "--report", "out")
    assert (ran.code, ran.out, untouched(outside)) == (2, "", True)
    if place == "counterexamples":  # a file of a report leads there under a foreign name
        assert "--report: `out` holds other things (`counterexamples`): name a new directory" in ran.err
    else:
        assert ran.err == (
            f"podrace: --report: `out/{place}` is a link, and podrace writes through none: remove it\n"
        )


def test_a_link_that_leads_to_a_report_is_refused_too(
    shell: Shell, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds nothing but what a report may hold, and is not this one's."""
    (outside / "report.html").unlink()
    Path("out").mkdir()
    Path("out/counterexamples").symlink_to(outside)
    with pretending(monkeypatch, "HOLDS"):
        ran = shell("check", "tiny.yaml", "--report", "out")
    assert ran.err == (
        "podrace: --report: `out/counterexamples` is a link, and podrace writes through none: remove it\n"
    )
    assert (outside / "kept.dot").read_text() == KEPT


def test_links_that_appear_during_the_search_are_not_followed(outside: Path) -> None:
    with OutputDirectory("--report", Path("out")) as outer:
        Path("out/report.html").symlink_to(outside / "report.html")
        outer.write("report.html", "ours")
        Path("out/counterexamples").symlink_to(outside)
        with (
            pytest.raises(UsageProblem, match=r"^--report: cannot write into `out/counterexamples`: "),
            OutputDirectory("--report", Path("out/counterexamples"), outer) as inner,
        ):
            inner.clear()
        Path("out").rename("moved")
        Path("out").symlink_to(outside)
        outer.write("junit.xml", "ours")
    for name in ("report.html", "junit.xml"):
        assert (Path("moved", name).read_text(), Path("moved", name).is_symlink()) == ("ours", False)
    assert untouched(outside)


def test_a_second_name_of_a_file_elsewhere_is_not_written_through(outside: Path) -> None:
    Path("out").mkdir()
    os.link(outside / "report.html", "out/report.html")
    with OutputDirectory("--report", Path("out")) as outer:
        outer.write("report.html", "ours")
    assert untouched(outside)


def test_a_report_without_links_is_written(
    shell: Shell, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretending(monkeypatch, "HOLDS"):
        for _ in range(2):
            assert shell("check", "tiny.yaml", "--report", "out").code == 0
        assert shell("check", "tiny.yaml", "--report", str(outside.parent / "new" / "out")).code == 0
    assert {path.name for path in Path("out").iterdir()} == set(FILES)


VIOLATED = ("check", "tiny.yaml", "-P", "mine.py")


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ((*VIOLATED, "--save-trace", "LINK"), "--save-trace"),
        ((*VIOLATED, "--graph", "LINK"), "--graph"),
        ((*VIOLATED, "--cache", "LINK"), "--cache"),
        (("init", "LINK", "--force"), "FILE"),
        (("prove", "--pods", "1", "--nodes", "1", "--property", "S-CAP", "--examples", "LINK"), "--examples"),
        (("check", "-f", "tiny.yaml", "--write-scenario", "LINK"), "--write-scenario"),
    ],
)
def test_no_option_writes_through_a_link(
    shell: Shell, outside: Path, line: tuple[str, ...], option: str
) -> None:
    ending = ".yaml" if line[0] == "init" else ".dot"
    Path(f"link{ending}").symlink_to(outside / "kept.dot")
    ran = shell(*(word.replace("LINK", f"link{ending}") for word in line))
    assert ran.err == (
        f"podrace: {option}: `link{ending}` is a link, and podrace writes through none: name what it leads to\n"
    )
    assert (ran.code, untouched(outside)) == (2, True)


@pytest.mark.parametrize("option", ["--save-trace", "--graph"])
def test_the_next_of_several_files_is_none_either(shell: Shell, outside: Path, option: str) -> None:
    Path("link-2.dot").symlink_to(outside / "kept.dot")
    Path("two.py").write_text(MINE + MINE.replace("MY-NONE", "MY-OTHER").replace("NobodyAssumed", "Other"))
    ran = shell("check", "tiny.yaml", "-P", "two.py", option, "link.dot")
    assert (ran.code, untouched(outside)) == (2, True)
    assert "is a link" in ran.err


def test_the_systems_own_links_may_be_named(outside: Path) -> None:
    refuse_links("-o", Path("/dev/stdout"))
    write_text("-o", Path("/dev/null"), "nothing")
    (outside.parent / "elsewhere").symlink_to(outside)
    write_text(
        "-o", outside.parent / "elsewhere" / "new", "a directory that was named, not found in a checkout"
    )
    assert (outside / "new").exists()


def test_a_file_that_is_there_is_written_over(shell: Shell, outside: Path) -> None:
    Path("new.yaml").write_text("x" * 10_000)
    assert shell("init", "new.yaml", "--force").code == 0
    assert Path("new.yaml").read_text() == starter_text()


def test_no_module_for_the_real_scheduler_goes_through_a_link(outside: Path) -> None:
    Path("module").mkdir()
    Path("module", CASES).write_text("")
    Path("module", "gen").symlink_to(outside)
    with pytest.raises(UsageProblem) as problem:
        refuse_unusable(Path("module"))
    assert (
        str(problem.value)
        == "--directory: `module/gen` is a link, and podrace writes through none: remove it"
    )
    Path("link").symlink_to("module")
    with pytest.raises(
        UsageProblem, match=r"^--directory: `link` is a link, and podrace writes through none"
    ):
        refuse_unusable(Path("link"))
