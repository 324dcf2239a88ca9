"""Pages of docs/ whose commands are run: `<!-- tested: NAME -->` stands before a block of commands, `<!-- printed: NAME -->`
before lines that they print, in this order, with anything between.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def block(page: str, mark: str) -> str:
    """The indented block below a mark."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- {re.escape(mark)} -->\n((?: {{4}}.*\n)+)", text)
    assert found is not None, f"{page} has no block `{mark}`"
    return textwrap.dedent(found[1])


def assert_commands_print(page: str, name: str, folder: Path) -> None:
    """The commands of a block work in an empty folder, and print what the page says."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euc", block(page, f"tested: {name}")],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rest = " ".join(ran.stdout.split())
    for line in block(page, f"printed: {name}").splitlines():
        _, found, rest = rest.partition(" ".join(line.split()))
        assert found, f"`{line}` is not printed there"


def write_file(page: str, name: str, folder: Path) -> None:
    """Write the file that stands on a page below `<!-- file: NAME -->`."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- file: {re.escape(name)} -->\n```[a-z]*\n(.*?)```\n", text, re.DOTALL)
    assert found is not None, f"{page} has no file `{name}`"
    (folder / name).write_text(found[1], encoding="utf-8")
