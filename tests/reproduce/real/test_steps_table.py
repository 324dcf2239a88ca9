"""Which steps of the model the driver plays, as docs/reproduce.md says it."""

from __future__ import annotations

import os

from tests.reproduce.real.real_table import PAGE
from tests.reproduce.real.steps_table import UNPLAYED, parts, put, rules, steps


def test_the_page_has_every_step_and_what_the_driver_makes_of_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    said = put(text, parts(steps(), rules()))
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        PAGE.write_text(said, encoding="utf-8")
    assert said == PAGE.read_text(encoding="utf-8")


def test_every_step_that_is_not_played_has_its_reason() -> None:
    found = parts(steps(), rules())
    assert {f"{part}.{step}" for part, columns in found.items() for step in columns[2]} == UNPLAYED.keys()


def test_every_rule_is_about_a_step_of_the_model() -> None:
    assert rules().keys() <= set(steps())


def test_a_rule_a_lock_and_a_step_without_a_rule_are_told_apart() -> None:
    found = parts(["a.x", "a.y", "b.z"], {"a.x": False, "a.y": True})
    assert found == {"a": (["x"], ["y"], []), "b": ([], [], ["z"])}
