"""The tables of what is abstracted (docs/model.md) say of each row which properties it can falsify, in words that the page defines, and briefly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podrace.properties import PROPERTIES

PAGE = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## What is abstracted\n")[2].partition("\n## ")[0]
HEADER = ["Row", "Not modelled", "What the model does", "Can wrongly hold", "Can wrongly be violated"]
KINDS = {"invariants": "invariant", "deadlocks": "deadlock freedom", "liveness": "liveness"}
WORDS = {"all", "none", *KINDS}
WORDS_A_CELL = 60


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


ROWS = {row[0]: row for row in map(cells, SECTION.splitlines()) if row[0].startswith("A-")}


def test_every_table_has_the_columns() -> None:
    headers = [cells(line) for line in SECTION.splitlines() if line.startswith("| Row |")]
    assert len(headers) > 8
    assert all(header == HEADER for header in headers)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_says_which_properties_it_can_falsify(name: str) -> None:
    row = ROWS[name]
    assert len(row) == len(HEADER)
    for cell in row[3:]:
        codes = re.findall(r"\b[SL]-[A-Z]+\b", cell)
        assert not [code for code in codes if code not in PROPERTIES], cell
        assert codes or WORDS & set(re.findall(r"\b[a-z]+\b", cell)), f"{name} names no property: {cell}"


@pytest.mark.parametrize("name", ROWS)
def test_a_row_can_be_read(name: str) -> None:
    assert max(len(cell.split()) for cell in ROWS[name]) <= WORDS_A_CELL


def test_the_words_for_kinds_are_those_of_the_properties() -> None:
    stated = dict(
        cells(line)
        for line in SECTION.splitlines()
        if re.match(r"\| [a-z]+ \|", line) and line.count("|") == 3
    )
    assert WORDS <= set(stated)
    deadlocks = {id for id, cls in PROPERTIES.items() if cls.kind == "deadlock freedom"}
    assert set(re.findall(r"S-[A-Z]+", stated["deadlocks"])) == deadlocks


def test_plugins_that_are_recorded_too_much_can_hide_a_stuck_pod() -> None:
    """Of a plugin that upstream does not record, each event wakes the pod."""
    assert ROWS["A-PREFILTER"][3] == "deadlocks, liveness"
    assert PROPERTIES["S-STUCK"].kind == "deadlock freedom"


def test_links_of_the_tables_lead_to_headings_of_the_page() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
        for line in PAGE.splitlines()
        if line.startswith("#")
    }
    links = set(re.findall(r"\]\(#([a-z0-9-]+)\)", SECTION))
    assert links
    assert links <= headings
