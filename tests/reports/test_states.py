"""What components know, step by step."""

from __future__ import annotations

import itertools

from msgspec.structs import replace

from podrace.base.text import listed
from podrace.reports.states import Event, changed_facts, differences, published, states_of
from podrace.reports.step import Value
from tests.reports.samples import VIOLATED
from tests.reports.shown import MEMORY, SHOWN

STATES = states_of(SHOWN)


def test_one_state_more_than_steps() -> None:
    assert len(STATES) == 4


def test_values_follow_the_changes() -> None:
    nodes = [(s.views["API"] or {})["p"]["node"] for s in STATES]
    believed = [(s.views["cache"] or {})["q<i>"]["node"] for s in STATES]
    assert nodes == [None, "n1", "n1", "n1"]
    assert believed == [None, None, None, "n1"]


def test_a_view_keeps_silent_about_what_it_does_not_have() -> None:
    assert [s.views["line"] for s in STATES] == [{}] * 4


def test_a_fleeting_view_is_there_while_it_says_something() -> None:
    assert [s.views["worker"] is not None for s in STATES] == [False, True, True, False]


def test_events_wait_for_readers_that_have_not_taken_them() -> None:
    facts: dict[str, Value] = {"node": "n1", "wanted": True}
    assert [s.channels["watch"] for s in STATES] == [
        (),
        (Event("p", facts, ("the cache", "the audit")),),
        (Event("p", facts, ("the audit",)),),
        (Event("p", facts, ("the audit",)),),
    ]


def test_an_event_that_no_filter_lets_pass_waits_for_nobody_there() -> None:
    first, *rest = SHOWN.story
    changes = tuple(c for c in first.changes if c.variable != "watch.log[0].wanted")
    unwanted = replace(SHOWN, trace=(replace(first, changes=changes), *rest))
    (event,) = states_of(unwanted)[1].channels["watch"]
    assert event.waits_for == ("the audit",)


def test_what_is_published_is_what_came_in() -> None:
    assert [len(published(a, b)) for a, b in itertools.pairwise(STATES)] == [1, 0, 0]
    assert published(STATES[0], STATES[1])[0][0] == "watch"


def test_views_that_do_not_agree() -> None:
    assert differences(MEMORY, STATES[0]) == []
    (found,) = differences(MEMORY, STATES[1])
    assert (found.subject, found.facts) == ("p", ("node",))
    assert found.said == {"API": {"node": "n1"}, "cache": {"node": None}}
    assert [d.subject for d in differences(MEMORY, STATES[3])] == ["p", "q<i>"]


def test_what_changed() -> None:
    assert changed_facts(STATES[0], STATES[1]) == {("API", "p", "node"), ("worker", "the worker", "pod")}
    assert changed_facts(STATES[2], STATES[3]) == {("cache", "q<i>", "node"), ("cache", "q<i>", "assumed")}


def test_without_memory_there_are_no_states() -> None:
    assert states_of(VIOLATED) == []


def test_listed() -> None:
    assert [listed(n) for n in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
