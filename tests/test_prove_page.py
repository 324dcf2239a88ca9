"""The commands of docs/prove.md work and print what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "prove.md").read_text(encoding="utf-8")


def block(mark: str) -> str:
    """The indented block below a mark."""
    found = re.search(rf"<!-- {re.escape(mark)} -->\n((?: {{4}}.*\n)+)", PAGE)
    assert found is not None
    return textwrap.dedent(found[1])


@pytest.mark.parametrize("command", ["prove"])
def test_the_commands_print_what_the_page_says(command: str, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euc", block(f"tested: {command}")],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rest = " ".join(ran.stdout.split())
    for line in block(f"printed: {command}").splitlines():
        _, found, rest = rest.partition(" ".join(line.split()))
        assert found, f"`{line}` is not printed there"
