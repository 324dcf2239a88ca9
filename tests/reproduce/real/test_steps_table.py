"""Which steps of the model the driver plays, as docs/notebook/real-runs.md says it."""

from __future__ import annotations

import os

from tests.reproduce.real.real_table import PAGE
from tests.reproduce.real.steps_table import DRIVER, UNPLAYED, model_parts, named, parts, put, rules, steps


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


OTHERS = {
    # What the driver shows of the real state, and the model has by no such name.
    "async_preemption.awaited", "async_preemption.preempting", "cache.target", "claim_tracker.taken", "node_infos.sums", "node_watch.ahead", "node_watch.under_way", "pod_group_states.copied",
    "pod_watch.ahead", "pod_watch.beyond", "pod_watch.under_way", "queue.amid_move", "queue.heap", "queue.order", "queue.past_backoff",
    # A step of releases that no driver is built for, which a Go test may have all the same; and pairs that are no step.
    "cache.expire", "binding.failure", "claim_deletions.missed_claim_updates",
    # A type of Go, and a file of the user's.
    "cache.cache", "scheduler.yaml",
}  # fmt: skip
"""What is named so, and is neither a step nor a variable."""


def test_every_step_that_is_named_is_one_of_the_model() -> None:
    """In Go and in Python: where a step is renamed, this says in which files it has its former name."""
    made = list(model_parts())
    known = {f"{part.name}.{one}" for part in made for one in dir(part)}  # steps, and variables
    parts_of_the_model = {part.name for part in made}
    unknown = {
        name: file
        for name, file in named(DRIVER.parent)
        if name.partition(".")[0] in parts_of_the_model and name not in known | OTHERS
    }
    assert unknown == {}


def test_a_rule_a_lock_and_a_step_without_a_rule_are_told_apart() -> None:
    found = parts(["a.x", "a.y", "b.z"], {"a.x": False, "a.y": True})
    assert found == {"a": (["x"], ["y"], []), "b": ([], [], ["z"])}
