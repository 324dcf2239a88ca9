"""The commands of docs/symbolic.md work and print what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.pages import assert_commands_print


@pytest.mark.parametrize(
    "command",
    [pytest.param("synthesize", marks=pytest.mark.nightly), pytest.param("induct", marks=pytest.mark.ci)],
)
def test_the_commands_print_what_the_page_says(command: str, tmp_path: Path) -> None:
    assert_commands_print("symbolic.md", command, tmp_path)
