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

DOCS = Path(__file__).parents[2] / "docs"


def block(page: str, mark: str) -> str:
    """The indented block below a mark."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- {re.escape(mark)} -->\n\n?((?: {{4}}.*\n)+)", text)
    assert found is not None, f"{page} has no block `{mark}`"
    return textwrap.dedent(found[1])


def run_commands(commands: str, folder: Path, code: int = 0) -> str:
    """What a shell prints for these commands, which must end with this exit code."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout


def assert_printed(lines: str, printed: str) -> None:
    """These lines are printed in this order, with anything between them, however they are broken."""
    rest = " ".join(printed.split())
    for line in lines.splitlines():
        _, found, rest = rest.partition(" ".join(line.split()))
        assert found, f"`{line}` is not printed there"


def assert_commands_print(page: str, name: str, folder: Path) -> None:
    """The commands of a block work in a folder, and print what the page says."""
    assert_printed(block(page, f"printed: {name}"), run_commands(block(page, f"tested: {name}"), folder))


def write_file(page: str, name: str, folder: Path) -> None:
    """Write the file that stands on a page below `<!-- file: NAME -->`."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- file: {re.escape(name)} -->\n```[a-z]*\n(.*?)```\n", text, re.DOTALL)
    assert found is not None, f"{page} has no file `{name}`"
    (folder / name).write_text(found[1], encoding="utf-8")
