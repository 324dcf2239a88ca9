"""The page of the scenario files has the tables of the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.scenarios.tables.all import TABLES
from tests.pages.pages import assert_commands_print, write_file

PAGE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
SECTIONS = [part.partition("\n")[0] for part in PAGE.split("\n## ")[1:]]


def test_the_sections_are_those_of_the_reader() -> None:
    assert SECTIONS == [table.heading for table in TABLES]


@pytest.mark.ci
def test_the_commands_about_ranges_print_what_the_page_says(tmp_path: Path) -> None:
    write_file("scenarios.md", "room.yaml", tmp_path)
    assert_commands_print("scenarios.md", "ranges", tmp_path)
