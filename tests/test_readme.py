"""What the README shows is what the command prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_counterexample_is_the_printed_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.split("```\nscheduler\n", 1)[1].split("\n```", 1)[0]
    printed = subprocess.run(
        [Path(sys.executable).with_name("podrace"), "check", "72124", "--without-fix", "72259", "--no-color"],
        env={**os.environ, "COLUMNS": "110", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert printed.returncode == 1
    assert f"scheduler\n{shown}\n" in printed.stdout
