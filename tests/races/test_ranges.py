"""The table "since, until" says what the searches find, and the page says what the table does."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.reproduce.across import everything
from tests.races.ranges import (
    COMING,
    FILE,
    HOLDS,
    LAST,
    PAGE,
    VIOLATED,
    asked,
    put,
    read,
    that_were_run,
    turned,
    written,
)

MENDED = {
    "dropped-by-pop": "139450",
    "gone-victim": "last-victim-gone",
    "gone-victim-again": "last-victim-gone",
    "held-back-namesake": "last-victim-gone",
    "namespace-unasked": "namespace-labels-asked",
}
"""What each that the coming release no longer has goes away with."""

BY_NAME = {scenario.name: scenario for scenario in everything()}
RANGES = read()
DIFFERING = {
    name
    for cells_of in (turned(RANGES, VIOLATED, HOLDS), turned(RANGES, HOLDS, VIOLATED))
    for name, _ in cells_of
}


def test_the_file_and_the_page_say_the_same() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert put(page, RANGES) == page
    assert written(RANGES) == FILE.read_text(encoding="utf-8")
    assert {name for name, _ in RANGES} == set(BY_NAME)


@pytest.mark.parametrize("version", [LAST, COMING])
def test_the_code_was_run_with_the_same(version: str) -> None:
    run = {row: cells[version] for row, cells in that_were_run().items() if version in cells}
    assert len(run) > 50
    assert {row: RANGES[row][version].split(" ")[0] for row in run} == run


@pytest.mark.parametrize("version", [LAST, COMING])
@pytest.mark.parametrize(
    "name", [n if n in DIFFERING else pytest.param(n, marks=pytest.mark.ci) for n in BY_NAME]
)
def test_what_is_violated(name: str, version: str) -> None:
    expected = {
        row: cells[version] for row, cells in RANGES.items() if row[0] == name and cells[version] != "-"
    }
    assert asked(version, BY_NAME[name]) == expected


def test_what_the_coming_release_mends_and_opens() -> None:
    mended = turned(RANGES, VIOLATED, HOLDS)
    assert {name for name, _ in mended} == set(MENDED)
    assert turned(RANGES, HOLDS, VIOLATED) == []
    for name, key in mended:
        classes = resolve(COMING, (), (MENDED[name],), BY_NAME[name].feature_gates).classes
        (found,) = check(instrument(BY_NAME[name].spec, classes, [PROPERTIES[key]]), [key])
        assert found.verdict.name == VIOLATED.upper()
