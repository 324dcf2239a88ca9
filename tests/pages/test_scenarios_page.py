"""The page of the scenario files explains exactly the fields that the reader knows, and their defaults."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from podrace.model.environment.objects import Scope
from podrace.scenarios.reader.scenario_reader import VOCABULARY
from tests.pages.pages import assert_commands_print, write_file

PAGE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the section's table by their field."""
    found = {}
    for line in re.findall(r"^\| `.*\|$", SECTIONS[heading], re.MULTILINE):
        field, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert len(cells) == 3, line
        assert field not in found, line
        found[field] = cells
    return found


def test_the_sections_are_those_of_the_reader() -> None:
    assert list(SECTIONS) == list(VOCABULARY)


@pytest.mark.parametrize("heading", VOCABULARY)
def test_every_field_has_a_row(heading: str) -> None:
    named = [f"`{name}`" for name in VOCABULARY[heading]]
    assert sorted(rows(heading)) == sorted(named)


def test_the_bounds_have_the_defaults_of_the_model() -> None:
    table = rows("`scope`")
    for bound in fields(Scope):
        if bound.name not in (
            "aims",
            "config",
            "node_creations",
            "node_updates",
            "pod_creations",
            "pod_updates",
            "volume_creations",
            "claim_creations",
        ):
            assert table[f"`{bound.name}`"][1] == str(bound.default).lower()


@pytest.mark.ci
def test_the_commands_about_ranges_print_what_the_page_says(tmp_path: Path) -> None:
    write_file("scenarios.md", "room.yaml", tmp_path)
    assert_commands_print("scenarios.md", "ranges", tmp_path)
