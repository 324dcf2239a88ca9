"""What the README shows is what its commands print and draw."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from podrace.scenarios.reader.cluster_section import SCOPE_FIELDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = "docs/race-72124.svg"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the README's own command, which draws the picture, was run: its output is in the file `out`."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "docs").mkdir()
    (command,) = re.findall(rf"^    (podrace check .*--graph {PICTURE})$", README, re.M)
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments, "--no-color"],
        env={**os.environ, "COLUMNS": "110", "PYTHONUTF8": "1"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    (folder / "out").write_text(done.stdout, encoding="utf-8")
    return folder


def test_the_counterexample_is_the_printed_one(folder: Path) -> None:
    shown = README.split("```\nscheduler\n", 1)[1].split("\n```", 1)[0]
    assert f"scheduler\n{shown}\n" in (folder / "out").read_text(encoding="utf-8")


def test_the_picture_is_the_drawn_one(folder: Path) -> None:
    assert f"]({PICTURE})" in README
    assert (folder / PICTURE).read_bytes() == (ROOT / PICTURE).read_bytes()


def test_every_bound_of_the_scope_is_named() -> None:
    named = README.split("The scope says how often", 1)[1].split("\n\n", 1)[0]
    assert set(re.findall(r"`([a-z_]+)`", named)) == set(SCOPE_FIELDS)
