"""The commands of docs/manifests.md work and print what the page says; its example is what the generator prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from podrace.scenarios.manifests.reader import GROUPS
from tests.kubectl_dump import sample

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "manifests.md").read_text(encoding="utf-8")
BLOCK = r"((?: {4}.*\n)+)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page")
    (found / "docs").mkdir()
    shutil.copy(DOCS / "cluster.yaml", found / "docs")
    return found


def test_the_commands_print_what_the_page_says(folder: Path) -> None:
    """In the order of the page, as one writes a file that another reads."""
    commands = re.findall(rf"<!-- tested: (\w+), exit code (\d) -->\n\n{BLOCK}", PAGE)
    assert [name for name, _, _ in commands] == ["race", "newer", "kept"]
    for name, code, block in commands:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(
            ["bash", "-euc", textwrap.dedent(block)],
            cwd=folder,
            env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert ran.returncode == int(code), ran.stdout + ran.stderr
        printed = re.findall(rf"<!-- printed: {name} -->\n\n{BLOCK}", PAGE)
        assert printed
        for part in printed:
            rest = " ".join(ran.stdout.split())
            for line in part.splitlines():
                _, found, rest = rest.partition(" ".join(line.split()))
                assert found, f"`{line}` is not printed there"


def test_every_kind_is_in_the_table() -> None:
    table = PAGE.split("## What is read\n\n")[1].split("\n\n")[0]
    kinds = {kind for row in table.splitlines()[2:] for kind in row.split("|")[1].strip().split(", ")}
    assert kinds == set(GROUPS)


def test_the_example_is_what_the_generator_prints() -> None:
    assert (DOCS / "cluster.yaml").read_text(encoding="utf-8") == sample()
