"""A disk that is full destroys nothing: what a command was to write over is as it was, and no half of anything is left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from podrace.analysis.stored.report_directory import FOLDER
from tests.base.test_files import largest_file
from tests.cli.find.test_own_systems import COUNTER
from tests.cli.helpers import MINE, TINY, Shell

OLD = "kept\n"
VIOLATED = ("check", "tiny.yaml", "-P", "mine.py")
PROVE = ("prove", "--pods", "1", "--nodes", "1", "-P", "mine.py", "--property", "MY-NONE", "--jobs", "1")
LINES: dict[str, tuple[str, ...]] = {
    "--graph": (*VIOLATED, "--graph", "FILE.dot"),
    "--save-trace": (*VIOLATED, "--save-trace", "FILE.json"),
    "--report": (*VIOLATED, "--report", "DIR"),
    "--report of what holds": ("check", "tiny.yaml", "--property", "S-CAP", "--report", "DIR"),
    "--report of test": ("test", "expects.yaml", "--report", "DIR"),
    "--write-scenario of check": ("check", "-f", "objects.yaml", "--write-scenario", "FILE.yaml"),
    "--examples": (*PROVE, "--examples", "DIR"),
    "init": ("init", "FILE.yaml", "--force"),
    "new-patch": ("new-patch", "File", "--directory", "."),
}  # fmt: skip
LONG = ("prove",)
OBJECTS = """\
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "1", pods: "5"}, capacity: {cpu: "1", pods: "5"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
"""


def everything(folder: Path) -> dict[str, str]:
    found = {str(p.relative_to(folder)): p.read_text() if p.is_file() else "" for p in folder.rglob("*")}
    return {name: text for name, text in found.items() if "__pycache__" not in name}


@pytest.fixture
def prepared(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(TINY)
    Path("expects.yaml").write_text(TINY + "expect: [{verdicts: {S-CAP: HOLDS}}]\n")
    Path("mine.py").write_text(MINE)
    Path("own.py").write_text(COUNTER)
    Path("objects.yaml").write_text(OBJECTS)
    shell("check", "72124", "--without-fix", "72259", "--save-trace", "trace.json")
    return tmp_path


@pytest.mark.representatives(9)
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.ci] * (LINES[name][0] in LONG)) for name in LINES]
)
def test_what_was_there_stays(shell: Shell, prepared: Path, name: str, there: bool) -> None:
    line = tuple(word.replace("FILE", "file").replace("DIR", "folder") for word in LINES[name])
    target = next((word for word in line if word.startswith(("file", "folder"))), "file.py")
    if there and target == "folder":
        Path(target, FOLDER).mkdir(parents=True)
        Path(target, "report.html").write_text(OLD)
        Path(target, FOLDER, "old.dot").write_text(OLD)
        if name == "--examples":
            Path(target, "my-none-group-1.yaml").write_text(OLD)
    elif there and line[0] != "new-patch":
        Path(target).write_text(OLD)
    before = everything(prepared)
    with largest_file(3):
        ran = shell(*line)
    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert "cannot write `" in ran.err
    assert ran.err.endswith(f": {os.strerror(27)}\n")
    assert everything(prepared) == before
    ran = shell(*line)
    assert ran.code in (0, 1), ran.err
    assert OLD not in everything(prepared).values() or name == "--examples"


def test_a_report_is_new_or_old_as_a_whole(shell: Shell, prepared: Path) -> None:
    """Its largest file is the last for which there is no room."""
    assert shell(*VIOLATED, "--report", "folder").code == 1
    before = everything(prepared)
    sizes = sorted({len(text.encode()) for name, text in before.items() if name.startswith("folder/")})
    Path("mine.py").write_text(MINE.replace("MY-NONE", "MY-OTHER"))
    before["mine.py"] = Path("mine.py").read_text()
    for room in (sizes[1], sizes[len(sizes) // 2], sizes[-1] - 100):
        with largest_file(room):
            assert shell(*VIOLATED, "--report", "folder").code == 2
        assert everything(prepared) == before
    assert shell(*VIOLATED, "--report", "folder").code == 1
    assert {name for name in everything(prepared) if "MY-" in name} == {
        name.replace("MY-NONE", "MY-OTHER") for name in before if "MY-" in name
    }


def test_a_step_summary_is_added_to_as_a_whole(
    shell: Shell, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("summary.md").write_text(OLD)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    with largest_file(50):
        ran = shell(*VIOLATED, "-o", "github")
    assert ran.code == 2
    assert Path("summary.md").read_text() == OLD
    shell(*VIOLATED, "-o", "github")
    assert Path("summary.md").read_text().startswith(OLD + "#")
