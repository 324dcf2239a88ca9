"""The commands of docs/prove.md work and print what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.pages import assert_commands_print


@pytest.mark.ci
def test_the_commands_print_what_the_page_says(tmp_path: Path) -> None:
    assert_commands_print("prove.md", "prove", tmp_path)
