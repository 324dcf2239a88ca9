"""How changes become sentences."""

from __future__ import annotations

import pytest

from podrace.reports.document import Change, Step
from podrace.reports.vocabulary import PLAIN, Phrase, Vocabulary, Word
from tests.reports.samples import WORDS


def step(*changes: Change) -> Step:
    return Step(1, "scheduler", "scheduler", "act", {"pod": "p"}, "", changes)


@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        (Change("queue.sub_queue[q]", "NONE", "ACTIVE"), Phrase("queue: q is in activeQ", False)),
        (Change("queue.sub_queue[q]", "ACTIVE", "NONE"), Phrase("queue: q leaves activeQ", False)),
        (Change("scheduler.nominee", None, "n1"), Phrase("decision: p goes to n1", True)),
        (Change("mine.flag", False, True), Phrase("mine.flag: false -> true", False)),
        (Change("mine.flag", 3, None), Phrase("mine.flag: 3 -> none", False)),
    ],
)
def test_phrases(change: Change, phrase: Phrase) -> None:
    assert WORDS.phrases(step(change)) == [phrase]


@pytest.mark.parametrize(
    "change", [Change("scheduler.phase", "IDLE", "POPPED"), Change("scheduler.nominee", "n1", None)]
)
def test_bookkeeping_is_hidden(change: Change) -> None:
    assert WORDS.phrases(step(change)) == []


def test_without_words_everything_is_shown() -> None:
    assert PLAIN.phrases(step(Change("a", 0, 1))) == [Phrase("a: 0 -> 1", False)]


def test_an_argument_that_the_step_lacks_is_named_by_its_kind() -> None:
    assert Vocabulary([Word("a", "{node} has {after}")]).phrases(step(Change("a", 0, 1))) == [
        Phrase("the node has 1", False)
    ]
