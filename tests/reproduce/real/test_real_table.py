"""The table of docs/notebook/real-runs.md is read as it was written, and speaks of what there is."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from podrace.reports.reproduction import RealStep, Reproduction, ReproductionWord
from podrace.reports.step import ShownStep
from podrace.reproduce.across import everything
from podrace.scenarios import catalogue
from tests.reproduce.real.real_table import PAGE, VERSIONS, cell, merged, put, read, rows_of, without_cells

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


def test_what_holds_everywhere_holds_in_the_columns_of_the_page() -> None:
    """Else a version that joins the table would be said to hold before it was run."""
    text = TEXT.replace(
        "<!-- real -->\n",
        "<!-- real -->\n| What | Property | 1.35.4 | 1.36.3 |\n|---|---|---|---|\n\nHold in all of these versions: old S-CAP.\n",
    )
    table = read(text)
    assert table == {("old", "S-CAP"): {"1.35.4": "holds", "1.36.3": "holds"}}
    assert "Hold in all" not in put(text, table)


def test_cells_of_a_version_are_put_beside_the_others() -> None:
    """Rows that are asked of no more go, and so do none of the version that were not run this time."""
    table = {
        row("a"): {"1.36.3": "holds"},
        row("b"): {"1.35.4": "holds", "1.36.3": "holds"},
        row("gone"): {"1.36.3": "holds"},
    }
    said = {row("c"): "holds", row("b"): "reproduced (1)"}
    assert list(merged(table, "1.36.3", said, [row("c"), row("b"), row("a")]).items()) == [
        (row("c"), {"1.36.3": "holds"}),
        (row("b"), {"1.35.4": "holds", "1.36.3": "reproduced (1)"}),
        (row("a"), {"1.36.3": "holds"}),
    ]


def test_the_page_names_the_races_that_are_over() -> None:
    """Reproduced in one version, and what the model finds in none that is later."""
    text = PAGE.read_text(encoding="utf-8")
    table = read(text)
    over = {
        race.name: version
        for race in catalogue()
        for row in rows_of([race])
        for version, next_one in pairwise(VERSIONS)
        if table[row].get(version, "").startswith("reproduced") and table[row].get(next_one) == "holds"
    }
    (said,) = re.findall(r"^- Nineteen races are reproduced (.*?)\. ", text, re.MULTILINE | re.DOTALL)
    named = re.findall(r"((?:`[a-z-]+`(?:, | and )?)+) in ([\d.]+\d)", said)
    assert {name: version for names, version in named for name in re.findall(r"`(.*?)`", names)} == over
    assert len(over) == 19


def row(name: str) -> tuple[str, str]:
    return name, "S"


def test_empty_cells_are_those_of_a_version() -> None:
    several = [s for s in everything() if len(s.properties) > 1]
    table = {key: {"1.36.3": "holds"} for key in rows_of(several)}
    assert without_cells(several, table, "1.36.3") == []
    assert without_cells(several, table, "1.35.4") == several
    first = several[0]
    del table[first.name, first.properties[-1]]
    assert without_cells(several, table, "1.36.3") == [first]


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


def test_a_run_that_no_durations_allow_has_no_steps() -> None:
    assert (
        cell(Reproduction("x", "v1.36.3", "1.36.3", "S", "CANNOT BE FORCED", "", 29))
        == "cannot be forced at 29"
    )


def test_the_page_speaks_of_what_there_is() -> None:
    names = {scenario.name for scenario in everything()}
    table = read(PAGE.read_text(encoding="utf-8"))
    assert {name for name, _ in table} <= names
    assert all(set(cells) <= set(VERSIONS) for cells in table.values())
