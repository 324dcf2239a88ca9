"""docs/notebook/history.md: what it says is modelled is so, with its releases, and whatever it names is there."""

from __future__ import annotations

import re
import runpy
from dataclasses import fields
from pathlib import Path

import pytest

from podrace.model.environment.cluster.scope import Scope
from podrace.model.history import CHANGES, LATER, PRE_RELEASES, RELEASES, version_of
from podrace.model.history.registry.other_numbers import OTHER_NUMBERS
from podrace.scenarios import catalogue

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "notebook" / "history.md").read_text(encoding="utf-8")
MODEL = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
"""The text below each heading."""

TOLD = RELEASES[RELEASES.index("1.14") :]
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| [")]


def test_every_release_has_its_section() -> None:
    assert list(SECTIONS) == [*TOLD, *PRE_RELEASES, "After 1.37"]


def test_what_is_modelled_of_each_release() -> None:
    """`make reference` writes these lines."""
    builder = runpy.run_path(str(ROOT / "docs" / "build_history.py"))
    assert builder["page"](PAGE) == PAGE
    assert all(section.startswith("\nModelled: ") for section in SECTIONS.values())


def test_the_first_line_of_a_section() -> None:
    assert SECTIONS["1.27"].splitlines()[1] == (
        "Modelled: `113375`, `115331`, `116550` (1.25.9, 1.26.4), `affinity-skips`, `empty-spread-selector`, `min-domains`, `scheduling-gates`."
    )


def test_what_is_not_modelled_by_itself_is_no_change() -> None:
    numbers = [n for row in ROWS for n in re.findall(r"/pull/(\d+)\)", row[0])]
    assert len(numbers) == len(set(numbers)) == 91
    assert set(numbers) & set(CHANGES) == set()


def test_what_it_names_is_a_scenario_a_change_or_a_word_of_scopes() -> None:
    known = {s.name for s in catalogue()} | set(CHANGES) | {field.name for field in fields(Scope)}
    known |= {p.stem for p in (ROOT / "scenarios" / "hazards").glob("*.yaml")}
    named = {name for row in ROWS for name in re.findall(r"`([\w-]+)`", row[-1])}
    assert sorted(named - known) == []


def test_each_abstraction_that_it_names_has_a_row() -> None:
    rows = set(re.findall(r"^\| (A-[A-Z-]+) ", MODEL, re.MULTILINE))
    assert {name for row in ROWS for name in re.findall(r"A-[A-Z-]+", row[-1])} <= rows


@pytest.mark.parametrize("heading", TOLD)
def test_backports_went_to_earlier_releases(heading: str) -> None:
    rows = [row.split(" | ") for row in SECTIONS[heading].splitlines() if row.startswith("| [")]
    patches = [version for row in rows for version in re.findall(r"\d+\.\d+\.\d+", row[1])]
    assert all(int(version.split(".")[1]) < int(heading.split(".")[1]) for version in patches)


def test_patch_versions_are_versions_of_releases_before() -> None:
    wrong = [
        (change.key, patch)
        for change in CHANGES.values()
        for patch in change.backports
        if change.first_in != LATER and version_of(patch).release >= version_of(change.first_in).release
    ]
    assert wrong == []


def test_other_numbers_are_those_that_are_one_with_a_change_in_the_same_versions() -> None:
    """The two of 71488 came to other patch versions than it did."""
    one_with = {
        number: row[-1].removeprefix("part of `").removesuffix("`")
        for row in ROWS
        if row[-1].startswith("part of")
        for number in re.findall(r"/pull/(\d+)\)", row[0])
    }
    assert {number: key for number, key in one_with.items() if key != "71488"} == OTHER_NUMBERS


@pytest.mark.parametrize("page", ["commands.md", "model.md"])
def test_pages_name_what_the_model_has(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert f"The model has 1.8, 1.9, 1.12 to {RELEASES[-1]}, and the pre-release {PRE_RELEASES[-1]}." in text
    assert RELEASES[:3] == ("1.8", "1.9", "1.12")
