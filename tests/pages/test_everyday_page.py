"""The page about clusters that change: whatever it names is there."""

from __future__ import annotations

import re
from pathlib import Path

from podrace.model.history import CHANGES
from podrace.model.history.versions import version_of
from podrace.scenarios import catalogue

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "notebook" / "everyday.md").read_text(encoding="utf-8")
MODEL = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
WORDS = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")


def test_what_it_names_is_a_scenario_a_change_or_a_word_of_scenario_files() -> None:
    known = {s.name for s in catalogue()}
    known |= {p.stem for room in ("hazards", "actors") for p in (ROOT / "scenarios" / room).glob("*.yaml")}
    known |= set(CHANGES) | set(re.findall(r"`(\w+)`", WORDS))
    assert sorted(set(re.findall(r"`([\w-]+)`", PAGE)) - known) == []


def test_each_abstraction_that_it_names_has_a_row() -> None:
    rows = set(re.findall(r"^\| (A-[A-Z-]+) ", MODEL, re.MULTILINE))
    assert set(re.findall(r"A-[A-Z-]+", PAGE)) <= rows


def test_it_tells_of_what_was_reported() -> None:
    reported = set(re.findall(r"\]\((https://github\.com/[\w/-]+/(?:issues|pull)/\d+)\)", PAGE))
    assert len(reported) == 111


NOMINATIONS = re.findall(r"^\| (1\.\d+) \| `([\w-]+)` \| .+ \|$", PAGE, re.MULTILINE)


def test_the_table_of_nominations_dates_each_change_as_the_model_does() -> None:
    assert len(NOMINATIONS) == 13
    assert [(release, CHANGES[key].first_in) for release, key in NOMINATIONS] == [
        (r, r) for r, _ in NOMINATIONS
    ]
    assert [version_of(r) for r, _ in NOMINATIONS] == sorted(version_of(r) for r, _ in NOMINATIONS)


def test_gates_of_nominations_in_1_34() -> None:
    """What one gate does there is refused, as no failure cleared the field with it (133276)."""
    announced, cleared = CHANGES["133021"], CHANGES["132443"]
    assert [c.is_behind_gate_in(r) for c in (announced, cleared) for r in ("1.34", "1.35")] == [
        False,
        True,
        True,
        True,
    ]
