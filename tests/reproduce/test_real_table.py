"""The table of docs/reproduce.md is read as it was written, and speaks of what there is."""

from __future__ import annotations

import pytest

from podrace.reports.reproduction import RealStep, Reproduction, ReproductionWord
from podrace.reports.step import ShownStep
from podrace.reproduce.across import everything
from tests.reproduce.real_table import PAGE, VERSIONS, cell, merged, put, read

TEXT = "before\n<!-- real -->\n<!-- /real -->\nafter\n"


def test_what_was_written_is_read() -> None:
    holds = dict.fromkeys(VERSIONS, "holds")
    table = {
        ("ghost", "S-GHOST"): {**holds, "1.36.3": "reproduced (11)"},
        ("old", "S-CAP"): holds,
        ("older", "L-X"): holds,
    }
    text = put(TEXT, table)
    assert read(text) == table
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "Hold in all of these versions: old S-CAP, older L-X.\n" in text
    assert put(text, table) == text


def test_a_column() -> None:
    table = merged({("a", "S"): {"1.36.3": "holds"}}, "1.36.3", {("b", "S"): "reproduced (1)"}, [("b", "S")])
    assert table == {("b", "S"): {"1.36.3": "reproduced (1)"}}


@pytest.mark.parametrize(
    ("verdict", "at", "words"),
    [
        ("REPRODUCED", None, "reproduced (3)"),
        ("HOLDS", None, "holds"),
        ("CANNOT BE FORCED", 2, "cannot be forced at 2 of 3"),
        ("CRASHED", None, "crashed"),
    ],
)
def test_cells(verdict: ReproductionWord, at: int | None, words: str) -> None:
    steps = (RealStep(ShownStep(1, "a", "c", "s", {}, "", ())),) * 3
    assert cell(Reproduction("x", "v1.36.3", "1.36.3", "S", verdict, "", at, steps=steps)) == words


def test_the_page_speaks_of_what_there_is() -> None:
    names = {scenario.name for scenario in everything()}
    table = read(PAGE.read_text(encoding="utf-8"))
    assert {name for name, _ in table} <= names
    assert all(set(cells) <= set(VERSIONS) for cells in table.values())
