"""The words of the scheduler fit the model: every word names a variable that some release has."""

from __future__ import annotations

import re

import pytest

from podrace.analysis.narration.words import SCHEDULER_WORDS, WORDS
from podrace.model.history import RELEASES, resolve
from podrace.properties import PROPERTIES, instrument
from podrace.reports.document import Change
from podrace.scenarios import catalogue


def variables() -> set[str]:
    """The variables of all scenarios on the oldest and the newest release."""
    return {
        variable.name
        for scenario in catalogue()
        for release in (RELEASES[0], RELEASES[-1])
        for variable in instrument(
            scenario.spec, resolve(release).classes, list(PROPERTIES.values())
        ).variables
    }


@pytest.mark.ci
def test_every_word_is_used_and_every_variable_has_one() -> None:
    names = variables()
    assert [w.pattern for w in WORDS if not any(re.fullmatch(w.pattern, n) for n in names)] == []
    assert [n for n in sorted(names) if not any(re.fullmatch(w.pattern, n) for w in WORDS)] == []


def test_what_a_user_adds_is_shown() -> None:
    phrase = SCHEDULER_WORDS.phrase(Change("mine.flag[p]", False, True))
    assert phrase is not None
    assert phrase.text == "mine.flag[p]: false -> true"
