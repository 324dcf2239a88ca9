"""A counterexample in sentences."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from podrace.reports.states import states_of
from podrace.reports.text.explanation import crowded, explain
from tests.reports.golden import assert_golden
from tests.reports.samples import AT_ONCE, HOLDS, NO_WAY_BACK, STARVED, VIOLATED
from tests.reports.shown import SHOWN


def test_the_whole_of_it() -> None:
    assert_golden("explained.txt", explain(SHOWN).text)


def test_every_step_is_told_once_in_order() -> None:
    told = explain(SHOWN).steps
    assert [t.number for t in told] == [1, 2, 3]
    assert [t.text for t in told] == [
        "p is bound to n1.",
        "cache: take(p) (take & go).",
        "scheduler: assume(q<i>) (assume & go); cache: q is on n1; cache.assumed[q]: false -> true.",
    ]


def test_where_views_begin_to_differ() -> None:
    told = explain(SHOWN).steps
    assert [t.diverges for t in told] == [True, False, True]
    assert told[0].notes[-1] == "From here on views differ on p: API: on n1; cache: on no node."


def test_only_the_difference_that_would_have_been_closed_is_named() -> None:
    assert explain(SHOWN).disagreement == (
        "When step 3 was taken, the views differed on p: API: on n1; cache: on no node.",
        "The watch's event for p had not reached the audit yet.",
    )


def test_what_would_have_prevented_it() -> None:
    (line,) = explain(SHOWN).remedy
    assert line == (
        "The cache could have acted before step 3: The cache is notified of p. "
        "After that, step 3, assume(q<i>), would have been impossible."
    )
    assert explain(replace(SHOWN, counterfactuals=())).remedy == ()


def test_what_does_not_fit_in_the_end() -> None:
    assert explain(SHOWN).outcome == (
        (
            "In the end, as the cache believes, n1 has q<i> (2 cpu) on it, which leaves 1 of 3 cpu. "
            "p, nominated to n1, asks for 2 cpu and does not fit."
        ),
    )


def test_whoever_was_there_from_the_start_takes_no_room() -> None:
    """It may be a victim that is still to go."""
    assert SHOWN.cluster is not None
    states = states_of(SHOWN)
    assert crowded(SHOWN.cluster, states[0], states[-1]) == list(explain(SHOWN).outcome)
    assert crowded(SHOWN.cluster, states[-1], states[-1]) == []


def test_without_memory_the_steps_remain() -> None:
    told = explain(VIOLATED)
    assert told.opening == told.closing == ()
    assert [t.number for t in told.steps] == [1, 2, 3, 4]
    assert told.ending == "S-NOM is violated"


def test_remarks_of_traps_and_lassos() -> None:
    assert [t.remark for t in explain(NO_WAY_BACK).steps] == [
        "",
        "from here there is no way out; for example, it goes on like this:",
        "and these steps repeat indefinitely:",
        "",
    ]
    assert [t.remark for t in explain(STARVED).steps] == ["", "indefinitely:", "", ""]


def test_a_violation_at_once_has_no_steps() -> None:
    assert explain(AT_ONCE).text == "(S-CAP is violated)\n"


def test_nothing_to_tell() -> None:
    with pytest.raises(ValueError, match="has no counterexample to tell") as caught:
        explain(HOLDS)
    assert str(caught.value) == "nominated-node-race, 1.13 + 72259: S-NOM has no counterexample to tell"


def test_the_same_each_time() -> None:
    assert explain(SHOWN).text == explain(SHOWN).text
