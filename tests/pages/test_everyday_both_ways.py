"""The table of races of clusters that change, in docs/notebook/everyday.md: what it says of releases and changes is what the catalogue's counts say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.races.test_catalogue import ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "notebook" / "everyday.md").read_text(encoding="utf-8")

BOTH_WAYS = re.findall(
    r"^\| \[([\w-]+)\]\(races\.md#\1\) \| [^|]+ \| (S-\w+) \| ([\d.]+), in (\d+) steps \| ([\d.]+) \| ([\w-]+) \| ([\d.]+) \| ([^|]+) \|$",
    PAGE,
    re.MULTILINE,
)


def test_at_least_a_dozen_races_are_told_with_releases_both_ways() -> None:
    assert len(BOTH_WAYS) == 21


@pytest.mark.parametrize("told", BOTH_WAYS, ids=lambda told: told[0])
def test_what_it_tells_of_a_race_is_checked(told: tuple[str, ...]) -> None:
    race, name, violated, steps, holds, change, closed, opened = told
    known = {
        (row.release, row.added, row.removed): (row.verdict, row.steps)
        for row in ROWS
        if (row.race, row.property) == (race, name)
    }
    assert known[violated, (), ()] == ("VIOLATED", int(steps))
    assert known[holds, (), ()] == ("HOLDS", None)
    assert known[closed, (change,), ()] == ("HOLDS", None)
    if opened != "no release has it":
        assert known[opened, (), (change,)][0] == "VIOLATED"


@pytest.mark.parametrize("told", BOTH_WAYS, ids=lambda told: told[0])
def test_the_page_of_races_says_what_a_user_sees(told: tuple[str, ...]) -> None:
    races = (Path(__file__).parents[2] / "docs" / "notebook" / "races.md").read_text(encoding="utf-8")
    section = races.split(f"\n## {told[0]}\n")[1].split("\n## ")[0]
    assert re.search(r"^# .*\bA user \w+s ", section, re.MULTILINE)
