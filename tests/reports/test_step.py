"""How a step and its changes are told, with and without words of the model."""

from __future__ import annotations

import msgspec
import pytest

from podrace.reports.evidence import Memory, ShownFact
from podrace.reports.step import ShownChange, ShownStep, Value

JUMP = ShownStep(1, "gremlin", "mine", "jump", {"pod": "p"}, "Jump about", ())
HIDDEN = ShownChange("scheduler.phase", "IDLE", "POPPED", "")
SAID = ShownChange("queue.sub_queue[q]", "NONE", "ACTIVE", "queue: q is in activeQ")
DECISIVE = ShownChange("scheduler.nominee", None, "n1", "decision: p goes to n1", decisive=True)
BARE = ShownChange("mine.flag", 3, None)


def step(*changes: ShownChange, told: str = "") -> ShownStep:
    return msgspec.structs.replace(JUMP, changes=changes, told=told)


def test_changes_in_words_and_without() -> None:
    found = step(SAID, HIDDEN, DECISIVE, BARE)
    assert [change.phrase for change in found.spoken] == [
        "queue: q is in activeQ",
        "decision: p goes to n1",
        "mine.flag: 3 -> none",
    ]


def test_decisive_is_what_stands_out() -> None:
    assert step(SAID, DECISIVE).decisive
    assert not step(SAID, BARE).decisive


def test_the_words_of_the_model_tell_a_step() -> None:
    assert step(SAID, told="It jumps.").sentence == "It jumps."


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ((), "gremlin: jump(p) (Jump about)."),
        ((HIDDEN,), "gremlin: jump(p) (Jump about)."),
        ((SAID, BARE), "gremlin: jump(p) (Jump about); queue: q is in activeQ; mine.flag: 3 -> none."),
    ],
)
def test_without_words_a_step_is_told_by_its_name_and_changes(
    changes: tuple[ShownChange, ...], sentence: str
) -> None:
    assert step(*changes).sentence == sentence


def test_without_a_summary() -> None:
    assert msgspec.structs.replace(JUMP, summary="").sentence == "gremlin: jump(p)."


def test_words_that_are_not_there_are_not_written() -> None:
    assert msgspec.json.encode(BARE) == b'{"variable":"mine.flag","before":3,"after":null}'
    assert b"told" not in msgspec.json.encode(JUMP)
    for change in (HIDDEN, SAID, DECISIVE, BARE):
        assert msgspec.json.decode(msgspec.json.encode(change), type=ShownChange) == change


@pytest.mark.parametrize(
    ("fact", "value", "words"),
    [
        ("sub_queue", "ACTIVE", "in activeQ"),
        ("sub_queue", "OTHER", "in OTHER"),
        ("sub_queue", "NONE", "in no queue"),
        ("exists", True, "exists"),
        ("exists", False, "gone"),
        ("assumed", False, ""),
        ("retry_count", 2, "retry count 2"),
        ("retry_count", None, ""),
    ],
)
def test_facts(fact: str, value: Value, words: str) -> None:
    memory = Memory(
        facts={
            "sub_queue": ShownFact("in {value}", "in no queue", {"ACTIVE": "activeQ", "NONE": ""}),
            "exists": ShownFact("exists", "gone"),
            "assumed": ShownFact("assumed"),
        }
    )
    assert memory.words(fact, value) == words
